"""Shortest-path lengths between lattice nodes, used as distortion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtformats.hypergraph.lattices import arcs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats.hypergraph.graph import GraphColumns

UNREACHABLE = 100_000
"""The distance between nodes without a path; Moses makes no jump as long as that."""


def distances(lattice: GraphColumns) -> NDArray[Any]:
    """The fewest arcs on a path from one node (row) to another (column)."""
    import numpy as np

    positions, arcs = arcs_of(lattice)
    lengths = np.full((positions, positions), UNREACHABLE, dtype=np.int32)
    np.fill_diagonal(lengths, 0)
    for arc in sorted(arcs, key=lambda arc: -arc.tail):
        # The distances from the arc's head are final.
        np.minimum(lengths[arc.tail], lengths[arc.head] + 1, out=lengths[arc.tail])
    np.minimum(lengths, UNREACHABLE, out=lengths)
    return lengths
