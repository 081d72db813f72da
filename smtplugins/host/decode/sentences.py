"""Read the sentences and lattices to translate."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from smtformats.corpus.segments import MarkedSegment, Segment
from smtformats.errors import FormatError, quote
from smtformats.files import shown_name
from smtformats.hypergraph.graph import GraphColumns
from smtformats.tokens import words
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.decode.lattices import (
    LATTICES,
    NETWORK,
    PLF,
    check_lattice,
    check_text,
    holds_both,
    lattice_formats,
    tell_lattices,
    tell_sentences,
)
from smtplugins.host.files.opening import Path, find_format, format_options, open_known

if TYPE_CHECKING:
    from smtplugins.host.decode.translator import Translator
    from smtplugins.host.host import Host

_MARKED = "moses-xml"
_SEGMENT, _SEGMENT_END = re.compile(r"<seg\s+id=\"?(\d+)\"?[^>]*>\s*"), re.compile(r"\s*</seg\s*>\s*$")
_GRAMMAR = re.compile(r"grammar\d*")
_SEPARATOR = re.compile(r"\s?\|\|\|\s?")


def read_source(
    host: Host,
    translator: Translator,
    path: Path,
    format: str | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> Iterator[Sentence]:
    """Read the input of a decoder in the format that its options ``input`` and ``xml`` imply.

    ``format``, or else the configuration's ``source_format``, overrides them. With ``xml`` each line is a sentence with
    Moses' mark-up, unless that is passed through, but for SGML and JSON lines; without ``xml`` the file's shape tells
    its format, and tags are words. With ``text`` in the configuration, raw sentences are prepared as it says.
    """
    config = translator.config
    options = config.decoder.options if config.decoder is not None else {}
    wanted: str | Spec | None = format or config.source_format
    lattice = wanted is None and options.get("input") == "lattice"
    if wanted is None and options.get("input") == "confusion-net":
        scores = translator.arc_scores
        wanted = Spec(NETWORK, {} if scores is None else {"scores": scores})
    usual = None
    if wanted is None and not lattice and "xml" in options:
        usual = Spec(_MARKED, {"tags": False} if options["xml"] == "pass-through" else {})
    arcs, joshua = translator.arc_name, bool(options.get("joshua")) and wanted is None and usual is None
    how: dict[str, Any] = {"lattice": lattice, "both": holds_both(config), "arc_name": arcs, "joshua": joshua}
    sentences = read_sentences(host, path, wanted, usual=usual, **how, note=note)
    text = translator.text
    if text is not None:
        if text.is_raw(path):
            return text.sentences(sentences, shown_name(path))
        note(f"{shown_name(path)} is prepared already: translations have the words of the model")
    if joshua:
        return _with_targets(sentences, options, shown_name(path), note)
    return _without_references(sentences, shown_name(path), note) if config.toolkit == "cdec" else sentences


def read_sentences(
    host: Host,
    path: Path,
    format: str | Spec | None = None,
    *,
    lattice: bool = False,
    both: bool = True,
    arc_name: str | None = None,
    joshua: bool = False,
    usual: Spec | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> Iterator[Sentence]:
    """Read the sentences of a corpus or of lattices; per-sentence grammars that they name come with them.

    With ``lattice`` and no format, a file holds lattices: those of HTK, OpenFst or Kaldi or confusion networks if it
    has their shape, else PLF, with ``both`` mixed with sentences. ``arc_name`` names the scores of arcs where the
    format leaves that open. Tags are words unless the format is named. With ``joshua``, lines of text may be
    ``source ||| target ||| references`` or have a tag ``<seg id="7">`` around them, which is dropped; the target is the
    annotation ``target``. ``usual`` is the format of lines if none is named; SGML and JSON lines are told by shape.
    """
    # A folder holds lattices of formats with a sentence in each file, which their shapes tell.
    lattice = lattice and not os.path.isdir(path)
    named = Spec.of(format) if format is not None else Spec(PLF, {} if both else {"text": False}) if lattice else None
    lines = named is None and (joshua or usual is not None)
    named = (usual or Spec("text")) if lines else named
    # Only formats of lattices are told by shape: other graphs may not be lattices.
    known = host.formats("corpus", "hypergraph") if named is not None else [*host.formats("corpus"), *lattice_formats()]
    with open_known(path, None, named, known, empty="text") as opened:
        if format is None and lattice:
            tell_lattices(opened, known)
        elif lines:
            tell_sentences(opened, known)
        if arc_name is not None and "name" in format_options(opened.record):
            spec = Spec(opened.record.name) if named is None else named
            if "name" not in spec.options:
                opened.record = find_format(Spec(spec.name, {**spec.options, "name": arc_name}), None, known)
        if named is None and opened.record.name == _MARKED:
            opened.record = find_format(Spec(_MARKED, {"tags": False}), None, known)
        for number, record in enumerate(opened.records()):
            if getattr(record, "fault", ""):
                note(f"{shown_name(path)}:{record.line}: tags are taken for words: {record.fault}")
            if opened.record.name not in LATTICES:
                check_lattice(record, shown_name(path))
            if named is None or lines:
                check_text(record, number, opened.record.name, shown_name(path))
            if joshua and isinstance(record, str):
                yield _joshua_line(record, number)
            else:
                for sentence in _sentence(record, number):
                    _check_grammars(sentence, shown_name(path), record)
                    yield sentence


def _check_grammars(sentence: Sentence, file: str, record: Any) -> None:
    """Refuse a per-sentence grammar that does not exist or stands where it is not read, before decoding."""
    place: dict[str, Any] = {"file": file, "line": getattr(record, "line", None)}
    if any(_GRAMMAR.fullmatch(name) for mark in sentence.marks for name in mark.attributes):
        raise FormatError("a tag with a grammar around the whole sentence", "words outside it", **place)
    for grammar in sentence.grammars:
        if not os.path.exists(grammar):
            raise FormatError("an existing grammar of the sentence", f"no file {quote(grammar)}", **place)


def _joshua_line(line: str, number: int) -> Sentence:
    """A line of Joshua's input: sentences are numbered by their lines, whatever their tags say."""
    text = " ".join(words(line))
    tag = _SEGMENT.match(text)
    if tag is not None:
        return Sentence(str(number), tuple(words(_SEGMENT_END.sub("", text[tag.end() :]))))
    if " ||| " not in text:
        return Sentence(str(number), tuple(words(text)))
    source, target, *references = _SEPARATOR.split(text)
    notes = {"target": target} if target else {}
    return Sentence(str(number), tuple(words(source)), tuple(references), notes)


def _without_references(sentences: Iterator[Sentence], file: str, note: Callable[[str], None]) -> Iterator[Sentence]:
    """Note the first reference, which constrains nothing; cdec prints the derivations that have its words."""
    told = False
    for sentence in sentences:
        if sentence.references and not told:
            note(f"{file}: sentence {sentence.id}: its reference constrains nothing, other than in cdec")
            told = True
        yield sentence


def note_cuts(translator: Translator, sentences: Iterable[Sentence], note: Callable[[str], None]) -> Iterator[Sentence]:
    """Note the first sentence that the decoder cuts, as Joshua does at its ``maxlen``."""
    decoder = translator.config.decoder
    given = None if decoder is None else decoder.options.get("max_length")
    limit, told = math.inf if given is None else int(given), False
    for sentence in sentences:
        if not told and len(sentence.tokens) > limit:
            cut = f"sentence {sentence.id}: only its first {limit} of {len(sentence.tokens)} words are translated"
            note(f"{cut} (decoder.max_length), and so of any other longer sentence")
            told = True
        yield sentence


def target_of(sentence: Sentence, max_length: int | None) -> str | None:
    """The target that a translation is constrained to; "" for a sentence that is cut, as in Joshua."""
    target = sentence.annotations.get("target")
    if target and max_length is not None and len(sentence.tokens) > max_length:
        return ""
    return target


def _with_targets(
    sentences: Iterator[Sentence], options: Mapping[str, Any], file: str, note: Callable[[str], None]
) -> Iterator[Sentence]:
    """Refuse targets that cannot constrain the decoder, and note those that do not, as in Joshua."""
    told = False
    for sentence in sentences:
        if "target" in sentence.annotations and not (options.get("constraint_words") or options.get("constrained")):
            if "constraint_words" not in options:
                raise UsageError(
                    f"{file}: sentence {sentence.id}: expected a sentence without a target after |||: translations "
                    "are constrained by the decoders hiero (constraint_words) and phrase (constrained=true)"
                )
            if not told:
                note(f"{file}: sentence {sentence.id}: its target constrains nothing, as in Joshua: no LanguageModel")
                told = True
        yield sentence


def _sentence(record: Any, number: int) -> Iterator[Sentence]:
    if isinstance(record, str):
        yield Sentence(str(number), tuple(words(record)))
    elif isinstance(record, GraphColumns):
        own, _ = _split_grammars(record.extras.get("attributes", {}))
        yield Sentence(record.id, (), lattice=record, grammars=own)
    elif isinstance(record, Segment):
        if record.side == "reference":
            raise UsageError(f"expected sources to translate, found references alone (line {record.line})")
        # cdec skips empty lines, which have no id.
        if record.id is not None:
            own, rest = _split_grammars(record.attributes)
            marks = record.marks if isinstance(record, MarkedSegment) else ()
            key = str(record.id) if record.key is None else record.key
            yield Sentence(key, tuple(words(record.source)), record.references, rest, None, own, marks)
    else:
        raise UsageError(f"expected sentences or lattices, found {type(record).__name__}")


def _split_grammars(attributes: Mapping[str, str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The grammars of a sentence, by the names of their attributes, and its other attributes."""
    own = sorted(name for name in attributes if _GRAMMAR.fullmatch(name))
    return tuple(attributes[name] for name in own), {k: v for k, v in attributes.items() if k not in own}
