r"""Joshua's hypergraphs, ``HyperGraph.dump`` (``dump-hypergraph`` in Joshua 6.0): one file per sentence.

    # target ||| features
    3 3
    1
    ein ||| tm_pt_0=-1.000 lm_0=0.000
    2
    hut ||| tm_pt_0=-2.000 lm_0=0.000
    3
    [1] [2] ||| tm_pt_0=0.000 lm_0=-3.500

The numbers of nodes and edges, then for each node its number, from 1, and one line per incoming edge: target words and
tails (``[1]`` for node 1), and the edge's features. Source sides, categories, spans and scores are missing, so all
labels are ``X``.

The goal is missing too. If only one node is not a tail, it is the goal; otherwise a goal node is added with an edge
from each such node, without rule and features. Joshua may leave out the language model score of the last step. The
sentence id is the file name without its suffixes.

Errors: a tail that is not an earlier node, a tail twice in an edge, counts that differ from line 2, decimal commas
(which Joshua prints in some locales). The options ``max_nodes``, ``max_edges`` and ``max_symbols`` (symbols and
features of an edge) set limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format
from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, Edge, GraphBuilder, GraphColumns, check_limits
from smtformats.hypergraph.shared.sentence import sentence_id
from smtformats.tokens import BadField, blanks, numbers

NAME = "joshua-hypergraph"
MAX_SYMBOLS = 10_000
_LABEL = "X"
_TITLE = "# target ||| features"
_COUNTS = re.compile(r"([0-9]{1,9}) ([0-9]{1,9})")
_NODE = re.compile(r"[0-9]{1,9}")
_TAIL = re.compile(r"\[([0-9]{1,9})\]")


def parse(
    lines: Lines, *, max_nodes: int = MAX_NODES, max_edges: int = MAX_EDGES, max_symbols: int = MAX_SYMBOLS
) -> Iterator[GraphColumns]:
    """Yield the graph of a file."""
    field = 1
    try:
        texts = (line.rstrip("\r\n") for line in lines)
        title = next(texts, "")
        if title != _TITLE:
            raise BadField(f"`{_TITLE}`", quote(title))
        counts = _COUNTS.fullmatch(line := next(texts, ""))
        if counts is None:
            raise BadField("the numbers of nodes and edges", quote(line))
        nodes, edges = int(counts[1]), int(counts[2])
        check_limits(nodes, edges, max_nodes, max_edges)
        builder = GraphBuilder()
        rules: dict[Rule, int] = {}
        into: list[Edge] = []
        open_ends: dict[int, None] = {}
        number = seen = 0
        for line in texts:
            field = 1
            target, bar, features = line.partition(" ||| ")
            if not bar:
                if line != str(number + 1) or number == nodes:
                    wanted = f"node {number + 1} or an edge" if number < nodes else "an edge or the end of the file"
                    raise BadField(f"{wanted}, target ||| features", quote(line))
                if number:
                    builder.add(into)
                    into = []
                open_ends[number] = None
                number += 1
                continue
            if not number:
                raise BadField("node 1", quote(line))
            seen += 1
            if seen > edges:
                raise BadField(f"{edges} edges, as line 2 says", "another one")
            symbols, tails = _symbols(blanks(target), number, max_symbols)
            field = 2
            values = _features(blanks(features), max_symbols)
            into.append(Edge(tails, rules.setdefault(Rule(_LABEL, (), symbols), len(rules)), values))
            for tail in tails:
                open_ends.pop(tail, None)
        field = 1
        if (number, seen) != (nodes, edges):
            raise BadField(f"{nodes} nodes and {edges} edges, as line 2 says", f"{number} and {seen}")
    except BadField as bad:
        raise lines.locate(bad, field) from None
    if number:
        builder.add(into)
    if len(open_ends) > 1:
        builder.add([Edge((root,)) for root in open_ends])
    yield builder.graph(sentence_id(lines.name), rules, file=lines.name)


def _symbols(tokens: list[str], number: int, most: int) -> tuple[tuple[Symbol, ...], list[int]]:
    """Return the target side of an edge into node ``number``, and its tails."""
    if len(tokens) > most:
        raise BadField(f"at most {most} symbols (the option max_symbols sets the limit)", str(len(tokens)))
    symbols: list[Symbol] = []
    tails: dict[int, None] = {}
    for token in tokens:
        gap = _TAIL.fullmatch(token)
        if gap is None:
            symbols.append(token)
            continue
        tail = int(gap[1]) - 1
        if not 0 <= tail < number - 1 or tail in tails:
            raise BadField(f"tails below node {number}, each once", quote(token))
        tails[tail] = None
        symbols.append(NonTerminal(_LABEL, len(tails)))
    return tuple(symbols), list(tails)


def _features(items: list[str], most: int) -> dict[str, float]:
    if len(items) > most:
        raise BadField(f"at most {most} features (the option max_symbols sets the limit)", str(len(items)))
    values: dict[str, float] = {}
    for item in items:
        name, equals, value = item.rpartition("=")
        if not equals or not name:
            raise BadField("name=value", quote(item))
        if name in values:
            raise BadField("each feature once", f"{quote(name)} again")
        values[name] = numbers([value])[0]
    return values


def matches(head: bytes) -> bool:
    """Match Joshua's first line, a comment naming two fields; Moses' comment names three."""
    return head.split(b"\n", 1)[0].rstrip(b"\r") == _TITLE.encode()


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="Joshua's dumped hypergraph: nodes with their edges, target ||| name=value ...",
    matches=matches,
    parse=parse,
    single=True,
    example="# target ||| features\n3 3\n1\nein ||| lm_0=0.000\n2\nhut ||| lm_0=0.000\n3\n[1] [2] ||| lm_0=-3.500\n",
)
