"""Read, change and write JSON lines with lists natively, where they have the usual shape.

Native code reads a line or leaves it alone: the parser in Python reads every line that it leaves, and words all errors.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from smtformats._scan import JsonListReader, JsonListScanner, spell_json_list
from smtformats.candidates import Candidates
from smtformats.columns import StringTable
from smtformats.files import Lines
from smtformats.format import Number, shortest
from smtformats.list_columns import ListColumns
from smtformats.nbest.shared.json_answers import REASONS, ended_early, may_wrap, may_wrap_any
from smtformats.pieces import pieces, stream_of


@dataclass(frozen=True)
class Names:
    """The names of members in the usual shape; a line with any other name is left to the parser in Python.

    Hypotheses may have members of any name but ``others``.
    """

    lists: tuple[str, ...]
    texts: tuple[str, ...]
    ids: tuple[str, ...]
    sources: tuple[str, ...]
    others: tuple[str, ...]

    def reader(self) -> JsonListReader:
        """A reader of lines."""
        return JsonListReader(self.lists, self.texts, self.ids, self.sources, self.others)


def reader_of(origin: str, names: Names) -> Callable[[str], Candidates | None]:
    """A function that reads a line, or returns None; a list without an id has an empty one."""
    read = names.reader().read

    def reader(line: str) -> Candidates | None:
        parts = None if may_wrap(line) else read(line)
        if parts is None:
            return None
        key, source, texts, layouts, values, totals, extras, frame, raw = parts
        return Candidates(
            key or "",
            texts,
            layouts,
            values,
            totals,
            extras,
            raw,
            origin,
            before=frame,
            source=source,
        )

    return reader


@functools.cache
def _changer(names: Names) -> JsonListReader:
    return names.reader()


def change_natively(nbest: Candidates, elements: list[str], number: Number, names: Names) -> list[str] | None:
    """Hypotheses as written, with new features and totals; None if the code in Python has to change them."""
    if number is not shortest:
        return None
    totals = nbest.totals if nbest.rescored else None
    return _changer(names).change(elements, nbest.layouts, nbest.values, nbest.original, totals)


def spell_natively(nbest: Candidates, head: str, extras: Sequence[str], number: Number) -> str | None:
    """Hypotheses as JSON objects after a head; None if the code in Python has to spell them."""
    if number is not shortest:
        return None
    columns = [(name, nbest.extras[name]) for name in extras]
    totals = None if nbest.totals is None else list(nbest.totals)
    return spell_json_list(head, list(nbest.texts), totals, list(nbest.layouts), list(nbest.values), columns)


def load_json(
    stream: BinaryIO, name: str, max_bytes: int, names: Names | None, parse: Callable[[Lines], Iterator[Candidates]]
) -> ListColumns:
    """Load all lists of a file as columns; a file with any line in another shape is parsed as a whole.

    So is any file without ``names``.
    """
    if names is None:
        return ListColumns.from_lists(parse(Lines(stream_of(pieces(stream)), name, max_bytes=max_bytes)))
    scanner = JsonListScanner(names.lists, names.texts, names.ids, names.sources, names.others, max_bytes)
    again = stream.seekable()
    past: list[bytes] = []
    more = pieces(stream)
    try:
        sound = True
        for piece in more:
            if not again:
                past.append(piece)
            if not (sound := scanner.feed(piece)):
                break
        columns = _columns(scanner, name) if sound and scanner.finish() else None
    except EOFError as error:
        # The parser knows whether an earlier line is wrong, too.
        columns, more = None, _broken(error)
    if columns is not None:
        return columns
    if again:
        stream.seek(0)
        past, more = [], pieces(stream)
    lines = Lines(stream_of(itertools.chain(past, more)), name, max_bytes=max_bytes)
    return ListColumns.from_lists(parse(lines))


def _broken(error: EOFError) -> Iterator[bytes]:
    """Pieces that end in an error."""
    raise error
    yield b""


def _columns(scanner: JsonListScanner, name: str) -> ListColumns | None:
    """The columns that a scanner read; None if there are no lists."""
    parts = scanner.columns()
    if not len(parts["lines"]):
        return None
    sources = StringTable(*parts["sources"])[:]
    known = [text if there else None for text, there in zip(sources, parts["has_source"].tolist(), strict=True)]
    parts["totals"] = parts["totals"] if len(parts["totals"]) == len(parts["feature_offsets"]) - 1 else None
    columns = replace(ListColumns.of(parts, name), sources=tuple(known))
    # The parser checks the order of ranks, the ends of answers and what is around them.
    ranked = columns.totals is None and "rank" in columns.extras
    cut = any(ended_early(reason) for name in REASONS if name in columns.extras for reason in columns.extras[name][:])
    return None if ranked or cut or may_wrap_any(bytes(columns.texts.blob)) else columns
