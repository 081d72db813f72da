"""Upper envelopes of lines, on lists and on hypergraphs, and what they make of a corpus metric's statistics.

F. J. Och, "Minimum Error Rate Training in Statistical Machine Translation" (2003), section 5, for lists; W. Macherey,
F. J. Och, I. Thayer and J. Uszkoreit, "Lattice-based Minimum Error Rate Training for Statistical Machine Translation"
(2008) and S. Kumar, W. Macherey, C. Dyer and F. J. Och (2009) for graphs. Along a line through weight space each
hypothesis has a score that is a line itself, value + t * slope; the hypotheses that win somewhere are the envelope.
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
    """Line ``lines[k]`` is the highest from ``starts[k]``, the first of which is minus infinity, to the next start."""

    starts: Floats
    lines: NDArray[np.int32]

    def __len__(self) -> int:
        """How many lines are the highest somewhere."""
        return len(self.lines)


@dataclass(frozen=True, eq=False)
class GraphEnvelope:
    """Derivation k, a line of ``values[k]`` and ``slopes[k]``, is the best one from ``starts[k]`` to the next start."""

    starts: Floats
    values: Floats
    slopes: Floats
    derivations: Derivations

    def __len__(self) -> int:
        """How many derivations are the best somewhere."""
        return len(self.starts)


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Summed statistics along directions.

    Direction d has the intervals from ``offsets[d]`` to before ``offsets[d+1]``; interval i begins at ``starts[i]``,
    the first of a direction at minus infinity, and has the statistics ``sums[i]``.
    ``present`` are those at t = 0, of the first of equally good hypotheses.
    """

    offsets: NDArray[np.int64]
    starts: Floats
    sums: Floats
    present: Floats | None = None

    def __len__(self) -> int:
        """How many directions there are."""
        return len(self.offsets) - 1

    def parts(self) -> Iterator[slice]:
        """The intervals of each direction."""
        for first, last in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            yield slice(first, last)

    @classmethod
    def joined(cls, each: Sequence[Surfaces]) -> Surfaces:
        """Several as one, their directions one after the other."""
        import numpy as np

        counts = np.concatenate([np.diff(one.offsets) for one in each])
        return cls(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate([one.starts for one in each]),
            np.concatenate([one.sums for one in each]),
            each[0].present,
        )


def upper_envelope(values: ArrayLike, slopes: ArrayLike) -> Envelope:
    """The lines that are the highest somewhere, by rising slope; of equal lines the first."""
    return Envelope(*_core.upper_envelope(_doubles(values), _doubles(slopes)))


def graph_envelope(graph: Hypergraph, values: ArrayLike, slopes: ArrayLike) -> GraphEnvelope:
    """The derivations that are the best somewhere when edge e scores ``values[e] + t * slopes[e]``.

    A dynamic program over nodes: lines of tails are added up between their starts, those of edges joined.
    """
    starts, at, by, offsets, edges = _core.graph_envelope(graph.core, _doubles(values), _doubles(slopes))
    return GraphEnvelope(starts, at, by, Derivations(graph, at, offsets, edges))


class ListSearch:
    """N-best lists with dense features, for line after line through their weights.

    List k is the columns ``lists[k]`` to before ``lists[k+1]`` of ``table``, which has a row a feature; ``stats`` has
    a row a hypothesis. The arrays are kept, not copied, if they are contiguous arrays of doubles.
    """

    def __init__(self, lists: ArrayLike, table: ArrayLike, stats: ArrayLike) -> None:
        import numpy as np

        rows = _doubles(stats)
        self._width = rows.shape[1]
        self._native = _core.ListSearch(np.ascontiguousarray(lists, dtype=np.int64), _doubles(table), rows)

    def surfaces(self, weights: ArrayLike, directions: ArrayLike) -> Surfaces:
        """The envelopes of all lists from weights along each direction (a row), as statistics summed over the lists."""
        return _surfaces(self._native.surfaces(_doubles(weights), _doubles(directions)), self._width)


def summed_surface(items: ArrayLike, starts: ArrayLike, rows: ArrayLike, stats: ArrayLike) -> Surfaces:
    """The same of one direction from envelopes that are known.

    That of item k are the lines ``items[k]`` to before ``items[k+1]``: where each begins, and its row of ``stats``.
    """
    import numpy as np

    table = _doubles(stats)
    columns = (np.ascontiguousarray(one, dtype=np.int64) for one in (items, rows))
    first, which = columns
    return _surfaces(_core.summed_surface(first, _doubles(starts), which, table), table.shape[1])


def _surfaces(found: tuple[NDArray[np.int64], Floats, Floats, Floats], width: int) -> Surfaces:
    offsets, starts, sums, present = found
    return Surfaces(offsets, starts, sums.reshape(len(starts), width), present if len(present) else None)


def _doubles(values: ArrayLike) -> Floats:
    import numpy as np

    return np.ascontiguousarray(values, dtype=np.float64)
