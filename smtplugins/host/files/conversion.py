"""Convert between formats of a kind, turn a configuration into run.yaml, and update the weights inside a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, overload

from smtformats import Candidates, Format, GrammarColumns
from smtformats.corpus.segments import Segment
from smtformats.files import COMPRESSIONS, open_write
from smtformats.grammar.rules import Rule
from smtformats.hypergraph.graph import SHARED_EXTRAS, GraphColumns
from smtformats.records import dataclass
from smtformats.tokens import is_id
from smtformats.writing import Written
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import Spec, suggestion
from smtplugins.host.arguments import argument
from smtplugins.host.files.array_folders import write_object
from smtplugins.host.files.lists import KINDS as LISTS
from smtplugins.host.files.lists import ListStream, stream_of_opened
from smtplugins.host.files.opening import (
    Opened,
    Path,
    find_format,
    format_options,
    installed_formats,
    naming,
    number,
    open_known,
    write_all,
)
from smtplugins.host.files.ordering import WITHOUT_IDS, ids_file
from smtplugins.host.host import AnySpec, Host
from smtplugins.host.progress import progress

Note = Callable[[str], None]
RUN_YAML = "run-yaml"
Formats = Callable[[], Iterable["Format"]]
_COMMON = frozenset({".txt", ".nbest", ".dat"})
"""Suffixes that files of any format have."""


@overload
def output_format(
    name: str | Spec | None, kind: str, usual: Format, target: Path, formats: Formats = ...
) -> Format: ...
@overload
def output_format(
    name: str | Spec | None, kind: str, usual: Format | None, target: Path, formats: Formats = ...
) -> Format | None: ...
def output_format(
    name: str | Spec | None, kind: str, usual: Format | None, target: Path, formats: Formats = installed_formats
) -> Format | None:
    """The format in which records of a kind are written to a file; ``usual`` is that of no suffix.

    Raises UsageError if the file's suffix belongs to formats of which not exactly one fits.
    """
    if name:
        return find_format(name, kind, None if formats is installed_formats else formats())
    owners = _owners(target, formats)
    fitting = fitting_formats(target, kind, formats)
    if not owners or (usual is not None and usual.write is not None and usual.name in {fmt.name for fmt in owners}):
        return usual
    if len(fitting) == 1:
        return fitting[0]
    others = ", ".join(sorted(fmt.name for fmt in owners))
    known = fitting or [fmt for fmt in formats() if fmt.kind == kind and fmt.write is not None]
    how = f"{argument('to_format', '--to')}: {', '.join(fmt.name for fmt in known)}"
    raise UsageError(f"{os.fspath(target)}: the suffix is that of {others}; name the output format with {how}")


def fitting_formats(target: Path, kind: str, formats: Formats) -> list[Format]:
    """The writable formats of a kind that have a file's suffix; of several that which is named after it, if any."""
    fitting = [fmt for fmt in _owners(target, formats) if fmt.kind == kind and fmt.write is not None]
    return [fmt for fmt in fitting if f".{fmt.name.removesuffix(f'-{kind}')}" in _suffixes(target)] or fitting


def _owners(target: Path, formats: Formats) -> list[Format]:
    suffixes = _suffixes(target)
    return [fmt for fmt in formats() if suffixes.intersection(map(_plain, fmt.suffixes))] if suffixes else []


def _suffixes(target: Path) -> set[str]:
    """The last suffix of a file, and the last two, without that of compression; none if they are common ones."""
    parts = _plain(os.path.basename(os.fspath(target))).split(".")[1:]
    return {f".{'.'.join(parts[-count:])}" for count in (1, 2) if len(parts) >= count} - _COMMON


def _plain(name: str) -> str:
    """A name or suffix in lower case, without the suffix of compression."""
    name = name.lower()
    base, ending = os.path.splitext(name)
    return base if ending in COMPRESSIONS else name


def write_records(
    host: Host,
    records: Iterator[Any],
    record_format: Format | None,
    target: Path,
    to_format: str | None,
    *,
    precision: int | None = None,
    note: Note = lambda text: None,
    quiet: bool = True,
    total: Callable[[], int] | None = None,
) -> int:
    """Write records in a format of their kind; ``note`` is told which fields the format cannot store.

    ``total`` counts the records, for a progress bar.
    """
    kind = record_format.kind if record_format is not None else "nbest"
    record = output_format(to_format, kind, record_format, target, host.formats)
    if record is None or record.write is None:
        fitting = [fmt.name for fmt in host.formats() if fmt.kind == kind and fmt.write is not None]
        what = "these lists have no format of their own; name one"
        what = what if record is None else f"{record.name} can only be read; name another format"
        raise UsageError(f"{what} with {argument('to_format', '--to')}: {', '.join(fitting)}")
    told = _note_losses(_note_ids(records, record, target, note), record, record_format, note)
    items = progress(told, kind, total=total, quiet=quiet)
    written = write_object(record, items, target) if record.folder else write_all(record, items, target, precision)
    if isinstance(written, Written) and written.note:
        note(f"{record.name}: {written.note}")
    return written


def _note_ids(records: Iterator[Any], record: Format, target: Path, note: Note) -> Iterator[Any]:
    """Pass the records on; after the last, note where the ids of numbered lists are."""
    named = False
    for item in records:
        named = named or (record.ordered and record.name not in WITHOUT_IDS and not is_id(item.id))
        yield item
    if named:
        note(f"{record.name} has whole numbers as ids: {ids_file(target)} has the id of each number")


def _note_losses(records: Iterator[Any], record: Format, before: Format | None, note: Note) -> Iterator[Any]:
    """Pass the records on; after the last, note the fields that the format cannot store."""
    lost: set[str] = set()
    same = before is not None and record.name == before.name
    for item in records:
        if same and not (isinstance(item, Candidates) and item.raw is None):
            # What was read is copied.
            yield item
            continue
        here = record.lost(getattr(item, "extras", ()))
        if isinstance(item, GraphColumns):
            # cdec's columns hold -1 and 0 where a value is absent.
            here = {name for name in here & SHARED_EXTRAS if item.extras[name].max(initial=0) > 0}
        lost |= here
        if here and hasattr(item, "without"):
            item = item.without(here)
        if getattr(item, "after", "").strip():
            lost.add("lines outside the lists")
        yield item
    if lost:
        note(f"{record.name} cannot carry {', '.join(sorted(lost))}: left out")


@dataclass(frozen=True)
class Listing:
    """How lists are made: of forests by ``weights`` or their own scores, with sources, with totals by a metric."""

    derivations: int | None = None
    unique: bool = False
    weights: Mapping[str, float] | None = None
    missing: float | None = None
    sources: Path | None = None
    refs: tuple[Any, ...] = ()
    metric: AnySpec | None = None
    allow_partial: bool = False

    def of_forests(self) -> list[str]:
        """The arguments that only forests have."""
        given = {
            "derivations": self.derivations is not None,
            "unique": self.unique,
            "weights": self.weights is not None,
        }
        return [argument(name, "-k" if name == "derivations" else None) for name, there in given.items() if there]

    def lists(self, host: Host, opened: Opened, note: Note) -> ListStream:
        """The lists of an opened file."""
        known = host.formats()
        how: dict[str, Any] = {"derivations": self.derivations, "unique": self.unique}
        lists = stream_of_opened(opened, self.sources, allow_partial=self.allow_partial, known=known, **how)
        if self.weights is not None:
            from smtplugins.host.forests.forest_lists import of_forests

            lists = of_forests(lists).rescore(self.weights, missing=self.missing, note=note)
        if not self.refs and self.metric is None:
            return lists
        from smtplugins.host.judge.sentence_totals import judge_hypotheses

        judge = host.metric("bleu" if self.metric is None else self.metric)
        partial = self.allow_partial
        return judge_hypotheses(lists, self.refs, judge, sources=self.sources, allow_partial=partial, formats=known)


def convert(
    host: Host,
    source: Path,
    target: Path,
    from_format: str | None = None,
    to_format: str | None = None,
    *,
    unescape: str | None = None,
    escape: str | None = None,
    precision: int | None = None,
    ignore: Iterable[str] = (),
    listing: Listing = Listing(),
    note: Note = lambda text: None,
    quiet: bool = True,
) -> int:
    """Convert a file to another format of its kind, or forests to n-best lists; return the number of records.

    ``unescape`` names the escaping scheme to undo in the words, ``escape`` the one to apply. ``listing`` is how lists
    are made. Any configuration converts to ``run-yaml``, which a target ending in ``.yaml`` or ``.yml`` implies; one
    ending in ``.smt`` implies ``smt-table``, and other suffixes imply their formats.
    """
    respell = _make_respeller(unescape, escape)
    if to_format == RUN_YAML or (to_format is None and os.fspath(target).endswith((".yaml", ".yml"))):
        if respell is not None:
            raise UsageError(
                f"{argument('escape')} and {argument('unescape')}: expected a file with words, found a configuration"
            )
        return _to_yaml(source, target, from_format, ignore)
    if list(ignore):
        how = argument("to_format='run-yaml'", "--to run-yaml")
        raise UsageError(f"{argument('ignore')} needs a configuration converted with {how}")
    joined = listing.sources is not None or listing.refs or listing.metric is not None
    kinds = LISTS if joined else None
    with open_known(source, kinds, from_format, host.formats()) as opened, naming(source):
        record: Format | None = opened.record
        named = listing.of_forests()
        if named and opened.record.kind != "hypergraph":
            shown = f"{' and '.join(named)}: expected forests or lattices, found {opened.record.name}"
            raise UsageError(f"{os.fspath(source)}: {shown}")
        if opened.record.kind == "grammar":
            written = _grammar_format(host, to_format, opened.record, target)
            if written.mapped:
                if precision is not None:
                    raise UsageError(f"{argument('precision')} is for text (quantise is the option of {written.name})")
                rules = None if respell is None else _respelled(opened.records(), respell, opened.record.name)
                return write_mapped(opened, target, written, note, rules=rules)
        records: Iterator[Any]
        forests = opened.record.kind == "hypergraph"
        if forests and to_format is None:
            to_format = _lists_implied(target, host)
        if joined or named or (forests and _names_lists(to_format, host.formats())):
            lists = listing.lists(host, opened, note)
            record, records = lists.format, iter(lists)
        else:
            records = opened.records()
        if respell is not None:
            records = _respelled(records, respell, opened.record.name)
        return write_records(host, records, record, target, to_format, precision=precision, note=note, quiet=quiet)


def _lists_implied(target: Path, host: Host) -> str | None:
    """The format of lists that the suffix of a target implies, if it is none of forests."""
    lists, forests = (fitting_formats(target, kind, host.formats) for kind in ("nbest", "hypergraph"))
    return lists[0].name if len(lists) == 1 and not forests else None


def _grammar_format(host: Host, to_format: str | None, usual: Format, target: Path) -> Format:
    """The format in which a grammar is written; a mapped one of no name is that of its suffix alone."""
    name = os.fspath(target).rstrip(os.sep)
    written = output_format(to_format, "grammar", usual, name, host.formats)
    if to_format is None and written.mapped and written.name not in {fmt.name for fmt in _owners(name, host.formats)}:
        known = ", ".join(fmt.name for fmt in host.formats("grammar") if fmt.write is not None and not fmt.folder)
        raise UsageError(
            f"{name}: expected a name that ends in {written.suffixes[0]}, for a folder of {written.name}, or the "
            f"format of a file ({argument('to_format', '--to')}): {known}"
        )
    return written


def write_mapped(
    opened: Opened,
    target: Path,
    record: Format,
    note: Note = lambda text: None,
    chosen: Callable[[GrammarColumns], GrammarColumns] = lambda columns: columns,
    rules: Iterable[Rule] | None = None,
) -> int:
    """Write the ``chosen`` rules of a grammar, or others made of them, into a folder of arrays.

    Those with gaps have an index there.
    """
    from smtformats.caching.folders import cached_load
    from smtformats.grammar.shared.gather import grammar_columns
    from smtformats.grammar.shared.table_arrays import are_phrases
    from smtformats.grammar.smt_table import source_of
    from smtplugins.core.grammar.tables import source_index

    source = opened.record
    lost = source.carries - record.carries
    if rules is not None or source.load is None or opened.path == "-":
        columns = grammar_columns(opened.records() if rules is None else rules)
    else:
        opened.close()
        columns = cached_load(opened.path, source, None)
    columns = chosen(columns)
    # The options that named the scores, by which a system may name them otherwise.
    known = format_options(source)
    about = source_of(opened.path) if source.mapped else {"probabilities": source.probabilities}
    about |= {name: known[name].default for name in ("table", "owner") if name in known and known[name].default}
    write: Any = record.write
    named = replace(record, write=partial(write, source=about))
    count = write_object(named, columns if are_phrases(columns) else source_index(columns), target)
    if lost:
        note(f"{record.name} cannot carry {', '.join(sorted(lost))}: left out")
    return count


def _names_lists(to_format: str | None, formats: Sequence[Format]) -> bool:
    """Whether a format is one of lists and none of forests."""
    if to_format is None:
        return False
    name = Spec.of(to_format).name
    named = [fmt for fmt in formats if name in (fmt.name, fmt.name.removesuffix(f"-{fmt.kind}"))]
    return any(fmt.kind == "nbest" for fmt in named) and not any(fmt.kind == "hypergraph" for fmt in named)


def _to_yaml(source: Path, target: Path, from_format: str | None, ignore: Iterable[str]) -> int:
    from smtplugins.host.config.run_yaml import load_config
    from smtplugins.host.config.writing.schema import schema_line

    text = load_config(source, format=from_format, ignore=ignore).shown()
    with open_write(target) as out:
        out.write(text if os.fspath(target) == "-" else schema_line(os.path.dirname(target)) + text)
    return 1


def _make_respeller(undo: str | None, make: str | None) -> Callable[[str], str] | None:
    from smtformats.escapes import SCHEMES, escape, unescape

    for name in (undo, make):
        if name is not None and name not in SCHEMES:
            raise UsageError(f"unknown escaping {name!r}{suggestion(name, SCHEMES)}")
    if undo is None and make is None:
        return None

    def respell(text: str) -> str:
        plain = unescape(text, undo) if undo is not None else text
        return escape(plain, make) if make is not None else plain

    return respell


def _respelled(records: Iterable[Any], respell: Callable[[str], str], format: str) -> Iterator[Any]:
    return (_respell_record(item, respell, format) for item in records)


def _respell_record(item: Any, respell: Callable[[str], str], format: str) -> Any:
    """Apply ``respell`` to the words of a record."""
    if isinstance(item, str):
        return respell(item)
    if isinstance(item, Candidates):
        texts = [respell(text) for text in item.texts]
        return item if texts == item.texts else item.with_texts(texts)
    if isinstance(item, Segment):
        references = tuple(respell(text) for text in item.references)
        return replace(item, source=respell(item.source), references=references, raw=None)
    if isinstance(item, Rule):
        sides = [tuple(respell(w) if isinstance(w, str) else w for w in side) for side in (item.source, item.target)]
        return replace(item, source=sides[0], target=sides[1], raw=None)
    raise UsageError(f"{argument('escape')} and {argument('unescape')}: expected a format with words, found {format}")


def update(
    host: Host,
    source: Mapping[str, float] | Path,
    into: Path,
    target: Path,
    from_format: str | None = None,
    *,
    precision: int | None = None,
    note: Note = lambda text: None,
) -> None:
    """Copy ``into`` to ``target`` with the weights of ``source`` in its weight lines; all other bytes stay."""
    weights = dict(source) if isinstance(source, Mapping) else host.read_weights(source, from_format)
    place, name = (
        (into, "these weights") if isinstance(source, Mapping) else (source, f"the weights of {os.fspath(source)}")
    )
    known = [fmt for fmt in host.formats() if fmt.update is not None]
    with open_known(into, None, None, known) as opened, open_write(target) as out, naming(place):
        assert opened.record.update is not None
        homeless = opened.record.update(weights, opened.lines(), out, number(precision))
        if len(homeless) == len(weights):
            raise SmtError(f"{os.fspath(into)}: expected lines for {name}, found none")
    if homeless:
        note(f"{os.fspath(into)} has no line for {', '.join(homeless)}: left out")
