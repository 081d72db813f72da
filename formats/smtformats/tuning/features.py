"""Features of hypotheses, as Moses' ``extractor`` writes them for its tuners (``run1.features.dat``).

    FEATURES_TXT_BEGIN_0 0 2 3 LM0_0 WordPenalty0_0 TranslationModel0_0
    -44.1007 -9 -5.31278
    -45.1228 -9 -4.21747 sparse_name=1
    FEATURES_TXT_END_0

The first line has the sentence id, the number of entries, the number of values and their names; sparse features follow
the values. Binary files of ``extractor -b`` are read too: they have 4-byte floats and no sparse features. Their values
are read as the shortest decimals that give the same float, and written as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.tuning.blocks import Block, Reader, write_blocks

NAME = "moses-features"
_WORD = "FEATURES"


def parse(lines: Lines) -> Iterator[Block]:
    """Parse one sentence at a time."""
    return Reader(lines, NAME, _WORD).blocks()


def write(records: Iterable[Block], out: TextIO, number: Number) -> int:
    """Write blocks of features as text; returns their count."""
    return write_blocks(records, out, number, NAME, _WORD)


FORMAT = Format(
    name=NAME,
    kind="tuning",
    summary="features of hypotheses as Moses' extractor writes them, text (binary is read)",
    matches=lambda head: head.startswith((b"FEATURES_TXT_BEGIN_0 ", b"FEATURES_BIN_BEGIN_0 ")),
    parse=parse,
    write=write,
    suffixes=(".dat",),
    example="FEATURES_TXT_BEGIN_0 0 2 2 LM0_0 WordPenalty0_0 \n-44.1 -9 \n-45.12 -9 pair_a~b=1 \nFEATURES_TXT_END_0\n",
)
