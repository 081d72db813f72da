"""The risk of forests and its gradient: sums over shards of sentences, each of which stays on one worker."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.tools.running import keep
from smtplugins.plugins.tuning.gains import GainGraph, Refining, best_text, with_forests

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.learners import ForestProblem
    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.runners import Kept, Runner
    from smtplugins.contracts.tools.graphs import Hypergraph
    from smtplugins.contracts.tools.optimisers import Objective

    Array = NDArray[Any]

SENTENCES = 16
"""The sentences of a shard, for any number of workers: each sum is that of its shards, so its bytes depend on it."""


@dataclass(frozen=True)
class Shard:
    """The forests and references of some sentences; ``id`` is that of the first, for messages."""

    id: str
    sentences: Sequence[tuple[list[Hypergraph], list[str]]]


class ForestRisk:
    """Minimum risk on forests that are refined once and kept by shards; several forests of a sentence are one set."""

    def __init__(self, refining: Refining, references: list[list[str]], kept: Kept) -> None:
        self.names = refining.names
        self._metric: Metric = refining.metric
        self._references = references
        self._kept = kept

    def objective(self, scale: float, temperature: float) -> Objective:
        """The negative mean expected gain minus temperature times the mean entropy."""
        import numpy as np

        sentences = len(self._references[0])

        def risk(weights: Array) -> tuple[float, Array]:
            value, slopes = 0.0, np.zeros(len(weights))
            for part, gradient in self._kept.map(_risk, (weights, scale, temperature)):
                value += part
                slopes += gradient
            return value / sentences, scale * slopes / sentences

        return risk

    def worth(self, weights: Array) -> float:
        """The metric of the 1-best derivations."""
        texts = [text for shard in self._kept.map(_best_texts, weights) for text in shard]
        return float(self._metric.score(self._metric.stats(texts, self._references).sum(axis=0)))


@contextlib.contextmanager
def forest_risk(
    problem: ForestProblem,
    start: Mapping[str, float],
    pop_limit: int,
    origin: Array | None = None,
    form: Mapping[str, float] | None = None,
    runner: Runner | None = None,
) -> Iterator[ForestRisk]:
    """Keep the forests of a problem in shards on the runner's workers; they are refined there, as learning begins."""
    refining = Refining.of(problem, start, pop_limit, origin, form or {})
    parsed = with_forests(problem)
    shards = [Shard(parsed[at][0][0].id, parsed[at : at + SENTENCES]) for at in range(0, len(parsed), SENTENCES)]
    references = list(map(list, zip(*(texts for _, texts in parsed), strict=True)))
    with keep(runner, functools.partial(_refined, refining), shards) as kept:
        yield ForestRisk(refining, references, kept)


def _refined(refining: Refining, shard: Shard) -> list[list[GainGraph]]:
    return [refining.gain_graphs(graphs, references) for graphs, references in shard.sentences]


def _best_texts(sentences: list[list[GainGraph]], weights: Array) -> list[str]:
    return [best_text(graphs, weights) for graphs in sentences]


def _risk(sentences: list[list[GainGraph]], at: tuple[Array, float, float]) -> tuple[float, Array]:
    """The sums over sentences; a sentence's forests are mixed by their shares of its mass."""
    import numpy as np

    from smtplugins.contracts.tools.graphs import covariance, posteriors

    weights, scale, temperature = at
    value, slopes = 0.0, np.zeros(len(weights))
    for graphs in sentences:
        parts = []
        for graph in graphs:
            scores = scale * graph.scores(weights)
            # With T * score added to the losses, the mean is the risk minus T times the entropy, plus T * log Z.
            losses = temperature * scores - graph.gains
            parts.append((graph, scores, covariance(graph.graph, scores, losses)))
        if len(parts) == 1:
            graph, _, moments = parts[0]
            value += moments.mean - temperature * moments.log_z
            slopes += graph.sums(moments.edges)
            continue
        totals = np.array([moments.log_z for _, _, moments in parts])
        log_z = float(np.logaddexp.reduce(totals))
        shares = np.exp(totals - log_z)
        mean = float(shares @ np.array([moments.mean for _, _, moments in parts]))
        value += mean - temperature * log_z
        for share, (graph, scores, moments) in zip(shares.tolist(), parts, strict=True):
            mass = moments.edges + (moments.mean - mean) * posteriors(graph.graph, scores).edges
            slopes += share * graph.sums(mass)
    return value, slopes
