"""Optional fields of n-best lists: phrase segmentation, word alignment, input words.

They need derivations of a phrase decoder, where each edge appends its words to those of its single tail.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from smtformats.records import dataclass
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import suggestion

if TYPE_CHECKING:
    from smtplugins.core.graph.derivations import Derivations
    from smtplugins.core.graph.hypergraph import Hypergraph

FIELDS = ("segmentation", "alignment", "input")
"""In Moses' order, after the total; ``input`` holds the words of the path taken through a lattice."""


@dataclass(frozen=True)
class SpannedPhrase:
    """A phrase of a derivation: the source words ``[first, last)``, the number of target words, its word alignment."""

    first: int
    last: int
    source: tuple[str, ...]
    size: int
    points: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Rule:
    """A phrase pair: source words, target length, and word alignment in source order."""

    source: tuple[str, ...]
    size: int
    points: tuple[tuple[int, int], ...]


def check_fields(names: Sequence[str]) -> tuple[str, ...]:
    """Check field names and return them in the order of a list."""
    for name in names:
        if name not in FIELDS:
            raise UsageError(f"unknown field {name!r} of lists{suggestion(name, FIELDS)}")
    return tuple(name for name in FIELDS if name in names)


def fields_of(derivations: Derivations, names: Sequence[str]) -> dict[str, list[str]]:
    """The requested fields of each derivation, by field name."""
    columns: dict[str, list[str]] = {name: [] for name in names}
    for phrases in _phrases(derivations, names[0] if names else FIELDS[0]):
        for name in names:
            columns[name].append(_field(name, phrases))
    return columns


def phrases_of(derivations: Derivations, what: str = FIELDS[0]) -> list[list[SpannedPhrase]]:
    """The phrases of each derivation in target order; ``what`` needs them, for messages."""
    return [
        [SpannedPhrase(*span, rule.source, rule.size, rule.points) for span, rule in phrases]
        for phrases in _phrases(derivations, what)
    ]


def _phrases(derivations: Derivations, what: str) -> Iterator[list[tuple[tuple[int, int], _Rule]]]:
    """The phrases of each derivation with their source spans, in target order; ``what`` needs them."""
    from smtplugins.core.search.phrase_spans import NoPhrases, phrase_spans

    graph = derivations.graph
    try:
        firsts, lasts = phrase_spans(graph)
    except NoPhrases as error:
        raise UsageError(f"{what}: expected derivations made of phrases, found others: {error}") from None
    spans = list(zip(firsts.tolist(), lasts.tolist(), strict=True))
    rules: dict[int, _Rule] = {}
    for start, end in itertools.pairwise(derivations.offsets.tolist()):
        phrases = []
        # From the goal down: the last phrase first.
        for edge in reversed(derivations.edges[start:end].tolist()):
            if spans[edge][0] < spans[edge][1]:
                number = int(graph.rules[edge])
                if number not in rules:
                    rules[number] = _rule(graph, number)
                phrases.append((spans[edge], rules[number]))
        yield phrases


def _rule(graph: Hypergraph, number: int) -> _Rule:
    grammar = graph.grammar
    source = grammar.source[grammar.source_offsets[number] : grammar.source_offsets[number + 1]].tolist()
    target = grammar.target[grammar.target_offsets[number] : grammar.target_offsets[number + 1]].tolist()
    points = grammar.points[grammar.point_offsets[number] : grammar.point_offsets[number + 1]].tolist()
    # Positions in the rule count the gap in front.
    before = [sum(symbol < 0 for symbol in side) for side in (source, target)]
    inner = sorted({(first - before[0], second - before[1]) for first, second in points})
    words = tuple(graph.words[symbol] for symbol in source if symbol >= 0)
    return _Rule(words, len(target) - before[1], tuple(point for point in inner if min(point) >= 0))


def _field(name: str, phrases: Sequence[tuple[tuple[int, int], _Rule]]) -> str:
    if name not in FIELDS:
        raise UsageError(f"{name}: expected derivations made of rules (the decoder hiero), found phrases")
    if name == "input":
        return " ".join(word for _, rule in sorted(phrases, key=lambda phrase: phrase[0]) for word in rule.source)
    return " ".join(_segments(phrases) if name == "segmentation" else _points(phrases))


def _segments(phrases: Sequence[tuple[tuple[int, int], _Rule]]) -> Iterator[str]:
    """``0-3=0-2 4=3``, in target order. A phrase with an empty target side keeps its position."""
    at = 0
    for (first, last), rule in phrases:
        yield f"{_range(first, last - 1)}={_range(at, max(at, at + rule.size - 1))}"
        at += rule.size


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _points(phrases: Sequence[tuple[tuple[int, int], _Rule]]) -> Iterator[str]:
    """``0-0 1-2``, phrases in target order, points within a phrase in source order."""
    at = 0
    for (first, _), rule in phrases:
        for source, target in rule.points:
            yield f"{first + source}-{at + target}"
        at += rule.size
