"""Joshua's constrained decoding: the first and last words of every constituent must stand in the sentence's target.

A constituent's boundary words are those that its language model state holds, one fewer than the model's order. They
are legal if the first ones occur in ``<s> <s> TARGET </s> </s>``, and not behind the last place of the last ones. A
translation may therefore leave out or repeat words of the target, as in Joshua.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

FAULT = 1e9
"""What an illegal constituent costs: far more than a model gives."""
NAME = "target-constraint"

_State = tuple[tuple[str, ...], tuple[str, ...]]


class BoundaryStates:
    """A scorer of edges that costs nothing: its states keep constituents with other boundary words apart."""

    def __init__(self, width: int) -> None:
        self._width = width

    def combine_targets(
        self, targets: Sequence[Sequence[str | int]], tails: Sequence[Sequence[_State]]
    ) -> tuple[list[float], list[_State]]:
        """Score a batch of edges and return their boundary words."""
        states = [self._state(target, below) for target, below in zip(targets, tails, strict=True)]
        return [self._score(state) for state in states], states

    def combine(self, edges: Any, tails: Sequence[Sequence[_State]]) -> tuple[list[float], list[_State]]:
        """As ``combine_targets``, for edges as records."""
        return self.combine_targets([list(edges.rules.target_of(i)) for i in range(len(tails))], tails)

    def finish(self, states: Sequence[_State]) -> list[float]:
        """Complete derivations cost nothing more."""
        return [0.0] * len(states)

    def estimate(self, edges: Any) -> list[float]:
        """The scores of rules out of context."""
        return [self._alone(edges.rules.target_of(i)) for i in range(len(edges.rules))]

    def _alone(self, target: Sequence[str | int]) -> float:
        return 0.0

    def _state(self, target: Sequence[str | int], below: Sequence[_State]) -> _State:
        return self._boundary(target, below, 0), self._boundary(target[::-1], below, 1)

    def _boundary(self, symbols: Sequence[str | int], below: Sequence[_State], side: int) -> tuple[str, ...]:
        """The words at one side; ``symbols`` begin there. A child with fewer words than the width has no others."""
        words: list[str] = []
        for symbol in symbols:
            inner = below[symbol][side] if isinstance(symbol, int) else (symbol,)
            words += inner if side == 0 else inner[::-1]
            if len(words) >= self._width:
                break
        kept = tuple(words[: self._width])
        return kept if side == 0 else kept[::-1]

    def _score(self, state: _State) -> float:
        return 0.0


class TargetConstraint(BoundaryStates):
    """A scorer of edges: 0, or ``-FAULT`` for one whose boundary words the target does not have."""

    def __init__(self, target: str, width: int) -> None:
        super().__init__(width)
        self._text = f" <s> <s> {target} </s> </s> "
        self._words = frozenset(self._text.split())
        self._known: dict[_State, float] = {}

    def _alone(self, target: Sequence[str | int]) -> float:
        """Rules with a word that the target does not have are searched last."""
        return -FAULT if any(isinstance(x, str) and x not in self._words for x in target) else 0.0

    def _score(self, state: _State) -> float:
        score = self._known.get(state)
        if score is None:
            left, right = (self._text.find(f" {' '.join(state[0])} "), self._text.rfind(f" {' '.join(state[1])} "))
            score = self._known[state] = 0.0 if 0 <= left <= right else -FAULT
        return score
