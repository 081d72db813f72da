r"""Confusion networks as Moses reads them, ``-inputtype 1``.

    ein 1.0
    hut 0.7 hat 0.3
    *EPS* 0.5 rot 0.5

One line per column, with words and their scores, and an empty line after each sentence. ``*EPS*`` is an empty arc. The
score, a probability in Moses, becomes the feature ``InputFeature0`` unchanged. The option ``name`` renames it;
``scores`` is the number of scores per word (then ``NAME[0]``, ``NAME[1]`` ..). Sentences are numbered from 0; spans are
columns.

The format is recognised only if the scores of each column sum to 1 and some column has several words; other files need
``--from confusion-network``. Errors: negative scores, and an empty line that follows no column (Moses stops there),
except at the end of the file. The options ``max_nodes`` and ``max_edges`` limit the size.
"""

from __future__ import annotations

from collections.abc import Iterator

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, first_lines
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, GraphColumns, check_limits
from smtformats.hypergraph.lattices import EPSILONS, Arc, lattice
from smtformats.tokens import BadField, blanks, is_number, numbers, vector

NAME = "confusion-network"
_CLOSE = 0.02


def parse(
    lines: Lines,
    *,
    name: str = "InputFeature0",
    scores: int = 1,
    max_nodes: int = MAX_NODES,
    max_edges: int = MAX_EDGES,
) -> Iterator[GraphColumns]:
    """Yield one sentence at a time."""
    if scores < 0:
        raise lines.error("0 or more as the option scores", str(scores))
    names = vector(name, scores) if scores else ()
    arcs: list[Arc] = []
    columns = count = gap = 0
    try:
        for line in lines:
            tokens = blanks(line)
            if tokens:
                if gap:
                    raise BadField("a column before an empty line", "none")
                arcs += _column(tokens, columns, names)
                columns += 1
                check_limits(columns + 1, len(arcs), max_nodes, max_edges)
                continue
            gap += not columns
            if columns:
                yield _graph(count, columns, arcs, lines, lines.number - columns)
                arcs, columns, count = [], 0, count + 1
    except BadField as bad:
        raise lines.locate(bad, 1) from None
    if columns:
        yield _graph(count, columns, arcs, lines, lines.number - columns + 1)
    elif not count:
        raise lines.error("a column, word score ...", "none in the file", 1)


def _graph(count: int, columns: int, arcs: list[Arc], lines: Lines, line: int) -> GraphColumns:
    return lattice(str(count), range(columns + 1), arcs, file=lines.name, line=line)


def _column(tokens: list[str], column: int, names: tuple[str, ...]) -> list[Arc]:
    step = len(names) + 1
    if len(tokens) % step:
        raise BadField(f"groups of a word and {len(names)} scores", f"{len(tokens)} fields")
    arcs = []
    for at in range(0, len(tokens), step):
        word = tokens[at]
        values = numbers(tokens[at + 1 : at + step])
        if any(value < 0 for value in values):
            raise BadField("scores of 0 or more", quote(" ".join(tokens[at + 1 : at + step])))
        words = () if word in EPSILONS else (word,)
        arcs.append(Arc(column, column + 1, words, dict(zip(names, values, strict=True)), (column, column + 1)))
    return arcs


def matches(head: bytes) -> bool:
    """Match words and scores that sum to 1 on every line, with several words on some line."""
    lines = [blanks(line) for line in first_lines(head)]
    return any(len(tokens) > 2 for tokens in lines) and all(map(_is_column, lines))


def _is_column(tokens: list[str]) -> bool:
    values = tokens[1::2]
    if len(tokens) % 2 or not all(map(is_number, values)):
        return False
    scores = [float(value) for value in values]
    return all(0 <= value <= 1 for value in scores) and abs(sum(scores) - 1) <= _CLOSE


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="Moses confusion networks: a line `word score word score ...` per column, an empty line after each network",
    matches=matches,
    parse=parse,
    example="ein 1.0\nhut 0.7 hat 0.3\n\nja 1.0\n\n",
)
