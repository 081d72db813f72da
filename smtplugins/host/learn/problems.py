"""Lists as learners use them: a sparse feature matrix, a table of statistics, and the row range of each list."""

from __future__ import annotations

import itertools
import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.learners import ForestProblem, ListProblem

_KEPT = "_matrix"
_ROWS = 1 << 16
_VALUES = 1 << 18
_ROUNDING = 1e-12
_SAMPLES = 8


@dataclass(frozen=True)
class Matrix:
    """All hypotheses of all lists as rows; list k has the rows ``lists[k]`` up to ``lists[k+1]``.

    Row i has the values ``values[offsets[i]:offsets[i+1]]`` of the features ``names[ids[...]]``; names are sorted.
    ``stats`` holds the metric's statistics of each row.
    """

    names: tuple[str, ...]
    lists: NDArray[Any]
    offsets: NDArray[Any]
    ids: NDArray[Any]
    values: NDArray[Any]
    stats: NDArray[Any]

    def __len__(self) -> int:
        """The number of hypotheses."""
        return len(self.offsets) - 1

    @cached_property
    def dense(self) -> NDArray[Any]:
        """The features as a dense table, hypotheses x names; only for few names."""
        import numpy as np

        table = np.zeros((len(self), len(self.names)))
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        np.add.at(table, (rows, self.ids), self.values)
        return table

    def scores(self, weights: NDArray[Any]) -> NDArray[Any]:
        """The weighted sum of each row; ``weights`` are in the order of ``names``."""
        import numpy as np

        scores: NDArray[Any] = np.empty(len(self))
        # In blocks of rows, as all products at once would take more memory than the matrix.
        for first in range(0, len(self), _ROWS):
            bounds = self.offsets[first : first + _ROWS + 1]
            a, b, count = bounds[0], bounds[-1], len(bounds) - 1
            rows = np.repeat(np.arange(count), np.diff(bounds))
            scores[first : first + count] = np.bincount(rows, self.values[a:b] * weights[self.ids[a:b]], count)
        return scores

    def best(self, weights: NDArray[Any]) -> NDArray[Any]:
        """The row with the highest score of each list, the first on a tie."""
        import numpy as np

        scores = self.scores(weights)
        top = np.maximum.reduceat(scores, self.lists[:-1])
        rows = np.flatnonzero(scores == np.repeat(top, np.diff(self.lists)))
        firsts = np.searchsorted(rows, self.lists[:-1])
        best_rows: NDArray[Any] = rows[firsts]
        return best_rows

    def between(self, first: int, last: int) -> Matrix:
        """The lists from ``first`` up to, without, ``last``."""
        lists = self.lists[first : last + 1]
        offsets = self.offsets[lists[0] : lists[-1] + 1]
        rows, part = slice(lists[0], lists[-1]), slice(offsets[0], offsets[-1])
        return Matrix(
            self.names, lists - lists[0], offsets - offsets[0], self.ids[part], self.values[part], self.stats[rows]
        )

    def without(self, first: int, last: int) -> Matrix:
        """All lists but those from ``first`` up to, without, ``last``, with the names that are left."""
        import numpy as np

        rows = slice(self.lists[first], self.lists[last])
        part = slice(self.offsets[rows.start], self.offsets[rows.stop])

        def rest(column: NDArray[Any], cut: slice) -> NDArray[Any]:
            return np.concatenate([column[: cut.start], column[cut.stop :]])

        def bounds(column: NDArray[Any], cut: slice) -> NDArray[Any]:
            return np.concatenate([column[: cut.start], column[cut.stop :] - (column[cut.stop] - column[cut.start])])

        ids = rest(self.ids, part)
        kept = np.bincount(ids, minlength=len(self.names)) > 0
        rank = np.cumsum(kept, dtype=np.int32) - 1
        return Matrix(
            tuple(itertools.compress(self.names, kept.tolist())),
            bounds(self.lists, slice(first, last)),
            bounds(self.offsets, rows),
            ids if kept.all() else rank[ids].astype(np.int32),
            rest(self.values, part),
            rest(self.stats, rows),
        )

    @cached_property
    def spread(self) -> NDArray[Any]:
        """The standard deviation of each feature within lists: the root of the mean variance."""
        return _spread(self.lists, self.offsets, self.ids, self.values, len(self.names))

    def spread_of(self, scores: NDArray[Any]) -> float:
        """The standard deviation within lists of a score for each row."""
        import numpy as np

        zeros = np.zeros(len(self), dtype=np.int32)
        return float(_spread(self.lists, np.arange(len(self) + 1), zeros, scores, 1)[0])

    @cached_property
    def size(self) -> NDArray[Any]:
        """The mean absolute value of each feature."""
        import numpy as np

        sizes: NDArray[Any] = np.bincount(self.ids, np.abs(self.values), len(self.names)) / len(self)
        return sizes

    def column(self, weights: Mapping[str, float]) -> NDArray[Any]:
        """Weights in the order of ``names``, 0 if missing."""
        import numpy as np

        return np.array([weights.get(name, 0.0) for name in self.names], dtype=np.float64)


def _spread(
    lists: NDArray[Any], offsets: NDArray[Any], ids: NDArray[Any], values: NDArray[Any], width: int
) -> NDArray[Any]:
    """The standard deviation of ``width`` features within lists; the arrays are those of a matrix."""
    import numpy as np

    total = np.zeros(width)
    first, count, ends = 0, len(lists) - 1, offsets[lists]
    while first < count:
        # A few lists at a time, to bound the memory of indices.
        last = min(max(first + 1, int(np.searchsorted(ends, ends[first] + _VALUES))), count)
        bounds = offsets[lists[first] : lists[last] + 1]
        part = slice(bounds[0], bounds[-1])
        # A table is fastest, unless more than half of it would be 0.
        filled = 2 * (bounds[-1] - bounds[0]) >= (len(bounds) - 1) * width
        variances = _dense_variances if filled else _sparse_variances
        total += variances(lists[first : last + 1] - lists[first], np.diff(bounds), ids[part], values[part], width)
        first = last
    return np.sqrt(total / count)


def _dense_variances(
    lists: NDArray[Any], lengths: NDArray[Any], ids: NDArray[Any], values: NDArray[Any], width: int
) -> NDArray[Any]:
    """The sum over lists of each feature's variance, from a table with a row per feature."""
    import numpy as np

    starts, sizes, rows = lists[:-1], np.diff(lists), int(lists[-1])
    table = np.zeros((width, rows))
    np.add.at(table.reshape(-1), np.repeat(np.arange(rows), lengths) + rows * ids.astype(np.int64), values)
    sums = np.empty(width)
    for feature, row in enumerate(table):
        means = np.add.reduceat(row, starts) / sizes
        squares = np.add.reduceat((row - np.repeat(means, sizes)) ** 2, starts)
        sums[feature] = (_without_rounding(squares, means, sizes) / sizes).sum()
    return sums


def _sparse_variances(
    lists: NDArray[Any], lengths: NDArray[Any], ids: NDArray[Any], values: NDArray[Any], width: int
) -> NDArray[Any]:
    """The same, from the values alone."""
    import numpy as np

    sizes = np.diff(lists)
    # A cell is a list and a feature; with few features there are about as many cells as keys.
    keys = np.repeat(np.repeat(np.arange(len(sizes)), sizes), lengths) * width + ids
    if len(sizes) * width <= len(keys):
        cells, which = np.arange(len(sizes) * width), keys
    else:
        cells, which = np.unique(keys, return_inverse=True)
        which = which.reshape(-1)
    length = sizes[cells // width]
    means = np.bincount(which, values, len(cells)) / length
    rest = np.maximum(length - np.bincount(which, minlength=len(cells)), 0)
    squares = np.bincount(which, (values - means[which]) ** 2, len(cells)) + rest * means**2
    return np.bincount(cells % width, _without_rounding(squares, means, length) / length, width)


def _without_rounding(squares: NDArray[Any], means: NDArray[Any], sizes: NDArray[Any]) -> NDArray[Any]:
    """Sums of squared differences, 0 where they are due to rounding."""
    import numpy as np

    return np.where(squares <= (_ROUNDING * means) ** 2 * sizes, 0.0, squares)


def matrix_of(problem: ListProblem) -> Matrix:
    """The lists of a problem as a matrix; raises SmtError for data that no learner can use.

    The matrix is cached in the problem, so host, learner and all runs share it.
    """
    matrix: Matrix | None = vars(problem).get(_KEPT)
    if matrix is None:
        matrix = _matrix(problem)
        keep_matrix(problem, matrix)
    return matrix


def keep_matrix(problem: ListProblem, matrix: Matrix) -> None:
    """Give a problem its matrix, for those who ask for it later."""
    object.__setattr__(problem, _KEPT, matrix)


def _matrix(problem: ListProblem) -> Matrix:
    import numpy as np

    if not problem.lists:
        raise SmtError("expected n-best lists to learn from, found none")
    names: dict[str, int] = {}
    # Growing arrays: collecting pieces of a million lists would double the memory.
    sizes, widths, ids, values = array("q", [0]), array("q", [0]), array("i"), array("d")
    for nbest, stats in zip(problem.lists, problem.stats, strict=True):
        columns = nbest.features()
        place = f"list {nbest.id} ({nbest.file or '<data>'}:{nbest.line})"
        if not len(columns):
            raise SmtError(f"{place}: expected hypotheses, found none")
        if len(stats) != len(columns):
            raise SmtError(f"{place}: expected statistics of {len(columns)} hypotheses, found {len(stats)}")
        if not np.isfinite(columns.values).all():
            raise SmtError(f"{place}: expected finite features, found inf or nan")
        own = np.array([names.setdefault(name, len(names)) for name in columns.names], dtype=np.int32)
        sizes.append(len(columns))
        widths.frombytes(np.diff(columns.offsets).astype(np.int64).tobytes())
        ids.frombytes(own[columns.ids].tobytes())
        values.frombytes(np.asarray(columns.values, dtype=np.float64).tobytes())
    order = sorted(names)
    rank = np.empty(len(order), dtype=np.int32)
    rank[[names[name] for name in order]] = np.arange(len(order), dtype=np.int32)
    return Matrix(
        names=tuple(order),
        lists=np.cumsum(sizes),
        offsets=np.cumsum(widths),
        ids=rank[np.asarray(ids)],
        values=np.asarray(values),
        stats=np.concatenate([np.asarray(stats, dtype=np.float64) for stats in problem.stats]),
    )


def checked_weights(names: tuple[str, ...], weights: NDArray[Any]) -> dict[str, float]:
    """Weights as a mapping; raises SmtError if they are not finite or all 0."""
    import numpy as np

    if not np.isfinite(weights).all():
        bad = ", ".join(name for name, value in zip(names, weights, strict=True) if not np.isfinite(value))
        raise SmtError(f"learning ended with weights that are not finite ({bad}): scale these features, or regularise")
    if len(weights) and not np.any(weights):
        raise SmtError(
            "learning ended with all weights 0: the features do not tell good hypotheses from bad ones; "
            "start from other weights, or add features"
        )
    return dict(zip(names, weights.tolist(), strict=True))


def forest_scales(problem: ForestProblem) -> tuple[dict[str, float], dict[str, float]]:
    """The standard deviation and the mean absolute value of each feature among derivations sampled uniformly."""
    import numpy as np

    from smtplugins.core.graph.inference import sample

    variances: dict[str, float] = {}
    sizes: dict[str, float] = {}
    count = 0
    for graph in (graph for graphs in problem.graphs for graph in graphs if graph.nodes):
        drawn = sample(graph, np.zeros(len(graph)), _SAMPLES).features()
        for sums, values in ((variances, drawn.var(axis=0)), (sizes, np.abs(drawn).mean(axis=0))):
            for name, value in zip(graph.names, values.tolist(), strict=True):
                sums[name] = sums.get(name, 0.0) + value
        count += 1
    return (
        {name: math.sqrt(value / count) for name, value in sorted(variances.items())},
        {name: value / count for name, value in sorted(sizes.items())},
    )
