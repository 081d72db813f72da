"""Weighted sums of features of n-best lists, and what counts for features without a weight."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from smtformats import Candidates
from smtformats.errors import first_of
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.arguments import argument


class Weigher:
    """Computes total scores of lists under weights.

    A feature without a weight counts 0 if its name is in an open namespace (``prefix:key``); otherwise it gets the
    weight ``missing``, or raises SmtError if that is None.
    """

    def __init__(self, weights: Mapping[str, float], missing: float | None = None) -> None:
        for name, value in weights.items():
            if not math.isfinite(value):
                raise UsageError(f"weight of {name!r}: expected a finite number, found {value}")
        if missing is not None and not math.isfinite(missing):
            raise UsageError(f"weight of features without one: expected a finite number, found {missing}")
        self.weights = weights
        self.missing = missing
        self.used: set[str] = set()

    def row(self, names: Iterable[str], place: str) -> list[float]:
        """The weight of each feature; ``place`` is where they stand, for the message about one without a weight."""
        row = []
        for name in names:
            value = self.weights.get(name)
            if value is None:
                value = 0.0 if ":" in name else self.missing
                if value is None:
                    raise SmtError(
                        f"{place}: feature {name!r} has no weight; "
                        f"{argument('missing=0', '--missing-weight 0')} counts such features as 0"
                    )
            else:
                self.used.add(name)
            row.append(value)
        return row

    def totals(self, nbest: Candidates) -> list[float]:
        """The weighted sum of each hypothesis of a list, summed in the order of the names."""
        features = nbest.features()
        row = np.array(self.row(features.names, f"{nbest.file or '<data>'}:{nbest.line}"), dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            totals: list[float] = features.dot(row).tolist()
        for i, total in enumerate(totals):
            if not math.isfinite(total):
                raise SmtError(f"{nbest.file or '<data>'}:{nbest.line + i}: expected a finite total, found {total}")
        return totals

    def check_used(self, name: str, required: Iterable[str], note: Callable[[str], None]) -> None:
        """Raise an error if no weight, or not every ``required`` one, named a feature; ``note`` is told the others."""
        from smtplugins.contracts.spec import suggestion

        if not self.used:
            raise SmtError(f"{name}: none of the {len(self.weights)} weights names a feature of the lists")
        idle = [weight for weight in self.weights if weight not in self.used]
        for weight in required:
            if weight in idle:
                raise UsageError(f"weight {weight!r} names no feature of {name}{suggestion(weight, self.used)}")
        if idle:
            note(f"these weights name no feature of the lists: {first_of(idle, 10)}")
