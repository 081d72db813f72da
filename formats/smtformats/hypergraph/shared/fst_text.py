"""Weighted automata as text: states, symbol tables and labels, for the formats of OpenFst and Kaldi."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from smtformats.errors import quote
from smtformats.files import Lines, open_lines
from smtformats.hypergraph.graph import GraphColumns, check_limits
from smtformats.hypergraph.lattices import Arc, lattice, order_of
from smtformats.records import dataclass
from smtformats.tokens import BadField, blanks, numbers

IDS = "ids"
EPSILONS = frozenset({"<eps>", "<epsilon>"})
_STATE = re.compile(r"[0-9]{1,9}")
_LABEL = re.compile(r"[0-9]{1,18}")
_MORE = "words=FILE, a symbol table, or words=ids to keep the numbers"


def is_state(token: str) -> bool:
    """Whether a token may be the number of a state."""
    return _STATE.fullmatch(token) is not None


def state_of(token: str) -> int:
    """The number of a state."""
    if not is_state(token):
        raise BadField("a state, a whole number", quote(token))
    return int(token)


def cost_of(token: str, place: int) -> float:
    """A cost, a finite number or ``Infinity``."""
    if token in ("Infinity", "inf"):
        return math.inf
    try:
        return numbers([token], what="a cost, a finite number or Infinity")[0]
    except BadField as bad:
        raise BadField(bad.expected, bad.found, place) from None


class Symbols:
    """The words of labels: of a symbol table, numbers as they are, or symbols in the file itself.

    Without a table and ``words=ids``, an automaton whose labels are all numbers is an error.
    """

    def __init__(self, words: str | None) -> None:
        self.table = None if words is None or words == IDS else read_table(words)
        self._may_be_numbers = words == IDS

    def word(self, label: str, place: int) -> tuple[str, ...]:
        """The word of a label, none for epsilon, whose number is 0."""
        number = int(label) if _LABEL.fullmatch(label) else None
        if self.table is None:
            return () if number == 0 or label in EPSILONS else (label,)
        if number is None:
            raise BadField("a label that is a number of the symbol table", quote(label), place)
        if number and number not in self.table:
            raise BadField("a label that the symbol table has", quote(label), place)
        return (self.table[number],) if number else ()

    def check(self, labels: Sequence[str]) -> None:
        """Refuse words that are all numbers, unless that is wanted."""
        if self.table is None and not self._may_be_numbers and labels and all(map(_LABEL.fullmatch, labels)):
            raise BadField(f"words, or numbers with {_MORE}", f"only numbers, as {quote(labels[0])}")


def read_table(path: str | Path) -> dict[int, str]:
    """Read a symbol table: a symbol and its number on each line."""
    table: dict[int, str] = {}
    with open_lines(path) as lines:
        for line in lines:
            tokens = blanks(line)
            if not tokens:
                continue
            if len(tokens) != 2 or not _LABEL.fullmatch(tokens[1]):
                raise lines.error("a symbol and its number", quote(line.rstrip("\r\n")), 1)
            if table.setdefault(int(tokens[1]), tokens[0]) != tokens[0]:
                raise lines.error("each number once", f"{quote(tokens[1])} again", 2)
        if not table:
            raise lines.error("a symbol and its number", "none in the file", 1, line=1)
    return table


@dataclass
class Automaton:
    """An automaton under construction; its start is the first state."""

    symbols: Symbols
    max_nodes: int
    max_edges: int
    line: int = 0
    start: int = -1
    arcs: list[Arc] = field(default_factory=list)
    finals: dict[int, Mapping[str, float]] = field(default_factory=dict)

    def begin(self, state: int, line: int) -> None:
        """Note the first state."""
        if self.start < 0:
            self.start, self.line = state, line

    def add(self, tail: int, head: int, word: tuple[str, ...], features: Mapping[str, float]) -> None:
        """Add an arc; an impossible one is dropped."""
        check_limits(0, len(self.arcs) + 1, self.max_nodes, self.max_edges)
        if not any(map(math.isinf, features.values())):
            self.arcs.append(Arc(tail, head, word, features))

    def end(self, state: int, features: Mapping[str, float]) -> None:
        """Add a final state; an impossible one is dropped."""
        if state in self.finals:
            raise BadField("each final state once", f"{state} again")
        if not any(map(math.isinf, features.values())):
            self.finals[state] = features

    def graph(self, id: str, lines: Lines, scales: Mapping[str, float]) -> GraphColumns:
        """The lattice: a new last node if there are several final states, or one with a cost or arcs."""
        if not self.finals:
            raise BadField("a final state with a finite cost", "none")
        self.symbols.check([word for arc in self.arcs for word in arc.words])
        arcs, final = list(self.arcs), next(iter(self.finals))
        if len(self.finals) > 1 or any(self.finals[final].values()) or any(arc.tail == final for arc in arcs):
            last = max([self.start, *self.finals, *(max(arc.tail, arc.head) for arc in arcs)]) + 1
            arcs += [Arc(state, last, (), features) for state, features in self.finals.items()]
            final = last
        order = order_of(arcs, self.start, final)
        check_limits(len(order), len(arcs), self.max_nodes, self.max_edges)
        return scored(lattice(id, order, arcs, file=lines.name, line=self.line), scales)


def scored(graph: GraphColumns, scales: Mapping[str, float]) -> GraphColumns:
    """The graph with scores of its edges: the features times their scales."""
    from dataclasses import replace

    changes: dict[str, Any] = {"scores": graph.edge_scores(scales)}
    return replace(graph, **changes)
