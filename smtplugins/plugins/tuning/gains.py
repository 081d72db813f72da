"""Forests with a metric gain on each edge: the metric's ``linear`` form is scored as a stateful feature.

A sentence has a forest for each time it was decoded; together they count as one set of derivations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import ForestProblem
from smtplugins.contracts.spec import parameters
from smtplugins.plugins.tuning.common import column_of, sign_of
from smtplugins.plugins.tuning.online import ORACLE, USUAL_SCALE, ScoredHypothesis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.tools.graphs import Hypergraph, Weighing

    Array = NDArray[Any]

_RATIO, _SPREAD = 5.0, 0.4
"""Ratio of the spread of gains to that of scores, and the spread of scores: about those of cdec's weights set by hand
and scale 10."""

_FORM = {"precision": 0.5, "decay": 0.6}
"""Parameters of linear BLEU, chosen on cdec's forests: with the published ones outputs become too short."""


@dataclass(frozen=True)
class GainGraph:
    """A graph with the gain of each edge.

    ``own`` maps the graph's features to columns of all ``width`` features; column ``width`` stands for unknown ones.
    """

    graph: Hypergraph
    gains: Array
    own: Array
    width: int

    @cached_property
    def _weighing(self) -> Weighing:
        from smtplugins.contracts.tools.graphs import Weighing

        return Weighing(self.graph, self.own, self.width)

    def scores(self, weights: Array) -> Array:
        """Score the edges under weights for all features."""
        return self._weighing.scores(weights)

    def sums(self, mass: Array) -> Array:
        """The features summed over the edges, each edge weighted by its mass."""
        return self._weighing.sums(mass)


@dataclass(frozen=True)
class Refining:
    """How forests get their gains: refined under ``weights`` by the metric's linear form, and scaled by ``factor``."""

    names: tuple[str, ...]
    weights: Mapping[str, float]
    metric: Metric
    form: Mapping[str, float]
    factor: float
    pop_limit: int

    @classmethod
    def of(
        cls,
        problem: ForestProblem,
        start: Mapping[str, float],
        pop_limit: int,
        origin: Array | None,
        form: Mapping[str, float],
    ) -> Refining:
        """For a problem, with the start weights or those of ``origin``; raises SmtError for unusable data."""
        import numpy as np

        names = tuple(sorted({name for graphs in problem.graphs for graph in graphs for name in graph.names}))
        weights = dict(zip(names, (column_of(names, start) if origin is None else origin), strict=True))
        _check(problem)
        # In units of a sentence, like gains of lists: the linear form counts about 1 for each correct word.
        words = [len(text.split()) for stream in problem.references for text in stream]
        return cls(names, weights, problem.metric, form, 1 / max(float(np.mean(words)), 1.0), pop_limit)

    @cached_property
    def rank(self) -> dict[str, int]:
        """The columns of the names."""
        return {name: i for i, name in enumerate(self.names)}

    def gain_graphs(self, graphs: Sequence[Hypergraph], references: list[str]) -> list[GainGraph]:
        """The refined forests of a sentence."""
        feature = linear_form(self.metric, references, self.form)
        refined = [with_gains(graph, feature, references, self.weights, self.pop_limit) for graph in graphs]
        return [_gain_graph(graph, self.factor * gains, self.rank) for graph, gains in refined]


def with_forests(problem: ForestProblem) -> list[tuple[list[Hypergraph], list[str]]]:
    """The forests and references of each sentence that has a derivation; raises SmtError if none has."""
    parsed = []
    for index, graphs in enumerate(problem.graphs):
        forests = [graph for graph in graphs if graph.nodes]
        if forests:
            parsed.append((forests, [stream[index] for stream in problem.references]))
    if not parsed:
        raise SmtError("expected forests to learn from, found none with a derivation")
    return parsed


def best_text(graphs: Iterable[GainGraph], weights: Array) -> str:
    """The text of the 1-best derivation of a sentence."""
    from smtplugins.contracts.tools.graphs import viterbi

    derivations = [viterbi(graph.graph, graph.scores(weights)) for graph in graphs]
    return max((best for best in derivations if best is not None), key=lambda best: best.score).text


class ForestSource:
    """The forests of a problem, refined once by the metric's linear form.

    Gains are multiplied by ``scale``. If it is None, the length of the weights makes no difference: the forests are
    refined with weights under which scores have a fixed spread, and gains vary five times as much as the scores.
    Spreads are standard deviations among all derivations, each as likely as any other. ``length`` is as for lists.
    """

    updates_only = False

    def __init__(
        self,
        problem: ForestProblem,
        start: Mapping[str, float],
        scale: float | None,
        pop_limit: int,
        origin: Array | None = None,
        form: Mapping[str, float] | None = None,
    ) -> None:
        import numpy as np

        refining = Refining.of(problem, start, pop_limit, origin, form or {})
        self.names, weights = refining.names, refining.weights
        if scale is None:
            refining = replace(refining, weights=_of_fixed_spread(problem, refining.rank, weights))
        self.metric = problem.metric
        parsed = with_forests(problem)
        self.sentences = [refining.gain_graphs(*sentence) for sentence in parsed]
        self.references = list(map(list, zip(*(references for _, references in parsed), strict=True)))
        self.scale, self.length = scale or USUAL_SCALE, 1.0
        if scale is None:
            refined_graphs = [graph for forests in self.sentences for graph in forests]
            by_name = np.array([weights[name] for name in self.names])
            of_gains = _spread((graph, graph.gains) for graph in refined_graphs)
            of_scores = _spread((graph, graph.scores(by_name)) for graph in refined_graphs)
            self.length = self.scale * of_gains / (_RATIO * of_scores) if of_gains and of_scores else 1.0
            self.scale /= self.length
        self.sentences = [
            [replace(graph, gains=self.scale * graph.gains) for graph in graphs] for graphs in self.sentences
        ]

    def __len__(self) -> int:
        return len(self.sentences)

    def background(self) -> Array | None:
        """None: linear gains need no background statistics."""
        return None

    def view(self, index: int, background: Array | None) -> ForestView:
        """The forests of a sentence."""
        return ForestView(self.sentences[index])

    def worth(self, weights: Array) -> float:
        """The metric of the 1-best derivations."""
        texts = [best_text(graphs, weights) for graphs in self.sentences]
        return float(self.metric.score(self.metric.stats(texts, self.references).sum(axis=0)))

    def better(self, value: float, other: float) -> bool:
        return sign_of(self.metric) * (value - other) > 0


@dataclass(frozen=True)
class ForestView:
    """The forests of one sentence."""

    graphs: list[GainGraph]

    def choose(self, weights: Array, *factors: float) -> list[ScoredHypothesis]:
        """The derivation with the highest score plus gain times factor, for each factor."""
        from smtplugins.contracts.tools.graphs import viterbi

        scores = [graph.scores(weights) for graph in self.graphs]
        chosen = []
        for factor in factors:
            best: tuple[float, int, Array] | None = None
            for at, graph in enumerate(self.graphs):
                wanted = graph.gains if factor == ORACLE else scores[at] + factor * graph.gains
                derivation = viterbi(graph.graph, wanted)
                if derivation is not None and (best is None or derivation.score > best[0]):
                    best = derivation.score, at, derivation.edges
            assert best is not None
            chosen.append(self._choice(best[1], scores[best[1]], best[2]))
        return chosen

    def _choice(self, at: int, scores: Array, edges: Array) -> ScoredHypothesis:
        import numpy as np

        graph = self.graphs[at]
        sums = graph.sums(np.bincount(edges, minlength=len(graph.graph)).astype(np.float64))
        ids = np.flatnonzero(sums)
        return ScoredHypothesis(float(scores[edges].sum()), float(graph.gains[edges].sum()), (ids, sums[ids]))


def _gain_graph(graph: Hypergraph, gains: Array, rank: Mapping[str, int]) -> GainGraph:
    import numpy as np

    own = np.array([rank.get(name, len(rank)) for name in graph.names], dtype=np.int64)
    return GainGraph(graph, gains, own, len(rank))


def _of_fixed_spread(
    problem: ForestProblem, rank: Mapping[str, int], weights: Mapping[str, float]
) -> Mapping[str, float]:
    """The weights, rescaled so that scores vary by a fixed amount: the refinement prunes by differences of scores."""
    import numpy as np

    graphs = [_gain_graph(graph, np.empty(0), rank) for graphs in problem.graphs for graph in graphs if graph.nodes]
    by_name = np.array([weights[name] for name in rank])
    spread = _spread((graph, graph.scores(by_name)) for graph in graphs)
    return {name: value * _SPREAD / spread for name, value in weights.items()} if spread else weights


def _spread(sums: Iterable[tuple[GainGraph, Array]]) -> float:
    """The standard deviation within forests of sums of edge values: the root of the mean variance."""
    import numpy as np

    from smtplugins.contracts.tools.graphs import covariance

    variances = [float(values @ covariance(graph.graph, np.zeros(len(values)), values).edges) for graph, values in sums]
    return math.sqrt(max(float(np.mean(variances)), 0.0)) if variances else 0.0


def _check(problem: ForestProblem) -> None:
    if not problem.graphs or not problem.references:
        raise SmtError("expected forests and references to learn from, found none")
    for stream in problem.references:
        if len(stream) != len(problem.graphs):
            raise SmtError(f"expected {len(problem.graphs)} references, one for each sentence, found {len(stream)}")


def usual_form(metric: Metric) -> dict[str, float]:
    """The parameters of a metric's linear form that learners use unless told otherwise."""
    make = getattr(metric, "linear", None)
    known = () if make is None else parameters(make)
    return {name: value for name, value in _FORM.items() if name in known}


def linear_form(metric: Metric, references: list[str], form: Mapping[str, float]) -> Any:
    """The metric's linear form as a stateful feature for one sentence; raises an error if it has none."""
    make = getattr(metric, "linear", None)
    if make is not None and not form.keys() <= parameters(make).keys():
        raise UsageError(f"the linear form of metric {metric.name} has no option {' and '.join(form)}")
    feature = None if make is None else make(references, **form)
    if feature is None:
        raise SmtError(
            f"metric {metric.name} has no linear form, which forests need: use bleu,tokenize=none, or learn from lists"
        )
    return feature


def with_gains(
    graph: Hypergraph, feature: Any, references: list[str], weights: Mapping[str, float], pop_limit: int
) -> tuple[Hypergraph, Array]:
    """Refine a graph by a stateful feature; return it with the feature's value on each edge."""
    import numpy as np

    from smtplugins.contracts.tools.grammars import Vocabulary
    from smtplugins.contracts.tools.search import SearchLimit, Stateful, contract_scorer, refine

    vocabulary = Vocabulary(graph.words)
    if len(vocabulary) != len(graph.words):
        raise SmtError(f"forest {graph.id}: expected distinct words in its vocabulary, found a word twice")
    if hasattr(feature, "native"):
        scorer = feature.native()
        scorer.set_words(feature.numbers(vocabulary))
    else:
        scorer = contract_scorer(feature.start(Sentence(graph.id, (), tuple(references))), vocabulary)
    taken = set(graph.names)
    name = next(name for name in ("gain" + "'" * n for n in range(len(taken) + 1)) if name not in taken)
    options: dict[str, Any] = {"pop_limit": pop_limit} if pop_limit else {"exact": True}
    try:
        part = refine(graph.reweighted(weights), [Stateful(scorer, (name,), (0.0,))], **options).graph
    except SearchLimit as error:
        raise SmtError(f"forest {graph.id}: {error}; prune it, or give pop_limit") from None
    gains = np.asarray(part.dense[:, -1], dtype=np.float64)
    return replace(part, dense=part.dense[:, :-1], dense_names=part.dense_names[:-1]), gains
