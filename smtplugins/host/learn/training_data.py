"""Training data for learners: lists or forests, joined with references by id."""

from __future__ import annotations

import hashlib
import itertools
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, cast

from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.learners import ForestProblem, ListProblem
from smtplugins.contracts.metrics import PreparedMetric
from smtplugins.host.files.joining import Joined, Texts, file_positions, find_places
from smtplugins.host.files.lists import ListStream, as_stream
from smtplugins.host.files.opening import Path, open_known
from smtplugins.host.learn.trust_region import Scales

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, Format
    from smtplugins.contracts.metrics import Metric
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.host import Host
    from smtplugins.host.judge.postprocess import Post
    from smtplugins.host.learn.problems import Matrix

_AT_ONCE = 20_000
Note = Callable[[str], None]


class Learnable(Protocol):
    """A learning problem, and how to score weights on it."""

    problem: Any
    metric: Metric

    @property
    def signature(self) -> str:
        """The metric's signature, marked in-sample."""

    @property
    def constant(self) -> frozenset[str]:
        """The features that are the same in all hypotheses of each list, so that nothing can be learnt for them."""

    def score(self, weights: Mapping[str, float]) -> float:
        """The corpus score of the best hypotheses under the weights."""

    def weighed_by(self, weights: Mapping[str, float]) -> bool:
        """Whether any feature has a nonzero weight."""


class Material:
    """A learning problem on lists or forests, and the score of its best hypotheses under any weights."""

    def __init__(
        self, problem: ListProblem | ForestProblem, signature: Callable[[], str], totals: NDArray[Any] | None = None
    ) -> None:
        self.problem = problem
        self.totals = totals
        self.metric: Metric = problem.metric
        # Called late: some metrics complete their signature only after reading references.
        self._signature = signature

    def __len__(self) -> int:
        """The number of sentences."""
        return len(self.problem.lists if isinstance(self.problem, ListProblem) else self.problem.graphs)

    @property
    def signature(self) -> str:
        """The metric's signature, marked in-sample."""
        return f"{self._signature()}|in-sample"

    @cached_property
    def matrix(self) -> Matrix:
        """The lists as a matrix; not for forests."""
        from smtplugins.host.learn.problems import matrix_of

        assert isinstance(self.problem, ListProblem)
        return matrix_of(self.problem)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all features, sorted."""
        if isinstance(self.problem, ListProblem):
            return self.matrix.names
        return tuple(sorted({name for graphs in self.problem.graphs for graph in graphs for name in graph.names[:]}))

    @cached_property
    def constant(self) -> frozenset[str]:
        """The features that are the same in all hypotheses of each list; none for forests, which are not enumerated."""
        if not isinstance(self.problem, ListProblem):
            return frozenset()
        return frozenset(itertools.compress(self.names, (self.matrix.spread == 0).tolist()))

    @cached_property
    def scales(self) -> Scales:
        """The spread of each feature among the hypotheses of a sentence, and its size."""
        if isinstance(self.problem, ListProblem):
            by = self.matrix.spread, self.matrix.size
            return Scales(*(dict(zip(self.names, column.tolist(), strict=True)) for column in by))
        from smtplugins.host.learn.problems import forest_scales

        return Scales(*forest_scales(self.problem))

    def score(self, weights: Mapping[str, float]) -> float:
        """The corpus score of the best hypotheses under the weights."""
        return float(self.metric.score(self.best_stats(weights).sum(axis=0)))

    def best_stats(self, weights: Mapping[str, float], first: int = 0, last: int | None = None) -> NDArray[Any]:
        """The metric's statistics of the best hypotheses under the weights, a row for each sentence.

        With ``first`` and ``last``, of the sentences from one up to the other.
        """
        part = slice(first, len(self) if last is None else last)
        if isinstance(self.problem, ListProblem):
            matrix = self.matrix.between(part.start, part.stop)
            rows: NDArray[Any] = matrix.stats[matrix.best(matrix.column(weights))]
            return rows
        texts = [_best(graphs, weights) for graphs in self.problem.graphs[part]]
        sources = self.problem.sources
        references = [stream[part] for stream in self.problem.references]
        return self.metric.stats(texts, references, None if sources is None else sources[part])

    def weighed_by(self, weights: Mapping[str, float]) -> bool:
        """Whether any feature has a nonzero weight."""
        return any(weights.get(name) for name in self.names)

    def check(self, note: Note) -> None:
        """Raise SmtError, saying what to do, if nothing can be learnt from the data."""
        if isinstance(self.problem, ListProblem):
            from smtplugins.host.learn import checking

            checking.components(self.problem, self.matrix)
            checking.note_absent(self.problem, self.matrix, note)
        self.check_differences()
        if isinstance(self.problem, ListProblem):
            checking.note_constant(sorted(self.constant), note)

    def check_differences(self) -> None:
        """Raise SmtError if nothing tells hypotheses apart: all that a part of checked data may still lack."""
        if isinstance(self.problem, ListProblem):
            from smtplugins.host.learn import checking

            checking.differences(self.matrix, self.metric)
        elif not any(len(graph) for graphs in self.problem.graphs for graph in graphs):
            raise SmtError("expected forests with edges to learn from, found none")
        elif not self.names:
            raise SmtError("expected forests with feature values, found none")

    def without(self, first: int, last: int) -> Material:
        """All sentences but those from ``first`` up to, without, ``last``."""
        kept = [*range(first), *range(last, len(self))]

        def rest(column: Sequence[Any]) -> list[Any]:
            return [column[k] for k in kept]

        problem: ListProblem | ForestProblem
        if isinstance(self.problem, ListProblem):
            from smtplugins.host.learn.problems import keep_matrix

            problem = replace(self.problem, lists=rest(self.problem.lists), stats=rest(self.problem.stats))
            keep_matrix(problem, self.matrix.without(first, last))
        else:
            sources = self.problem.sources
            problem = replace(
                self.problem,
                graphs=rest(self.problem.graphs),
                references=[rest(stream) for stream in self.problem.references],
                sources=None if sources is None else rest(sources),
            )
        return Material(problem, self._signature)


def _best(graphs: Sequence[Hypergraph], weights: Mapping[str, float]) -> str:
    from smtplugins.core.graph.inference import kbest

    derivations = [kbest(graph.reweighted(weights), k=1) for graph in graphs if graph.nodes]
    tops = [(derivation.scores[0], derivation.texts()[0]) for derivation in derivations if len(derivation)]
    return max(tops, key=lambda top: top[0])[1] if tops else ""


def list_material(
    stream: ListStream,
    references: Sequence[Texts],
    metric: Metric,
    *,
    sources: Texts | None = None,
    allow_partial: bool = False,
) -> Material:
    """Load lists as compact columns and compute the metric's statistics of all hypotheses."""
    lists = stream.load()
    if not len(lists):
        raise SmtError(f"{stream.name}: expected n-best lists to learn from, found none")
    joined = Joined([*references, *([sources] if sources is not None else [])])
    places = places_of(file_positions(lists, stream.name), joined, stream.name, allow_partial)
    references, sources = _split_sources(joined, sources)
    bounds = lists.offsets.tolist()
    texts = (lists.texts[a:b] for a, b in itertools.pairwise(bounds))
    stats = list(Statistics(metric, references, sources).each(zip(texts, places, strict=True)))
    return Material(ListProblem(cast("Sequence[Candidates]", lists), stats, metric), metric.signature, lists.totals)


def _split_sources(joined: Joined, sources: Texts | None) -> tuple[list[Texts], Texts | None]:
    """Split joined texts into references and sources."""
    return (joined.streams, None) if sources is None else (joined.streams[:-1], joined.streams[-1])


class Statistics:
    """Computes a metric's statistics of hypotheses against joined references. Duplicates in a list are scored once."""

    def __init__(self, metric: Metric, references: Sequence[Texts], sources: Texts | None = None) -> None:
        self.metric, self.sources = metric, sources
        self.references = [[text or "" for text in stream.texts] for stream in references]
        alone = references and sources is None and isinstance(metric, PreparedMetric)
        self._prepared = cast("PreparedMetric", metric).prepare(self.references) if alone else None

    def __call__(self, texts: Sequence[str], at: int) -> NDArray[Any]:
        """The statistics of one list; ``at`` is the position of its references."""
        return next(self.each([(texts, at)]))

    def each(self, lists: Iterable[tuple[Sequence[str], int]]) -> Iterator[NDArray[Any]]:
        """The statistics of many lists, given as (texts, position); the metric is called in batches of lists."""
        waiting: list[tuple[dict[str, int], list[int], int]] = []
        count = 0
        for texts, at in lists:
            numbers: dict[str, int] = {}
            which = [numbers.setdefault(text, len(numbers)) for text in texts]
            waiting.append((numbers, which, at))
            count += len(numbers)
            if count >= _AT_ONCE:
                yield from self._compute(waiting)
                waiting, count = [], 0
        if waiting:
            yield from self._compute(waiting)

    def _compute(self, lists: Sequence[tuple[dict[str, int], list[int], int]]) -> Iterator[NDArray[Any]]:
        import numpy as np

        texts = [text for numbers, _, _ in lists for text in numbers]
        lines = [at for numbers, _, at in lists for _ in numbers]
        if not isinstance(self.metric, PostprocessedMetric):
            from smtplugins.host.judge.postprocess import check_pieces

            check_pieces("hypotheses", texts, self.references)
        if self._prepared is not None:
            stats = self._prepared.stats(texts, lines)
        else:
            references = [[stream[at] for at in lines] for stream in self.references]
            sources = None if self.sources is None else [self.sources.texts[at] or "" for at in lines]
            stats = self.metric.stats(texts, references, sources)
        rows = np.asarray(stats, dtype=np.float64)
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise SmtError(
                f"metric {self.metric.name!r}: expected finite statistics, a row for each text, found others"
            )
        first = 0
        for numbers, which, _ in lists:
            yield rows[first : first + len(numbers)][which]
            first += len(numbers)


class WrappedMetric:
    """Base of metrics that change another one's hypotheses or signature."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self.name = metric.name
        self.higher_is_better = metric.higher_is_better

    def stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None = None
    ) -> NDArray[Any]:
        """The metric's statistics."""
        return self._metric.stats(hypotheses, references, sources)

    def score(self, stats: NDArray[Any]) -> NDArray[Any]:
        """The metric's corpus score."""
        return self._metric.score(stats)

    def sentence(self, stats: NDArray[Any]) -> NDArray[Any]:
        """The metric's sentence scores."""
        return self._metric.sentence(stats)

    def signature(self) -> str:
        """The metric's signature."""
        return self._metric.signature()


class PostprocessedMetric(WrappedMetric):
    """A metric applied to postprocessed hypotheses, for instance with joined subwords."""

    def __init__(self, metric: Metric, post: Post) -> None:
        super().__init__(metric)
        self._post = post

    def stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None = None
    ) -> NDArray[Any]:
        """The metric's statistics of the postprocessed texts."""
        return super().stats(self._post(hypotheses), references, sources)

    def signature(self) -> str:
        """The metric's signature and the postprocessing."""
        return f"{self._metric.signature()}|post:{self._post.spec}"


def metric_of(host: Host, spec: Any, post: str | Post | None = None) -> Metric:
    """Make a metric, with postprocessing of the hypotheses if any."""
    from smtplugins.host.judge.postprocess import make_post

    postprocessor = make_post(post)
    metric = host.metric(spec)
    return metric if postprocessor is None else PostprocessedMetric(metric, postprocessor)


def places_of(lists: Sequence[tuple[str, str]], joined: Joined, name: str, partial: bool) -> list[int]:
    """The position of the references for each list; lists are (id, file position)."""
    places = find_places(lists, joined)
    if not partial:
        joined.check_complete(name, set(places), "learns from what is there")
    return places


def forest_material(
    folder: Path,
    references: Sequence[Texts],
    metric: Metric,
    *,
    format: str | None = None,
    formats: Sequence[Format] | None = None,
    sources: Texts | None = None,
    allow_partial: bool = False,
) -> Material:
    """Load forests from a folder with a file per sentence, named by id, or from a file with many."""
    from smtplugins.core.graph.hypergraph import Hypergraph

    name = str(folder)
    with open_known(folder, "hypergraph", format, formats) as opened:
        graphs = [Hypergraph.from_columns(columns) for columns in opened.records()]
    if not graphs:
        raise SmtError(f"{name}: expected forests to learn from, found none")
    joined = Joined([*references, *([sources] if sources is not None else [])])
    places = places_of([(graph.id, name) for graph in graphs], joined, name, allow_partial)
    references, sources = _split_sources(joined, sources)
    return join_forests([[graph] for graph in graphs], places, references, metric, sources, name)


def join_forests(
    graphs: Sequence[Sequence[Hypergraph]],
    places: Sequence[int],
    references: Sequence[Texts],
    metric: Metric,
    sources: Texts | None,
    name: str,
) -> Material:
    """Make training data of forests and the references at these positions."""
    for texts in (*references, *([sources] if sources is not None else [])):
        if max(places) >= len(texts):
            count = f"{len(texts)}, as {texts.name} has {len(texts)} lines (the first is id 0)"
            raise SmtError(f"{name}: expected ids below {count}, found id {max(places)}")
    order = sorted(range(len(places)), key=places.__getitem__)
    lines = [places[k] for k in order]
    problem = ForestProblem(
        [graphs[k] for k in order],
        [[texts.texts[at] or "" for at in lines] for texts in references],
        metric,
        None if sources is None else [sources.texts[at] or "" for at in lines],
    )
    return Material(problem, metric.signature)


def union(streams: Sequence[ListStream]) -> ListStream:
    """Merge lists of several decodings: all hypotheses of each sentence, deduplicated by (text, features)."""
    if len(streams) == 1:
        return streams[0]

    def start() -> Iterator[Candidates]:
        joined: dict[str, Candidates] = {}
        seen: dict[str, dict[bytes, int]] = {}
        for stream in streams:
            for nbest in stream:
                part = select_unseen(nbest, seen.setdefault(nbest.id, {}))
                if part is not None:
                    joined[nbest.id] = append_list(joined.get(nbest.id), part)
        yield from joined.values()

    return ListStream(start, ", ".join(stream.name for stream in streams), streams[0].format)


def select_unseen(nbest: Candidates, seen: dict[bytes, int], decoding: int = 1) -> Candidates | None:
    """Select hypotheses whose (text, features) are not in ``seen``; None if there are none.

    ``seen`` gets the number of the last decoding for each, and keeps the order in which they were first seen.
    """
    kept = []
    orders: dict[tuple[str, ...], list[int]] = {}
    for i, (text, names, values) in enumerate(zip(nbest.texts, nbest.layouts, nbest.values, strict=True)):
        if names not in orders:
            orders[names] = sorted(range(len(names)), key=names.__getitem__)
        used = [k for k in orders[names] if values[k]]
        named = "\0".join([text, *[names[k] for k in used]]).encode("utf-8", "surrogatepass")
        key = hashlib.blake2b(named + array("d", [values[k] for k in used]).tobytes(), digest_size=16).digest()
        if key not in seen:
            kept.append(i)
        seen[key] = decoding
    return replace(nbest.select(kept), raw=None, original=None, ranks=None, extras={}) if kept else None


def append_list(old: Candidates | None, new: Candidates) -> Candidates:
    """Append the hypotheses of another list of the same sentence; keeps totals if both lists have them."""
    if old is None:
        return new
    totals = None if old.totals is None or new.totals is None else old.totals + new.totals
    return replace(
        old,
        texts=old.texts + new.texts,
        layouts=old.layouts + new.layouts,
        values=old.values + new.values,
        totals=totals,
    )


def streams_of(lists: Any, read: Callable[[Any], ListStream]) -> ListStream:
    """Turn anything that holds lists into a stream; several paths or streams are merged."""
    if isinstance(lists, Iterable) and not isinstance(lists, (str, ListStream)):
        listed = list(lists) if isinstance(lists, (list, tuple)) else []
        if listed and all(isinstance(item, (str, os.PathLike, ListStream)) for item in listed):
            return union([item if isinstance(item, ListStream) else read(item) for item in listed])
    return read(lists) if isinstance(lists, (str, os.PathLike)) else as_stream(lists)
