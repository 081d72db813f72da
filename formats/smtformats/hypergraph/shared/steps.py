"""A phrase-based graph as search steps, for the writers of Moses' search and word graphs.

Each edge becomes a step. Of the incoming edges of a node, the best-scoring one is its hypothesis and the others were
recombined into it. Edges into the goal without source and target words mark complete hypotheses; as in Moses, their
scores are added to the last phrase's step. Likewise the score of a first edge without words is added to the first step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from smtformats.errors import quote
from smtformats.hypergraph.graph import GraphColumns
from smtformats.records import dataclass
from smtformats.tokens import BadField

_NONE = -float("inf")


@dataclass(frozen=True)
class Step:
    """A phrase appended to a hypothesis. Steps are numbered from 1; 0 is the empty hypothesis.

    ``score`` is the score of the best path to this step. ``winner`` is the step it was recombined into, or 0.
    ``forward`` is the next step on the best path to the end, -1 for a complete hypothesis; ``rest`` is the score of
    that path.
    """

    number: int
    back: int
    span: tuple[int, int]
    covered: int
    source: tuple[str, ...]
    target: tuple[str, ...]
    score: float
    transition: float
    winner: int
    forward: int
    rest: float
    features: Mapping[str, float] = field(default_factory=dict)


@dataclass
class _Arc:
    """An edge with words; ``added`` are adjacent edges without words whose scores it takes over."""

    edge: int
    tail: int
    head: int
    score: float
    added: list[int] = field(default_factory=list)


def steps_of(graph: GraphColumns) -> list[Step]:
    """Return the steps of a graph in topological order, a node's best one first.

    There are none for an empty sentence, and none for a failed one (a graph without nodes).
    """
    if not graph.nodes:
        return []
    phrases = _Phrases(graph)
    arcs = phrases.arcs()
    best, rest = phrases.inside(arcs), phrases.outside(arcs)
    into: list[list[_Arc]] = [[] for _ in range(graph.nodes)]
    for arc in arcs:
        if best[arc.tail] + arc.score + rest[arc.head] > _NONE:
            into[arc.head].append(arc)
    steps: list[Step] = []
    own = [0] * graph.nodes  # the best step of each node
    ahead: dict[int, tuple[float, int]] = {}
    covered = [0] * graph.nodes
    for node, ways in enumerate(into):
        # Best first; ties keep the graph's order.
        ways.sort(key=lambda arc: -(best[arc.tail] + arc.score))
        for arc in ways:
            number = len(steps) + 1
            first, last = graph.spans[arc.edge].tolist()
            count = covered[arc.tail] + last - first
            if arc is ways[0]:
                own[node], covered[node] = number, count
            elif covered[node] != count:
                expected = f"{covered[node]} source words covered by all hypotheses of a node"
                raise BadField(expected, str(count))
            onward = (arc.score + rest[node], -number)
            if onward > ahead.get(arc.tail, (_NONE, 0)):
                ahead[arc.tail] = onward
            source, target = phrases.words(arc.edge)
            steps.append(
                Step(
                    number=number,
                    back=own[arc.tail],
                    span=(first, last),
                    covered=count,
                    source=source,
                    target=target,
                    score=best[arc.tail] + arc.score,
                    transition=arc.score,
                    winner=0 if arc is ways[0] else own[node],
                    forward=node,
                    rest=rest[node],
                    features=phrases.features(arc),
                )
            )
    complete = phrases.complete
    return [replace(step, forward=-1 if step.forward in complete else -ahead[step.forward][1]) for step in steps]


class _Phrases:
    """A graph as a sequence of phrases."""

    def __init__(self, graph: GraphColumns) -> None:
        if graph.scores is None:
            raise BadField("a graph whose edges have scores", "features alone")
        self.graph = graph
        self.scores = graph.scores.tolist()
        self.goal = graph.nodes - 1
        self.heads = graph.heads.tolist()
        self.tails: list[int] = []
        self._words: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        widths = (graph.tail_offsets[1:] - graph.tail_offsets[:-1]).tolist()
        if any(width > 1 for width in widths):
            raise BadField("edges with one tail each, as in a phrase-based graph", f"one with {max(widths)}")
        places = graph.tail_offsets.tolist()
        below = graph.tails.tolist()
        self.tails = [below[place] if width else -1 for place, width in zip(places, widths, strict=False)]
        self.start, self._first = self._find_start()
        self._ends = self._find_ends()
        self.complete = set(self._ends) or {self.goal}

    def _bare(self, edge: int) -> bool:
        """Whether an edge has no words on either side."""
        first, last = self.graph.spans[edge].tolist()
        return not self.words(edge)[1] and last <= first

    def _find_start(self) -> tuple[int, int]:
        """Return the start node, and its incoming edge or -1."""
        offsets = self.graph.edge_offsets.tolist()
        starts = [(node, -1) for node in range(self.graph.nodes) if offsets[node] == offsets[node + 1]]
        starts += [(self.heads[edge], edge) for edge, tail in enumerate(self.tails) if tail < 0]
        if len(starts) != 1:
            raise BadField("one start node", f"{len(starts)}")
        node, edge = starts[0]
        if edge >= 0 and not (self._bare(edge) and offsets[node + 1] - offsets[node] == 1):
            raise BadField("a start without words", "a phrase without a predecessor")
        return node, edge

    def _find_ends(self) -> dict[int, int]:
        """Return the edge from each complete hypothesis to the goal; empty if the goal itself is the only one."""
        into = [edge for edge, head in enumerate(self.heads) if head == self.goal and edge != self._first]
        bare = [edge for edge in into if self._bare(edge)]
        if not bare:
            return {}
        ends = {self.tails[edge]: edge for edge in bare}
        if len(ends) < len(into):
            raise BadField("one edge without words from each complete hypothesis to the goal", "others")
        for edge, tail in enumerate(self.tails):
            if tail in ends and self.heads[edge] != self.goal:
                raise BadField("complete hypotheses that no phrase follows", "one that goes on")
        return ends

    def arcs(self) -> list[_Arc]:
        """Return the edges with words, by their heads."""
        arcs = []
        for edge, (head, tail) in enumerate(zip(self.heads, self.tails, strict=True)):
            if edge == self._first or (self._ends and head == self.goal):
                continue
            arc = _Arc(edge, tail, head, self.scores[edge])
            if tail == self.start and self._first >= 0:
                arc.added.append(self._first)
            if head in self._ends:
                arc.added.append(self._ends[head])
            arc.score += sum(self.scores[added] for added in arc.added)
            first, last = self.graph.spans[edge].tolist()
            if not 0 <= first < last:
                shown = quote(" ".join(self.words(edge)[1]))
                raise BadField("a source span for each phrase", f"none for {shown}")
            arcs.append(arc)
        return arcs

    def inside(self, arcs: list[_Arc]) -> list[float]:
        """Return the best score of a path to each node."""
        best = [_NONE] * self.graph.nodes
        best[self.start] = 0.0
        for arc in arcs:
            best[arc.head] = max(best[arc.head], best[arc.tail] + arc.score)
        return best

    def outside(self, arcs: list[_Arc]) -> list[float]:
        """Return the best score of a path from each node to the end."""
        rest = [_NONE] * self.graph.nodes
        for node in self.complete:
            rest[node] = 0.0
        for arc in reversed(arcs):
            rest[arc.tail] = max(rest[arc.tail], arc.score + rest[arc.head])
        return rest

    def words(self, edge: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the source and target words of an edge's rule."""
        rule = int(self.graph.rules[edge])
        words = self._words.get(rule)
        if words is None:
            words = self._words[rule] = self._words_of(rule, self.tails[edge] >= 0)
        return words

    def _words_of(self, rule: int, tail: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if rule < 0:
            return (), ()
        pair = self.graph.grammar.rule(rule)
        if tail and [k for k, symbol in enumerate(pair.target) if not isinstance(symbol, str)] != [0]:
            raise BadField("target words after the gap", quote(" ".join(map(str, pair.target))))
        return (
            tuple(symbol for symbol in pair.source if isinstance(symbol, str)),
            tuple(symbol for symbol in pair.target if isinstance(symbol, str)),
        )

    def features(self, arc: _Arc) -> dict[str, float]:
        """Return the features of a step."""
        features = self.graph.edge_features(arc.edge)
        for edge in arc.added:
            for name, value in self.graph.edge_features(edge).items():
                features[name] = features.get(name, 0.0) + value
        return features
