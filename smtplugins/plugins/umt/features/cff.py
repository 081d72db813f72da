"""Context-free-factor features: bounds on the missing branches of a growing tree.

A. Gesmundo and J. Henderson (2014), section 4: Viterbi inside and outside scores of the context-free forest, with
first-pass weights instead of the learnt ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.options import fill
from smtplugins.plugins.umt._umt import BoundOptions
from smtplugins.plugins.umt.growing.search import SLOTS, CffMode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.tools.grammars import Rules


class Cff:
    """Bounds on missing branches for the decoder `umt`; they guide the search and are not part of scores.

    ``mode``: ``sum`` is one feature, ``slots`` one for each link of a rule, ``difference`` the sum minus the bound of
    the branch that the rule fills, ``none`` no feature. Bounds are divided by ``scale``. ``first_pass_path`` names a
    file of first-pass weights (default: the weights of the configuration). ``lm`` is the share of the language
    model's rule-alone score in the bounds; with ``joins`` its score where the best branches join is added, too, which
    turns bounds into estimates. ``weight`` is the feature weight if the run has none.

    The paper's bounds are context-free, ``lm=0``; ``scale=8.5`` is from its author's earlier code.
    """

    def __init__(
        self,
        *,
        mode: CffMode = "sum",
        scale: float = 1.0,
        first_pass_path: Path | None = None,
        lm: float = 0.9,
        joins: bool = True,
        weight: float = 1.0,
    ) -> None:
        if not (scale > 0 and math.isfinite(scale)):
            raise UsageError(f"cff: scale: expected a number above 0, found {scale}")
        if not (math.isfinite(lm) and math.isfinite(weight)):
            raise UsageError("cff: expected finite numbers for lm and weight")
        self.mode = mode
        self.scale = scale
        self.first_pass_path = first_pass_path
        self.lm = lm
        self.joins = joins
        self.weight = weight

    @property
    def components(self) -> int:
        """The number of features."""
        return {"sum": 1, "difference": 1, "slots": SLOTS, "none": 0}[self.mode]

    def bounds(self) -> BoundOptions:
        """Return the options of the native search."""
        return fill(BoundOptions, self, components=self.components, difference=self.mode == "difference")

    def column_names(self, label: str) -> tuple[str, ...]:
        """Return no names: lists and hypergraphs have no column for them."""
        return ()

    def names(self, label: str) -> tuple[str, ...]:
        """Return the names of the weights."""
        return (label,) if self.components == 1 else tuple(f"{label}[{k}]" for k in range(self.components))

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Return no columns: bounds guide the search only, and other decoders have their own."""
        import numpy as np

        return np.empty((len(rules), 0))

    def first_pass(
        self, label: str, weights: Mapping[str, float], configured: Mapping[str, float] | None
    ) -> Mapping[str, float]:
        """Return the first-pass weights that bounds are computed with.

        In order of preference: the file ``first_pass_path``; the run's weights named ``LABEL:NAME``, as learning
        writes them; the configuration's weights; the run's own weights.
        """
        if self.first_pass_path is not None:
            from smtplugins.contracts.tools.files import read_weights

            return read_weights(self.first_pass_path)
        prefixed = {name[len(label) + 1 :]: weight for name, weight in weights.items() if name.startswith(f"{label}:")}
        return prefixed or (weights if configured is None else configured)
