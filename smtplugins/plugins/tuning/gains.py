"""Forests whose edges know what they add to a metric: the metric's ``linear`` form is one more stateful feature.

The forests of a sentence, one for each time it was decoded, are one set of derivations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.contracts import Forests, Sentence
from smtplugins.contracts.spec import parameters
from smtplugins.host.errors import SmtError, UsageError
from smtplugins.plugins.tuning.common import column_of
from smtplugins.plugins.tuning.online import ORACLE, Choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.contracts import Metric
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.core.graph.weighing import Weighing

    Array = NDArray[Any]


@dataclass(frozen=True)
class GainGraph:
    """A graph, the gain of each of its edges, and which of all names each of its own is; the last is none of them."""

    graph: Hypergraph
    gains: Array
    own: Array
    width: int

    @cached_property
    def _weighing(self) -> Weighing:
        from smtplugins.core.graph.weighing import Weighing

        return Weighing(self.graph, self.own, self.width)

    def scores(self, weights: Array) -> Array:
        """The scores of the edges under weights by all names."""
        return self._weighing.scores(weights)

    def sums(self, mass: Array) -> Array:
        """The features of all edges, each counted with its mass, by all names."""
        return self._weighing.sums(mass)


class ForestSource:
    """The forests of a problem, refined once by the metric's linear form, for learners."""

    def __init__(
        self,
        problem: Forests,
        start: Mapping[str, float],
        scale: float,
        pop_limit: int,
        origin: Array | None = None,
        form: Mapping[str, float] | None = None,
    ) -> None:
        import numpy as np

        self.names = tuple(sorted({name for graphs in problem.graphs for graph in graphs for name in graph.names}))
        weights = dict(zip(self.names, (column_of(self.names, start) if origin is None else origin), strict=True))
        _check(problem)
        # In units of a sentence, as gains of lists are: the linear form counts about 1 for each word that is right.
        words = [len(text.split()) for stream in problem.references for text in stream]
        self.scale, self.length = scale, 1.0
        factor = scale / max(float(np.mean(words)), 1.0)
        rank = {name: i for i, name in enumerate(self.names)}
        self.sentences: list[list[GainGraph]] = []
        for index, graphs in enumerate(problem.graphs):
            references = [stream[index] for stream in problem.references]
            feature = linear_form(problem.metric, references, form or {})
            made = []
            for graph in graphs:
                if graph.nodes:
                    refined, gains = with_gains(graph, feature, references, weights, pop_limit)
                    own = np.array([rank.get(name, len(rank)) for name in refined.names], dtype=np.int64)
                    made.append(GainGraph(refined, factor * gains, own, len(rank)))
            if made:
                self.sentences.append(made)
        if not self.sentences:
            raise SmtError("expected forests to learn from, found none with a derivation")

    def __len__(self) -> int:
        return len(self.sentences)

    def background(self) -> Array | None:
        """None: linear gains stand for themselves."""
        return None

    def view(self, index: int, background: Array | None) -> ForestView:
        """A sentence's forests."""
        return ForestView(self.sentences[index])

    def worth(self, weights: Array) -> float:
        """The mean linear gain of the best derivations, for each word of the references."""
        from smtplugins.core.graph.inference import viterbi

        total = 0.0
        for graphs in self.sentences:
            scored = [(one, viterbi(one.graph, one.scores(weights))) for one in graphs]
            found = [(best.score, float(one.gains[best.edges].sum())) for one, best in scored if best is not None]
            total += max(found, key=lambda pair: pair[0])[1]
        return total / self.scale / len(self)

    def better(self, one: float, other: float) -> bool:
        return one > other


@dataclass(frozen=True)
class ForestView:
    """The forests of one sentence."""

    graphs: list[GainGraph]

    def choose(self, weights: Array, *factors: float) -> list[Choice]:
        """The derivation with the highest score plus gain times factor, for each factor."""
        from smtplugins.core.graph.inference import viterbi

        scores = [one.scores(weights) for one in self.graphs]
        found = []
        for factor in factors:
            best: tuple[float, int, Array] | None = None
            for at, one in enumerate(self.graphs):
                wanted = one.gains if factor == ORACLE else scores[at] + factor * one.gains
                derivation = viterbi(one.graph, wanted)
                if derivation is not None and (best is None or derivation.score > best[0]):
                    best = derivation.score, at, derivation.edges
            assert best is not None
            found.append(self._choice(best[1], scores[best[1]], best[2]))
        return found

    def _choice(self, at: int, scores: Array, edges: Array) -> Choice:
        import numpy as np

        one = self.graphs[at]
        sums = one.sums(np.bincount(edges, minlength=len(one.graph)).astype(np.float64))
        ids = np.flatnonzero(sums)
        return Choice(float(scores[edges].sum()), float(one.gains[edges].sum()), (ids, sums[ids]))


def _check(problem: Forests) -> None:
    if not problem.graphs or not problem.references:
        raise SmtError("expected forests and references to learn from, found none")
    for stream in problem.references:
        if len(stream) != len(problem.graphs):
            raise SmtError(f"expected {len(problem.graphs)} references, one for each sentence, found {len(stream)}")


def linear_form(metric: Metric, references: list[str], form: Mapping[str, float]) -> Any:
    """The metric as a stateful feature for one sentence, made with options; an error if it has no such form."""
    make = getattr(metric, "linear", None)
    if make is not None and not form.keys() <= parameters(make).keys():
        raise UsageError(f"the linear form of metric {metric.name} has no {' and '.join(form)}")
    found = None if make is None else make(references, **form)
    if found is None:
        raise SmtError(
            f"metric {metric.name} has no linear form, which forests need: take bleu,tokenize=none, or learn from lists"
        )
    return found


def with_gains(
    graph: Hypergraph, feature: Any, references: list[str], weights: Mapping[str, float], pop_limit: int
) -> tuple[Hypergraph, Array]:
    """A graph refined by a feature, and the feature's value on each edge."""
    import numpy as np

    from smtplugins.core.search.stateful_search import SearchLimit, Stateful, contract_scorer, refine
    from smtplugins.core.vocabulary import Vocabulary

    vocabulary = Vocabulary(graph.words)
    if len(vocabulary) != len(graph.words):
        raise SmtError(f"forest {graph.id}: expected each word of its rules once, found some again")
    if hasattr(feature, "native"):
        scorer = feature.native()
        scorer.set_words(feature.numbers(vocabulary))
    else:
        scorer = contract_scorer(feature.start(Sentence(graph.id, (), tuple(references))), vocabulary)
    taken = set(graph.names)
    name = next(one for one in ("gain" + "'" * n for n in range(len(taken) + 1)) if one not in taken)
    options: dict[str, Any] = {"pop_limit": pop_limit} if pop_limit else {"exact": True}
    try:
        part = refine(graph.reweighted(weights), [Stateful(scorer, (name,), (0.0,))], **options).graph
    except SearchLimit as error:
        raise SmtError(f"forest {graph.id}: {error}; prune it, or give pop_limit") from None
    gains = np.asarray(part.dense[:, -1], dtype=np.float64)
    return replace(part, dense=part.dense[:, :-1], dense_names=part.dense_names[:-1]), gains
