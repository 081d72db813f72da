"""Building blocks of linear learners: sparse feature rows, objectives with gradients, steps with several cuts.

An objective is a function of the weights that gives its value and its gradient. A hypothesis of list k, row r, has the
probability exp(scale * w.x_r) / Z_k.

Products of long arrays use ``einsum``, not ``@``: as fast, and without BLAS threads, which on a busy machine wait for
each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core.learn.minimising import Objective

    Array = NDArray[Any]


@dataclass(frozen=True)
class FeatureRows:
    """Sparse rows of features: row i is ``values[offsets[i]:offsets[i+1]]`` at ``ids[...]``, numbers below ``width``.

    Rows that all have the same features in the same order are used as a table, without a copy.
    """

    offsets: Array
    ids: Array
    values: Array
    width: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def table(self) -> tuple[Array, Array] | None:
        """The ids and the dense values if all rows have the same ids in the same order, each once; else None."""
        import numpy as np

        size = len(self.ids) // max(len(self), 1)
        if not size or len(self.ids) != size * len(self) or (np.diff(self.offsets) != size).any():
            return None
        columns = self.ids[:size]
        same = len(np.unique(columns)) == size and bool((self.ids.reshape(-1, size) == columns).all())
        return (columns, self.values.reshape(-1, size)) if same else None

    @cached_property
    def _sparse(self) -> Any:
        from scipy.sparse import csr_array

        return csr_array((self.values, self.ids, self.offsets), shape=(len(self), self.width))

    def scores(self, weights: Array) -> Array:
        """The weighted sum of each row."""
        import numpy as np

        if self.table is not None:
            columns, values = self.table
            sums: Array = np.einsum("ij,j->i", values, weights[columns])
        else:
            sums = self._sparse @ weights
        return sums

    def part_scores(self, first: int, last: int, weights: Array) -> Array:
        """The weighted sums of the rows ``first`` to ``last`` (exclusive)."""
        import numpy as np

        if self.table is not None:
            columns, values = self.table
            sums: Array = np.einsum("ij,j->i", values[first:last], weights[columns])
        else:
            bounds = self.offsets[first : last + 1]
            part = slice(bounds[0], bounds[-1])
            rows = np.repeat(np.arange(last - first), np.diff(bounds))
            sums = np.bincount(rows, self.values[part] * weights[self.ids[part]], last - first)
        return sums

    def sums(self, mass: Array) -> Array:
        """The sum of all rows' features, each row times its mass."""
        import numpy as np

        if self.table is not None:
            columns, values = self.table
            totals: Array = np.zeros(self.width)
            totals[columns] = np.einsum("i,ij->j", mass, values)
        else:
            totals = self._sparse.T @ mass
        return totals

    def row(self, index: int) -> tuple[Array, Array]:
        """The features of a row: ids and values."""
        part = slice(self.offsets[index], self.offsets[index + 1])
        return self.ids[part], self.values[part]

    def take(self, rows: Array) -> FeatureRows:
        """Some rows, in the order given."""
        import numpy as np

        counts = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        places = np.repeat(self.offsets[:-1][rows] - offsets[:-1], counts) + np.arange(offsets[-1])
        return FeatureRows(offsets, self.ids[places], self.values[places], self.width)


def difference(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """The difference of two sparse rows: ascending ids and their non-zero values."""
    import numpy as np

    ids, where = np.unique(np.concatenate([first[0], second[0]]), return_inverse=True)
    values = np.bincount(where.reshape(-1), np.concatenate([first[1], -second[1]]), len(ids))
    kept = values != 0
    return ids[kept], values[kept]


def pair_loss(rows: FeatureRows, better: Array, worse: Array) -> Objective:
    """The logistic loss of pairs of rows: the sum of log(1 + exp(-(w.better - w.worse)))."""
    import numpy as np

    count = len(rows)

    def loss(weights: Array) -> tuple[float, Array]:
        scores = rows.scores(weights)
        margins = scores[better] - scores[worse]
        # log(1 + exp(-m)) and its derivative -1 / (1 + exp(m)), both without overflow.
        value = float(np.logaddexp(0.0, -margins).sum())
        slopes = -np.exp(-np.logaddexp(0.0, margins))
        mass = np.bincount(better, slopes, count) - np.bincount(worse, slopes, count)
        return value, rows.sums(mass)

    return loss


@dataclass(frozen=True)
class ListRisk:
    """The expected value of n-best lists, and their entropy: D. Smith and J. Eisner, "Minimum Risk Annealing" (2006).

    ``worth`` maps the probabilities of all rows to a value and its derivatives by them; for example the
    corpus score of expected statistics. The objective is minus the value minus ``temperature`` times the lists' mean
    entropy.
    """

    rows: FeatureRows
    lists: Array
    worth: Callable[[Array], tuple[float, Array]]

    def probabilities(self, weights: Array, scale: float = 1.0) -> tuple[Array, Array]:
        """The probability and log probability of each row."""
        import numpy as np

        sizes, firsts = np.diff(self.lists), self.lists[:-1]
        scores = scale * self.rows.scores(weights)
        scores -= np.repeat(np.maximum.reduceat(scores, firsts), sizes)
        masses = np.exp(scores)
        totals = np.add.reduceat(masses, firsts)
        masses /= np.repeat(totals, sizes)
        scores -= np.repeat(np.log(totals), sizes)
        return masses, scores

    def objective(self, scale: float = 1.0, temperature: float = 0.0) -> Objective:
        """The objective for a scale of the scores and a temperature."""
        import numpy as np

        sizes, firsts = np.diff(self.lists), self.lists[:-1]

        def risk(weights: Array) -> tuple[float, Array]:
            masses, logs = self.probabilities(weights, scale)
            value, slopes = self.worth(masses)
            value, slopes = -value, -slopes
            if temperature:
                # d(p log p)/dp is log p + 1; the 1 cancels, as the probabilities of a list sum to 1.
                weight = temperature / len(sizes)
                value += weight * float(np.einsum("i,i->", masses, logs))
                slopes = slopes + weight * logs
            means = np.add.reduceat(masses * slopes, firsts)
            return value, scale * self.rows.sums(masses * (slopes - np.repeat(means, sizes)))

        return risk


def score_of_sums(stats: Array, score: Callable[[Array], Array], unit: float) -> Callable[[Array], tuple[float, Array]]:
    """The score of expected statistics, for :class:`ListRisk`; derivatives are finite differences."""
    import numpy as np

    width = stats.shape[1]

    def worth(masses: Array) -> tuple[float, Array]:
        sums = np.einsum("i,ij->j", masses, stats)
        steps = 1e-5 * np.maximum(1.0, np.abs(sums))
        moves = np.diag(steps)
        scores = np.asarray(score(np.concatenate([sums[None], sums + moves, sums - moves])), dtype=np.float64) / unit
        slopes = (scores[1 : width + 1] - scores[width + 1 :]) / (2 * steps)
        return float(scores[0]), np.einsum("ij,j->i", stats, slopes)

    return worth


def mean_of_gains(gains: Array, count: int) -> Callable[[Array], tuple[float, Array]]:
    """The mean over lists of the expected gain, for :class:`ListRisk`."""

    import numpy as np

    def worth(masses: Array) -> tuple[float, Array]:
        return float(np.einsum("i,i->", masses, gains)) / count, gains / count

    return worth


def simplex_step(gram: Array, losses: Array, total: float, start: Array | None = None, rounds: int = 1000) -> Array:
    """Maximise losses.a - a.gram.a / 2 subject to a >= 0 and sum(a) <= total: the dual of a step with several cuts.

    Optimises pairs of coordinates, the slack among them, by sequential minimal optimisation (D. Chiang, "Hope
    and Fear for Discriminative Training of Statistical Translation Models", 2012).
    """
    import numpy as np

    # The slack, the last coordinate, takes up the rest of the total.
    count = len(losses)
    wide = np.zeros((count + 1, count + 1))
    wide[:count, :count] = gram
    gains = np.append(losses, 0.0)
    point = np.zeros(count + 1)
    if start is not None:
        point[: len(start)] = start
    point[count] = total - point[:count].sum()
    close = 1e-10 * max(1.0, float(np.abs(gains).max()))
    for _ in range(rounds):
        slopes = gains - wide @ point
        up = int(np.argmax(slopes))
        down = int(np.argmin(np.where(point > 0, slopes, np.inf)))
        if slopes[up] - slopes[down] <= close:
            break
        bend = wide[up, up] + wide[down, down] - 2 * wide[up, down]
        move = point[down] if bend <= 0 else min(point[down], (slopes[up] - slopes[down]) / bend)
        point[up] += move
        point[down] -= move
        if move == 0:
            break
    return point[:count]
