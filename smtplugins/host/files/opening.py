"""Open and write files and folders by format: named with options, or detected from the content."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import PluginError, UsageError
from smtplugins.host.arguments import argument

if TYPE_CHECKING:
    from smtformats import Format, GrammarColumns
    from smtformats.files import Lines
    from smtplugins.contracts.spec import Spec

Path = str | os.PathLike[str]
_LIMITS = ("max_line", "max_size")  # options of every readable format
_IDS = "ids"  # the option of formats of lists with numbers as ids: a table of the ids
_BESIDE = "weights"
# Of Moses' PhraseDictionaryOnDisk.
_ON_DISK = frozenset({"Misc.dat", "Source.dat", "TargetColl.dat", "TargetInd.dat", "Vocab.dat"})


def number(precision: int | None) -> Callable[[float], str]:
    """The function that prints numbers: with ``precision`` significant digits, or the fewest that read back equal."""
    from smtformats.format import shortest

    if precision is None:
        return shortest
    if not 1 <= precision <= 17:
        raise UsageError(f"precision: expected 1 to 17 significant digits, found {precision}")
    return lambda value: f"{value:.{precision}g}"


def writable(kind: str) -> list[str]:
    """Names of the built-in writable formats of a kind."""
    from smtformats import formats_of

    return [fmt.name for fmt in formats_of(kind) if fmt.write is not None]


def find_format(name: str | Spec, kind: str | None = None, formats: Iterable[Format] | None = None) -> Format:
    """Look up a format by name. The kind's suffix may be omitted if unambiguous: for lists `tsv` is `tsv-nbest`.

    Options may follow: ``NAME,key=value``. They are the keyword-only parameters of the format's functions, and
    ``max_line`` and ``max_size`` (bytes). The default formats are ours, or else those of installed plugins, which are
    loaded if none of ours has the name.
    """
    from smtformats import all_formats, formats_of
    from smtplugins.contracts.spec import Spec, suggestion

    name, options = (spec := Spec.of(name)).name, spec.options
    known = list(formats if formats is not None else formats_of(kind) if kind is not None else all_formats())
    match = _named_format(name, kind, known)
    if match is None and formats is None:
        known = installed_formats()
        match = _named_format(name, kind, known)
    if match is None or (kind is not None and match.kind != kind):
        fitting = [fmt.name for fmt in known if kind is None or fmt.kind == kind]
        match = match or _named_format(name, None, all_formats())
        if match is not None and kind is not None:
            raise UsageError(f"format {name!r} is of kind {match.kind}, expected {kind}: {', '.join(sorted(fitting))}")
        from smtplugins.host.files.estimated_files import NAMES

        if name in NAMES:
            raise UsageError(
                f"format {name!r} has no records: `smt info` describes such a file, it is used by its path"
            )
        raise UsageError(f"unknown format {name!r}{suggestion(name, fitting)}")
    return with_options(match, options) if options else match


def _named_format(name: str, kind: str | None, formats: Iterable[Format]) -> Format | None:
    known = {fmt.name: fmt for fmt in formats}
    short = [fmt for fmt in known.values() if fmt.name == f"{name}-{kind or fmt.kind}"]
    match = short[0] if kind and short else known.get(name)
    return short[0] if match is None and len(short) == 1 else match


def installed_formats() -> list[Format]:
    """All formats, ours and those of installed plugins, which are loaded."""
    from smtplugins.host.loading.manager import load_plugins

    return load_plugins().formats()


def format_options(record: Format) -> dict[str, inspect.Parameter]:
    """The options of a format: the keyword-only parameters of its functions."""
    from smtplugins.contracts.spec import parameters

    functions = [function for function in (record.parse, record.write) if function is not None]
    known = {name: option for function in functions for name, option in parameters(function).items()}
    return {name: option for name, option in known.items() if option.kind is inspect.Parameter.KEYWORD_ONLY}


def with_options(record: Format, options: Mapping[str, Any]) -> Format:
    """The format with these options set."""
    from dataclasses import replace

    from smtplugins.contracts.spec import convert, parameters, suggestion

    if _IDS in options and record.kind == "nbest" and record.ordered:
        from smtplugins.host.files.ordering import named_lists

        rest = {name: value for name, value in options.items() if name != _IDS}
        return named_lists(with_options(record, rest), options[_IDS])
    known = format_options(record)
    wanted = {name: option.annotation for name, option in known.items()} | dict.fromkeys(_LIMITS, int)
    for name in options:
        if name not in wanted:
            raise UsageError(f"format {record.name!r} has no option {name!r}{suggestion(name, wanted)}")
    values = {name: convert(value, wanted[name], f"format {record.name!r}: {name}") for name, value in options.items()}
    changes: dict[str, Any] = {name: value for name, value in values.items() if name in _LIMITS}
    for name, value in changes.items():
        if value < 1:
            raise UsageError(f"format {record.name!r}: {name}: expected at least 1 byte, found {value}")
    for part in ("parse", "load", "lookup", "source", "write"):
        function = getattr(record, part)
        if function is not None:
            whole = record.parse if part in ("load", "lookup") else None
            named = parameters(whole or function)
            taken = {name: value for name, value in values.items() if name in named}
            if part == "load":
                _check_load(record, taken)
            changes[part] = functools.partial(function, **taken)
    return replace(record, **changes)


def _check_load(record: Format, taken: Iterable[str]) -> None:
    """Raise PluginError if ``load`` lacks an option of ``parse``."""
    parameters = inspect.signature(record.load).parameters if record.load is not None else {}
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    for name in taken:
        if name not in parameters:
            raise PluginError(
                f"format {record.name!r}: expected `load` to have the options of `parse`, it lacks {name!r}"
            )


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the file name to format errors that lack one."""
    from smtformats import FormatError
    from smtformats.files import shown_name

    try:
        yield
    except FormatError as error:
        error.file = error.file or shown_name(path)
        raise


class Opened:
    """A file opened at its start, or a folder, with its format. Its records can be read once.

    A folder is either one object of a folder format (a packed grammar) or a set of files of one sentence each.
    """

    def __init__(self, record: Format, path: Path, stream: io.BufferedReader | None, files: list[str]) -> None:
        self.record = record
        self.path = path
        self.stream = stream
        self._files = files

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self.stream is not None:
            self.stream.close()

    def again(self) -> Opened:
        """Open the same file or folder again, from the start."""
        from smtformats.files import open_bytes

        stream = None if self.stream is None else open_bytes(self.path, max_size=self.record.max_size)
        return Opened(self.record, self.path, stream, self._files)

    def lines(self) -> Lines:
        """The lines of the file; a folder has none."""
        from smtformats.files import Lines, shown_name

        if self.stream is None:
            raise IsADirectoryError(f"{os.fspath(self.path)}: expected a file, found a folder")
        return Lines(self.stream, shown_name(self.path), max_bytes=self.record.max_line)

    def records(self) -> Iterator[Any]:
        """Iterate over the records; close the file after the last."""
        from pathlib import Path as Folder

        assert self.record.parse is not None
        with self, naming(self.path):
            if self.stream is not None:
                yield from self.record.parse(self.lines())
            elif self.record.folder:
                yield from self.record.parse(Folder(self.path))
            else:
                from smtplugins.host.files.ordering import distinct_ids

                known: dict[str, str] = {}
                for file in self._files:
                    with open_known(file, None, None, [self.record]) as opened:
                        yield from distinct_ids(opened.records(), file, known)


def open_known(
    path: Path,
    kind: str | tuple[str, ...] | None,
    format: str | Spec | None = None,
    formats: Iterable[Format] | None = None,
    *,
    empty: str | None = None,
) -> Opened:
    """Open a file or folder of a kind (or several, or any) in the named format, or in the format detected.

    ``empty`` is the format of an empty file. The default formats are ours; a file that has the shape of none of them,
    or a name that none of them has, is looked up in those of installed plugins, which are loaded then.
    """
    from smtformats import all_formats, formats_of
    from smtformats.files import head, open_bytes, shown_name

    kinds = (kind,) if isinstance(kind, str) else kind
    of_kinds = () if kinds is None else itertools.chain.from_iterable(map(formats_of, kinds))
    known = list(formats if formats is not None else all_formats() if kinds is None else of_kinds)
    named = None if format is None else _find_of(format, kinds, None if formats is None else known)
    if named is not None and named.parse is None:
        raise UsageError(f"format {named.name!r} can only be written")
    for name, option in format_options(named).items() if named is not None else ():
        if option.default is inspect.Parameter.empty:
            raise UsageError(f"format {str(format)!r} needs its option {name}: {format},{name}=...")
    fitting = [fmt for fmt in known if kinds is None or fmt.kind in kinds]
    if os.path.isdir(path):
        return _open_folder(path, named, fitting)
    if named is not None and named.folder:
        raise UsageError(f"format {named.name!r}: expected a folder, found the file {os.fspath(path)}")
    if named is None:
        stream = open_bytes(path)
    else:
        stream = open_bytes(path, max_size=named.max_size, filled=False)
    try:
        if named is None:
            start = head(stream, shown_name(path))
            if not start and empty is not None:
                named = _find_of(empty, kinds, known)
            else:
                named = _detected(start, fitting, shown_name(path), kinds, more=formats is None)
                named = _confirmed(named, start, fitting, path)
        return Opened(named, path, stream, [])
    except BaseException:
        stream.close()
        raise


def _find_of(name: str | Spec, kinds: tuple[str, ...] | None, formats: Iterable[Format] | None) -> Format:
    """Find a format by name in the first of these kinds that has it; errors are about the first kind."""
    from smtformats import formats_of
    from smtplugins.contracts.spec import Spec

    if kinds is None:
        return find_format(name, None, formats)
    for kind in kinds:
        match = _named_format(Spec.of(name).name, kind, formats_of(kind) if formats is None else formats)
        if match is not None and match.kind == kind:
            return find_format(name, kind, formats)
    return find_format(name, kinds[0], formats)


def _confirmed(record: Format, start: bytes, formats: Iterable[Format], path: Path) -> Format:
    """The format of a regular file among those whose files begin alike; the detected one if none is sure."""
    if record.confirms is None or not os.path.isfile(path) or record.confirms(path):
        return record
    alike = (fmt for fmt in formats if fmt.confirms is not None and fmt.matches(start) and fmt.confirms(path))
    return next(alike, record)


def _detected(
    start: bytes, formats: Iterable[Format], name: str, kinds: tuple[str, ...] | None, *, more: bool
) -> Format:
    """The format that a file's start has the shape of; with ``more`` also among those of installed plugins."""
    from smtformats import FormatError, detect
    from smtplugins.host.files.estimated_files import described_only

    found = described_only(start)
    if found is not None:
        raise FormatError("a known format" if kinds is None else f"{' or '.join(kinds)} data", found, file=name, line=1)
    formats = [fmt for fmt in formats if not fmt.folder]
    try:
        return detect(start, formats, name)
    except FormatError:
        if not more and kinds is not None:
            # The first kind is what is expected: the message is about its formats alone.
            return detect(start, [fmt for fmt in formats if fmt.kind == kinds[0]], name)
        if not more:
            raise
        ours = {fmt.name for fmt in formats}
        fitting = [fmt for fmt in installed_formats() if kinds is None or fmt.kind in kinds]
        theirs = [
            fmt for fmt in fitting if fmt.name not in ours and not fmt.folder and fmt.parse and fmt.matches(start)
        ]
        if len(theirs) == 1:
            return theirs[0]
        return detect(start, formats if kinds is None else [fmt for fmt in formats if fmt.kind == kinds[0]], name)


def _open_folder(path: Path, named: Format | None, formats: Iterable[Format]) -> Opened:
    """Open a folder as one object, or as its files in natural order of their names.

    Hidden files and the weights file that Moses writes beside its graphs are skipped. Files that differ in format from
    the first are an error, or skipped if the format is named.
    """
    from smtformats import FormatError, detect
    from smtformats.files import head, open_bytes, shown_name

    shown = shown_name(path)
    names = sorted(name for name in os.listdir(path) if not name.startswith("."))
    listing = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
    whole = [fmt for fmt in formats if fmt.folder and fmt.parse is not None and fmt.matches(listing)]
    if _ON_DISK.issubset(names):
        found = "a folder of CreateOnDiskPt; give the text table that it was made from"
        raise FormatError("a table that can be read", found, file=shown, line=1)
    if named is not None and named.folder:
        return Opened(named, path, None, [])
    if named is None and whole:
        return Opened(min(whole, key=lambda fmt: fmt.fallback), path, None, [])
    if named is not None and not named.single:
        raise UsageError(f"format {named.name!r}: expected a file, found the folder {shown}")
    single = [named] if named is not None else [fmt for fmt in formats if fmt.single]
    files: list[str] = []
    record = named
    for name in sorted(names if single else [], key=_natural):
        file = os.path.join(os.fspath(path), name)
        if name == _BESIDE or not os.path.isfile(file):
            continue
        with open_bytes(file) as stream:
            start = head(stream, file)
        if named is not None and not named.matches(start):
            continue
        detected = named or detect(start, single, file)
        if record is not None and detected is not record:
            how = argument("format", "--from")
            raise FormatError(
                f"one format in a folder, {record.name} as in its first file ({how} names one)",
                detected.name,
                file=file,
                line=1,
                field=1,
            )
        record = detected
        files.append(file)
    if record is None or not files:
        raise FormatError("files of a sentence each, or a packed grammar", "none", file=shown, line=1, field=1)
    return Opened(record, path, None, files)


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"([0-9]+)", name)]


def load_grammar(
    path: Path,
    *,
    format: str | Spec | None = None,
    cache: str | None = None,
    formats: Iterable[Format] | None = None,
) -> GrammarColumns:
    """Load a grammar as columns. A text grammar is cached on first load and memory-mapped afterwards.

    ``cache`` is the cache folder or ``off``; the default is `$SMT_CACHE` or the user's cache folder.
    """
    with open_known(path, "grammar", format, formats) as opened:
        record = opened.record
    return load_rules(path, record, cache)


def load_rules(path: Path, record: Format, cache: str | None = None) -> GrammarColumns:
    """Load a grammar of a known format as columns."""
    from smtformats.caching.folders import cache_folder, cached_load
    from smtplugins.core.grammar.tables import source_index

    return cached_load(path, record, cache_folder(cache), index=source_index)


def write_all(record: Format, records: Iterable[Any], target: Path, precision: int | None = None) -> int:
    """Write records in a format; return their number.

    A format with one sentence per file also takes a folder as its target (one that exists, or a name ending in a
    slash), with files named by sentence id. If a format has numbers as ids and the records others, they are numbered,
    and a table beside the target has the id of each number.
    """
    from smtformats.files import open_binary_write, open_write

    assert record.write is not None
    names: dict[str, str] = {}
    if record.ordered:
        from smtplugins.host.files.ordering import lists_in_order, lists_numbered, write_names

        records = lists_numbered(lists_in_order(records), names, record.name, target)
    shown = number(precision)
    opener: Callable[[Path], Any] = open_binary_write if record.binary else open_write
    if not record.single:
        with opener(target) as out:
            count = record.write(records, out, shown)
        if names:
            write_names(names, target)
        return count
    if not (os.path.isdir(target) or os.fspath(target).endswith(os.sep)):
        with opener(target) as out:
            return record.write(_check_single(record, records), out, shown)
    count = 0
    written: set[str] = set()
    for item in records:
        os.makedirs(target, exist_ok=True)
        name = item.id + (record.suffixes[0] if record.suffixes else "")
        if os.sep in name or name.startswith(".") or name in written:
            raise UsageError(f"expected distinct ids that are valid file names, found {item.id!r}")
        written.add(name)
        with opener(os.path.join(target, name)) as out:
            count += record.write([item], out, shown)
    os.makedirs(target, exist_ok=True)
    return count


def _check_single(record: Format, records: Iterable[Any]) -> Iterator[Any]:
    first = list(itertools.islice(records, 2))
    # Checked before the first is written: standard output cannot be taken back.
    if len(first) > 1:
        raise UsageError(f"{record.name} holds one sentence per file: write to a folder, such as out/")
    yield from first
