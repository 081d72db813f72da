"""Kaldi's lattices as text, archives of ``Lattice`` or ``CompactLattice`` (``lattice-copy ark:lat.1 ark,t:-``).

    utt-1
    0 1 ein 4.5,-30.25,3_4_4
    0 1 eine 5.25,-29,3_5
    1 2 hut 2,-41.5,7_8
    2 0.5,0,

A line with the key, then arcs and final states, then an empty line. An arc of a ``CompactLattice`` has state, next
state, word and weight, one of a ``Lattice`` state, next state, transition-id, word and weight; a final state has its
weight. A weight is graph cost, acoustic cost and, of a ``CompactLattice``, transition-ids; a missing one is 0. The
first line begins with the start state. (kaldi-asr.org/doc/lattices.html; ``lat/kaldi-lattice.cc`` and
``fstext/lattice-weight.h`` of Kaldi.) The sentence id is the key.

Costs are negative logarithms. The features ``graph`` and ``acoustic`` are the costs with their sign changed, and the
score is ``graph + acoustic_scale * acoustic``, with the option ``acoustic_scale`` (default: 1, as of Kaldi's
``lattice-best-path``; its recipes use 1/10 or 1/12). Transition-ids are dropped, so a ``Lattice`` may have the same
words on several paths.

``words=FILE`` is a symbol table, Kaldi's ``words.txt``: a word and its number per line. Without it labels are words, as
``int2sym.pl -f 3`` writes them; a lattice whose words are all numbers is an error, unless ``words=ids`` keeps them.
Label 0 and ``<eps>`` are the empty word. Arcs and final states of the cost ``Infinity`` are dropped.

Errors: binary archives, cycles, no final state, arcs of both kinds. The options ``max_nodes`` and ``max_edges`` limit
the size of a lattice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, GraphColumns
from smtformats.hypergraph.shared.fst_text import Automaton, Symbols, cost_of, is_state, state_of
from smtformats.tokens import BadField, blanks, is_id

NAME = "kaldi-lattice"
_GRAPH, _ACOUSTIC = "graph", "acoustic"
_WEIGHT = re.compile(r"[^,]+,[^,]+,[0-9_]*")
_ZERO = {_GRAPH: 0.0, _ACOUSTIC: 0.0}


def parse(
    lines: Lines,
    *,
    words: str | None = None,
    acoustic_scale: float = 1.0,
    max_nodes: int = MAX_NODES,
    max_edges: int = MAX_EDGES,
) -> Iterator[GraphColumns]:
    """Yield one lattice at a time."""
    symbols = Symbols(words)
    scales = {_GRAPH: 1.0, _ACOUSTIC: acoustic_scale}
    key, count = "", 0
    lattice = _Lattice(symbols, max_nodes, max_edges)
    try:
        for line in lines:
            tokens = blanks(line)
            if not tokens:
                if key:
                    yield lattice.graph(key, lines, scales)
                    key = ""
            elif not key:
                if len(tokens) > 1:
                    raise BadField("the key of a lattice alone on its line", quote(line.rstrip("\r\n")), 2)
                key, lattice, count = tokens[0], _Lattice(symbols, max_nodes, max_edges), count + 1
                lattice.line = lines.number
            else:
                lattice.add_line(tokens)
        if key:
            yield lattice.graph(key, lines, scales)
        if not count:
            raise BadField("the key of a lattice", "none in the file")
    except BadField as bad:
        raise lines.locate(bad, 1) from None


class _Lattice(Automaton):
    """A lattice under construction."""

    compact: bool | None = None

    def add_line(self, tokens: Sequence[str]) -> None:
        """Add an arc or a final state."""
        state = state_of(tokens[0])
        self.start = state if self.start < 0 else self.start
        if len(tokens) <= 2:
            self.end(state, _costs(tokens[1], 2, (2, 3)) if len(tokens) == 2 else _ZERO)
            return
        compact = len(tokens) == 3 or (len(tokens) == 4 and _WEIGHT.fullmatch(tokens[3]) is not None)
        if len(tokens) > 5 or self.compact not in (None, compact):
            shown = {None: "an arc or a final state", True: "an arc of a CompactLattice", False: "an arc of a Lattice"}
            raise BadField(f"{shown[self.compact]}, as on the lines before", f"{len(tokens)} fields", len(tokens))
        self.compact = compact
        if not compact and not is_id(tokens[2]):
            raise BadField("a transition-id of a Lattice, or the weight of a CompactLattice", quote(tokens[2]), 3)
        place = 3 if compact else 4
        weighted = len(tokens) > place
        costs = _costs(tokens[place], place + 1, (3,) if compact else (2,)) if weighted else _ZERO
        try:
            head = state_of(tokens[1])
        except BadField as bad:
            raise BadField(bad.expected, bad.found, 2) from None
        self.add(state, head, self.symbols.word(tokens[place - 1], place), costs)


def _costs(weight: str, place: int, sizes: Sequence[int]) -> Mapping[str, float]:
    """The features of a weight of two costs and perhaps transition-ids."""
    parts = weight.split(",")
    if len(parts) not in sizes:
        kinds = {2: "graph,acoustic", 3: "graph,acoustic,transition-ids"}
        raise BadField(f"a weight {' or '.join(kinds[size] for size in sizes)}", quote(weight), place)
    return {name: 0.0 - cost_of(part, place) for name, part in zip((_GRAPH, _ACOUSTIC), parts, strict=False)}


def matches(head: bytes) -> bool:
    """Match a key, alone on its line, and an arc with a weight of two costs."""
    lines = head.decode("utf-8", "ignore").split("\n", 2)
    if len(lines) < 2 or len(blanks(lines[0])) != 1:
        return False
    tokens = blanks(lines[1])
    if not 2 <= len(tokens) <= 5 or not is_state(tokens[0]) or not (len(tokens) == 2 or is_state(tokens[1])):
        return False
    try:
        _costs(tokens[-1], 1, (2, 3))
    except BadField:
        return False
    return True


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="text archives of Kaldi's lattices: key, then state next-state [transition-id] word graph,acoustic[,ids]",
    matches=matches,
    parse=parse,
    suffixes=(".lat.txt",),
    example="utt-1 \n0 1 ein 4.5,-30.25,3_4_4\n0 1 eine 5.25,-29,3_5\n1 2 hut 2,-41.5,7_8\n2 0.5,0,\n\n",
)
