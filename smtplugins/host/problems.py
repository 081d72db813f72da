"""Lists as a learner sees them: one sparse matrix of features, one table of statistics, and which rows are a list."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.host.contracts import Lists

_KEPT = "_matrix"
_ROWS = 1 << 16


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
