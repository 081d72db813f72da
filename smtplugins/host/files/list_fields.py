"""What lists say of hypotheses beside texts and features: phrases, word alignments, the words of the input.

Derivations are those of a phrase decoder, whose edges put their words behind those of their one tail.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    from smtplugins.core.graph.derivations import Derivations
    from smtplugins.core.graph.hypergraph import Hypergraph

FIELDS = ("segmentation", "alignment", "input")
"""As Moses has them behind the total; ``input`` are the words of the path that was taken through a lattice."""


@dataclass(frozen=True)
class _Rule:
    """The words of a phrase and its word alignment, in the order of the source."""

    source: tuple[str, ...]
    size: int
    points: tuple[tuple[int, int], ...]


def check_fields(names: Sequence[str]) -> tuple[str, ...]:
    """The fields that were asked for, in their order in a list."""
    for name in names:
        if name not in FIELDS:
            from smtplugins.contracts.spec import suggestion

            raise UsageError(f"unknown field {name!r} of lists{suggestion(name, FIELDS)}")
    return tuple(name for name in FIELDS if name in names)


def fields_of(found: Derivations, names: Sequence[str]) -> dict[str, list[str]]:
    """The fields of each derivation, by their names."""
    from smtplugins.core.search.phrase_spans import NoPhrases, phrase_spans

    graph = found.graph
    try:
        firsts, lasts = phrase_spans(graph)
    except NoPhrases as error:
        raise UsageError(
            f"the decoder's derivations are not made of phrases, and have no {names[0]}: {error}"
        ) from None
    spans = list(zip(firsts.tolist(), lasts.tolist(), strict=True))
    rules: dict[int, _Rule] = {}
    columns: dict[str, list[str]] = {name: [] for name in names}
    for start, end in itertools.pairwise(found.offsets.tolist()):
        phrases = []
        # From the goal down: the last phrase first.
        for edge in reversed(found.edges[start:end].tolist()):
            if spans[edge][0] < spans[edge][1]:
                number = int(graph.rules[edge])
                if number not in rules:
                    rules[number] = _rule(graph, number)
                phrases.append((spans[edge], rules[number]))
        for name in names:
            columns[name].append(_field(name, phrases))
    return columns


def _rule(graph: Hypergraph, number: int) -> _Rule:
    grammar = graph.grammar
    source = grammar.source[grammar.source_offsets[number] : grammar.source_offsets[number + 1]].tolist()
    target = grammar.target[grammar.target_offsets[number] : grammar.target_offsets[number + 1]].tolist()
    points = grammar.points[grammar.point_offsets[number] : grammar.point_offsets[number + 1]].tolist()
    # Positions of the rule count the gap in front.
    before = [sum(symbol < 0 for symbol in side) for side in (source, target)]
    inner = sorted({(first - before[0], second - before[1]) for first, second in points})
    words = tuple(graph.words[symbol] for symbol in source if symbol >= 0)
    return _Rule(words, len(target) - before[1], tuple(point for point in inner if min(point) >= 0))


def _field(name: str, phrases: Sequence[tuple[tuple[int, int], _Rule]]) -> str:
    if name == "input":
        return " ".join(word for _, rule in sorted(phrases, key=lambda one: one[0]) for word in rule.source)
    return " ".join(_segments(phrases) if name == "segmentation" else _points(phrases))


def _segments(phrases: Sequence[tuple[tuple[int, int], _Rule]]) -> Iterator[str]:
    """``0-3=0-2 4=3``, in target order. A phrase without words stands where it would have one."""
    at = 0
    for (first, last), rule in phrases:
        yield f"{_range(first, last - 1)}={_range(at, max(at, at + rule.size - 1))}"
        at += rule.size


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _points(phrases: Sequence[tuple[tuple[int, int], _Rule]]) -> Iterator[str]:
    """``0-0 1-2``, phrase after phrase in target order, in each by source words."""
    at = 0
    for (first, _), rule in phrases:
        for source, target in rule.points:
            yield f"{first + source}-{at + target}"
        at += rule.size
