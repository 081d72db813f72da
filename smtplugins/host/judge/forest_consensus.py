"""Consensus of forests: by lists drawn from them, for any metric, or by a search of the whole forest with linear BLEU.

The second is R. Tromble, S. Kumar, F. Och and W. Macherey, "Lattice Minimum Bayes-Risk Decoding for Statistical Machine
Translation" (2008): each word costs one, each n-gram gains by the probability that an output has it. Here these
probabilities are shares of the derivations drawn.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtplugins.host.errors import SmtError, UsageError

if TYPE_CHECKING:
    from smtformats import Candidates, Format
    from smtplugins.contracts.contracts import Metric
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.core.search.linear_gain import LinearGain
    from smtplugins.host.files.lists import ListStream
    from smtplugins.host.files.opening import Path

_MOST_EDGES = 2_000_000
_POPS = 200


@dataclass(frozen=True)
class Forests:
    """Where forests are read, and how many derivations are drawn with probability ``exp(scale * score)``.

    ``weights`` replace the scores that they have; forest k is drawn from with the seed ``seed + k``.
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
        """What they are called in messages."""
        return os.fspath(self.path)

    def drawn(self) -> Iterator[tuple[Hypergraph, Counter[str]]]:
        """Each forest with its scores, and how often each text was drawn."""
        from smtplugins.core.graph import inference
        from smtplugins.core.graph.hypergraph import Hypergraph
        from smtplugins.host.files.opening import open_known

        known = False
        with open_known(self.path, "hypergraph", self.format, self.formats) as opened:
            for k, columns in enumerate(opened.records()):
                graph = Hypergraph.from_columns(columns)
                place = f"{self.name}: forest {graph.id}"
                if self.weights is not None:
                    known = known or any(name in self.weights for name in graph.names)
                    graph = graph.reweighted(self.weights)
                elif graph.edge_scores is None and self.scale:
                    raise SmtError(f"{place}: expected scores, found none; --weights makes them")
                try:
                    scores = self.scale * graph.scores_or(None)
                    found = inference.sample(graph, scores, self.samples, seed=self.seed + k)
                except ValueError as error:
                    raise SmtError(f"{place}: {error}") from None
                yield graph, Counter(found.texts())
        if self.weights is not None and not known:
            raise SmtError(f"{self.name}: none of the {len(self.weights)} weights names a feature of the forests")


def drawn_lists(forests: Forests, *, source: Path | None = None, allow_partial: bool = False) -> ListStream:
    """A list for each forest: each text once, the most frequent first, the logarithm of its number as total."""
    from smtplugins.host.files.lists import ListStream, candidates
    from smtplugins.host.files.sides import join_side

    def start() -> Iterator[Candidates]:
        found = (_list(graph.id, counts) for graph, counts in forests.drawn())
        return found if source is None else join_side(found, source, forests.name, partial=allow_partial)

    def _list(key: str, counts: Counter[str]) -> Candidates:
        common = counts.most_common()
        return candidates([text for text, _ in common], id=key, scores=[math.log(count) for _, count in common])

    return ListStream(start, forests.name)


def linear_choices(forests: Forests, metric: Metric) -> Iterator[Candidates]:
    """For each forest the output with the highest linear gain, as a list of one; the gain is its total."""
    from smtplugins.host.files.lists import candidates

    for graph, counts in forests.drawn():
        text, gain = best_output(graph, shared_gain(metric, counts))
        yield candidates([text], id=graph.id, scores=[gain])


def shared_gain(metric: Metric, counts: Mapping[str, int]) -> LinearGain:
    """A metric's linear form with texts as references, each n-gram gaining by the share of texts that have it."""
    from smtplugins.contracts.contracts import LinearMetric
    from smtplugins.core.search.linear_gain import LinearGain, ngrams_of

    made = metric.linear(list(counts)) if isinstance(metric, LinearMetric) else None
    if not isinstance(made, LinearGain):
        raise UsageError(f"metric {metric.name!r} has no linear form with these options; bleu,tokenize=none has one")
    whole = sum(counts.values())
    shares: Counter[tuple[str, ...]] = Counter()
    for text, count in counts.items():
        words = made.folded(text.split())
        for gram in {gram for n in range(1, len(made.gains)) for gram in ngrams_of(words, n)}:
            shares[gram] += count
    return made.with_shares({gram: count / whole for gram, count in shares.items()})


def best_output(graph: Hypergraph, feature: LinearGain) -> tuple[str, float]:
    """The output of a graph with the highest gain; by cube pruning where an exact search would take too much."""
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
    found = inference.viterbi(refined)
    assert found is not None, "what was drawn from has a derivation"
    return found.text, found.score
