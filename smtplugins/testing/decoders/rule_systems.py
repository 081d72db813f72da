"""Tiny systems for chart decoders: grammars, features, weights, and all derivations, enumerated.

The enumeration is plain Python and shares no code with decoders: it tries every rule on every span.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.grammar.rules import NonTerminal, Rule
from smtplugins.contracts.adapters import SimpleStateful
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.offers import Offer
from smtplugins.core.grammar.rules import GLUE, MINTED
from smtplugins.testing.rows import difference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core.grammar.rules import Rules
    from smtplugins.host.config.resources import Resources
    from smtplugins.host.features.scoring import Active
    from smtplugins.host.host import Host

GOAL, LABEL = "S", "X"
TOLERANCE = 1e-4
"""Scores may be added in any order and kept as float32."""
MOST = 2_000
"""Sentences with more derivations are skipped."""


class Words:
    """A rule feature: the number of target words."""

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Return the number of words of each rule."""
        return rules.word_counts()


class Origin:
    """A rule feature of origins: whether a rule was minted for a word, and whether it is glue."""

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Return two columns of flags."""
        import numpy as np

        assert rules.origins is not None, "rules come without their origins, which a feature needs `grammar` for"
        return np.column_stack([rules.origins.of(MINTED), rules.origins.of(GLUE)])


class Pairs(SimpleStateful):
    """A stateful feature of adjacent word pairs, including the sentence boundaries."""

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[float, Any]:
        """Score the pairs completed by an edge; the state is the first and the last word."""
        total, ends = 0.0, None
        for symbol in target:
            new = tails[symbol] if isinstance(symbol, int) else (symbol, symbol)
            if new is None:
                continue
            total += 0.0 if ends is None else value(ends[1], new[0])
            ends = new if ends is None else (ends[0], new[1])
        return total, ends

    def finish_one(self, state: Any) -> float:
        """Score the pairs at both sentence boundaries."""
        return value("", "") if state is None else value("", state[0]) + value(state[1], "")


def value(left: str, right: str) -> float:
    """Return a score of two words, the same on every machine."""
    return ((sum(left.encode()) * 7 + sum(right.encode()) * 13 + len(left)) % 17 - 8) / 4


FEATURES: Mapping[str, tuple[type, frozenset[str]]] = {
    "kit-words": (Words, frozenset({"target"})),
    "kit-origin": (Origin, frozenset({"grammar"})),
    "kit-pairs": (Pairs, frozenset({"target"})),
}
OF_TEXTS = ("kit-words", "kit-pairs")
"""The features that lists can score."""


def active(name: str) -> Active:
    """Return a feature, as in a run."""
    from smtplugins.host.features.scoring import Active

    make, needs = FEATURES[name]
    return Active(name, Offer(name=name, make=make, summary=f"{name} of the kit", needs=needs), make())


@dataclass(frozen=True)
class EnumeratedDerivation:
    """An enumerated derivation: its words and its features."""

    words: tuple[str, ...]
    features: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class TinySystem:
    """Rules, sentences to decode with them, weights, and the decoder's options."""

    number: int
    rules: tuple[Rule, ...]
    sentences: tuple[Sentence, ...]
    weights: Mapping[str, float]
    options: Mapping[str, Any]

    def resources(self, folder: Path, host: Host) -> Resources:
        """Return the table, written to the folder, and the features."""
        from smtplugins.host.config.resources import Resources
        from smtplugins.host.config.rule_tables import RuleTable

        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "rules.txt"
        path.write_text("".join(map(_line, self.rules)), encoding="utf-8")
        features = tuple(map(active, FEATURES))
        return Resources((RuleTable(path, name="kit-table"),), features, tuple(host.formats()))


class System(TinySystem):
    """Rules of a chart decoder; the options are those of ``hiero``."""

    def every(self, words: Sequence[str]) -> list[tuple[Rule, str]]:
        """Return all rules for a sentence, and their origins."""
        rules = [(rule, "table") for rule in self.rules]
        if self.options["glue"]:
            goal, first, second = NonTerminal(GOAL, 1), NonTerminal(LABEL, 1), NonTerminal(LABEL, 2)
            rules += [(Rule(GOAL, side, side), GLUE) for side in ((first,), (goal, second))]
        known = {rule.source for rule in self.rules}
        for word in dict.fromkeys(words):
            unknown = self.options["pass_through"] == "unknown" and (word,) not in known
            if unknown or self.options["pass_through"] == "all":
                rules.append((Rule(LABEL, (word,), (word,)), MINTED))
        return rules

    def derivations(self, words: tuple[str, ...]) -> tuple[EnumeratedDerivation, ...] | None:
        """Return all derivations of a sentence with all features, or None if there are too many."""
        return derivations(self, words)

    def applies(self, owner: str, first: int, last: int) -> bool:
        """Whether rules of an origin apply to a span."""
        limit = self.options.get("max_span")
        return owner == MINTED or (first == 0 if owner == GLUE else limit is None or last - first <= limit)


@functools.lru_cache(200)
def derivations(system: System, words: tuple[str, ...]) -> tuple[EnumeratedDerivation, ...] | None:
    """Return all derivations of a sentence with all features, or None if there are too many."""
    rules = system.every(words)

    @functools.cache
    def below(first: int, last: int, label: str) -> tuple[EnumeratedDerivation, ...]:
        derivations_here: list[EnumeratedDerivation] = []
        for rule, owner in rules:
            if rule.lhs != label or not system.applies(owner, first, last):
                continue
            for tails in matches(rule.source, words, first, last):
                choices = itertools.product(*(below(*node) for node in tails))
                derivations_here += [_join(rule, owner, choice) for choice in choices]
            if len(derivations_here) > MOST:
                raise OverflowError
        return tuple(derivations_here)

    try:
        whole = below(0, len(words), GOAL) if words else ()
    except OverflowError:
        return None
    return with_pairs(whole)


def with_pairs(whole: Sequence[EnumeratedDerivation]) -> tuple[EnumeratedDerivation, ...]:
    """Add the feature that scores finished texts."""
    texts = [" ".join(derivation.words) for derivation in whole]
    pairs = rescored("kit-pairs", texts)
    return tuple(
        replace(derivation, features={**derivation.features, "kit-pairs": pairs[text]})
        for derivation, text in zip(whole, texts, strict=True)
    )


def rescored(name: str, texts: Sequence[str]) -> dict[str, float]:
    """Return a feature's scores of finished texts, computed on a list."""
    from smtformats import Candidates

    unique = list(dict.fromkeys(texts))
    _, values = active(name).score(Candidates("0", unique, [()] * len(unique), [[]] * len(unique)))
    return {text: row[0] for text, row in zip(unique, values, strict=True)}


def matches(
    source: Sequence[str | NonTerminal], words: Sequence[str], first: int, last: int
) -> Iterator[tuple[tuple[int, int, str], ...]]:
    """Yield the nodes of a source side's gaps, for each match with a span."""
    if not source:
        if first == last:
            yield ()
        return
    symbol, rest = source[0], source[1:]
    if isinstance(symbol, NonTerminal):
        for middle in range(first + 1, last - len(rest) + 1):
            for nodes in matches(rest, words, middle, last):
                yield ((first, middle, symbol.label), *nodes)
    elif first < last and words[first] == symbol:
        yield from matches(rest, words, first + 1, last)


def total(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    """Return the weighted sum of features."""
    return math.fsum(weights.get(name, 0.0) * value for name, value in features.items())


def assert_among(text: str, features: Mapping[str, float], every: Sequence[EnumeratedDerivation], where: str) -> None:
    """Check that some derivation has this text and these features."""
    alike = [derivation for derivation in every if " ".join(derivation.words) == text]
    assert alike, f"{where}: no derivation has the text {text!r}"
    assert any(difference(derivation.features, features, TOLERANCE) is None for derivation in alike), (
        f"{where}: {text!r} has the features {dict(features)}, which no derivation with that text has: "
        f"{difference(alike[0].features, features, TOLERANCE)}"
    )


def _join(rule: Rule, owner: str, tails: Sequence[EnumeratedDerivation]) -> EnumeratedDerivation:
    words: list[str] = []
    for symbol in rule.target:
        words += tails[symbol.index - 1].words if isinstance(symbol, NonTerminal) else [symbol]
    own = sum(not isinstance(symbol, NonTerminal) for symbol in rule.target)
    features = {**rule.features(), "kit-words": float(own)}
    features |= {"kit-origin[0]": float(owner == MINTED), "kit-origin[1]": float(owner == GLUE)}
    for tail in tails:
        for name, number in tail.features.items():
            features[name] = features.get(name, 0.0) + number
    return EnumeratedDerivation(tuple(words), features)


def _line(rule: Rule) -> str:
    source, target = (" ".join(map(_show, side)) for side in (rule.source, rule.target))
    named = " ".join(f"{name}={number!r}" for name, number in rule.features().items())
    return f"[{rule.lhs}] ||| {source} ||| {target} ||| {named}\n"


def _show(symbol: str | NonTerminal) -> str:
    return f"[{symbol.label},{symbol.index}]" if isinstance(symbol, NonTerminal) else symbol


def systems(count: int = 8, seed: int = 7) -> list[System]:
    """Return random systems: rules of up to three gaps, unary chains, rules for the goal, all conventions."""
    source = random.Random(seed)
    return [_random(source, number) for number in range(count)]


def _random(source: random.Random, number: int) -> System:
    rules = [Rule(LABEL, ("a",), ("A",), ("p",), (0.5,)), Rule("Y", ("b",), ("B",), ("q",), (-0.25,))]
    glue = number % 4 != 3
    if not glue:
        whole, part = NonTerminal(GOAL, 1), NonTerminal(LABEL, 2)
        rules += [Rule(GOAL, (gap := NonTerminal(LABEL, 1),), (gap,)), Rule(GOAL, (whole, part), (part, whole))]
    if source.random() < 0.5:
        gap = NonTerminal("Y", 1)
        rules.append(Rule(LABEL, (gap,), (gap, "E"), ("p",), (0.125,)))
    while len(rules) < 14:
        rules.append(_rule(source))
    # A repeated rule is one derivation for some decoders and two for others.
    rules = list({(rule.lhs, rule.source, rule.target): rule for rule in rules}.values())
    options: dict[str, Any] = {"glue": glue, "pass_through": ("all", "unknown", "none")[number % 3]}
    if number % 5 == 1:
        options["max_span"] = 3
    texts = [tuple(source.choice("abc") for _ in range(size)) for size in (1, 2, 3, 4, 5)]
    texts.insert(2, ("z", "a"))
    sentences = [Sentence(f"{number}-{i}", words) for i, words in enumerate(texts)]
    names = ("p", "q", "kit-words", "kit-origin[0]", "kit-origin[1]", "kit-pairs")
    weights = {name: round(source.uniform(-1, 1), 3) for name in names}
    return System(number, tuple(rules), tuple(sentences), weights, options)


def _rule(source: random.Random) -> Rule:
    gaps = [NonTerminal(source.choice((LABEL, LABEL, "Y")), k + 1) for k in range(source.choice((0, 0, 1, 1, 2, 2, 3)))]
    left: list[str | NonTerminal] = list(gaps)
    right: list[str | NonTerminal] = source.sample(gaps, len(gaps))
    for _ in range(source.randint(0 if len(gaps) > 1 else 1, 2)):
        left.insert(source.randint(0, len(left)), source.choice("abc"))
    for _ in range(source.randint(0, 2)):
        right.insert(source.randint(0, len(right)), source.choice("ABC"))
    values = (round(source.uniform(-1, 1), 2), round(source.uniform(-1, 1), 2))
    return Rule(source.choice((LABEL, LABEL, "Y")), tuple(left), tuple(right), ("p", "q"), values)
