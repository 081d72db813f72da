"""Sufficient statistics of hypotheses, as Moses' ``extractor`` writes them for its tuners (``run1.scores.dat``).

    SCORES_TXT_BEGIN_0 0 2 9 BLEU
    7 9 4 8 2 7 1 6 10
    8 9 5 8 3 7 1 6 10
    SCORES_TXT_END_0

The first line has the sentence id, the number of entries, the number of values and the scorer. For BLEU the values are
the n-gram matches and totals of each order, then the reference length. Binary files of ``extractor -b`` are read too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.tuning.blocks import Block, Reader, write_blocks

NAME = "moses-scores"
_WORD = "SCORES"


def parse(lines: Lines) -> Iterator[Block]:
    """Parse one sentence at a time."""
    return Reader(lines, NAME, _WORD).blocks()


def write(records: Iterable[Block], out: TextIO, number: Number) -> int:
    """Write blocks of statistics as text; returns their count."""
    return write_blocks(records, out, number, NAME, _WORD)


FORMAT = Format(
    name=NAME,
    kind="tuning",
    summary="statistics of hypotheses as Moses' extractor writes them, text (binary is read)",
    matches=lambda head: head.startswith((b"SCORES_TXT_BEGIN_0 ", b"SCORES_BIN_BEGIN_0 ")),
    parse=parse,
    write=write,
    suffixes=(".dat",),
    example="SCORES_TXT_BEGIN_0 0 2 9 BLEU\n7 9 4 8 2 7 1 6 10 \n8 9 5 8 3 7 1 6 10 \nSCORES_TXT_END_0\n",
)
