"""What weights are learnt from: lists or forests, joined with references by id."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, cast

from smtplugins.contracts.contracts import Forests, Lists, PreparedMetric
from smtplugins.host.errors import SmtError
from smtplugins.host.files.joining import Joined, Texts, file_positions, find_places
from smtplugins.host.files.lists import ListStream, as_stream
from smtplugins.host.files.opening import Path, open_known
from smtplugins.host.learn.trust_region import Scales

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, Format
    from smtplugins.contracts.contracts import Metric
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.host import Host
    from smtplugins.host.judge.postprocess import Post
    from smtplugins.host.learn.problems import Matrix

_AT_ONCE = 20_000
Note = Callable[[str], None]


class Learnable(Protocol):
    """A problem for learners, and what can be said of weights that they learn from it."""

    problem: Any
    metric: Metric

    @property
    def signature(self) -> str:
        """The metric's, and that it judges what was learnt from."""

    def score(self, weights: Mapping[str, float]) -> float:
        """The metric of the hypotheses that weights choose."""

    def weighed_by(self, weights: Mapping[str, float]) -> bool:
        """Whether weights tell anything apart."""


class Material:
    """A problem for learners, and what its best hypotheses are worth under any weights."""

    def __init__(
        self, problem: Lists | Forests, signature: Callable[[], str], totals: NDArray[Any] | None = None
    ) -> None:
        self.problem = problem
        self.totals = totals
        self.metric: Metric = problem.metric
        # Some metrics know all of their signature only when they have seen references.
        self._signature = signature

    @property
    def signature(self) -> str:
        """The metric's, and that it judges what was learnt from."""
        return f"{self._signature()}|in-sample"

    @cached_property
    def matrix(self) -> Matrix:
        """The lists as a matrix; of forests there is none."""
        from smtplugins.host.learn.problems import matrix_of

        assert isinstance(self.problem, Lists)
        return matrix_of(self.problem)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The features that there are, sorted."""
        if isinstance(self.problem, Lists):
            return self.matrix.names
        return tuple(sorted({name for graphs in self.problem.graphs for one in graphs for name in one.names[:]}))

    @cached_property
    def scales(self) -> Scales:
        """How much features vary among the hypotheses of a sentence, and how large they are."""
        if isinstance(self.problem, Lists):
            by = self.matrix.spread, self.matrix.size
            return Scales(*(dict(zip(self.names, one.tolist(), strict=True)) for one in by))
        from smtplugins.host.learn.problems import forest_scales

        return Scales(*forest_scales(self.problem))

    def score(self, weights: Mapping[str, float]) -> float:
        """The metric of the best hypotheses."""
        if isinstance(self.problem, Lists):
            rows = self.matrix.best(self.matrix.column(weights))
            return float(self.metric.score(self.matrix.stats[rows].sum(axis=0)))
        texts = [_best(graphs, weights) for graphs in self.problem.graphs]
        stats = self.metric.stats(texts, self.problem.references, self.problem.sources)
        return float(self.metric.score(stats.sum(axis=0)))

    def weighed_by(self, weights: Mapping[str, float]) -> bool:
        """Whether any feature has a weight."""
        return any(weights.get(name) for name in self.names)

    def check(self, note: Note) -> None:
        """Data from which nothing can be learnt are an error that says what to do."""
        if isinstance(self.problem, Lists):
            from smtplugins.host.learn import checking

            checking.components(self.problem, self.matrix)
            checking.note_absent(self.problem, self.matrix, note)
            checking.differences(self.matrix, self.metric)
        elif not any(len(one) for graphs in self.problem.graphs for one in graphs):
            raise SmtError("expected forests with edges to learn from, found none")
        elif not self.names:
            raise SmtError("the forests have no features to give weights to: expected forests with feature values")

    def part(self, kept: Sequence[int]) -> Material:
        """Some of the lists, by their places."""
        assert isinstance(self.problem, Lists)
        lists, stats = self.problem.lists, self.problem.stats
        return Material(
            replace(self.problem, lists=[lists[k] for k in kept], stats=[stats[k] for k in kept]), self._signature
        )


def _best(graphs: Sequence[Hypergraph], weights: Mapping[str, float]) -> str:
    from smtplugins.core.graph.inference import kbest

    found = [kbest(graph.reweighted(weights), k=1) for graph in graphs if graph.nodes]
    tops = [(one.scores[0], one.texts()[0]) for one in found if len(one)]
    return max(tops, key=lambda top: top[0])[1] if tops else ""


def list_material(
    stream: ListStream,
    references: Sequence[Texts],
    metric: Metric,
    *,
    sources: Texts | None = None,
    allow_partial: bool = False,
) -> Material:
    """Lists with the metric's statistics of all hypotheses. The lists are kept as columns, which take little room."""
    lists = stream.load()
    if not len(lists):
        raise SmtError(f"{stream.name}: expected n-best lists to learn from, found none")
    joined = Joined([*references, *([sources] if sources is not None else [])])
    places = places_of(file_positions(lists, stream.name), joined, stream.name, allow_partial)
    references, sources = _parted(joined, sources)
    bounds = lists.offsets.tolist()
    texts = (lists.texts[a:b] for a, b in itertools.pairwise(bounds))
    stats = list(Statistics(metric, references, sources).each(zip(texts, places, strict=True)))
    return Material(Lists(cast("Sequence[Candidates]", lists), stats, metric), metric.signature, lists.totals)


def _parted(joined: Joined, sources: Texts | None) -> tuple[list[Texts], Texts | None]:
    """References and sources, side by side."""
    return (joined.streams, None) if sources is None else (joined.streams[:-1], joined.streams[-1])


class Statistics:
    """The metric's statistics of hypotheses by the place of the references. Each text of a list is looked at once."""

    def __init__(self, metric: Metric, references: Sequence[Texts], sources: Texts | None = None) -> None:
        self.metric, self.sources = metric, sources
        self.references = [[one or "" for one in stream.texts] for stream in references]
        alone = references and sources is None and isinstance(metric, PreparedMetric)
        self._prepared = cast("PreparedMetric", metric).prepare(self.references) if alone else None

    def __call__(self, texts: Sequence[str], at: int) -> NDArray[Any]:
        """Those of one list."""
        return next(self.each([(texts, at)]))

    def each(self, lists: Iterable[tuple[Sequence[str], int]]) -> Iterator[NDArray[Any]]:
        """Those of many: texts and the line of each list. They are handed on some lists at a time."""
        waiting: list[tuple[dict[str, int], list[int], int]] = []
        count = 0
        for texts, at in lists:
            numbers: dict[str, int] = {}
            which = [numbers.setdefault(text, len(numbers)) for text in texts]
            waiting.append((numbers, which, at))
            count += len(numbers)
            if count >= _AT_ONCE:
                yield from self._made(waiting)
                waiting, count = [], 0
        if waiting:
            yield from self._made(waiting)

    def _made(self, lists: Sequence[tuple[dict[str, int], list[int], int]]) -> Iterator[NDArray[Any]]:
        import numpy as np

        texts = [text for numbers, _, _ in lists for text in numbers]
        lines = [at for numbers, _, at in lists for _ in numbers]
        if self._prepared is not None:
            made = self._prepared.stats(texts, lines)
        else:
            references = [[stream[at] for at in lines] for stream in self.references]
            sources = None if self.sources is None else [self.sources.texts[at] or "" for at in lines]
            made = self.metric.stats(texts, references, sources)
        rows = np.asarray(made, dtype=np.float64)
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise SmtError(
                f"metric {self.metric.name!r}: expected finite statistics, a row for each text, found others"
            )
        first = 0
        for numbers, which, _ in lists:
            yield rows[first : first + len(numbers)][which]
            first += len(numbers)


class Posted:
    """A metric to which hypotheses are shown after something was done to them, pieces joined for one."""

    def __init__(self, metric: Metric, post: Post) -> None:
        self._metric, self._post = metric, post
        self.name = metric.name
        self.higher_is_better = metric.higher_is_better

    def stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None = None
    ) -> NDArray[Any]:
        """The metric's, of the changed texts."""
        return self._metric.stats(self._post(hypotheses), references, sources)

    def score(self, stats: NDArray[Any]) -> NDArray[Any]:
        """The metric's."""
        return self._metric.score(stats)

    def sentence(self, stats: NDArray[Any]) -> NDArray[Any]:
        """The metric's."""
        return self._metric.sentence(stats)

    def signature(self) -> str:
        """The metric's, and what was done."""
        return f"{self._metric.signature()}|post:{self._post.spec}"


def metric_of(host: Host, spec: Any, post: str | Post | None = None) -> Metric:
    """A metric, and what is done before it."""
    from smtplugins.host.judge.postprocess import make_post

    made = make_post(post) if isinstance(post, str) else post
    metric = host.metric(spec)
    return metric if made is None else Posted(metric, made)


def places_of(lists: Sequence[tuple[str, str]], joined: Joined, name: str, partial: bool) -> list[int]:
    """The place of the references for each list, given by its id and where it stands."""
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
    """Forests of a folder, a file each named by its id (or a file with many)."""
    from smtplugins.core.graph.hypergraph import Hypergraph

    name = str(folder)
    with open_known(folder, "hypergraph", format, formats) as opened:
        graphs = [Hypergraph.from_columns(one) for one in opened.records()]
    if not graphs:
        raise SmtError(f"{name}: expected forests to learn from, found none")
    joined = Joined([*references, *([sources] if sources is not None else [])])
    places = places_of([(one.id, name) for one in graphs], joined, name, allow_partial)
    references, sources = _parted(joined, sources)
    return joined_forests([[one] for one in graphs], places, references, metric, sources, name)


def joined_forests(
    graphs: Sequence[Sequence[Hypergraph]],
    places: Sequence[int],
    references: Sequence[Texts],
    metric: Metric,
    sources: Texts | None,
    name: str,
) -> Material:
    """Forests with the references at these places."""
    for one in (*references, *([sources] if sources is not None else [])):
        if max(places) >= len(one):
            count = f"{len(one)}, as {one.name} has {len(one)} lines (the first is id 0)"
            raise SmtError(f"{name}: expected ids below {count}, found id {max(places)}")
    order = sorted(range(len(places)), key=places.__getitem__)
    lines = [places[k] for k in order]
    problem = Forests(
        [graphs[k] for k in order],
        [[one.texts[at] or "" for at in lines] for one in references],
        metric,
        None if sources is None else [sources.texts[at] or "" for at in lines],
    )
    return Material(problem, metric.signature)


def union(streams: Sequence[ListStream]) -> ListStream:
    """Lists of several decodings as one: of each sentence all hypotheses, those with one text and features once."""
    if len(streams) == 1:
        return streams[0]

    def start() -> Iterator[Candidates]:
        joined: dict[str, Candidates] = {}
        seen: dict[str, set[bytes]] = {}
        for stream in streams:
            for one in stream:
                part = unseen(one, seen.setdefault(one.id, set()))
                if part is not None:
                    joined[one.id] = appended(joined.get(one.id), part)
        yield from joined.values()

    return ListStream(start, ", ".join(one.name for one in streams), streams[0].format)


def unseen(one: Candidates, seen: set[bytes]) -> Candidates | None:
    """What of a list was not there before, by text and features; it is from now on."""
    kept = []
    for i in range(len(one)):
        pairs = sorted((name, value) for name, value in zip(one.layouts[i], one.values[i], strict=True) if value)
        key = hashlib.blake2b(repr((one.texts[i], pairs)).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if key not in seen:
            seen.add(key)
            kept.append(i)
    return replace(one.select(kept), raw=None, original=None, ranks=None, extras={}) if kept else None


def appended(old: Candidates | None, new: Candidates) -> Candidates:
    """The hypotheses of two lists of one sentence; totals if both have them."""
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
    """Whatever holds lists; several paths are joined."""
    if isinstance(lists, Iterable) and not isinstance(lists, (str, ListStream)):
        listed = list(lists) if isinstance(lists, (list, tuple)) else []
        if listed and all(isinstance(one, (str, os.PathLike, ListStream)) for one in listed):
            return union([one if isinstance(one, ListStream) else read(one) for one in listed])
    return read(lists) if isinstance(lists, (str, os.PathLike)) else as_stream(lists)
