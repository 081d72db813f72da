"""How many arcs of a lattice are between its nodes: what a jump over a part of the input is worth there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats.hypergraph.graph import GraphColumns

UNREACHABLE = 100_000
"""The distance where there is no path; Moses goes no way as long as that."""


def distances(lattice: GraphColumns) -> NDArray[Any]:
    """The fewest arcs on a path from one node (row) to another (column)."""
    import numpy as np

    from smtformats.hypergraph.lattices import arcs_of

    positions, arcs = arcs_of(lattice)
    found = np.full((positions, positions), UNREACHABLE, dtype=np.int32)
    np.fill_diagonal(found, 0)
    for arc in sorted(arcs, key=lambda one: -one.tail):
        # All that leads on from the arc's end is known.
        np.minimum(found[arc.tail], found[arc.head] + 1, out=found[arc.tail])
    np.minimum(found, UNREACHABLE, out=found)
    return found
