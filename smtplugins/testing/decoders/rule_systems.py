"""Tiny systems for decoders that search with rules: grammars, features, weights, and all derivations, enumerated.

The enumeration is plain Python and shares nothing with any decoder: it tries every rule on every span.
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
from smtplugins.contracts.contracts import Sentence, SimpleStateful
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
"""More derivations of a sentence than these are not enumerated."""


class Words:
    """A feature of rules: target words."""

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """How many there are."""
        return rules.word_counts()


class Origin:
    """A feature of rules that asks where they come from: whether they were made for a word, and whether glue."""

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Two columns of flags."""
        import numpy as np

        assert rules.origins is not None, "rules come without their origins, which a feature needs `grammar` for"
        return np.column_stack([rules.origins.of(MINTED), rules.origins.of(GLUE)])


class Pairs(SimpleStateful):
    """A feature with states: values of neighbouring words, the ends of the sentence among them."""

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[float, Any]:
        """The pairs that meet here; a state is the first and the last word."""
        total, ends = 0.0, None
        for symbol in target:
            new = tails[symbol] if isinstance(symbol, int) else (symbol, symbol)
            if new is None:
                continue
            total += 0.0 if ends is None else value(ends[1], new[0])
            ends = new if ends is None else (ends[0], new[1])
        return total, ends

    def finish_one(self, state: Any) -> float:
        """The pairs at both ends."""
        return value("", "") if state is None else value("", state[0]) + value(state[1], "")


def value(left: str, right: str) -> float:
    """A number of two words, alike on every machine."""
    return ((sum(left.encode()) * 7 + sum(right.encode()) * 13 + len(left)) % 17 - 8) / 4


FEATURES: Mapping[str, tuple[type, frozenset[str]]] = {
    "kit-words": (Words, frozenset({"target"})),
    "kit-origin": (Origin, frozenset({"grammar"})),
    "kit-pairs": (Pairs, frozenset({"target"})),
}
OF_TEXTS = ("kit-words", "kit-pairs")
"""Those that a list can score."""


def active(name: str) -> Active:
    """One of them, made for a run."""
    from smtplugins.host.features.scoring import Active

    make, needs = FEATURES[name]
    return Active(name, Offer(name=name, make=make, summary=f"{name} of the kit", needs=needs), make())


@dataclass(frozen=True)
class Derivation:
    """A derivation as the enumeration finds it: its words and its features."""

    words: tuple[str, ...]
    features: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class System:
    """Rules, sentences to decode with them, and how: the options mean what they mean in ``hiero``."""

    number: int
    rules: tuple[Rule, ...]
    sentences: tuple[Sentence, ...]
    weights: Mapping[str, float]
    options: Mapping[str, Any]

    def resources(self, folder: Path, host: Host) -> Resources:
        """The table, in a file of this folder, and the features."""
        from smtplugins.host.config.resources import Resources, Table

        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "rules.txt"
        path.write_text("".join(map(_line, self.rules)), encoding="utf-8")
        features = tuple(map(active, FEATURES))
        return Resources((Table(path, name="kit-table"),), features, tuple(host.formats()))

    def every(self, words: Sequence[str]) -> list[tuple[Rule, str]]:
        """The rules that there are for a sentence, and where they are from."""
        found = [(rule, "table") for rule in self.rules]
        if self.options["glue"]:
            goal, first, second = NonTerminal(GOAL, 1), NonTerminal(LABEL, 1), NonTerminal(LABEL, 2)
            found += [(Rule(GOAL, side, side), GLUE) for side in ((first,), (goal, second))]
        known = {rule.source for rule in self.rules}
        for word in dict.fromkeys(words):
            unknown = self.options["pass_through"] == "unknown" and (word,) not in known
            if unknown or self.options["pass_through"] == "all":
                found.append((Rule(LABEL, (word,), (word,)), MINTED))
        return found

    def derivations(self, words: tuple[str, ...]) -> tuple[Derivation, ...] | None:
        """All derivations of a sentence, with all features; none if there are too many."""
        return derivations(self, words)

    def applies(self, owner: str, first: int, last: int) -> bool:
        """Whether the rules of an owner apply to a span."""
        limit = self.options.get("max_span")
        return owner == MINTED or (first == 0 if owner == GLUE else limit is None or last - first <= limit)


@functools.lru_cache(200)
def derivations(system: System, words: tuple[str, ...]) -> tuple[Derivation, ...] | None:
    """All derivations of a sentence, with all features; none if there are too many."""
    rules = system.every(words)

    @functools.cache
    def below(first: int, last: int, label: str) -> tuple[Derivation, ...]:
        found: list[Derivation] = []
        for rule, owner in rules:
            if rule.lhs != label or not system.applies(owner, first, last):
                continue
            for tails in matches(rule.source, words, first, last):
                choices = itertools.product(*(below(*node) for node in tails))
                found += [_joined(rule, owner, choice) for choice in choices]
            if len(found) > MOST:
                raise OverflowError
        return tuple(found)

    try:
        found = below(0, len(words), GOAL) if words else ()
    except OverflowError:
        return None
    texts = [" ".join(one.words) for one in found]
    pairs = rescored("kit-pairs", texts)
    return tuple(
        replace(one, features={**one.features, "kit-pairs": pairs[text]})
        for one, text in zip(found, texts, strict=True)
    )


def rescored(name: str, texts: Sequence[str]) -> dict[str, float]:
    """What a feature says of finished texts, through the host's lists."""
    from smtformats import Candidates

    unique = list(dict.fromkeys(texts))
    _, values = active(name).score(Candidates("0", unique, [()] * len(unique), [[]] * len(unique)))
    return {text: row[0] for text, row in zip(unique, values, strict=True)}


def matches(
    source: Sequence[str | NonTerminal], words: Sequence[str], first: int, last: int
) -> Iterator[tuple[tuple[int, int, str], ...]]:
    """The nodes of a source side's gaps, for each way to lay it over a span."""
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
    """The sum of features, each times its weight."""
    return math.fsum(weights.get(name, 0.0) * value for name, value in features.items())


def assert_among(text: str, features: Mapping[str, float], every: Sequence[Derivation], where: str) -> None:
    """Some derivation has this text and these features."""
    alike = [one for one in every if " ".join(one.words) == text]
    assert alike, f"{where}: no derivation has the text {text!r}"
    assert any(difference(one.features, features, TOLERANCE) is None for one in alike), (
        f"{where}: {text!r} has the features {dict(features)}, which no derivation with that text has: "
        f"{difference(alike[0].features, features, TOLERANCE)}"
    )


def _joined(rule: Rule, owner: str, tails: Sequence[Derivation]) -> Derivation:
    words: list[str] = []
    for one in rule.target:
        words += tails[one.index - 1].words if isinstance(one, NonTerminal) else [one]
    own = sum(not isinstance(one, NonTerminal) for one in rule.target)
    features = {**rule.features(), "kit-words": float(own)}
    features |= {"kit-origin[0]": float(owner == MINTED), "kit-origin[1]": float(owner == GLUE)}
    for tail in tails:
        for name, number in tail.features.items():
            features[name] = features.get(name, 0.0) + number
    return Derivation(tuple(words), features)


def _line(rule: Rule) -> str:
    source, target = (" ".join(map(_shown, side)) for side in (rule.source, rule.target))
    named = " ".join(f"{name}={number!r}" for name, number in rule.features().items())
    return f"[{rule.lhs}] ||| {source} ||| {target} ||| {named}\n"


def _shown(symbol: str | NonTerminal) -> str:
    return f"[{symbol.label},{symbol.index}]" if isinstance(symbol, NonTerminal) else symbol


def systems(count: int = 8, seed: int = 7) -> list[System]:
    """Random systems: rules of up to three gaps, chains of labels, rules for the goal itself, each convention."""
    source = random.Random(seed)
    return [_random(source, number) for number in range(count)]


def _random(source: random.Random, number: int) -> System:
    rules = [Rule(LABEL, ("a",), ("A",), ("p",), (0.5,)), Rule("Y", ("b",), ("B",), ("q",), (-0.25,))]
    glue = number % 4 != 3
    if not glue:
        whole, part = NonTerminal(GOAL, 1), NonTerminal(LABEL, 2)
        rules += [Rule(GOAL, (one := NonTerminal(LABEL, 1),), (one,)), Rule(GOAL, (whole, part), (part, whole))]
    if source.random() < 0.5:
        gap = NonTerminal("Y", 1)
        rules.append(Rule(LABEL, (gap,), (gap, "E"), ("p",), (0.125,)))
    while len(rules) < 14:
        rules.append(_rule(source))
    # The same rule twice would be one derivation for some decoders and two for others.
    rules = list({(one.lhs, one.source, one.target): one for one in rules}.values())
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
