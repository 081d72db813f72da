"""Context-free-factor features: bounds of the branches that a growing tree misses.

A. Gesmundo and J. Henderson (2014), section 4: by (max,+) inside and outside over the context-free forest, with the
weights of the first pass and not those that are learnt.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import UsageError
from smtplugins.plugins.umt.growing.search import SLOTS, CffMode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core.grammar.rules import Rules


class Cff:
    """How the decoder `umt` bounds what is missing; in a score the bounds do not count.

    ``mode``: ``sum`` is one feature, ``slots`` one for each link of a rule, ``difference`` the sum less the bound of
    the branch that the rule fills, ``none`` no feature. Bounds are divided by ``scale``. ``first_pass_path`` is a file
    of the weights they are made with, else those of the configuration are taken. ``lm`` is how much of what a language
    model says of a rule's words alone is in the bounds, and with ``joins`` of what it says where the best branches
    join, which makes guesses of them. ``weight`` counts where the run has none.

    The paper's bounds are context-free, ``lm=0``; ``scale=8.5`` is of its author's earlier code.
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
        """How many features the bounds become."""
        return {"sum": 1, "difference": 1, "slots": SLOTS, "none": 0}[self.mode]

    def column_names(self, label: str) -> tuple[str, ...]:
        """Lists and graphs have no column of them."""
        return ()

    def names(self, label: str) -> tuple[str, ...]:
        """Their names, which have weights."""
        return (label,) if self.components == 1 else tuple(f"{label}[{k}]" for k in range(self.components))

    def score_rules(self, rules: Rules) -> NDArray[Any]:
        """Nothing: bounds guide a search, and other decoders have their own."""
        import numpy as np

        return np.empty((len(rules), 0))

    def first_pass(
        self, label: str, weights: Mapping[str, float], configured: Mapping[str, float] | None
    ) -> Mapping[str, float]:
        """The weights that bounds are made with.

        They are those of the file named; else those that came with the run's as ``LABEL:NAME``, as learning leaves
        them; else the configuration's; else the run's own.
        """
        if self.first_pass_path is not None:
            from smtplugins.host.files.lists import read_weights

            return read_weights(self.first_pass_path)
        brought = {name[len(label) + 1 :]: one for name, one in weights.items() if name.startswith(f"{label}:")}
        return brought or (weights if configured is None else configured)
