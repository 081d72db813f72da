"""Lattices as decoders take them: what features say of arcs in place of the numbers that were read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from smtformats import FormatError
from smtformats.tokens import BadField
from smtplugins.core.parsing import Lattice

if TYPE_CHECKING:
    from smtformats.hypergraph.graph import GraphColumns
    from smtplugins.host.scoring import Active


def lattice_of(graph: GraphColumns, features: Sequence[Active], epsilon: str | None = None) -> Lattice:
    """A lattice as it was read, its arcs with the features that these features make of their numbers.

    Such a feature has ``arc_features(label, features, word)``. ``epsilon`` is a word for arcs that have none.
    """
    found = Lattice.of(graph, epsilon)
    making = [one for one in features if hasattr(one.feature, "arc_features")]
    if not making:
        return found
    arcs = []
    for arc in found.arcs:
        for one in making:
            word = None if arc.word == epsilon else arc.word
            try:
                arc = replace(arc, features=one.feature.arc_features(one.label, arc.features, word))
            except BadField as bad:
                expected = f"{bad.expected}, as feature {one.label!r} says"
                raise FormatError(expected, bad.found, file=graph.file, line=graph.line, field=arc.first + 1) from None
        arcs.append(arc)
    return replace(found, arcs=tuple(arcs))
