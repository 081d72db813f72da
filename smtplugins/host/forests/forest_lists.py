"""N-best lists from forests, search graphs and lattices: their best derivations, with features and scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smtformats import Candidates
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.graph.inference import kbest
from smtplugins.host.arguments import argument
from smtplugins.host.features.weighing import Weigher
from smtplugins.host.files.lists import ListStream, read_weights
from smtplugins.host.files.opening import Opened, Path

if TYPE_CHECKING:
    from smtformats import GraphColumns
    from smtplugins.core.graph.derivations import Derivations

    Floats = NDArray[np.float64]

LENGTH = 100
_BESIDE = "weights"
_MOSES, _FORMAT = "moses-hypergraph", "moses-hypergraph-weights"
_MARKS = {"<s>": "</s>", "!SENT_START": "!SENT_END"}
_NOISE = 1e-13  # of the summands' size: the rounding error of sums that should be 0


@dataclass(frozen=True)
class Ranking:
    """How many derivations of each forest make a list, of different texts if ``unique``."""

    length: int = LENGTH
    unique: bool = False

    def __post_init__(self) -> None:
        if self.length < 1:
            raise UsageError(f"{argument('derivations')}: expected 1 or more, found {self.length}")


@dataclass(frozen=True)
class _Search:
    """Weights to search forests with, as of ``ListStream.rescore``."""

    weights: Mapping[str, float]
    missing: float | None
    required: tuple[str, ...]
    note: Callable[[str], None]


class ForestLists(ListStream):
    """The best derivations of each forest as a stream of lists; ``rescore`` finds the best under its weights.

    ``forests`` starts the stream of forests, ``join`` adds sources and annotations to the lists.
    """

    def __init__(
        self,
        forests: Callable[[], Iterator[GraphColumns]],
        name: str,
        ranking: Ranking,
        join: Callable[[Iterator[Candidates]], Iterator[Candidates]] = lambda lists: lists,
        search: _Search | None = None,
    ) -> None:
        super().__init__(lambda: join(self._lists()), name)
        self._forests = forests
        self._ranking = ranking
        self._join = join
        self._search = search

    def __repr__(self) -> str:
        return f"<n-best lists of the forests of {self.name}>"

    def _lists(self) -> Iterator[Candidates]:
        search = self._search
        weigher = None if search is None else Weigher(search.weights, search.missing)
        for graph in self._forests():
            yield list_of(graph, weigher, self._ranking, self.name)
        if weigher is not None and search is not None:
            weigher.check_used(self.name, search.required, search.note)

    def rescore(
        self,
        weights: Mapping[str, float] | Path,
        *,
        missing: float | None = None,
        required: Iterable[str] = (),
        note: Callable[[str], None] = lambda text: None,
    ) -> ForestLists:
        """The best derivations under weights, found in the whole forest; otherwise as of any stream of lists."""
        table = weights if isinstance(weights, Mapping) else read_weights(weights)
        search = _Search(table, missing, tuple(required), note)
        return ForestLists(self._forests, self.name, self._ranking, self._join, search)

    def best_by_id(self) -> Iterator[tuple[str, str]]:
        """Iterate over (id, best text); only the best derivation of each forest is searched."""
        for nbest in ForestLists(self._forests, self.name, Ranking(1), self._join, self._search):
            yield nbest.id, nbest.texts[0]


def of_forests(lists: ListStream) -> ForestLists:
    """Lists that can be found anew under weights; a UsageError for others."""
    if not isinstance(lists, ForestLists):
        raise UsageError(f"{argument('weights')} needs forests; use {argument('rescore', '`smt rescore`')} for lists")
    return lists


def forests_of(start: Callable[[], Opened]) -> Iterator[GraphColumns]:
    """The forests of a file or folder, ready to be ranked; with Moses' ``weights`` beside them scored."""
    opened = start()
    folder = os.fspath(opened.path) if opened.stream is None else os.path.dirname(os.fspath(opened.path))
    beside = os.path.join(folder, _BESIDE)
    weights = read_weights(beside, _FORMAT) if opened.record.name == _MOSES and os.path.isfile(beside) else None
    for graph in opened.records():
        graph = named(graph)
        if weights is not None and graph.scores is None and any(name in weights for name in graph.names):
            graph = replace(graph, scores=graph.edge_scores(weights))
        yield graph


def place_of(graph: GraphColumns, name: str) -> str:
    """A forest for messages: its file, line and id."""
    return f"{graph.file or name}:{graph.line}: forest {graph.id}"


def named(graph: GraphColumns) -> GraphColumns:
    """A lattice with Moses' names of its numbered features, each once; other graphs as they are."""
    from smtformats.grammar.shared.gather import Numbering

    names: Mapping[str, str] = graph.extras.get("names", {})
    if not names:
        return graph
    numbering = Numbering()
    kept, numbers = [], []
    for name in graph.names:
        known = len(numbering.ids)
        numbers.append(numbering.add(names.get(name, name)))
        kept.append(numbers[-1] == known)
    keep = np.array(kept, dtype=bool)[graph.features]
    edges = np.repeat(np.arange(len(graph)), np.diff(graph.feature_offsets))[keep]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(edges, minlength=len(graph)))]).astype(np.int64)
    return replace(
        graph,
        features=np.array(numbers, dtype=np.int32)[graph.features[keep]],
        values=graph.values[keep],
        feature_offsets=offsets,
        names=numbering.table(),
    )


def scores_of(graph: GraphColumns, weigher: Weigher | None, name: str) -> Floats:
    """The scores of a forest's edges: those of its file, or under weights."""
    place = place_of(graph, name)
    if known := graph.extras.get("cumulative"):
        how = argument(f"format='{known},accumulated=true'", f"--from {known},accumulated=true")
        raise SmtError(f"{place}: expected scores of each link, found Moses' sums along paths ({how} reads them)")
    if weigher is None:
        if graph.scores is None:
            raise SmtError(f"{place}: expected scores, found none; {argument('weights')} computes them")
        return graph.scores
    if graph.scores is not None and not len(graph.features):
        raise SmtError(f"{place}: expected features to weight, found scores alone")
    used = [graph.names[number] for number in np.unique(graph.features).tolist()]
    scores = graph.edge_scores(dict(zip(used, weigher.row(used, place), strict=True)))
    if not np.isfinite(scores).all():
        raise SmtError(f"{place}: expected finite scores, found {scores[~np.isfinite(scores)][0]}")
    return scores


def list_of(graph: GraphColumns, weigher: Weigher | None, ranking: Ranking, name: str) -> Candidates:
    """The best derivations of a forest; raises SmtError if it has none."""
    place = place_of(graph, name)
    scores = scores_of(graph, weigher, name)
    try:
        forest = Hypergraph.from_columns(graph)
        derivations = kbest(forest, scores, ranking.length, unique=ranking.unique)
    except ValueError as error:
        raise SmtError(f"{place}: {error}") from None
    if not len(derivations):
        raise SmtError(f"{place}: expected a derivation, found none")
    layouts, values = feature_sums(graph, derivations)
    totals = [_clean(total) for total in derivations.scores.tolist()]
    return Candidates(graph.id, texts_of(derivations), layouts, values, totals, file=graph.file, line=graph.line)


def texts_of(derivations: Derivations) -> list[str]:
    """The texts of derivations without the marks of sentences around them, which forests of Moses and HTK have."""
    return [unmarked(text) for text in derivations.texts()]


def unmarked(text: str) -> str:
    """A text without ``<s>`` at its start and ``</s>`` at its end, or ``!SENT_START`` and ``!SENT_END``."""
    if not text.startswith(tuple(_MARKS)):
        return text
    words = text.split(" ")
    return " ".join(words[1:-1]) if len(words) > 1 and _MARKS.get(words[0]) == words[-1] else text


def feature_sums(graph: GraphColumns, derivations: Derivations) -> tuple[list[tuple[str, ...]], list[list[float]]]:
    """The features on each derivation's edges in the order of the graph's names, and their sums."""
    sizes = np.diff(graph.feature_offsets)[derivations.edges]
    begins = graph.feature_offsets[:-1][derivations.edges]
    ends = np.cumsum(sizes)
    at = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begins - (ends - sizes), sizes)
    row = np.repeat(np.arange(len(derivations)), np.diff(derivations.offsets))
    width = len(graph.names)
    keys, places = np.unique(np.repeat(row, sizes) * max(width, 1) + graph.features[at], return_inverse=True)
    sums = np.bincount(places, graph.values[at], len(keys))
    noise = np.bincount(places, np.abs(graph.values[at]), len(keys)) * _NOISE
    shown = [_clean(value) for value in np.where(np.abs(sums) <= noise, 0.0, sums).tolist()]
    names = list(graph.names)
    bounds = np.searchsorted(keys, np.arange(len(derivations) + 1) * max(width, 1)).tolist()
    known: dict[bytes, tuple[str, ...]] = {}
    layouts, values = [], []
    for i in range(len(derivations)):
        part = keys[bounds[i] : bounds[i + 1]] - i * width
        if (key := part.tobytes()) not in known:
            known[key] = tuple(names[number] for number in part.tolist())
        layouts.append(known[key])
        values.append(shown[bounds[i] : bounds[i + 1]])
    return layouts, values


def _clean(value: float) -> float:
    """A sum without the noise of its last digits."""
    return float(f"{value:.13g}") + 0.0
