"""Confidences computed from parameters instead of trees: an inverted index from atoms to conjunctions.

Trees of the permutation classifiers are deep, as rule 7.13 splits off one atom after another: most literals are
negated. A row has few atoms, and only literals of these are visited. The sum is that of equation 7.4's model, each
parameter counted once, in the order of the classes and of their conjunctions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel

Array = NDArray[Any]


class ConjunctionIndex:
    """The conjunctions of one problem's classifiers, indexed by atom."""

    def __init__(self, model: BoostedModel, problem: str | int) -> None:
        self._width = len(model.classes[model.number(problem)])
        atoms: list[int] = []
        owners: list[int] = []
        signs: list[int] = []
        classes: list[int] = []
        values: list[float] = []
        wanted: list[int] = []
        for which in range(self._width):
            for literals, value in model.parameters(problem, which).items():
                falses = sum(literal % 2 for literal in literals)
                atoms += [literal // 2 for literal in literals]
                # A violated negation outweighs all satisfied literals.
                signs += [-len(literals) - 1 if literal % 2 else 1 for literal in literals]
                owners += [len(values)] * len(literals)
                wanted.append(len(literals) - falses)
                classes.append(which)
                values.append(value)
        order = np.argsort(np.array(atoms, dtype=np.int64), kind="stable")
        self.atoms, starts = np.unique(np.array(atoms, dtype=np.int64)[order], return_index=True)
        self._bounds = np.append(starts, len(atoms)).astype(np.int64)
        self._owners = np.array(owners, dtype=np.int64)[order]
        self._signs = np.array(signs, dtype=np.float64)[order]
        self._classes = np.array(classes, dtype=np.int64)
        self._values = np.array(values, dtype=np.float64)
        self._wanted = np.array(wanted, dtype=np.float64)

    def scores(self, offsets: Array, ids: Array) -> Array:
        """The confidence of each class (rows x classes)."""
        rows, count = len(offsets) - 1, len(self._values)
        row_of = np.repeat(np.arange(rows), np.diff(offsets))
        at = np.searchsorted(self.atoms, ids)
        known = at < len(self.atoms)
        known[known] = self.atoms[at[known]] == ids[known]
        at, row_of = at[known], row_of[known]
        lengths = self._bounds[at + 1] - self._bounds[at]
        ends = np.cumsum(lengths)
        which = np.arange(int(lengths.sum())) + np.repeat(self._bounds[at] - ends + lengths, lengths)
        cells = np.repeat(row_of, lengths) * count + self._owners[which]
        counts = np.bincount(cells, self._signs[which], rows * count).reshape(rows, count)
        row, conjunction = np.nonzero(counts == self._wanted)
        scores: Array = np.bincount(
            row * self._width + self._classes[conjunction], self._values[conjunction], rows * self._width
        )
        return scores.reshape(rows, self._width)
