"""Lists as a learner sees them: one sparse matrix of features, one table of statistics, and which rows are a list."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.contracts import Forests, Lists

_KEPT = "_matrix"
_ROWS = 1 << 16
_VALUES = 1 << 20
_ROUNDING = 1e-12
_SAMPLES = 8


@dataclass(frozen=True)
class Matrix:
    """All hypotheses of all lists, a row each; list k has the rows ``lists[k]`` to before ``lists[k+1]``.

    Row i has the values ``values[offsets[i]:offsets[i+1]]`` of the features ``names[ids[...]]``; names are sorted.
    ``stats`` are the metric's, a row each.
    """

    names: tuple[str, ...]
    lists: NDArray[Any]
    offsets: NDArray[Any]
    ids: NDArray[Any]
    values: NDArray[Any]
    stats: NDArray[Any]

    def __len__(self) -> int:
        """How many hypotheses there are."""
        return len(self.offsets) - 1

    @cached_property
    def dense(self) -> NDArray[Any]:
        """The features as a table of hypotheses times names. For few names: it is made whole."""
        import numpy as np

        table = np.zeros((len(self), len(self.names)))
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        np.add.at(table, (rows, self.ids), self.values)
        return table

    def scores(self, weights: NDArray[Any]) -> NDArray[Any]:
        """The weighted sum of each row; ``weights`` go by ``names``."""
        import numpy as np

        found: NDArray[Any] = np.empty(len(self))
        # Some rows at a time: the products of all would take more room than the matrix.
        for first in range(0, len(self), _ROWS):
            bounds = self.offsets[first : first + _ROWS + 1]
            a, b, count = bounds[0], bounds[-1], len(bounds) - 1
            rows = np.repeat(np.arange(count), np.diff(bounds))
            found[first : first + count] = np.bincount(rows, self.values[a:b] * weights[self.ids[a:b]], count)
        return found

    def best(self, weights: NDArray[Any]) -> NDArray[Any]:
        """The row of each list with the highest score, the first of equal ones."""
        import numpy as np

        scores = self.scores(weights)
        top = np.maximum.reduceat(scores, self.lists[:-1])
        rows = np.flatnonzero(scores == np.repeat(top, np.diff(self.lists)))
        firsts = np.searchsorted(rows, self.lists[:-1])
        found: NDArray[Any] = rows[firsts]
        return found

    @cached_property
    def spread(self) -> NDArray[Any]:
        """The standard deviation of each feature within lists: the root of the mean variance."""
        import numpy as np

        sizes, width = np.diff(self.lists), len(self.names)
        total = np.zeros(width)
        first = 0
        while first < len(sizes):
            # Some lists at a time, for the room indices take.
            last = max(
                first + 1, int(np.searchsorted(self.offsets[self.lists], self.offsets[self.lists[first]] + _VALUES))
            )
            last = min(last, len(sizes))
            total += self._squares(first, last)
            first = last
        return np.sqrt(total / len(sizes))

    def _squares(self, first: int, last: int) -> NDArray[Any]:
        """The variances of each feature in some lists, added up."""
        import numpy as np

        sizes, width = np.diff(self.lists[first : last + 1]), len(self.names)
        bounds = self.offsets[self.lists[first] : self.lists[last] + 1]
        part = slice(bounds[0], bounds[-1])
        values, ids = self.values[part], self.ids[part]
        of = np.repeat(np.repeat(np.arange(last - first), sizes), np.diff(bounds))
        keys, which = np.unique(of * width + ids, return_inverse=True)
        which = which.reshape(-1)
        length = sizes[keys // width]
        means = np.bincount(which, values, len(keys)) / length
        rest = np.maximum(length - np.bincount(which, minlength=len(keys)), 0)
        squares = np.bincount(which, (values - means[which]) ** 2, len(keys)) + rest * means**2
        # What differs by rounding alone does not differ.
        squares[squares <= (_ROUNDING * means) ** 2 * length] = 0.0
        return np.bincount(keys % width, squares / length, width)

    @cached_property
    def size(self) -> NDArray[Any]:
        """The mean absolute value of each feature."""
        import numpy as np

        found: NDArray[Any] = np.bincount(self.ids, np.abs(self.values), len(self.names)) / len(self)
        return found

    def column(self, weights: Mapping[str, float]) -> NDArray[Any]:
        """Weights by ``names``, 0 for one that is not given."""
        import numpy as np

        return np.array([weights.get(name, 0.0) for name in self.names], dtype=np.float64)


def matrix_of(problem: Lists) -> Matrix:
    """The lists of a problem as a matrix; what no learner can use is an error that says so.

    It is made once for a problem: host, learner and all its runs look at the same one.
    """
    made: Matrix | None = vars(problem).get(_KEPT)
    if made is None:
        made = _matrix(problem)
        object.__setattr__(problem, _KEPT, made)
    return made


def _matrix(problem: Lists) -> Matrix:
    import numpy as np

    if not problem.lists:
        raise SmtError("expected n-best lists to learn from, found none")
    names: dict[str, int] = {}
    # Arrays that grow: pieces of a million lists would take as much room again.
    sizes, widths, ids, values = array("q", [0]), array("q", [0]), array("i"), array("d")
    for given, stats in zip(problem.lists, problem.stats, strict=True):
        one = given.features()
        place = f"list {given.id} ({given.file or '<data>'}:{given.line})"
        if not len(one):
            raise SmtError(f"{place}: expected hypotheses, found none")
        if len(stats) != len(one):
            raise SmtError(f"{place}: expected statistics of {len(one)} hypotheses, found {len(stats)}")
        if not np.isfinite(one.values).all():
            raise SmtError(f"{place}: expected finite features, found inf or nan")
        own = np.array([names.setdefault(name, len(names)) for name in one.names], dtype=np.int32)
        sizes.append(len(one))
        widths.frombytes(np.diff(one.offsets).astype(np.int64).tobytes())
        ids.frombytes(own[one.ids].tobytes())
        values.frombytes(np.asarray(one.values, dtype=np.float64).tobytes())
    order = sorted(names)
    rank = np.empty(len(order), dtype=np.int32)
    rank[[names[name] for name in order]] = np.arange(len(order), dtype=np.int32)
    return Matrix(
        names=tuple(order),
        lists=np.cumsum(sizes),
        offsets=np.cumsum(widths),
        ids=rank[np.asarray(ids)],
        values=np.asarray(values),
        stats=np.concatenate([np.asarray(one, dtype=np.float64) for one in problem.stats]),
    )


def checked_weights(names: tuple[str, ...], weights: NDArray[Any]) -> dict[str, float]:
    """Weights as a mapping; such as no run should end with are an error that says what to do."""
    import numpy as np

    if not np.isfinite(weights).all():
        bad = ", ".join(name for name, value in zip(names, weights, strict=True) if not np.isfinite(value))
        raise SmtError(f"learning ended with weights that are no numbers ({bad}): scale these features, or regularise")
    if len(weights) and not np.any(weights):
        raise SmtError(
            "learning ended with all weights 0: the features do not tell good hypotheses from bad ones; "
            "begin with other weights, or add features"
        )
    return dict(zip(names, weights.tolist(), strict=True))


def forest_scales(problem: Forests) -> tuple[dict[str, float], dict[str, float]]:
    """The standard deviation and the mean absolute value of each feature among derivations sampled uniformly."""
    import numpy as np

    from smtplugins.core.graph.inference import sample

    variances: dict[str, float] = {}
    sizes: dict[str, float] = {}
    count = 0
    for graph in (graph for graphs in problem.graphs for graph in graphs if graph.nodes):
        drawn = np.array([one.features() for one in sample(graph, np.zeros(len(graph)), _SAMPLES)])
        for found, values in ((variances, drawn.var(axis=0)), (sizes, np.abs(drawn).mean(axis=0))):
            for name, value in zip(graph.names, values.tolist(), strict=True):
                found[name] = found.get(name, 0.0) + value
        count += 1
    return (
        {name: math.sqrt(value / count) for name, value in sorted(variances.items())},
        {name: value / count for name, value in sorted(sizes.items())},
    )
