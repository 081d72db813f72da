"""Features of partial trees: for decoders that grow a tree from any of its edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from smtplugins.contracts.data import Scores, Sentence
    from smtplugins.core.grammar.rules import Edges

C = TypeVar("C")


class Outside:
    """The context above the goal: nothing surrounds the whole sentence."""

    def __repr__(self) -> str:
        return "OUTSIDE"


OUTSIDE = Outside()


class UndirectedScorer(Protocol[C]):
    """An undirected feature on one sentence.

    A tree grows by one edge at a time. ``links[i]`` are the contexts of edge i's neighbours: the edge above it, then
    its children in target order; ``None`` is an open place, ``OUTSIDE`` is above the goal. ``attach`` returns the
    score each edge adds given the neighbours known so far, and the contexts it passes on, one for each link.
    Contexts are hashable and compared by ``==``. In whatever order a tree is built, the scores of its edges must sum
    to the feature's directed score of the tree.
    """

    def attach(
        self, edges: Edges, links: Sequence[Sequence[C | Outside | None]]
    ) -> tuple[Scores, Sequence[Sequence[C]]]: ...


@runtime_checkable
class UndirectedFeature(Protocol):
    """Scores edges in partial context. It may have ``components``, like a stateful feature."""

    def undirected(self, sentence: Sentence) -> UndirectedScorer[Any]: ...
