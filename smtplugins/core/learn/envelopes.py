"""Upper envelopes of lines on n-best lists and hypergraphs, and the corpus statistics along them, for MERT.

F. J. Och, "Minimum Error Rate Training in Statistical Machine Translation" (2003), section 5, for lists; W. Macherey,
F. J. Och, I. Thayer and J. Uszkoreit, "Lattice-based Minimum Error Rate Training for Statistical Machine Translation"
(2008) and S. Kumar, W. Macherey, C. Dyer and F. J. Och (2009) for graphs. Along a line through weight space the score
of each hypothesis is a line, value + t * slope; the hypotheses that are best for some t form the envelope.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtplugins.core import _core
from smtplugins.core.graph.derivations import Derivations

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from smtplugins.core.graph.hypergraph import Hypergraph

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Envelope:
    """Line ``lines[k]`` is the highest from ``starts[k]`` to the next start; the first start is minus infinity."""

    starts: Floats
    lines: NDArray[np.int32]

    def __len__(self) -> int:
        """The number of lines on the envelope."""
        return len(self.lines)


@dataclass(frozen=True, eq=False)
class GraphEnvelope:
    """Derivation k, a line with ``values[k]`` and ``slopes[k]``, is the best from ``starts[k]`` to the next start."""

    starts: Floats
    values: Floats
    slopes: Floats
    derivations: Derivations

    def __len__(self) -> int:
        """The number of derivations on the envelope."""
        return len(self.starts)


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Summed statistics along directions.

    Direction d has the intervals ``offsets[d]:offsets[d+1]``. Interval i begins at ``starts[i]`` (the
    first of a direction at minus infinity) and has the statistics ``sums[i]``. ``present`` are the statistics at t = 0,
    where of equally good hypotheses the first counts.
    """

    offsets: NDArray[np.int64]
    starts: Floats
    sums: Floats
    present: Floats | None = None

    def __len__(self) -> int:
        """The number of directions."""
        return len(self.offsets) - 1

    def parts(self) -> Iterator[slice]:
        """The intervals of each direction."""
        for first, last in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            yield slice(first, last)

    @classmethod
    def joined(cls, each: Sequence[Surfaces]) -> Surfaces:
        """Several surfaces as one, with the directions of all in order."""
        import numpy as np

        counts = np.concatenate([np.diff(surfaces.offsets) for surfaces in each])
        return cls(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate([surfaces.starts for surfaces in each]),
            np.concatenate([surfaces.sums for surfaces in each]),
            each[0].present,
        )


def upper_envelope(values: ArrayLike, slopes: ArrayLike) -> Envelope:
    """The lines of the upper envelope, by increasing slope; of equal lines the first."""
    return Envelope(*_core.upper_envelope(_doubles(values), _doubles(slopes)))


def graph_envelope(graph: Hypergraph, values: ArrayLike, slopes: ArrayLike) -> GraphEnvelope:
    """The derivations that are best for some t, when edge e scores ``values[e] + t * slopes[e]``.

    A dynamic program over nodes: envelopes of tails are added interval by interval, envelopes of edges merged.
    """
    starts, at, by, offsets, edges = _core.graph_envelope(graph.core, _doubles(values), _doubles(slopes))
    return GraphEnvelope(starts, at, by, Derivations(graph, at, offsets, edges))


class ListSearch:
    """N-best lists with dense features, for searches along lines through weight space.

    List k is the columns ``lists[k]:lists[k+1]`` of ``table``, which has a row for each feature;
    ``stats`` has a row for each hypothesis. Contiguous arrays of doubles are not copied.
    """

    def __init__(self, lists: ArrayLike, table: ArrayLike, stats: ArrayLike) -> None:
        import numpy as np

        rows = _doubles(stats)
        self._width = rows.shape[1]
        self._native = _core.ListSearch(np.ascontiguousarray(lists, dtype=np.int64), _doubles(table), rows)

    def surfaces(
        self, weights: ArrayLike, directions: ArrayLike, reach: tuple[ArrayLike, ArrayLike] | None = None
    ) -> Surfaces:
        """The statistics, summed over the lists, of their envelopes from ``weights`` along each direction (a row).

        ``reach`` has for each direction the least place and the greatest one to look at, on both sides of 0; what is
        beyond counts as what is there.
        """
        import numpy as np

        rows = _doubles(directions)
        if reach is None:
            reach = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
        low, high = (_doubles(end) for end in reach)
        return _surfaces(self._native.surfaces(_doubles(weights), rows, low, high), self._width)


def summed_surface(items: ArrayLike, starts: ArrayLike, rows: ArrayLike, stats: ArrayLike) -> Surfaces:
    """The summed statistics along one direction, from known envelopes.

    The envelope of item k is the lines ``items[k]:items[k+1]``, each with its start and its row of
    ``stats``.
    """
    import numpy as np

    table = _doubles(stats)
    first, which = (np.ascontiguousarray(column, dtype=np.int64) for column in (items, rows))
    return _surfaces(_core.summed_surface(first, _doubles(starts), which, table), table.shape[1])


def _surfaces(native: tuple[NDArray[np.int64], Floats, Floats, Floats], width: int) -> Surfaces:
    offsets, starts, sums, present = native
    return Surfaces(offsets, starts, sums.reshape(len(starts), width), present if len(present) else None)


def _doubles(values: ArrayLike) -> Floats:
    import numpy as np

    return np.ascontiguousarray(values, dtype=np.float64)
