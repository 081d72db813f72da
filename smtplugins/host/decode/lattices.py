"""Input of decoders: which files hold lattices, the features of their arcs, and how input words are spelt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtformats import FormatError
from smtformats.files import head, shown_name
from smtformats.hypergraph import plf
from smtformats.hypergraph.graph import GraphColumns
from smtformats.hypergraph.lattices import arcs_of
from smtformats.tokens import BadField
from smtplugins.core.grammar.parsing import Lattice
from smtplugins.host.arguments import argument
from smtplugins.host.decode.parsing_options import MARKS
from smtplugins.host.files.opening import find_format

if TYPE_CHECKING:
    from smtformats import Format
    from smtplugins.contracts.data import Sentence
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.decode.parsing_options import ParsingOptions
    from smtplugins.host.features.scoring import Active
    from smtplugins.host.files.opening import Opened

_ANNOTATED = re.compile(r"(\S+)\[(\S+)\]")
_GRAMMAR_TAG = re.compile(r"\s*<seg\s(?:[^>]*\s)?grammar\d*\s*=")
PLF, NETWORK, CDEC = "plf-lattice", "confusion-network", "cdec-corpus"
LATTICES = (PLF, "slf-lattice", NETWORK, "openfst-lattice", "kaldi-lattice")


def lattice_formats() -> list[Format]:
    """The formats of lattices alone, not those of other graphs."""
    from smtformats.hypergraph import confusion, kaldi, openfst, slf

    return [module.FORMAT for module in (plf, slf, confusion, openfst, kaldi)]


def holds_both(config: RunConfig) -> bool:
    """Whether a file of lattices may hold sentences, as for cdec and Joshua; Moses stops at such a line."""
    return not config.output.format.startswith("moses")


def tell_lattices(opened: Opened, known: Sequence[Format]) -> None:
    """Correct the format of a file opened as PLF whose content has another lattice format."""
    assert opened.stream is not None
    start = head(opened.stream, shown_name(opened.path))
    others = [find_format(name, None, known) for name in LATTICES if name != PLF]
    opened.record = next((record for record in others if record.matches(start)), opened.record)


def tell_sentences(opened: Opened, known: Sequence[Format]) -> None:
    """Correct the format of a file opened as text whose content is NIST's SGML or JSON."""
    assert opened.stream is not None
    start = head(opened.stream, shown_name(opened.path))
    others = [find_format(name, None, known) for name in ("nist-sgm", "jsonl-corpus")]
    opened.record = next((record for record in others if record.matches(start)), opened.record)


def check_lattice(record: Any, file: str) -> None:
    """Refuse a graph that is no lattice; a file whose format is named may hold any graph."""
    if isinstance(record, GraphColumns):
        try:
            arcs_of(record)
        except BadField as bad:
            raise FormatError(bad.expected, bad.found, file=file) from None


def check_text(record: Any, number: int, format: str, file: str) -> None:
    """Refuse a lattice in a file whose first lines are sentences, and a tag that names a grammar but is not read."""
    text = record if isinstance(record, str) else getattr(record, "source", "")
    line = number + 1 if isinstance(record, str) else record.line
    if text.startswith("(") and plf.matches(text.encode()):
        reads, words = _readers(PLF, format)
        found = f"a lattice ({reads} reads lattices and sentences, {words} takes it for words)"
        raise FormatError("a sentence" + ", as on the lines before" * (line > 1), found, file=file, line=line)
    if _GRAMMAR_TAG.match(text):
        reads, words = _readers(CDEC, "text")
        found = f"a tag that names one ({reads} reads it, {words} takes it for words)"
        raise FormatError("a sentence without a grammar of its own", found, file=file, line=line)


def _readers(*formats: str) -> list[str]:
    return [argument(f"format={name!r}", f"--from {name}") for name in formats]


def lattice_of(graph: GraphColumns, features: Sequence[Active], epsilon: str | None = None) -> Lattice:
    """Read a lattice and score its arcs by the features that have ``arc_features(label, features, word)``.

    ``epsilon`` is the word of arcs that have none.
    """
    lattice = Lattice.of(graph, epsilon)
    scoring = [active for active in features if hasattr(active.feature, "arc_features")]
    if not scoring:
        return lattice
    arcs = []
    for arc in lattice.arcs:
        for active in scoring:
            word = None if arc.word == epsilon else arc.word
            try:
                arc = replace(arc, features=active.feature.arc_features(active.label, arc.features, word))
            except BadField as bad:
                expected = f"{bad.expected}, as feature {active.label!r} says"
                raise FormatError(expected, bad.found, file=graph.file, line=graph.line, field=arc.first + 1) from None
        arcs.append(arc)
    return replace(lattice, arcs=tuple(arcs))


def input_of(sentence: Sentence, options: ParsingOptions, features: Sequence[Active]) -> Any:
    """The words or the lattice to parse, with Joshua's escapes and the marks of sentences if configured."""
    given: Any = sentence.tokens
    if sentence.lattice is not None:
        given = lattice_of(sentence.lattice, features, "<eps>" if options.joshua else None)
    if options.joshua or options.lowercase:
        given = _spelt(given, options)
    if options.markers:
        given = (MARKS[0], *given, MARKS[1]) if sentence.lattice is None else given.between(*MARKS)
    return given


def _spelt(given: Any, options: ParsingOptions) -> Any:
    """Input words as configured: without annotations and with Joshua's escapes, in lower case."""
    from smtformats.escapes import escape

    def shown(word: str) -> str:
        if options.joshua:
            annotated = _ANNOTATED.search(word)
            word = escape(annotated[1] if annotated is not None else word, "joshua")
        return word.lower() if options.lowercase else word

    if isinstance(given, Lattice):
        arcs = (arc if arc.word is None else replace(arc, word=shown(arc.word)) for arc in given.arcs)
        return Lattice(given.positions, tuple(arcs))
    return tuple(map(shown, given))
