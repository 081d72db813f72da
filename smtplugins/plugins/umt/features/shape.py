"""How a tree grows, as features: whether a rule is put above or below, and how many gaps it has. Not in the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core.grammar.rules import Rules

KINDS = ("above", "below", "arity[0]", "arity[1]", "arity[2]")
"""Rules with more gaps than two count with those that have two."""


class Shape:
    """Indicators of the decoder `umt`: each rule is put above or below another, and has no gap, one, or more.

    They are of the author's earlier code, not of the paper. In a score they do not count.
    """

    def column_names(self, label: str) -> tuple[str, ...]:
        """Lists and graphs have no column of them."""
        return ()

    def names(self, label: str) -> tuple[str, ...]:
        """Their names, which have weights."""
        return tuple(f"{label}-{kind}" for kind in KINDS)

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Nothing: another decoder puts all rules in one way."""
        import numpy as np

        return np.empty((len(rules), 0))
