"""The corpus metric along lines through weight space, for exact line search on n-best lists and hypergraphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.learners import ForestProblem, ListProblem
from smtplugins.contracts.tools.learning import Matrix, forest_scales, matrix_of
from smtplugins.contracts.tools.optimisers import ListSearch, Surfaces, graph_envelope, summed_surface, upper_envelope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.tools.graphs import Hypergraph

    Array = NDArray[Any]

MOST_FEATURES = 5000
_ROWS = 1 << 14


class LineSearchProblem(Protocol):
    """A problem that can be searched along lines.

    ``spread`` is how much each feature varies among a sentence's hypotheses, ``size`` its mean absolute value.
    ``surfaces`` may leave out what is out of ``reach``, the least and the greatest place by direction.
    """

    names: tuple[str, ...]
    spread: Array
    size: Array
    metric: Metric

    def surfaces(self, weights: Array, directions: Array, reach: tuple[Array, Array] | None = None) -> Surfaces: ...

    def score(self, weights: Array) -> float: ...


def line_search_problem(problem: ListProblem | ForestProblem) -> LineSearchProblem:
    """Prepare a problem for line search."""
    return LineSearchForests(problem) if isinstance(problem, ForestProblem) else LineSearchLists(problem)


def _expect_dense(names: tuple[str, ...]) -> None:
    if len(names) > MOST_FEATURES:
        raise SmtError(
            f"mert: expected at most {MOST_FEATURES} features, found {len(names)}: each is a search direction; "
            "use pro, mira or minrisk for sparse features"
        )
    if not names:
        raise SmtError("mert: expected features, found none")


class LineSearchLists:
    """N-best lists as a dense table with a row per feature."""

    def __init__(self, problem: ListProblem) -> None:
        matrix = matrix_of(problem)
        _expect_dense(matrix.names)
        self.names = matrix.names
        self.metric = problem.metric
        table = _table_of(matrix)
        self.spread, self.size = matrix.spread, matrix.size
        self._search = ListSearch(matrix.lists, table, matrix.stats)

    def surfaces(self, weights: Array, directions: Array, reach: tuple[Array, Array] | None = None) -> Surfaces:
        """The statistics along each direction, a row each, as far as its reach."""
        return self._search.surfaces(weights, directions, reach)

    def score(self, weights: Array) -> float:
        """The metric of the 1-best hypotheses."""
        import numpy as np

        sums = self.surfaces(weights, np.zeros((0, len(self.names)))).present
        return float(self.metric.score(np.asarray(sums)))


def _table_of(matrix: Matrix) -> Array:
    """The features of a matrix as a dense table with a row per name; filled in blocks to save memory for indices."""
    import numpy as np

    table = np.zeros((len(matrix.names), len(matrix)))
    for first in range(0, len(matrix), _ROWS):
        offsets = matrix.offsets[first : first + _ROWS + 1]
        part = slice(offsets[0], offsets[-1])
        rows = np.repeat(np.arange(first, first + len(offsets) - 1), np.diff(offsets))
        # One index instead of two is several times as fast.
        np.add.at(table.reshape(-1), rows + len(matrix) * matrix.ids[part].astype(np.int64), matrix.values[part])
    return table


class LineSearchForests:
    """Hypergraphs, searched by the envelopes of their derivations; the metric is computed once per distinct text."""

    def __init__(self, problem: ForestProblem) -> None:
        import numpy as np

        if not problem.graphs:
            raise SmtError("expected forests to learn from, found none")
        for stream in problem.references:
            if len(stream) != len(problem.graphs):
                raise SmtError(f"expected {len(problem.graphs)} references, found {len(stream)}")
        self.metric = problem.metric
        self._problem = problem
        self._graphs = [[graph for graph in each if graph.nodes] for each in problem.graphs]
        self.names = tuple(sorted({name for each in self._graphs for graph in each for name in graph.names}))
        _expect_dense(self.names)
        rank = {name: i for i, name in enumerate(self.names)}
        self._ids = [[np.array([rank[name] for name in graph.names], dtype=np.int64) for graph in each]
                     for each in self._graphs]  # fmt: skip
        self._rows: list[dict[str, int]] = [{} for _ in self._graphs]
        self._new: list[tuple[int, str]] = []
        self._count = 0
        self._stats: Array | None = None
        self.spread, self.size = (np.array([scales[name] for name in self.names]) for scales in forest_scales(problem))

    def surfaces(self, weights: Array, directions: Array, reach: tuple[Array, Array] | None = None) -> Surfaces:
        """The statistics along each direction, a row each; the envelopes of a graph are made whole."""
        import numpy as np

        values = [[graph.scores(weights[ids]) for graph, ids in zip(*each, strict=True)] for each in self._pairs()]
        lines = [self._lines(values, direction) for direction in directions]
        table = self._statistics()
        each = []
        for starts, rows in lines:
            items = np.concatenate([[0], np.cumsum([len(lines) for lines in starts])])
            each.append(summed_surface(items, np.concatenate(starts), np.concatenate(rows), table))
        joined = Surfaces.joined(each)
        # The present sums: the interval of the first direction that holds 0.
        first = joined.starts[: joined.offsets[1]]
        here = joined.sums[int(np.searchsorted(first, 0.0, side="right")) - 1]
        return Surfaces(joined.offsets, joined.starts, joined.sums, here)

    def score(self, weights: Array) -> float:
        """The metric of the 1-best derivations."""
        import numpy as np

        sums = self.surfaces(weights, np.zeros((1, len(self.names)))).present
        return float(self.metric.score(np.asarray(sums)))

    def _pairs(self) -> list[tuple[list[Hypergraph], list[Array]]]:
        return list(zip(self._graphs, self._ids, strict=True))

    def _lines(self, values: list[list[Array]], direction: Array) -> tuple[list[Array], list[Array]]:
        """For each sentence, where the lines of its envelope begin, and their rows of statistics."""
        import numpy as np

        starts, rows = [], []
        for k, (graphs, ids) in enumerate(self._pairs()):
            if not graphs:
                starts.append(np.array([-np.inf]))
                rows.append(np.array([self._row(k, "")]))
                continue
            by = [graph.scores(direction[own]) for graph, own in zip(graphs, ids, strict=True)]
            envelopes = [graph_envelope(*parts) for parts in zip(graphs, values[k], by, strict=True)]
            own = np.array([self._row(k, text) for envelope in envelopes for text in envelope.derivations.texts()])
            if len(envelopes) == 1:
                starts.append(envelopes[0].starts)
                rows.append(own)
                continue
            # The upper envelope over all graphs of the sentence.
            joined = upper_envelope(*(np.concatenate([getattr(envelope, part) for envelope in envelopes])
                                      for part in ("values", "slopes")))  # fmt: skip
            starts.append(joined.starts)
            rows.append(own[joined.lines])
        return starts, rows

    def _row(self, sentence: int, text: str) -> int:
        """The row of a text's statistics; a new text is queued and gets the next row."""
        known = self._rows[sentence]
        if text not in known:
            known[text] = self._count
            self._new.append((sentence, text))
            self._count += 1
        return known[text]

    def _statistics(self) -> Array:
        """All statistics; those of queued texts are computed in one call of the metric."""
        import numpy as np

        if self._new:
            which = [k for k, _ in self._new]
            references = [[stream[k] for k in which] for stream in self._problem.references]
            sources = self._problem.sources
            own = None if sources is None else [sources[k] for k in which]
            stats = np.asarray(self.metric.stats([text for _, text in self._new], references, own), dtype=np.float64)
            self._stats = stats if self._stats is None else np.concatenate([self._stats, stats])
            self._new = []
        assert self._stats is not None
        return self._stats
