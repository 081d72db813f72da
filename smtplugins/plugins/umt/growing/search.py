"""Growing trees in forests: the Python interface of the native kernel (``native/growth.hpp``).

An action is a row of four numbers: an edge of the forest; the step whose edge it is attached to, -1 for the first
action; the link of that edge, 0 for its head and k for its k-th tail; and the slot of the new edge, -1 for its head,
else its tail, counted from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.plugins.umt._umt import BoundOptions, CallbackPart, Growth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.tools.search import SearchForest
    from smtplugins.plugins.umt import _umt

    Array = NDArray[Any]

LmMode = Literal["delta", "rescored", "split"]
"""Language model features: the change of the known score, rescored words, or rescored words by context length."""
CffMode = Literal["sum", "slots", "difference", "none"]

SLOTS = 3
"""Bounds for an edge's head, first tail and second tail; further tails count with the second."""


@dataclass(frozen=True)
class Grown:
    """A complete tree: its actions with the score of each when it was taken, and their feature values.

    The columns of ``values`` are the bounds, then those of each part. ``scored`` is the number of scored candidates.
    """

    actions: Array
    scores: Array
    values: Array
    scored: int

    def __len__(self) -> int:
        return len(self.actions)


class Searcher:
    """Grows trees, sentence after sentence, in a single thread.

    ``parts`` are the contextual features; ``bounds`` says how the bounds of missing branches become features: by
    default by their sum.
    """

    def __init__(self, parts: Sequence[_umt.Part] = (), bounds: BoundOptions | None = None) -> None:
        self._parts = len(parts)
        self._growth = Growth(list(parts), bounds or BoundOptions())

    @property
    def components(self) -> int:
        """The number of weights: those of the bounds, then those of each part."""
        return self._growth.components

    def begin(
        self, forest: SearchForest, scores: Any, bounds: Any, weights: Any, estimates: Sequence[float] | None = None
    ) -> None:
        """Begin a sentence with its rule scores, the rule scores for bounds, and the weights of values.

        ``estimates`` holds, for each part, the weight in the bounds of its estimate for a rule out of context.
        """
        import numpy as np

        self._growth.begin(
            forest,
            np.ascontiguousarray(scores, dtype=np.float32),
            np.ascontiguousarray(bounds, dtype=np.float32),
            np.ascontiguousarray(weights, dtype=np.float64),
            np.array([0.0] * self._parts if estimates is None else estimates, dtype=np.float64),
        )

    def follow(self, prefix: Any = ()) -> Grown:
        """Replay a prefix of actions, then take the best action until the tree is complete."""
        return Grown(*self._growth.follow(rows(prefix)))

    def draw(self, prefix: Any = (), *, temperature: float, seed: int) -> Grown:
        """Replay a prefix, then sample actions with probability proportional to exp(score / temperature)."""
        return Grown(*self._growth.draw(rows(prefix), temperature, seed))

    def ranked(self, prefix: Any = ()) -> tuple[Array, Array]:
        """Return the possible actions after a prefix and their scores, best first, ties by edge, slot and place.

        Scores that differ by less than 1e-5 may count as ties.
        """
        return self._growth.ranked(rows(prefix))[:2]

    def values(self, prefix: Any, actions: Any) -> Array:
        """Return the values of each action after the prefix, in rows as in :class:`Grown`."""
        return self._growth.values(rows(prefix), rows(actions))

    def expanded(self, prefix: Any) -> tuple[Array, Array]:
        """Return possible actions as `ranked` does, with their scores minus the bound of the branch they replace."""
        actions, scores, filled = self._growth.ranked(rows(prefix))
        return actions, scores - filled


def rows(actions: Any) -> Array:
    """Return actions as the kernel's array of four columns."""
    import numpy as np

    return np.ascontiguousarray(actions, dtype=np.int64).reshape(-1, 4)


def lm_part(scorer: Any, mode: LmMode = "delta") -> _umt.Part:
    """Return the part of a language model's scorer (``lm_scorer`` of ``core/search/stateful_search.py``).

    ``delta`` is the change of the summed scores of all pieces of text, each with an unknown left context; over a path
    it adds up to the score of the translation. ``rescored`` is the score of the new words and of the words whose left
    context they extend. ``split`` is the same by context length in words: blocks of sums, counts and means.
    """
    from smtplugins.plugins.umt._umt import lm_part as native

    return native(scorer, mode)


def shape_part() -> _umt.Part:
    """Return the part of five indicators: edge attached above, below; with no tail, one, or more."""
    from smtplugins.plugins.umt._umt import shape_part as native

    return native()


def python_part(carries: Any, components: int) -> _umt.Part:
    """Return the part that calls Python features (``features/carries.py``)."""
    return CallbackPart(carries, components)
