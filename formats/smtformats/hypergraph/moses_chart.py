"""Moses' chart search graphs, ``-osg`` with a chart decoder: one hypothesis per line.

    0 704->701 X  -> X something X :0-2 2-0 : term=1-1 : nonterm=0-2 2-0 : c=-1.9 core=(0,-1,1)  [8..10] 382 20
        [total=-104.6] core=(-100,-3,3)

(on one line). Fields: sentence id; hypothesis, and after ``->`` the hypothesis it was recombined into; the left-hand
side, with ``-include-lhs-in-search-graph``; the rule's left-hand side; its target side with bare labels; the gap
alignment, the word alignment and the gap alignment again; the rule's score and score vector; the span (last position
included, ``<s>`` at 0); the hypotheses that fill the gaps, in source order; the derivation's total score and vector.

Each hypothesis that was not recombined is a node. Each line is an edge into its own node or into the node it was
recombined into. Tail k fills gap k of the rule, in source order; the gap alignment gives its place on the target side.
The source side is not in the file. The ``|UNK|UNK|UNK`` of unknown words is removed, as in n-best lists. An edge's
score and features are its total minus the totals of its tails, so they include the language model. The rule's own score
and vector do not, and are dropped. The core values are ``F[0] F[1] ...`` unless the option ``names`` names them in the
order of the ``[feature]`` section, as ``names=UnknownWordPenalty0 TranslationModel0:4``. Moses prints six digits, so
differences of totals above 100 are off by up to 0.0005.

The node of the whole span is the goal. With ``-unpruned-search-graph`` there may be several; then an added goal node
joins them with edges of score 0. Moses writes nothing for a sentence without a derivation and for all that follow.
Errors: a tail or winner that is not on an earlier line, gaps and hypotheses that differ in number, a sentence without a
hypothesis for the whole span. The options ``max_nodes`` and ``max_edges`` limit the size of a graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, first_lines
from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, Edge, GraphColumns
from smtformats.hypergraph.shared.moses_lines import (
    ID,
    NUMBER,
    NUMBERS,
    SPARSE,
    Arcs,
    LineShape,
    Vectors,
    finite,
    sentences,
)

NAME = "moses-chart-graph"
_DECIMALS = 9  # of differences: six digits are printed, the rest is noise
_UNKNOWN = "|UNK|UNK|UNK"
_LINKS = r"((?:\d{1,9}-\d{1,9} )*)"
_HYP, _TARGET, _GAPS, _SPAN, _TAILS, _TOTAL, _VECTOR = 2, 5, 8, 11, 12, 13, 14
_LINE = LineShape(
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
    """A graph under construction."""

    def __init__(self, id: str, arcs: Arcs, vectors: Vectors) -> None:
        self.id = id
        self.arcs = arcs
        self.vectors = vectors
        self.spans: list[tuple[int, int]] = []
        self.labels: list[str] = []
        self.totals: list[tuple[float, dict[str, float]]] = []
        self.last = 0

    def add(self, match: re.Match[str]) -> None:
        """Add a line."""
        _, hyp, winner, label, target, links, _, gaps, _, _, first, last, tails, total, core, sparse = match.groups()
        arcs, error = self.arcs, self.arcs.lines.error
        self.last = arcs.lines.number
        span = int(first), int(last) + 1
        if span[0] >= span[1]:
            raise error("a first position and one not before it", quote(f"[{first}..{last}]"), _SPAN)
        if gaps != links:
            raise error("the same gap alignment again", quote(gaps), _GAPS)
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
                raise error(f"a winner with label {label} and span [{first}..{last}]", quote(winner), _HYP)
            if any(tail >= node for tail in below):
                expected = f"tails before {winner}, into which this hypothesis was recombined"
                raise error(expected, quote(tails.strip()), _TAILS)
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
        """Return the rule, without a source side."""
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
        """Return the graph with its goal."""
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
    """Yield one sentence's graph at a time."""
    vectors = Vectors(lines, names)

    def begin(id: str) -> _Sentence:
        return _Sentence(id, Arcs(lines, max_nodes, max_edges), vectors)

    return sentences(lines, lambda line: _LINE, begin, "a chart search graph")


def matches(head: bytes) -> bool:
    """Match if the first line is a hypothesis with a rule and its alignment."""
    lines = first_lines(head)
    return bool(lines) and _SHAPE.match(lines[0]) is not None


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="Moses chart search graph (-osg): one hypothesis per line, with rule, span, tails and scores",
    matches=matches,
    parse=parse,
    example="""\
0 3 S  -> <s> :: term=0-0 : nonterm=: c=0.5 core=(-1,0)  [0..0] [total=0.5] core=(-1,0)
0 4 X  -> a house :: term=0-0 0-1 : nonterm=: c=-1 core=(-2,0)  [1..1] [total=-1.5] core=(-2,-4.5)
0 6 S  -> S X :0-0 1-1 : term=: nonterm=0-0 1-1 : c=0 core=(0,0)  [0..1] 3 4 [total=-0.75] core=(-3,-4)
0 7->6 S  -> S home :0-0 : term=1-1 : nonterm=0-0 : c=-1 core=(-1,0)  [0..1] 3 [total=-1] core=(-2,-5)
""",
)
