"""A slow extraction of hierarchical rules from the definitions, to check the native one against.

Every set of gaps in every initial phrase is looked at, and counts are fractions. What is left open are ties: of several
alignments that are as frequent any may be the rule's.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from smtplugins.core.extract.hierarchical_rules import RuleSettings

from .extractions import Pair, consistent

Links: TypeAlias = tuple[tuple[int, int], ...]
Phrase: TypeAlias = tuple[int, int, int, int]  # first and last source word, first and last target word
Side: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """Sides with gaps as [X,1], [X,2]: numbered by the source side."""

    source: Side
    target: Side

    def moses(self) -> tuple[str, str]:
        """The sides as Moses spells them."""
        sides = []
        for side in (self.source, self.target):
            sides.append(" ".join(["[X][X]" if is_gap(symbol) else symbol for symbol in side] + ["[X]"]))
        return sides[0], sides[1]


@dataclass
class Counted:
    count: Fraction = Fraction(0)
    alignments: Counter[Links] = field(default_factory=Counter)

    def best(self) -> list[Links]:
        """The most frequent alignments, with the links of gaps."""
        most = max(self.alignments.values())
        # Sums of rounded numbers may tie where these do not, and the other way round.
        return [links for links, count in self.alignments.items() if count > most - Fraction(1, 1000)]


def is_gap(symbol: str) -> bool:
    return symbol.startswith("[X,")


def initial_phrases(pair: Pair, settings: RuleSettings) -> list[Phrase]:
    sources, targets = {s for s, _ in pair.links}, {t for _, t in pair.links}
    phrases = []
    for a, b in spans(len(pair.source), settings.max_span):
        for c, d in spans(len(pair.target), settings.max_span):
            loose_end = not {a, b} <= sources or not {c, d} <= targets
            if consistent(pair.links, (a, b, c, d)) and not (settings.tight and loose_end):
                phrases.append((a, b, c, d))
    return phrases


def spans(length: int, longest: int) -> Iterator[tuple[int, int]]:
    return ((a, b) for a in range(length) for b in range(a, min(length, a + longest)))


def gap_sets(phrase: Phrase, phrases: list[Phrase], settings: RuleSettings) -> Iterator[tuple[Phrase, ...]]:
    """All sets of phrases inside of one that may be gaps together, each in the order of the source."""
    a, b, c, d = phrase
    inside = [
        hole
        for hole in phrases
        if a <= hole[0]
        and hole[1] <= b
        and c <= hole[2]
        and hole[3] <= d
        and (hole[2], hole[3]) != (c, d)
        and hole[1] - hole[0] + 1 >= settings.min_hole
        and hole[3] - hole[2] + 1 >= settings.min_target_hole
    ]
    for count in range(1, settings.max_nonterminals + 1):
        for gaps in itertools.combinations(sorted(inside), count):
            by_target = sorted(gaps, key=lambda gap: gap[2])
            space, target_space = (0 if ok else 1 for ok in (settings.adjacent, settings.adjacent_target))
            if all(x[1] + space < y[0] for x, y in itertools.pairwise(gaps)) and all(
                x[3] + target_space < y[2] for x, y in itertools.pairwise(by_target)
            ):
                yield gaps


def rule_of(pair: Pair, phrase: Phrase, gaps: tuple[Phrase, ...]) -> tuple[Rule, Links, tuple[int, ...]]:
    """A rule, its alignment, and the places of its source words."""
    source: list[str] = []
    target: list[str] = []
    at_source: dict[int, int] = {}
    at_target: dict[int, int] = {}
    words = []
    for s in range(phrase[0], phrase[1] + 1):
        number = next((k for k, gap in enumerate(gaps, 1) if gap[0] <= s <= gap[1]), 0)
        if not number:
            words.append(s)
        if not number or gaps[number - 1][0] == s:
            source.append(f"[X,{number}]" if number else pair.source[s])
        at_source[s] = len(source) - 1
    for t in range(phrase[2], phrase[3] + 1):
        number = next((k for k, gap in enumerate(gaps, 1) if gap[2] <= t <= gap[3]), 0)
        if not number or gaps[number - 1][2] == t:
            target.append(f"[X,{number}]" if number else pair.target[t])
        at_target[t] = len(target) - 1
    links = {(at_source[s], at_target[t]) for s, t in pair.links if s in at_source and t in at_target}
    return Rule(tuple(source), tuple(target)), tuple(sorted(links)), tuple(words)


def rules_of(pair: Pair, settings: RuleSettings) -> Iterator[list[tuple[Rule, Links, tuple[int, ...]]]]:
    """Those of each initial phrase."""
    phrases = initial_phrases(pair, settings)
    most = (
        settings.max_source_symbols if settings.max_source_words is None else settings.max_source_words,
        settings.max_target_symbols if settings.max_target_words is None else settings.max_target_words,
    )
    for phrase in phrases:
        rules = []
        plain = rule_of(pair, phrase, ())
        if len(plain[0].source) <= most[0] and len(plain[0].target) <= most[1]:
            rules.append(plain)
        for gaps in gap_sets(phrase, phrases, settings):
            rule, links, words = entry = rule_of(pair, phrase, gaps)
            fits = len(rule.source) <= settings.max_source_symbols and len(rule.target) <= settings.max_target_symbols
            target_words = len(rule.target) - len(gaps)
            enough = len(words) >= settings.min_words and target_words >= settings.min_words
            aligned = len(links) > len(gaps) or not (words or target_words)
            if fits and enough and (aligned or not settings.aligned):
                rules.append(entry)
        yield rules


def counted(text: list[Pair], settings: RuleSettings) -> dict[Rule, Counted]:
    """The rules of a text."""
    table: dict[Rule, Counted] = defaultdict(Counted)
    for pair in text:
        if not pair.source or not pair.target:
            continue
        places = set()
        for rules in rules_of(pair, settings):
            for rule, links, words in rules:
                if settings.counts == "places" and (rule, links, words) in places:
                    continue
                places.add((rule, links, words))
                count = Fraction(1, len(rules)) if settings.counts == "fractional" else Fraction(1)
                table[rule].count += count
                table[rule].alignments[links] += count
    return dict(table)
