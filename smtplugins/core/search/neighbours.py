"""Constrained decoding of phrases, as in Joshua: each phrase with the one before it must stand in the target.

The words of two phrases that follow each other in a translation, ``<s>`` before the first and ``</s>`` after the last,
have to be a part of ``<s> TARGET </s>``, compared as characters. A translation may therefore leave out or repeat parts
of the target. A phrase without words is not allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

FAULT = 1e9
"""What an illegal step costs: far more than a model gives."""
NAME = "target-constraint"


class NeighbouringPhrases:
    """A scorer of steps: 0, or ``-FAULT`` for a phrase that may not follow the one before, which is the state."""

    def __init__(self, target: str) -> None:
        self._text = f"<s> {target} </s>"

    def combine_targets(
        self, targets: Sequence[Sequence[str | int]], tails: Sequence[Sequence[str]]
    ) -> tuple[list[float], list[str]]:
        """Score a batch of steps and return their words."""
        states = ["<s>" if not below else _words(target) for target, below in zip(targets, tails, strict=True)]
        pairs = zip(states, tails, strict=True)
        return [self._score(below[0], words) if below else 0.0 for words, below in pairs], states

    def combine(self, edges: Any, tails: Sequence[Sequence[str]]) -> tuple[list[float], list[str]]:
        """As ``combine_targets``, for steps as records."""
        return self.combine_targets([list(edges.rules.target_of(i)) for i in range(len(tails))], tails)

    def finish(self, states: Sequence[str]) -> list[float]:
        """The end of the sentence follows the last phrase."""
        return [self._score(state, "</s>") for state in states]

    def estimate(self, edges: Any) -> list[float]:
        """Phrases that the target does not have are searched last."""
        rules = edges.rules
        return [0.0 if _words(rules.target_of(i)) in self._text else -FAULT for i in range(len(rules))]

    def _score(self, before: str, words: str) -> float:
        return 0.0 if words and f"{before} {words}" in self._text else -FAULT


def _words(target: Sequence[str | int]) -> str:
    return " ".join(symbol for symbol in target if isinstance(symbol, str))
