"""Texts, N lines for each source, as of mbrs, comet-mbr, OpenNMT-py, NeMo and others (read only).

    a man with a hat
    the man with a hat
    a dog                   with n=2 the second list begins here

The format looks like plain text, so it must be named: ``--from lines-nbest,n=4``. The option ``scores`` names a file
with the same number of lines. Each line has either one number, the feature ``score`` and the total, or several
separated by blanks, the features ``score[0]``, ``score[1]``, ..., of which the first is the total. Ids count the
sources from 0.

    a man with a hat	-4.25
    the man with a hat	-5.5

With ``scores=tab`` a line ends in a tab and a number, the feature ``score`` and the total, as in the tables of NeMo's
``eval_beamsearch_ngram_ctc.py`` (``preds_output_folder``), where ``n`` is the width of the beam, as for its
``eval_neural_rescorer.py``. The best is first there, so a score that rises within a list is an error: ``n`` is wrong,
or lists have different lengths, as those of NeMo's transducers, and their file does not say where one ends
(github.com/NVIDIA/NeMo/discussions/7965).
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path

from smtformats.candidates import Candidates
from smtformats.errors import quote
from smtformats.files import Lines, open_lines
from smtformats.format import Format
from smtformats.tokens import BadField, Layouts, blanks, numbers, vector

NAME = "lines-nbest"
_TAB = "tab"
_SCORE = ("score",)


def parse(lines: Lines, *, n: int, scores: Path | None = None) -> Iterator[Candidates]:
    """Parse one list of ``n`` hypotheses at a time, with scores from the file ``scores`` if it is given."""
    if n < 1:
        raise lines.error("the number of lines in each list, at least 1, as in lines-nbest,n=4", str(n))
    if scores is not None and str(scores) == _TAB:
        yield from _parse_tabs(lines, n)
        return
    layouts = Layouts()
    stream = iter(lines)
    count = 0
    with contextlib.ExitStack() as stack:
        score_lines = stack.enter_context(open_lines(scores)) if scores is not None else None
        values = iter(score_lines or ())
        while texts := [line.removesuffix("\n").removesuffix("\r") for line in itertools.islice(stream, n)]:
            rows = [[] if score_lines is None else _scores(score_lines, next(values, "")) for _ in texts]
            if len(texts) < n:
                raise lines.error(f"{n - len(texts)} more lines (each list has {n})", "the end of the file", 1)
            yield Candidates(
                str(count // n),
                texts,
                [layouts.share(vector("score", len(row))) for row in rows],
                rows,
                totals=None if score_lines is None else [row[0] for row in rows],
                origin=NAME,
                file=lines.name,
                line=lines.number - n + 1,
                first=count,
            )
            count += n
        if not count:
            raise lines.error("an n-best list", "no hypothesis in the file", 1, line=1)
        if score_lines is not None and next(values, None) is not None:
            raise score_lines.error(f"{count} lines, as {lines.name} has", "more", 1)


def _parse_tabs(lines: Lines, n: int) -> Iterator[Candidates]:
    """Parse lists whose lines end in a tab and a score."""
    texts: list[str] = []
    values: list[float] = []
    count = 0
    for line in lines:
        text, tab, score = line.rstrip("\r\n").rpartition("\t")
        if not tab:
            raise lines.error("a text, a tab and a score", quote(line.rstrip("\r\n")), 1)
        try:
            value = numbers([score])[0]
        except BadField as bad:
            raise lines.locate(bad, 2) from None
        if values and value > values[-1]:
            expected = f"scores that fall within a list of {n} lines, as the option n says"
            raise lines.error(expected, f"{score} after {values[-1]}", 2)
        texts.append(text)
        values.append(value)
        if len(texts) == n:
            yield _scored(lines, count, texts, values)
            texts, values, count = [], [], count + 1
    if texts:
        raise lines.error(f"{n - len(texts)} more lines (each list has {n})", "the end of the file", 1)
    if not count:
        raise lines.error("an n-best list", "no hypothesis in the file", 1, line=1)


def _scored(lines: Lines, count: int, texts: list[str], values: list[float]) -> Candidates:
    size = len(texts)
    return Candidates(
        str(count),
        texts,
        [_SCORE] * size,
        [[value] for value in values],
        totals=list(values),
        origin=NAME,
        file=lines.name,
        line=lines.number - size + 1,
        first=count * size,
    )


def _scores(score_lines: Lines, line: str) -> list[float]:
    """Parse the numbers of a line."""
    if not line:
        raise score_lines.error("a line of numbers for each hypothesis", "the end of the file", 1)
    tokens = blanks(line)
    try:
        if not tokens:
            raise BadField("a finite number", "none")
        return numbers(tokens)
    except BadField as bad:
        raise score_lines.locate(bad, 1) from None


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="texts, N lines for each source (n=N, scores=FILE, or scores=tab as in NeMo's tables)",
    parse=parse,
    ordered=True,
    example="a house\nhouse\n",
)
