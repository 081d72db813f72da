"""Minimum Bayes-risk decoding of forests: on sampled lists for any metric, or searching the forest with linear BLEU.

Linear BLEU is R. Tromble, S. Kumar, F. Och and W. Macherey, "Lattice Minimum Bayes-Risk Decoding for Statistical
Machine Translation" (2008): each word costs one, each n-gram gains by the probability that an output contains it. Here
these probabilities are estimated from sampled derivations.
"""

from __future__ import annotations

import functools
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtplugins.contracts.errors import SmtError, UsageError

if TYPE_CHECKING:
    from smtformats import Candidates, Format
    from smtplugins.contracts.metrics import Metric
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.core.search.linear_gain import LinearGain
    from smtplugins.host.files.lists import ListStream
    from smtplugins.host.files.opening import Path

_MOST_EDGES = 2_000_000
_POPS = 200


@dataclass(frozen=True)
class Forests:
    """A file of forests and the number of derivations to sample from each, in proportion to ``exp(scale * score)``.

    ``weights`` replace the stored edge scores; forest k is sampled with the seed ``seed + k``.
    """

    path: Path
    samples: int
    scale: float = 1.0
    weights: Mapping[str, float] | None = None
    seed: int = 1
    format: str | None = None
    formats: Sequence[Format] | None = None

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise UsageError(f"samples: expected 1 or more, found {self.samples}")
        if not 0 <= self.scale < math.inf:
            raise UsageError(f"scale: expected a number from 0 on, found {self.scale}")

    @property
    def name(self) -> str:
        """The path, for messages."""
        return os.fspath(self.path)

    def sample(self) -> Iterator[tuple[Hypergraph, Counter[str]]]:
        """Iterate over the scored forests with the number of times each text was sampled."""
        from smtplugins.core.graph import inference
        from smtplugins.core.graph.hypergraph import Hypergraph
        from smtplugins.host.features.weighing import Weigher
        from smtplugins.host.files.opening import open_known
        from smtplugins.host.forests.forest_lists import forests_of, place_of, scores_of, texts_of

        weigher = None if self.weights is None else Weigher(self.weights, 0.0)
        opened = functools.partial(open_known, self.path, "hypergraph", self.format, self.formats)
        for k, columns in enumerate(forests_of(opened)):
            try:
                graph = Hypergraph.from_columns(columns)
                if self.scale or weigher is not None:
                    graph = graph.with_scores(scores_of(columns, weigher, self.name))
                scores = self.scale * graph.scores_or(None)
                derivations = inference.sample(graph, scores, self.samples, seed=self.seed + k)
            except ValueError as error:
                raise SmtError(f"{place_of(columns, self.name)}: {error}") from None
            yield graph, Counter(texts_of(derivations))
        if weigher is not None and not weigher.used:
            raise SmtError(f"{self.name}: none of the {len(weigher.weights)} weights names a feature of the forests")


def sample_lists(forests: Forests, *, source: Path | None = None, allow_partial: bool = False) -> ListStream:
    """A list per forest: distinct texts, most frequent first, with the logarithm of their counts as totals."""
    from smtplugins.host.files.lists import ListStream, candidates
    from smtplugins.host.files.sides import join_side

    def start() -> Iterator[Candidates]:
        lists = (_list(graph.id, counts) for graph, counts in forests.sample())
        return lists if source is None else join_side(lists, source, forests.name, partial=allow_partial)

    def _list(key: str, counts: Counter[str]) -> Candidates:
        common = counts.most_common()
        return candidates([text for text, _ in common], id=key, scores=[math.log(count) for _, count in common])

    return ListStream(start, forests.name)


def linear_choices(forests: Forests, metric: Metric) -> Iterator[Candidates]:
    """Per forest, a list with the one output of the highest linear gain; the gain is its total."""
    from smtplugins.host.files.lists import candidates
    from smtplugins.host.forests.forest_lists import unmarked

    for graph, counts in forests.sample():
        text, gain = best_output(graph, shared_gain(metric, counts))
        yield candidates([unmarked(text)], id=graph.id, scores=[gain])


def shared_gain(metric: Metric, counts: Mapping[str, int]) -> LinearGain:
    """A metric's linear form in which an n-gram's gain is weighted by the share of sampled texts that contain it."""
    from smtplugins.contracts.metrics import LinearMetric
    from smtplugins.core.search.linear_gain import LinearGain, ngrams_of

    gain = metric.linear(list(counts)) if isinstance(metric, LinearMetric) else None
    if not isinstance(gain, LinearGain):
        raise UsageError(f"metric {metric.name!r} has no linear form with these options; bleu,tokenize=none has one")
    whole = sum(counts.values())
    shares: Counter[tuple[str, ...]] = Counter()
    for text, count in counts.items():
        words = gain.folded(text.split())
        for gram in {gram for n in range(1, len(gain.gains)) for gram in ngrams_of(words, n)}:
            shares[gram] += count
    return gain.with_shares({gram: count / whole for gram, count in shares.items()})


def best_output(graph: Hypergraph, feature: LinearGain) -> tuple[str, float]:
    """The output of a graph with the highest gain; by cube pruning if exact search exceeds the edge limit."""
    import numpy as np

    from smtplugins.core.graph import inference
    from smtplugins.core.search.stateful_search import SearchLimit, Stateful, refine

    possible = np.isfinite(graph.scores_or(None))
    part = graph if possible.all() else graph.restricted(possible).graph
    plain = part.with_scores(np.zeros(len(part)))
    gain = Stateful(feature.scorer_for(plain.grammar.words[:]), ("linear gain",), (1.0,))
    try:
        refined = refine(plain, [gain], exact=True, max_edges=_MOST_EDGES).graph
    except SearchLimit:
        refined = refine(plain, [gain], pop_limit=_POPS).graph
    best = inference.viterbi(refined)
    assert best is not None, "a forest that was sampled has a derivation"
    return best.text, best.score
