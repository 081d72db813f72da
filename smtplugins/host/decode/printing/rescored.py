"""List what scores best with sentence BLEU against the sentence's references, as Joshua does with `rescore-forest`.

Each node has a heap of derivations, ranked by model score less ``weight`` times BLEU; the best of a node stand for it
above, so that the lists are those of a greedy search. A derivation's n-grams are those that Joshua counts as it
applies rules: those of a rule once more for each of its later words, tails in the order of the source. The score of a
derivation is Joshua's, too: it takes the tails of an edge for their best ones.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from smtplugins.contracts.errors import SentenceError, UsageError
from smtplugins.contracts.options import CheckedOptions, option
from smtplugins.contracts.spec import Spec, build

if TYPE_CHECKING:
    from smtplugins.core.graph.derivations import Derivations
    from smtplugins.core.graph.hypergraph import Hypergraph

BLEU = "bleu"
_ORDER = 4
Words = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ReferenceRescoring(CheckedOptions):
    """The options of rescoring with references."""

    weight: float = option(10.0, "subtracted from the model score for a BLEU of 1, by which Joshua ranks")
    context: int = option(
        4, "words at either side of a constituent that n-grams see: the order of the LM less one", least=1
    )

    def list(self, graph: Hypergraph, *, references: Sequence[str], k: int, unique: bool) -> Derivations:
        """The ``k`` best derivations, with their model scores."""
        import numpy as np

        from smtplugins.core.graph.derivations import Derivations

        if not references:
            raise SentenceError(
                f"sentence {graph.id}: expected references for output.rescored (source ||| ||| reference), found none"
            )
        chosen = _Lists(graph, _References([line.split() for line in references]), self, unique).best(k)
        edges = [one.edges for one in chosen]
        offsets = np.array([0, *itertools.accumulate(map(len, edges))], dtype=np.int64)
        scores = np.array([one.cost for one in chosen], dtype=np.float64)
        return Derivations(graph, scores, offsets, np.array([*itertools.chain(*edges)], dtype=np.int32))


def rescoring_of(spec: Spec) -> ReferenceRescoring:
    """Make the rescoring that a configuration names."""
    if spec.name != BLEU:
        raise UsageError(f"unknown rescoring {spec.name!r}: expected {BLEU}")
    made: ReferenceRescoring = build(f"rescoring {BLEU!r}", ReferenceRescoring, spec.options, {})
    return made


class _References:
    """The n-grams of all references and their mean length."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self.length = sum(map(len, texts)) / len(texts)
        self.ngrams = {
            tuple(words[i : i + n]) for words in texts for n in range(1, _ORDER + 1) for i in range(len(words) - n + 1)
        }

    def matches(self, words: Sequence[str], boundary: int | None) -> list[int]:
        """The distinct n-grams of each order that a reference has; only those across the ``boundary``, if any."""
        found = {
            tuple(words[i : i + n])
            for n in range(1, _ORDER + 1)
            for i in range(len(words) - n + 1)
            if boundary is None or i < boundary < i + n
        }
        sizes = [len(ngram) for ngram in found & self.ngrams]
        return [sizes.count(n) for n in range(1, _ORDER + 1)]


@dataclass(frozen=True)
class _State:
    """A derivation of a node: an edge, and the rank of the derivation of each of its tails."""

    edge: int
    ranks: tuple[int, ...]
    cost: float
    words: Words
    matches: tuple[int, ...]
    edges: list[int]
    ranked: float


@dataclass
class _Node:
    """The derivations of a node that are listed, those that may follow, and what has been seen."""

    listed: list[_State] = field(default_factory=list)
    heap: list[tuple[float, int, _State]] = field(default_factory=list)
    waiting: list[tuple[_State, int]] = field(default_factory=list)
    seen: set[tuple[int, tuple[int, ...]]] = field(default_factory=set)
    texts: set[Words] = field(default_factory=set)
    complete: bool = False


class _Lists:
    """Lists of the derivations of nodes, as long as they are asked for."""

    def __init__(self, graph: Hypergraph, references: _References, options: ReferenceRescoring, unique: bool) -> None:
        import numpy as np

        self._references = references
        self._options = options
        self._unique = unique
        self._count = itertools.count()
        grammar, words = graph.grammar, graph.words
        target, offsets = grammar.target.tolist(), grammar.target_offsets.tolist()
        self._sides = [
            [words[symbol] if symbol >= 0 else -1 - symbol for symbol in target[a:b]]
            for a, b in itertools.pairwise(offsets)
        ]
        self._rules = graph.rules.tolist()
        tails, bounds = graph.tails.tolist(), graph.tail_offsets.tolist()
        self._tails = [tails[a:b] for a, b in itertools.pairwise(bounds)]
        spans = graph.spans.tolist()
        length = max((last for _, last in spans), default=0)
        # In single precision, as a product just below a whole number is cut to the one before.
        shares = [np.float32(last - first) / np.float32(length or 1) for first, last in spans]
        self._lengths = [int(share * np.float32(references.length)) for share in shares]
        assert graph.edge_scores is not None
        self._scores = graph.edge_scores.tolist()
        best: list[float] = []
        self._nodes = [_Node() for _ in range(graph.nodes)]
        for node, (first, last) in enumerate(itertools.pairwise(graph.edge_offsets.tolist())):
            costs = [self._scores[e] + sum(best[tail] for tail in self._tails[e]) for e in range(first, last)]
            best.append(max(costs, default=-math.inf))
            for edge, cost in zip(range(first, last), costs, strict=True):
                if all(self._nodes[tail].listed for tail in self._tails[edge]):
                    self._add(self._nodes[node], edge, (0,) * len(self._tails[edge]), cost)
            self._extend(node, 1)

    def best(self, k: int) -> list[_State]:
        """The ``k`` best derivations of the goal."""
        if not self._nodes:
            return []
        self._extend(len(self._nodes) - 1, k)
        return self._nodes[-1].listed[:k]

    def _extend(self, goal: int, k: int) -> None:
        """Let a node's list have ``k`` derivations, or all. Without recursion: glue rules nest as deep as words."""
        work = [(goal, k)]
        while work:
            at, size = work[-1]
            node = self._nodes[at]
            if node.complete or len(node.listed) >= size:
                work.pop()
            elif node.waiting:
                state, i = node.waiting[-1]
                below, rank = self._tails[state.edge][i], state.ranks[i] + 1
                tail = self._nodes[below]
                if len(tail.listed) <= rank and not tail.complete:
                    work.append((below, rank + 1))
                    continue
                node.waiting.pop()
                if rank < len(tail.listed):
                    ranks = (*state.ranks[:i], rank, *state.ranks[i + 1 :])
                    self._add(node, state.edge, ranks, state.cost - tail.listed[rank - 1].cost + tail.listed[rank].cost)
            elif node.heap:
                state = heapq.heappop(node.heap)[2]
                if not self._unique or state.words not in node.texts:
                    node.listed.append(state)
                    node.texts.add(state.words)
                node.waiting = [(state, i) for i in reversed(range(len(state.ranks)))]
            else:
                node.complete = True

    def _add(self, node: _Node, edge: int, ranks: tuple[int, ...], cost: float) -> None:
        if (edge, ranks) in node.seen:
            return
        node.seen.add((edge, ranks))
        tails = [self._nodes[tail].listed[rank] for tail, rank in zip(self._tails[edge], ranks, strict=True)]
        side = self._sides[self._rules[edge]] if self._rules[edge] >= 0 else list(range(len(tails)))
        words: list[str] = []
        for symbol in side:
            words += (symbol,) if isinstance(symbol, str) else tails[symbol].words
        own = self._matches(side, [tail.words for tail in tails])
        matches = tuple(map(sum, zip(own, *(tail.matches for tail in tails), strict=True)))
        ranked = cost - self._options.weight * sentence_bleu(matches, len(words), self._lengths[edge])
        edges = [edge, *itertools.chain.from_iterable(tail.edges for tail in tails)]
        state = _State(edge, ranks, cost, tuple(words), matches, edges, ranked)
        heapq.heappush(node.heap, (-ranked, next(self._count), state))

    def _matches(self, side: Sequence[str | int], tails: Sequence[Words]) -> list[int]:
        """The matches that a rule adds to those of its tails; n-grams are counted again behind each later symbol."""
        context = self._options.context
        sums = [0] * _ORDER
        ngram: list[str] = []
        boundary: int | None = None
        # Joshua's tails are those of the source, whatever their order in the target.
        places = iter(tails)

        def count() -> None:
            for n, more in enumerate(self._references.matches(ngram, boundary)):
                sums[n] += more

        for symbol in side:
            if isinstance(symbol, str):
                ngram.append(symbol)
                if boundary is not None:
                    count()
                    del ngram[:boundary]
                    boundary = None
            else:
                tail = next(places)
                if ngram:
                    boundary = len(ngram)
                    ngram += tail[:context]
                    count()
                    ngram.clear()
                ngram += tail[-context:]
                boundary = len(ngram)
            if ngram and len(ngram) != boundary:
                count()
        return sums


def sentence_bleu(matches: Sequence[int], length: int, reference: float) -> float:
    """BLEU of a sentence with Joshua's smoothing: half, then a quarter .. of a match where there is none."""
    total, least = 0.0, 1.0
    for n in range(min(_ORDER, length)):
        if not matches[n]:
            least *= 0.5
        total += math.log((matches[n] or least) / (length - n)) / _ORDER
    return math.exp(total + (min(0.0, 1 - reference / length) if length else 0.0))
