"""Source spans of the phrases of a derivation, and their orientations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.tools.grammars import Edges

Span = tuple[int, int]


def orientation(before: Span, span: Span) -> str:
    """Return the orientation of a span [first, last) relative to the previous phrase's: R, L or N."""
    if before[1] == span[0]:
        return "R"
    return "L" if span[1] == before[0] else "N"


def spans_of(edges: Edges, tails: Sequence[Sequence[Any]], name: str) -> list[Span]:
    """Return the source span of each edge's own phrase."""
    if edges.firsts is None or edges.lasts is None:
        known = "use a phrase decoder, or a list with a segmentation"
        raise UsageError(f"{name}: expected edges with source spans, found edges without: {known}")
    if any(len(below) > 1 for below in tails):
        raise UsageError(f"{name}: expected phrases, each with a single predecessor, found rules with several children")
    return list(zip(edges.firsts.tolist(), edges.lasts.tolist(), strict=True))


def words_of(sentence: Sentence, name: str) -> tuple[str, ...]:
    """Return the words of a sentence; raises UsageError for a lattice."""
    if sentence.lattice is not None:
        raise UsageError(
            f"{name}: expected a plain sentence, found a lattice, whose spans do not identify source words"
        )
    return sentence.tokens
