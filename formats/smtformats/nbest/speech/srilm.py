"""N-best lists of SRILM and the Decipher recogniser, a list per file, named after its utterance (read only).

    NBestList1.0
    (-2120) a man with a hat
    (-2144) the man with a hat

Three forms, as in SRILM's manual page ``nbest-format(5)`` and ``lm/src/NBest.cc``. The first has a header and a score
for each hypothesis in bytelogs, logarithms to base 1.0001 divided by 1024: the feature ``score``. The second,
``NBestList2.0``, has after each word its times and scores, ``word ( st: 0.1 et: 0.3 g: -12 a: -340 )``; the features
``acoustic`` and ``language`` are their sums over words. Phones and states, whose times lie within those of a word
before them, are left out. The total of both is the score as a natural logarithm.

    -1820.5 -12.25 6 a man with a hat
    -1822 -11.75 6 the man with a hat

The third form has no header: acoustic and language model score, both logarithms to base 10, and the number of words:
the features ``acoustic``, ``language`` and ``words``. There is no total, unless an option says how SRILM would combine
them: ``acoustic + lmw * language + wtw * words``, as a natural logarithm, with ``wtw`` 0 if only ``lmw`` is given.

A folder of files is a set of lists. The id is the file's name without its suffixes (``.gz``, ``.Z``, ``.bz2``, ``.xz``,
``.zst``, ``.score``, ``.nbest``, ``.txt`` and those of lattices). A list in the third form is recognised if each line
has as many words as its third field says, or more (SRILM does not count pauses).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence

from smtformats.candidates import Candidates, Layout
from smtformats.errors import quote
from smtformats.files import Lines, stem_of
from smtformats.format import Format, first_lines
from smtformats.tokens import BadField, blanks, is_id, is_number, numbers

NAME = "srilm-nbest"
_FIRST, _SECOND = "NBestList1.0", "NBestList2.0"
_BYTELOG = 1024 / 10000.5  # as natural logarithm
_SCORE = re.compile(r"\((-?[0-9]{1,18})\)")
_LABELS = ("(", "st:", "et:", "g:", "a:", ")")
_WIDTH = 11  # tokens of a word in the second form
_COLUMNS: Layout = ("acoustic", "language", "words")

Row = tuple[str, list[float], float | None]


def parse(lines: Lines, *, lmw: float | None = None, wtw: float | None = None) -> Iterator[Candidates]:
    """Parse the list of the file."""
    texts: list[str] = []
    values: list[list[float]] = []
    totals: list[float] = []
    read: Callable[[Sequence[str]], Row] = _Weighted(lmw, wtw)
    layout, begin = _COLUMNS, 1
    for line in lines:
        tokens = blanks(line)
        if lines.number == 1 and tokens and tokens[0] in (_FIRST, _SECOND):
            read = _decipher if tokens[0] == _FIRST else _timed
            layout = ("score",) if tokens[0] == _FIRST else ("score", "acoustic", "language")
            begin = 2
            continue
        try:
            text, row, total = read(tokens)
        except BadField as bad:
            raise lines.locate(bad, 1) from None
        texts.append(text)
        values.append(row)
        if total is not None:
            totals.append(total)
    if not texts:
        raise lines.error("a hypothesis", "none in the file", 1)
    yield Candidates(
        stem_of(lines.name),
        texts,
        [layout] * len(texts),
        values,
        totals=totals if totals else None,
        origin=NAME,
        file=lines.name,
        line=begin,
    )


class _Weighted:
    """Reads hypotheses of the third form, with totals if there are weights."""

    def __init__(self, lmw: float | None, wtw: float | None) -> None:
        self._weights = None if lmw is None and wtw is None else (1.0, 1.0 if lmw is None else lmw, wtw or 0.0)

    def __call__(self, tokens: Sequence[str]) -> Row:
        if len(tokens) < 3:
            raise BadField(
                "acoustic score, language model score, number of words and the words", f"{len(tokens)} fields"
            )
        row = numbers(tokens[:3])
        if not is_id(tokens[2]):
            raise BadField("a number of words", quote(tokens[2]), 3)
        total = None
        if self._weights is not None:
            total = math.log(10) * sum(weight * value for weight, value in zip(self._weights, row, strict=True))
        return " ".join(tokens[3:]), row, total


def _score(tokens: Sequence[str]) -> float:
    match = _SCORE.fullmatch(tokens[0]) if tokens else None
    if match is None:
        raise BadField("a score like (-2120)", quote(tokens[0]) if tokens else "none")
    return float(match[1])


def _decipher(tokens: Sequence[str]) -> Row:
    """Read a hypothesis of the first form."""
    score = _score(tokens)
    return " ".join(tokens[1:]), [score], score * _BYTELOG


def _timed(tokens: Sequence[str]) -> Row:
    """Read a hypothesis of the second form."""
    score = _score(tokens)
    if (len(tokens) - 1) % _WIDTH:
        raise BadField("words, each with ( st: N et: N g: N a: N )", f"{len(tokens) - 1} fields after the score")
    words: list[str] = []
    sums = [0.0, 0.0]
    before = -1.0
    for at in range(1, len(tokens), _WIDTH):
        labels = (tokens[at + 1], *tokens[at + 2 : at + 10 : 2], tokens[at + 10])
        if labels != _LABELS:
            raise BadField(
                "( st: N et: N g: N a: N ) after a word", quote(" ".join(tokens[at + 1 : at + _WIDTH])), at + 1
            )
        try:
            start, end, language, acoustic = numbers(tokens[at + 3 : at + _WIDTH : 2][:4])
        except BadField as bad:
            raise BadField(bad.expected, bad.found, at + 1) from None
        if start > before:
            words.append(tokens[at])
            sums = [sums[0] + acoustic, sums[1] + language]
            before = end
    return " ".join(words), [score, *sums], score * _BYTELOG


def matches(head: bytes) -> bool:
    """Match a header, or lines of two scores and a number of words with at least as many words."""
    if head.startswith((_FIRST.encode(), _SECOND.encode())):
        return True
    rows = [blanks(line) for line in first_lines(head)]
    return bool(rows) and all(map(_fits, rows)) and any(not is_number(token) for row in rows for token in row[3:])


def _fits(tokens: Sequence[str]) -> bool:
    return (
        len(tokens) > 3
        and is_number(tokens[0])
        and is_number(tokens[1])
        and is_id(tokens[2])
        and 0 < int(tokens[2]) <= len(tokens) - 3
    )


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="SRILM's lists, a file per utterance: NBestList1.0, NBestList2.0, or acoustic language words text",
    matches=matches,
    parse=parse,
    suffixes=(".nbest",),
    single=True,
    fallback=1,
    example="NBestList1.0\n(-2120) a man with a hat\n(-2144) the man with a hat\n",
)
