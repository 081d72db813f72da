"""Tree-shape features: whether a rule is attached above or below, and its number of gaps. Not in the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.tools.grammars import Rules

KINDS = ("above", "below", "arity[0]", "arity[1]", "arity[2]")
"""Rules with more than two gaps count as ``arity[2]``."""


class UndirectedShape:
    """Indicators of the decoder `umt`: rule attached above or below another, with no gap, one, or more.

    They come from the author's earlier code, not the paper. They guide the search only and are not part of scores.
    """

    def column_names(self, label: str) -> tuple[str, ...]:
        """Return no names: lists and hypergraphs have no column for them."""
        return ()

    def names(self, label: str) -> tuple[str, ...]:
        """Return the names of the weights."""
        return tuple(f"{label}-{kind}" for kind in KINDS)

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Return no columns: other decoders attach rules in a fixed order."""
        import numpy as np

        return np.empty((len(rules), 0))
