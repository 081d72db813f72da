"""Lattices as decoders take them: which files are read as such, and what features say of arcs for their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtformats import FormatError
from smtformats.tokens import BadField
from smtplugins.core.grammar.parsing import Lattice

if TYPE_CHECKING:
    from smtformats import Format
    from smtformats.hypergraph.graph import GraphColumns
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.features.scoring import Active
    from smtplugins.host.files.opening import Opened

PLF, SLF, NETWORK = LATTICES = ("plf-lattice", "slf-lattice", "confusion-network")


def holds_both(config: RunConfig) -> bool:
    """Whether a file of lattices may have sentences, as for cdec and Joshua; Moses stops at such a line."""
    return not config.output.format.startswith("moses")


def tell_lattices(opened: Opened, known: Sequence[Format]) -> None:
    """What was opened as PLF may have the shape of other lattices, whose lines would be sentences."""
    from smtformats.files import head, shown_name
    from smtplugins.host.files.opening import find_format

    assert opened.stream is not None
    start = head(opened.stream, shown_name(opened.path))
    others = [find_format(one, None, known) for one in (SLF, NETWORK)]
    opened.record = next((one for one in others if one.matches(start)), opened.record)


def check_lattice(one: Any, file: str) -> None:
    """A graph that came by its format's name may be any."""
    from smtformats.hypergraph.graph import GraphColumns
    from smtformats.hypergraph.lattices import arcs_of

    if isinstance(one, GraphColumns):
        try:
            arcs_of(one)
        except BadField as bad:
            raise FormatError(bad.expected, bad.found, file=file) from None


def check_text(one: Any, number: int, format: str, file: str) -> None:
    """A file that began with sentences, which are told by shape, goes on with them: a lattice is none."""
    from smtformats.hypergraph import plf

    text = one if isinstance(one, str) else getattr(one, "source", "")
    if text.startswith("(") and plf.matches(text.encode()):
        found = f"a lattice (--from {PLF} reads lattices and sentences, --from {format} takes it for words)"
        line = number + 1 if isinstance(one, str) else one.line
        raise FormatError("a sentence, as on the lines before", found, file=file, line=line)


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
