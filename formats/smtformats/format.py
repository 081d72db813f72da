"""The ``Format`` record, the list of all formats, how numbers are printed, and detection by the first bytes."""

from __future__ import annotations

import codecs
import functools
import importlib
import os
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import smtformats
from smtformats.errors import FormatError, quote
from smtformats.files import MAX_LINE_BYTES, MAX_UNPACKED_BYTES, Lines
from smtformats.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHOWN = 16
_BEGINNINGS = {"alignment": tuple(b"%d-" % digit for digit in range(10)), "hypergraph": (b"(((",), "tree": (b"(",)}
Number = Callable[[float], str]

_MANY = 64
_LEAST, _MOST, _DECIMALS = 1e-4, 1e6, 13


def shortest(value: float) -> str:
    """The shortest decimal that reads back as the same number; whole numbers have no decimal point."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def rounded(values: Sequence[float] | NDArray[Any]) -> list[float]:
    """Round to the digits of a float32, which features are stored as: -1.41, not -1.4100000206."""
    import numpy as np

    given = np.asarray(values, dtype=np.float32)
    if len(given) < _MANY:
        few: list[float] = _read_back(given).tolist()
        return few
    exact = given.astype(np.float64)
    # The fewest decimals that read back equal: whole numbers over powers of ten are rounded as decimals in a text are.
    usual = (np.abs(exact) > _LEAST) & (np.abs(exact) < _MOST)
    left = np.flatnonzero(usual & (exact != np.rint(exact)))
    for decimals in range(1, _DECIMALS + 1):
        if not len(left):
            break
        tried = np.rint(exact[left] * 10.0**decimals) / 10.0**decimals
        good = tried.astype(np.float32) == given[left]
        exact[left[good]] = tried[good]
        left = left[~good]
    others = np.concatenate([left, np.flatnonzero(~usual)])
    exact[others] = _read_back(given[others])
    found: list[float] = exact.tolist()
    return found


def _read_back(values: NDArray[Any]) -> NDArray[Any]:
    """The numbers of their shortest texts."""
    import numpy as np

    return values.astype(str).astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class Format:
    """What a format module provides. Format names are toolkit-kind, as in ``moses-nbest``.

    ``matches(head)`` decides by the first bytes of the decompressed file, never by a suffix. ``parse(lines)`` streams
    records from an opened file; ``write(records, out, number)`` returns their count. ``update(values, lines, out,
    number)`` rewrites the lines that hold the values, copies all others and returns the names it could not place.
    ``load(stream, name)`` returns the columns of a whole file, read natively; the stream is at the beginning of the
    file and may be compressed. Keyword-only parameters of ``parse`` and ``write`` are options, spelled
    ``NAME,key=value``; ``load`` takes those of ``parse``. ``lookup(path)`` opens a table that can be asked for
    phrases, but perhaps not listed (:class:`smtformats.grammar.shared.lookup.PhraseLookup`), or returns None if it is
    to be loaded; it takes the options of ``parse``. ``source(line)`` tells the source side of a line of a table
    (:mod:`smtformats.source_sides`), by which tables are filtered. ``carries`` names the extra fields of records that
    ``write`` keeps, ``*`` stands for all. ``example`` is a small file of the format, shown on its page.
    ``confirms(path)`` tells by the whole file whether it is of this format, for formats whose files begin alike.
    ``probabilities`` is a regular expression for the names of features of rules that are logarithms of probabilities,
    of either sign.

    If several formats match, the lowest ``fallback`` wins: a format that is more specific than one of 0 has -1.

    ``binary``: ``write`` gets a stream of bytes. ``folder``: the format is a folder; ``matches`` gets the sorted file
    names in it, one per line, and ``parse``, ``load`` and ``write`` its path. ``single``: each file holds one sentence
    and is named after its id, so that a corpus is a folder of files. ``max_line`` bounds the bytes of a line and
    ``max_size`` the bytes of a compressed file after decompression. ``ordered``: ids are whole numbers, and lists are
    read and written in ascending order of id. ``mapped``: ``load`` maps what is stored, so that a cache gains nothing.
    """

    name: str
    kind: str
    summary: str
    matches: Callable[[bytes], bool] = lambda head: False
    parse: Callable[..., Iterator[Any]] | None = None
    write: Callable[[Iterable[Any], Any, Number], int] | None = None
    update: Callable[[dict[str, float], Lines, TextIO, Number], list[str]] | None = None
    load: Callable[..., Any] | None = None
    lookup: Callable[..., Any] | None = None
    source: Callable[..., Any] | None = None
    confirms: Callable[[str | os.PathLike[str]], bool] | None = None
    suffixes: tuple[str, ...] = ()
    carries: frozenset[str] = frozenset()
    probabilities: str = ""
    fallback: int = 0
    binary: bool = False
    folder: bool = False
    single: bool = False
    ordered: bool = False
    mapped: bool = False
    max_line: int = MAX_LINE_BYTES
    max_size: int = MAX_UNPACKED_BYTES
    example: str = ""

    def lost(self, names: Iterable[str]) -> set[str]:
        """Those of the extra fields of these names that ``write`` does not keep."""
        return set() if "*" in self.carries else set(names) - self.carries

    def read(self, lines: Lines) -> Any:
        """Read a file that holds exactly one record."""
        if self.parse is None:
            raise TypeError(f"format {self.name} cannot be read")
        records = list(self.parse(lines))
        if len(records) != 1:
            raise lines.error("exactly one record", f"{len(records)}")
        return records[0]


@functools.cache
def all_formats() -> tuple[Format, ...]:
    """All formats of this package, sorted by name."""
    kinds = [folder.name for folder in pkgutil.iter_modules(smtformats.__path__) if folder.ispkg]
    return tuple(sorted((record for kind in kinds for record in formats_of(kind)), key=lambda record: record.name))


@functools.cache
def formats_of(kind: str) -> tuple[Format, ...]:
    """This package's formats of a kind, sorted by name: those of the modules with a ``FORMAT`` in the kind's folder.

    Folders within it hold formats, too, except ``shared``.

    Only these modules are imported: all formats together would take a fifth of a small command's time.
    """
    if kind not in [folder.name for folder in pkgutil.iter_modules(smtformats.__path__) if folder.ispkg]:
        return ()
    modules = [importlib.import_module(name) for name in _modules_in(f"smtformats.{kind}")]
    records = [module.FORMAT for module in modules if hasattr(module, "FORMAT")]
    return tuple(sorted(records, key=lambda record: record.name))


def _modules_in(package: str) -> Iterator[str]:
    """The names of the modules of a package and of packages within it other than ``shared``."""
    for file in pkgutil.iter_modules(importlib.import_module(package).__path__):
        if not file.ispkg:
            yield f"{package}.{file.name}"
        elif file.name != "shared":
            yield from _modules_in(f"{package}.{file.name}")


def first_lines(head: bytes, wanted: Callable[[str], object] = str.strip) -> list[str]:
    """The complete lines in the first bytes of a file that pass a filter (default: not blank), at most fifty."""
    lines = head.decode("utf-8", "ignore").split("\n")
    return [line for line in (lines[:-1] or lines) if wanted(line)][:50]


def _may_be_json(start: bytes) -> bool:
    """Whether a file begins as JSON, a comment before it, a string or an event of a stream does."""
    return start.decode("utf-8", "ignore").lstrip("\ufeff \t\r\n").startswith(("{", "[", '"', "#", "//", "data:"))


def refuse_table(start: bytes, name: str) -> None:
    """Raise a ``FormatError`` for a table with unknown columns, whose rows are no sentences."""
    first = start.split(b"\n", 1)[0]
    if b"\t" in first or (b"," in first and b", " not in first):
        from smtformats.nbest.shared.table import refuse_columns

        refuse_columns(start, name)


def _refuse_no_sentences(start: bytes, kinds: set[str], name: str) -> None:
    """Raise a ``FormatError`` for links, lattices or trees, which have a line for each sentence but are no text."""
    for kind, beginning in _BEGINNINGS.items():
        if kind in kinds or not start.startswith(beginning):
            continue
        for record in formats_of(kind):
            if record.parse is not None and record.matches(start):
                raise FormatError(f"{' or '.join(sorted(kinds))} data", f"{record.name}", file=name, line=1)


def detect(start: bytes, formats: Iterable[Format], name: str) -> Format:
    """Detect the format of a file from its first bytes, among the given formats that can be read."""
    readable = [record for record in formats if record.parse is not None]
    if not start:
        kinds = " or ".join(sorted({record.kind for record in readable}))
        raise FormatError(f"{kinds} data", "an empty file", file=name, line=1, field=1)
    fitting = [record for record in readable if record.matches(start)]
    lowest = min((record.fallback for record in fitting), default=0)
    specific = [record for record in fitting if record.fallback == lowest]
    if (lowest > 0 or not specific) and _may_be_json(start):
        from smtformats.json_shapes import refuse_json

        refuse_json(start, name, frozenset(record.kind for record in readable))
    if (lowest > 0 or not specific) and any(record.kind in ("corpus", "nbest") for record in readable):
        refuse_table(start, name)
        _refuse_no_sentences(start, {record.kind for record in readable}, name)
    if not specific and start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise FormatError("text in UTF-8", "UTF-16 (iconv -f UTF-16 -t UTF-8 converts it)", file=name, line=1, field=1)
    # A weight's name would begin with the mark.
    if start.startswith(codecs.BOM_UTF8) and all(record.kind == "weights" for record in specific):
        raise FormatError("a file without a byte order mark", "one (save the file without it)", file=name, line=1)
    if len(specific) == 1:
        return specific[0]
    names = ", ".join(record.name for record in (specific or readable))
    if specific:
        expected, actual = f"data of one format (choose it with --from: {names})", "data that fits several"
    else:
        # A long list of formats would bury the message.
        known = f"one of {names}" if len(readable) <= _SHOWN else "a known format"
        expected = f"the shape of {known} (name the format with --from)"
        actual = quote(start.split(b"\n", 1)[0].decode("utf-8", "replace"))
    raise FormatError(expected, actual, file=name, line=1, field=1)
