r"""Weighted automata of AT&T's FSM tools and OpenFst as text, ``fstprint`` and ``fstcompile``: a lattice per file.

    0 1 ein a 0.5
    0 1 eine an 1.25
    1 2 hut hat 0.25
    2 0.1

An arc per line, with blanks or tabs between the fields: state, next state, input label, output label and cost
(``--acceptor``: state, next state, label and cost); a final state and its cost on a line of their own. A missing cost
is 0. The first line begins with the start state. (www.openfst.org, "FST Quick Tour"; ``script/compile-impl.h`` of
OpenFst.) The sentence id is the file name without its suffixes.

The option ``side`` is ``output`` or ``input``: the labels that are words (default: output). Label 0, ``<eps>`` and
``<epsilon>`` are the empty word. ``words=FILE`` is a symbol table, a word and its number per line; without it labels
are words, and an automaton whose words are all numbers is an error, unless ``words=ids`` keeps them.

Lines of four fields are arcs of a transducer without a cost or of an acceptor with one: a line of five fields, a fourth
field that is no number, or one with a decimal point tells them apart, else ``acceptor=true`` or ``acceptor=false`` has
to.

A cost is a negative logarithm, of the tropical or the log semiring: the feature ``logprob`` is the cost with its sign
changed, and so is the score. Arcs and final states of the cost ``Infinity`` are dropped. Errors: cycles, no final
state, other weights. The options ``max_nodes`` and ``max_edges`` limit the size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from smtformats.errors import quote
from smtformats.files import HEAD_BYTES, Lines
from smtformats.format import Format
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, GraphColumns
from smtformats.hypergraph.shared.fst_text import Automaton, Symbols, cost_of, is_state, state_of
from smtformats.hypergraph.shared.sentence import sentence_id
from smtformats.tokens import BadField, blanks, is_number

NAME = "openfst-lattice"
_FEATURE = "logprob"
_SIDES = ("output", "input")
_FRACTION = re.compile(r"[-+]?[0-9]*(?:\.[0-9]*(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)|Infinity")
_ROWS = "state, next state, labels and cost, or a final state and its cost"


def parse(
    lines: Lines,
    *,
    words: str | None = None,
    side: str = "output",
    acceptor: bool | None = None,
    max_nodes: int = MAX_NODES,
    max_edges: int = MAX_EDGES,
) -> Iterator[GraphColumns]:
    """Yield the lattice of the file."""
    if side not in _SIDES:
        raise lines.error("output or input as the option side", quote(side))
    automaton = Automaton(Symbols(words), max_nodes, max_edges)
    rows: list[tuple[int, list[str]]] = []
    for line in lines:
        tokens = blanks(line)
        if not tokens:
            continue
        if len(tokens) > 5:
            raise lines.error(_ROWS, f"{len(tokens)} fields", 6)
        rows.append((lines.number, tokens))
        if len(rows) > max_edges + max_nodes:
            raise lines.error(f"at most {max_edges} arcs (the option max_edges sets the limit)", "more", 1)
    try:
        if not rows:
            raise BadField(_ROWS, "none in the file", 1)
        accepts = _is_acceptor([tokens for _, tokens in rows]) if acceptor is None else acceptor
        for number, tokens in rows:
            lines.number = number
            _add(automaton, tokens, number, accepts, side)
        lines.number = automaton.line
        graph = automaton.graph(sentence_id(lines.name), lines, {_FEATURE: 1.0})
    except BadField as bad:
        raise lines.locate(bad, 1) from None
    yield graph


def _is_acceptor(rows: Sequence[Sequence[str]]) -> bool:
    """Whether arcs have one label."""
    sizes = {len(tokens) for tokens in rows}
    if 5 in sizes:
        return False
    fourth = [tokens[3] for tokens in rows if len(tokens) == 4]
    if 3 in sizes or not fourth:
        return True
    if any(_FRACTION.fullmatch(token) for token in fourth):
        return all(is_number(token) or token == "Infinity" for token in fourth)
    if all(map(is_number, fourth)):
        known = "acceptor=true (the fourth field is a cost) or acceptor=false (a label)"
        raise BadField(f"the option {known}", "arcs that may be either", 4)
    return False


def _add(automaton: Automaton, tokens: Sequence[str], line: int, accepts: bool, side: str) -> None:
    """Add a line."""
    state = state_of(tokens[0])
    automaton.begin(state, line)
    size = len(tokens)
    if size <= 2:
        automaton.end(state, {_FEATURE: 0.0 - (cost_of(tokens[1], 2) if size == 2 else 0.0)})
        return
    labels = 1 if accepts else 2
    if not 2 + labels <= size <= 3 + labels:
        what = "state, next state, label and cost" if accepts else "state, next state, two labels and cost"
        raise BadField(what, f"{size} fields", size)
    place = 3 if accepts or side == "input" else 4
    cost = cost_of(tokens[-1], size) if size == 3 + labels else 0.0
    head = _head(tokens[1])
    automaton.add(state, head, automaton.symbols.word(tokens[place - 1], place), {_FEATURE: 0.0 - cost})


def _head(token: str) -> int:
    try:
        return state_of(token)
    except BadField as bad:
        raise BadField(bad.expected, bad.found, 2) from None


def matches(head: bytes) -> bool:
    """Match arcs and final states: arcs lead to the states of all lines but the first."""
    whole = len(head) < HEAD_BYTES // 2
    lines = head.decode("utf-8", "ignore").split("\n")
    rows = [tokens for tokens in map(blanks, lines if whole else lines[:-1]) if tokens]
    if not rows or not 3 <= len(rows[0]) <= 5 or not all(map(_fits, rows)):
        return False
    reached = {tokens[1] for tokens in rows if len(tokens) > 2} | {rows[0][0]}
    known = sum(tokens[0] in reached or tokens[1:] == ["Infinity"] for tokens in rows)
    if whole:
        return known == len(rows) and any(len(tokens) <= 2 for tokens in rows)
    return known > len(rows) // 2


def _fits(tokens: Sequence[str]) -> bool:
    if len(tokens) > 5 or not is_state(tokens[0]):
        return False
    if len(tokens) in (2, 5) and not (is_number(tokens[-1]) or tokens[-1] == "Infinity"):
        return False
    return len(tokens) <= 2 or is_state(tokens[1])


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="automata of OpenFst and AT&T's tools as text: state next-state label [label] [cost], final-state [cost]",
    matches=matches,
    parse=parse,
    suffixes=(".fst.txt", ".fst"),
    single=True,
    example="0 1 ein a 0.5\n0 1 eine an 1.25\n1 2 hut hat 0.25\n2\n",
)
