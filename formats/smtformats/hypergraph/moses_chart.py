"""Moses' chart search graphs, as of ``-osg`` with a chart decoder: a hypothesis on each line.

    0 704->701 X  -> X something X :0-2 2-0 : term=1-1 : nonterm=0-2 2-0 : c=-1.9 core=(0,-1,1)  [8..10] 382 20
        [total=-104.6] core=(-100,-3,3)

(on one line). Fields: sentence, hypothesis and after ``->`` the one it lost to, the left-hand side once more with
``-include-lhs-in-search-graph``, the rule's left-hand side, its target side with bare labels, the links of its gaps,
those of its words, those of its gaps again, the rule's own score and vector, the span (both ends included, ``<s>`` at
0), the hypotheses that fill the gaps in the order of the source side, the total score of the derivation and its vector.

A hypothesis that was not recombined is a node, every line an edge to its node or to that of the hypothesis it lost
to. Tail k fills gap k of the rule, in source order, and the links say where that is on the target side; the source
side is not shown. The ``|UNK|UNK|UNK`` of an unknown word is left out, as lists have none. An edge's score and features
are its total less those of its tails, so they hold what the language model makes of the whole; the rule's own score
and vector do not, and are not kept. The values of the core are ``F[0] F[1] ...``, or what the option ``names`` says, as
``names=UnknownWordPenalty0 TranslationModel0:4``, in the order of the ``[feature]`` section. Six digits are printed: a
difference of totals above 100 has an error up to 0.0005.

The node of the whole span is the goal. With ``-unpruned-search-graph`` there may be several; then a goal after them
takes them in, with edges of score 0. Moses writes nothing of a sentence that has no derivation, nor of any after it.
Refused: a hypothesis after the one it fills or loses to, gaps and hypotheses that do not match in number, a sentence
whose whole span no hypothesis has. The options ``max_nodes`` and ``max_edges`` bound the size of a graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, first_lines
from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, Edge
from smtformats.hypergraph.shared.moses_lines import (
    ID,
    NUMBER,
    NUMBERS,
    SPARSE,
    Arcs,
    Shape,
    Vectors,
    finite,
    sentences,
)

if TYPE_CHECKING:
    from smtformats.hypergraph.graph import GraphColumns

NAME = "moses-chart-graph"
_DECIMALS = 9  # of differences: six digits were printed, the rest would be noise
_UNKNOWN = "|UNK|UNK|UNK"
_LINKS = r"((?:\d{1,9}-\d{1,9} )*)"
_HYP, _TARGET, _GAPS, _SPAN, _TAILS, _TOTAL, _VECTOR = 2, 5, 8, 11, 12, 13, 14
_LINE = Shape(
    ("a sentence id", ID),
    ("a hypothesis, ID or ID->ID", f" {ID}(?:->{ID})?"),
    ("LABEL => or none", "(?: [^ ]+ =>)?"),
    ("LABEL and an arrow, `X  -> `", " ([^ ]+)  -> "),
    ("target words", "(.*)"),
    (": and the links of gaps", f":{_LINKS}"),
    (": term= and links", f": term={_LINKS}"),
    (": nonterm= and links", f": nonterm={_LINKS}"),
    (": c=NUMBER", f": c={NUMBER}"),
    ("core=(NUMBERS) ...", rf" core=\({NUMBERS}\){SPARSE}"),
    ("[FIRST..LAST]", rf" \[{ID}\.\.{ID}\]"),
    ("hypotheses", r"((?: \d{1,18})*)"),
    ("[total=NUMBER]", rf" \[total=({NUMBER})\]"),
    ("core=(NUMBERS) ...", rf" core=\({NUMBERS}\){SPARSE}"),
)
_SHAPE = re.compile(r"\d{1,18} \d{1,18}(->\d{1,18})? ([^ ]+ => )?[^ ]+  -> .*:(\d+-\d+ )*: term=", re.ASCII)


class _Sentence:
    """A graph while it is read."""

    def __init__(self, id: str, arcs: Arcs, vectors: Vectors) -> None:
        self.id = id
        self.arcs = arcs
        self.vectors = vectors
        self.spans: list[tuple[int, int]] = []
        self.labels: list[str] = []
        self.totals: list[tuple[float, dict[str, float]]] = []
        self.last = 0

    def add(self, match: re.Match[str]) -> None:
        """Take in a line."""
        _, hyp, winner, label, target, links, _, gaps, _, _, first, last, tails, total, core, sparse = match.groups()
        arcs, error = self.arcs, self.arcs.lines.error
        self.last = arcs.lines.number
        span = int(first), int(last) + 1
        if span[0] >= span[1]:
            raise error("a first position and one not before it", quote(f"[{first}..{last}]"), _SPAN)
        if gaps != links:
            raise error("the links of gaps again", quote(gaps), _GAPS)
        below = [arcs.earlier(hypothesis, _TAILS, "fills a gap") for hypothesis in tails.split()]
        if len(below) != gaps.count(" "):
            raise error(f"{gaps.count(' ')} hypotheses, one for each gap", f"{len(below)}", _TAILS)
        score = finite(arcs.lines, total, _TOTAL)
        vector = self.vectors.values(core, sparse, _VECTOR)
        if winner is None:
            node = arcs.new(int(hyp), label)
            self.spans.append(span)
            self.labels.append(label)
            self.totals.append((score, vector))
        else:
            node = arcs.winner(int(hyp), winner, _HYP)
            if (self.spans[node], self.labels[node]) != (span, label):
                raise error(f"a hypothesis of {label} and [{first}..{last}] to lose to", quote(winner), _HYP)
            if any(tail >= node for tail in below):
                raise error(f"hypotheses before {winner}, which this one lost to", quote(tails.strip()), _TAILS)
        features = dict(vector)
        for tail in below:
            score = round(score - self.totals[tail][0], _DECIMALS)
            for name, value in self.totals[tail][1].items():
                features[name] = round(features.get(name, 0.0) - value, _DECIMALS)
        edge = Edge(
            tails=below,
            rule=arcs.rule(f"{label} {gaps}{target}", lambda: self.rule(label, target, gaps)),
            features={name: value for name, value in features.items() if value or name in self.vectors.core},
            span=span,
            score=score,
        )
        arcs.lead(node, edge)

    def rule(self, label: str, target: str, gaps: str) -> Rule:
        """A rule without its source side."""
        symbols: list[Symbol] = [word.removesuffix(_UNKNOWN) for word in target.split(" ") if word]
        before = -1
        for k, link in enumerate(gaps.split(), 1):
            source, place = map(int, link.split("-"))
            word = symbols[place] if place < len(symbols) else None
            if source <= before or not isinstance(word, str):
                expected = f"links in source order, each to a label among {len(symbols)} symbols"
                raise self.arcs.lines.error(expected, quote(link), _GAPS)
            before = source
            symbols[place] = NonTerminal(word, k)
        return Rule(label, (), tuple(symbols))

    def graph(self) -> GraphColumns:
        """The graph with its goal."""
        arcs = self.arcs
        whole = min(first for first, _ in self.spans), max(last for _, last in self.spans)
        full = [node for node, span in enumerate(self.spans) if span == whole]
        if not full:
            expected = f"a hypothesis of the whole span [{whole[0]}..{whole[1] - 1}]"
            raise arcs.lines.error(expected, f"none in sentence {self.id}", _SPAN, line=self.last)
        if full != [len(arcs) - 1]:
            goal = arcs.bare()
            for node in full:
                label = self.labels[node]
                end = arcs.rule(f"\n{label}", partial(Rule, label, (), (NonTerminal(label, 1),)))
                arcs.lead(goal, Edge(tails=(node,), rule=end, span=whole, score=0.0))
        return arcs.columns(self.id)


def parse(
    lines: Lines, *, names: str = "", max_nodes: int = MAX_NODES, max_edges: int = MAX_EDGES
) -> Iterator[GraphColumns]:
    """One sentence's graph at a time."""
    vectors = Vectors(lines, names)

    def begin(id: str) -> _Sentence:
        return _Sentence(id, Arcs(lines, max_nodes, max_edges), vectors)

    return sentences(lines, lambda line: _LINE, begin, "a chart search graph")


def matches(head: bytes) -> bool:
    """The first line is a hypothesis made by a rule with its links."""
    lines = first_lines(head)
    return bool(lines) and _SHAPE.match(lines[0]) is not None


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="Moses chart search graph (-osg): a hypothesis, its rule, span, tails and scores on a line",
    matches=matches,
    parse=parse,
    example="""\
0 3 S  -> <s> :: term=0-0 : nonterm=: c=0.5 core=(-1,0)  [0..0] [total=0.5] core=(-1,0)
0 4 X  -> a house :: term=0-0 0-1 : nonterm=: c=-1 core=(-2,0)  [1..1] [total=-1.5] core=(-2,-4.5)
0 6 S  -> S X :0-0 1-1 : term=: nonterm=0-0 1-1 : c=0 core=(0,0)  [0..1] 3 4 [total=-0.75] core=(-3,-4)
0 7->6 S  -> S home :0-0 : term=1-1 : nonterm=0-0 : c=-1 core=(-1,0)  [0..1] 3 [total=-1] core=(-2,-5)
""",
)
