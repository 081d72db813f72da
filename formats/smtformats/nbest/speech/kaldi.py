"""Kaldi's n-best lists as text archives, transcriptions of ``nbest-to-linear`` (read only).

    utt-a-1 a man with a hat
    utt-a-2 the man with a hat
    utt-b-1 a dog

A line per hypothesis: a key, and words. A key is that of the utterance, a hyphen and the rank from 1, as
``lattice-to-nbest`` makes them; ranks of an utterance follow each other. (kaldi-asr.org/doc:
``latbin/lattice-to-nbest.cc``, ``nbest-to-linear.cc``.)

The options ``lm`` and ``ac`` are the archives of language model (graph) and acoustic costs that ``nbest-to-linear``
writes beside: a key and a number per line, with the same keys in the same order. The features ``graph`` and
``acoustic`` are the costs with their sign changed. With both the total is ``graph + acoustic_scale * acoustic``, with
the option ``acoustic_scale`` (default: 1).

With ``lattices=true`` the file is what ``lattice-to-nbest`` itself writes, an archive of lattices of one path each (see
``kaldi-lattice``), whose costs are the features and the total.

``words=FILE`` is a symbol table, Kaldi's ``words.txt``; without it words are taken as they are, as ``int2sym.pl -f 2-``
writes them, and a hypothesis of numbers alone is an error, unless ``words=ids`` keeps them.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator
from pathlib import Path

from smtformats.candidates import Candidates, Layout
from smtformats.errors import quote
from smtformats.files import Lines, open_lines
from smtformats.format import Format, first_lines
from smtformats.hypergraph import kaldi
from smtformats.hypergraph.lattices import arcs_of
from smtformats.hypergraph.shared.fst_text import Symbols
from smtformats.tokens import BadField, blanks, numbers

NAME = "kaldi-nbest"
_KEY = re.compile(r"(.+)-([1-9][0-9]{0,8})")
Hypothesis = tuple[int, str, str, Layout, list[float], float | None]
_SHAPE = "the key of a hypothesis, that of the utterance, a hyphen and its rank"


def parse(
    lines: Lines,
    *,
    words: str | None = None,
    lm: Path | None = None,
    ac: Path | None = None,
    acoustic_scale: float = 1.0,
    lattices: bool = False,
) -> Iterator[Candidates]:
    """Parse one list at a time."""
    if lattices and (lm is not None or ac is not None):
        raise lines.error("no options lm and ac with lattices=true, as lattices have costs", "some")
    read = _paths(lines, words, acoustic_scale) if lattices else _texts(lines, words, lm, ac, acoustic_scale)
    current: Candidates | None = None
    seen: set[str] = set()
    for count, (line, name, text, layout, row, total) in enumerate(read):
        try:
            key, rank = _key_of(name)
            if current is None or key != current.id:
                if key in seen:
                    raise BadField("the lists of an utterance together", f"{quote(key)} again")
                seen.add(key)
                if current is not None:
                    yield current
                totals: list[float] | None = None if total is None else []
                current = Candidates(key, totals=totals, origin=NAME, file=lines.name, line=line, first=count)
            if rank != len(current) + 1:
                raise BadField(f"rank {len(current) + 1} of utterance {key}", str(rank))
        except BadField as bad:
            raise lines.locate(bad, 1, line) from None
        current.texts.append(text)
        current.layouts.append(layout)
        current.values.append(row)
        if current.totals is not None and total is not None:
            current.totals.append(total)
    if current is None:
        raise lines.error(_SHAPE, "none in the file", 1)
    yield current


def _texts(
    lines: Lines, words: str | None, lm: Path | None, ac: Path | None, acoustic_scale: float
) -> Iterator[Hypothesis]:
    """Yield the hypotheses of transcriptions."""
    symbols = Symbols(words)
    files = {name: path for name, path in (("graph", lm), ("acoustic", ac)) if path is not None}
    layout: Layout = tuple(files)
    with contextlib.ExitStack() as stack:
        costs = [_Costs(stack.enter_context(open_lines(path))) for path in files.values()]
        for line in lines:
            tokens = blanks(line)
            try:
                _key_of(tokens[0] if tokens else "")
                spelt = [word for at, token in enumerate(tokens[1:], 2) for word in symbols.word(token, at)]
                symbols.check(spelt)
            except BadField as bad:
                raise lines.locate(bad, 1) from None
            row = [cost.take(tokens[0]) for cost in costs]
            total = row[0] + acoustic_scale * row[1] if len(row) == 2 else None
            yield lines.number, tokens[0], " ".join(spelt), layout, row, total
        for cost in costs:
            cost.finish()


def _paths(lines: Lines, words: str | None, acoustic_scale: float) -> Iterator[Hypothesis]:
    """Yield the hypotheses of lattices of one path each."""
    for graph in kaldi.parse(lines, words=words, acoustic_scale=acoustic_scale):
        states, arcs = arcs_of(graph)
        if not len(graph) == graph.nodes == states:
            found = f"a lattice of more arcs, {quote(graph.id)} (kaldi-lattice reads lattices)"
            raise lines.error("lattices of one path each", found, line=graph.line)
        assert graph.scores is not None
        # A state is behind the one before it, so arcs are in the order of the path.
        spelt = [word for arc in arcs for word in arc.words]
        sums = [math.fsum(graph.values[graph.features == i].tolist()) for i in range(len(graph.names))]
        total = math.fsum(graph.scores.tolist())
        yield graph.line, graph.id, " ".join(spelt), tuple(graph.names), sums, total


def _key_of(name: str) -> tuple[str, int]:
    match = _KEY.fullmatch(name)
    if match is None:
        raise BadField(_SHAPE, quote(name) if name else "an empty line")
    return match[1], int(match[2])


class _Costs:
    """An archive of numbers."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._rest = iter(lines)

    def take(self, key: str) -> float:
        """The number of the next key, with its sign changed."""
        tokens = blanks(self._lines.next(self._rest, f"a cost of {quote(key)}"))
        if len(tokens) != 2 or tokens[0] != key:
            raise self._lines.error(f"the key {quote(key)} and its cost", quote(" ".join(tokens)), 1)
        try:
            return 0.0 - numbers(tokens[1:])[0]
        except BadField as bad:
            raise self._lines.locate(bad, 2) from None

    def finish(self) -> None:
        """Raise FormatError if there are more costs than hypotheses."""
        line = next(self._rest, None)
        if line is not None:
            raise self._lines.error("the end of the file, as of the hypotheses", quote(line.rstrip("\r\n")), 1)


def matches(head: bytes) -> bool:
    """Match keys with ranks that begin at 1 and rise by 1, one of them above 1."""
    rank, key = 0, ""
    highest = 0
    for line in first_lines(head):
        match = _KEY.fullmatch((blanks(line) or [""])[0])
        if match is None:
            return False
        rank = rank + 1 if match[1] == key else 1
        key = match[1]
        if int(match[2]) != rank:
            return False
        highest = max(highest, rank)
    return highest > 1


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="Kaldi's n-best transcriptions: utterance-rank text (lm=FILE and ac=FILE: costs, words=FILE: symbols)",
    matches=matches,
    parse=parse,
    fallback=1,
    example="utt-a-1 a man with a hat\nutt-a-2 the man with a hat\nutt-b-1 a dog\n",
)
