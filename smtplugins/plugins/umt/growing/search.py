"""Growing trees in forests: the Python face of the native kernel (``native/growth.hpp``).

An action is a row of four numbers: an edge of the forest; the step beside whose edge it is put, -1 for the first of
all; the link there, 0 for that edge's head and k for its k-th tail; and by what the new edge is put there, -1 for its
head, else which of its tails, from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core.search.stateful_search import SearchForest
    from smtplugins.plugins.umt import _umt

    Array = NDArray[Any]

LmMode = Literal["delta", "rescored", "split"]
"""How a language model scores: the change of what is known, words anew, or these by length of context."""
CffMode = Literal["sum", "slots", "difference", "none"]

SLOTS = 3
"""Bounds of an edge's head, its first and its second tail; further tails count with the second."""


@dataclass(frozen=True)
class Grown:
    """A complete tree: its actions, the score of each when it was taken, and its values.

    The columns of ``values`` are those of the bounds, then of each part. ``scored`` counts candidates.
    """

    actions: Array
    scores: Array
    values: Array
    scored: int

    def __len__(self) -> int:
        return len(self.actions)


class Searcher:
    """Grows trees, one sentence after another, in one thread at a time.

    ``parts`` are features at work there. ``cff`` says how the bounds of missing branches become features, each divided
    by ``scale``: their sum, that less the bound of the branch which the edge fills, one for each link of an edge, or
    none at all. With ``joins`` they are guesses: what parts with estimates add where best branches join is in them.
    """

    def __init__(
        self, parts: Sequence[_umt.Part] = (), cff: CffMode = "sum", scale: float = 1.0, joins: bool = False
    ) -> None:
        from smtplugins.plugins.umt._umt import Growth

        self._parts = len(parts)
        components = {"sum": 1, "difference": 1, "slots": SLOTS, "none": 0}[cff]
        self._growth = Growth(list(parts), components, scale, joins, cff == "difference")

    @property
    def components(self) -> int:
        """How many weights there are: those of the bounds, then those of each part."""
        return self._growth.components

    def begin(
        self, forest: SearchForest, scores: Any, bounds: Any, weights: Any, estimates: Sequence[float] | None = None
    ) -> None:
        """The next sentence: scores of its rules, those that bounds are made of, and the weights of values.

        ``estimates`` are a weight for each part: what it expects of a rule alone, times that, is in the bounds, too.
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
        """Replays actions, and goes on with the best ones until the tree is complete."""
        return Grown(*self._growth.follow(rows(prefix)))

    def draw(self, prefix: Any = (), *, temperature: float, seed: int) -> Grown:
        """The same, drawing actions: each as likely as exp(score / temperature) makes it."""
        return Grown(*self._growth.draw(rows(prefix), temperature, seed))

    def ranked(self, prefix: Any = ()) -> tuple[Array, Array]:
        """What could be done after these actions, with scores: the best first, equal ones by edge, slot and place.

        Scores that differ by less than 1e-5 may count as equal.
        """
        return self._growth.ranked(rows(prefix))[:2]

    def values(self, prefix: Any, actions: Any) -> Array:
        """What each of these actions would have after the prefix: a row as in :class:`Grown`."""
        return self._growth.values(rows(prefix), rows(actions))

    def expanded(self, prefix: Any) -> tuple[Array, Array]:
        """The same, with what each action changes: of what was counted for a missing branch it takes the place."""
        actions, scores, filled = self._growth.ranked(rows(prefix))
        return actions, scores - filled


def rows(actions: Any) -> Array:
    """Actions as the kernel takes them."""
    import numpy as np

    return np.ascontiguousarray(actions, dtype=np.int64).reshape(-1, 4)


def lm_part(scorer: Any, mode: LmMode = "delta") -> _umt.Part:
    """A language model's scorer (``lm_scorer`` of ``core/search/stateful_search.py``) at work on a tree that grows.

    ``delta`` is the change of the sum of the scores of all pieces of text, each with an unknown left context: over a
    path it adds up to the score of the translation. ``rescored`` are the scores of the new words and of those whose
    left context they become. ``split`` are these by words of context: sums, counts and means, in three blocks.
    """
    from smtplugins.plugins.umt._umt import lm_part as native

    return native(scorer, mode)


def shape_part() -> _umt.Part:
    """How an edge is put (above, below) and whether it has no tails, one, or more: five indicators."""
    from smtplugins.plugins.umt._umt import shape_part as native

    return native()


def python_part(carries: Any, components: int) -> _umt.Part:
    """Features in Python (``features/carries.py``)."""
    from smtplugins.plugins.umt._umt import CallbackPart

    return CallbackPart(carries, components)
