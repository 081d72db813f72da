"""Base classes for features written for one edge at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.features import Scorer, UndirectedScorer
    from smtplugins.core.grammar.rules import Edges


class SimpleStateful:
    """Base class of a stateful feature written for one edge at a time.

    Implement ``combine_one(target, tails)``, where ``target`` mixes words with child numbers (0 is the first child),
    and ``finish_one(state)`` if sentence ends matter. States must be hashable.
    """

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[float, Any]:
        """Return the score of one edge and its new state."""
        raise NotImplementedError

    def finish_one(self, state: Any) -> float:
        """Return what a complete derivation adds."""
        return 0.0

    def estimate_one(self, target: Sequence[str | int]) -> float:
        """Estimate the score of an edge whose children are unknown."""
        return 0.0

    def start(self, sentence: Sentence) -> Scorer[Any]:
        """Return a scorer for this sentence."""
        return _OneByOne(self)


class _OneByOne:
    def __init__(self, feature: SimpleStateful) -> None:
        self._feature = feature

    def combine(self, edges: Edges, tails: Sequence[Sequence[Any]]) -> tuple[list[float], list[Any]]:
        return self.combine_targets([edges.rules.target_of(i) for i in range(len(edges.rules))], tails)

    def combine_targets(
        self, targets: Sequence[Sequence[str | int]], tails: Sequence[Sequence[Any]]
    ) -> tuple[list[float], list[Any]]:
        """``combine`` for target sides given as lists."""
        combine = self._feature.combine_one
        results = [combine(target, below) for target, below in zip(targets, tails, strict=True)]
        return [score for score, _ in results], [state for _, state in results]

    def finish(self, states: Sequence[Any]) -> list[float]:
        return [self._feature.finish_one(state) for state in states]

    def estimate(self, edges: Edges) -> list[float]:
        return [self._feature.estimate_one(edges.rules.target_of(i)) for i in range(len(edges.rules))]


class SimpleUndirected:
    """Base class of an undirected feature written for one edge at a time.

    Implement ``attach_one(target, links)``. ``target`` mixes words with child numbers (0 is the first child);
    ``links[0]`` is the context above, ``links[1 + k]`` that of child k: ``None`` is an open place, ``OUTSIDE`` is
    above the goal. It returns the score the edge adds, and the context for each of these neighbours. Contexts must
    be hashable. Derive from ``SimpleStateful`` as well for the directed form.
    """

    def attach_one(self, target: Sequence[str | int], links: Sequence[Any]) -> tuple[float, Sequence[Any]]:
        """Return the score of one edge, and the context for each of its neighbours."""
        raise NotImplementedError

    def undirected(self, sentence: Sentence) -> UndirectedScorer[Any]:
        """Return a scorer for this sentence."""
        return _AttachedOneByOne(self)


class _AttachedOneByOne:
    def __init__(self, feature: SimpleUndirected) -> None:
        self._feature = feature

    def attach(self, edges: Edges, links: Sequence[Sequence[Any]]) -> tuple[list[float], list[Sequence[Any]]]:
        attach = self._feature.attach_one
        results = [attach(edges.rules.target_of(i), around) for i, around in enumerate(links)]
        return [score for score, _ in results], [contexts for _, contexts in results]
