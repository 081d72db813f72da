"""Weighted sums of features of n-best lists, and what counts for features without a weight."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from smtformats import Candidates
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

    def totals(self, nbest: Candidates) -> list[float]:
        """The weighted sum of each hypothesis of a list, summed in the order of the names."""
        features = nbest.features()
        row = np.zeros(len(features.names))
        for i, name in enumerate(features.names):
            value = self.weights.get(name)
            if value is None:
                value = 0.0 if ":" in name else self.missing
                if value is None:
                    raise SmtError(
                        f"{nbest.file or '<data>'}:{nbest.line}: feature {name!r} has no weight; "
                        f"{argument('missing=0', '--missing-weight 0')} counts such features as 0"
                    )
            else:
                self.used.add(name)
            row[i] = value
        with np.errstate(over="ignore", invalid="ignore"):
            totals: list[float] = features.dot(row).tolist()
        for i, total in enumerate(totals):
            if not math.isfinite(total):
                raise SmtError(f"{nbest.file or '<data>'}:{nbest.line + i}: expected a finite total, found {total}")
        return totals
