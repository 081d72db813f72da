"""Tables of our own that are mapped into memory: folders that ``smt convert TABLE NAME.smt`` writes.

    smt-table.json  arrays  checksums

A folder is made of a table of any format, and can be moved and copied with a system:

    smt convert phrase-table.gz phrase-table.smt
    smt convert phrase-table.smt table.txt --to moses-phrases

Tables of phrases, without gaps, are looked up: decoders ask for the phrases of each sentence, whether sentences come
from a file or a stream, and the files stay mapped. Opening a table takes milliseconds, however large it is. Tables of
rules with gaps are loaded, with the index of their source sides, faster than from text; they are not cached again.

It has the source and target sides, labels, levels, alignments and all features with their names; scores are 32-bit
numbers, natural logarithms if the text has probabilities. Counts, properties and trees are not kept. ``table`` or
``owner`` (Joshua's) rename the scores as in the text format that the table was made of, so that a system uses a table
by any name. Rules come in the order of the text. Their values have the decimals of fewest digits that read back equal.

With ``quantise=8`` (1 to 16) the values of each score are rounded to 2^8 different ones, if there are more, the means
of bins of equal size: a quarter of their space. Translations then differ. Only scores that all phrases have are
rounded, and only tables of phrases can be.

Errors name the file: a version other than 1, a missing or shorter file, bytes that do not fit their checksum. All of a
header is checked when a folder is opened, and each 4096 bytes of the arrays when they are read first.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from smtformats.columns import GrammarColumns
from smtformats.format import Format, Number
from smtformats.grammar.rules import Rule
from smtformats.tokens import BadField

if TYPE_CHECKING:
    from smtformats.grammar.shared.lookup import PhraseLookup
    from smtformats.grammar.shared.table_lookup import SmtTable

NAME = "smt-table"
HEADER = "smt-table.json"
_MOST_BITS = 16
_FLOOR = -100.0
_UNKNOWN = MappingProxyType({"table": "", "owner": "", "probabilities": ""})


def _opened(path: str | os.PathLike[str], table: str, owner: str) -> SmtTable:
    from smtformats.grammar.shared.table_file import TableFile
    from smtformats.grammar.shared.table_lookup import SmtTable

    return SmtTable(TableFile(path), table, owner)


def parse(path: str | os.PathLike[str], *, table: str = "", owner: str = "") -> Iterator[Rule]:
    """Yield one rule at a time; ``table`` or ``owner`` names its scores."""
    opened = _opened(path, table, owner)
    logarithms = set(opened.names[: opened.about["scores"]])
    for columns in opened.pieces():
        for i in range(len(columns)):
            rule = columns.rule(i)
            values = [
                _logarithm(value) if name in logarithms else _shortest(value)
                for name, value in zip(rule.names, rule.values, strict=True)
            ]
            yield replace(rule, values=tuple(values), origin=NAME, file=opened.file.folder)


def _shortest(value: float) -> float:
    """The decimal of fewest digits that is the same 32-bit number."""
    import numpy as np

    return float(str(np.float32(value)))


def _logarithm(value: float) -> float:
    """The logarithm of the decimal of fewest digits that has the same 32-bit number as its logarithm."""
    import numpy as np

    if value <= _FLOOR:
        return _FLOOR
    for digits in range(1, 17):
        number = float(f"{math.exp(value):.{digits}g}")
        if number > 0 and np.float32(math.log(number)) == np.float32(value):
            return math.log(number)
    return value


def load(path: str | os.PathLike[str], *, table: str = "", owner: str = "") -> GrammarColumns:
    """Load all rules as columns, with the options of ``parse``."""
    return _opened(path, table, owner).rules()


def lookup(path: str | os.PathLike[str], *, table: str = "", owner: str = "") -> PhraseLookup | None:
    """Open a table of phrases to look them up; ``None`` if it has rules, which are loaded."""
    opened = _opened(path, table, owner)
    return opened if opened.has_phrases else None


def write(
    records: Iterable[Rule] | GrammarColumns,
    out: str | os.PathLike[str],
    number: Number,
    source: Mapping[str, str] = _UNKNOWN,
    *,
    quantise: int = 0,
) -> int:
    """Write rules, or the columns of a grammar, into a folder that exists; return the number of rules.

    ``quantise`` is the number of bits of a score. ``source`` has the option ``table`` or ``owner`` that named the
    scores on reading, and ``probabilities`` of the format that was read.
    """
    from smtformats.grammar.shared.gather import grammar_columns
    from smtformats.grammar.shared.table_arrays import PHRASES, arrays_of
    from smtformats.grammar.shared.table_file import write_folder
    from smtformats.grammar.shared.table_lookup import scores_of

    if not 0 <= quantise <= _MOST_BITS:
        raise BadField(f"quantise of 1 to {_MOST_BITS} bits", str(quantise))
    columns = records if isinstance(records, GrammarColumns) else grammar_columns(records)
    if not len(columns):
        raise BadField("rules to write", "none")
    arrays, about = arrays_of(columns, quantise)
    if quantise and about["kind"] != PHRASES:
        raise BadField("a table of phrases, to quantise it", "rules with gaps")
    known = {**_UNKNOWN, **source}
    scores = scores_of(columns.names[:], known["table"]) if known["table"] else 0
    write_folder(out, arrays, {**about, **known, "scores": scores})
    return len(columns)


def source_of(path: str | os.PathLike[str]) -> dict[str, str]:
    """The ``source`` that a table was written with."""
    about = _opened(path, "", "").about
    return {name: about[name] for name in _UNKNOWN}


def matches(head: bytes) -> bool:
    """Match a folder with the header of such a table."""
    return HEADER in head.decode("utf-8", "replace").split("\n")


FORMAT = Format(
    name=NAME,
    kind="grammar",
    summary="a table of our own, mapped into memory: a folder with smt-table.json, arrays and checksums",
    matches=matches,
    parse=parse,
    write=write,
    load=load,
    lookup=lookup,
    suffixes=(".smt",),
    carries=frozenset({"alignment", "level"}),
    folder=True,
    mapped=True,
)
