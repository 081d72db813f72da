"""Where the phrases of a derivation stand: what features of blocks ask of edges, and orientations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.grammar.rules import Edges

Span = tuple[int, int]


def orientation(before: Span, span: Span) -> str:
    """Where source words [first, last) are, seen from those of the phrase before: R, L or N."""
    if before[1] == span[0]:
        return "R"
    return "L" if span[1] == before[0] else "N"


def spans_of(edges: Edges, tails: Sequence[Sequence[Any]], name: str) -> list[Span]:
    """The source words of each edge's own phrase."""
    if edges.firsts is None or edges.lasts is None:
        known = "a phrase decoder and a list with a segmentation know them"
        raise UsageError(f"{name}: expected edges that say which source words they translate: {known}")
    if any(len(below) > 1 for below in tails):
        raise UsageError(f"{name}: expected phrases, which stand behind one other, found rules with several children")
    return list(zip(edges.firsts.tolist(), edges.lasts.tolist(), strict=True))


def words_of(sentence: Sentence, name: str) -> tuple[str, ...]:
    """The words of a sentence that is no lattice."""
    if sentence.lattice is not None:
        raise UsageError(f"{name}: the nodes of a lattice do not tell which words a phrase translates")
    return sentence.tokens
