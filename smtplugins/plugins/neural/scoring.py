"""Models' scores of texts as a feature of lists, and as a metric whose corpus score is a mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.running import SegmentMetric
from smtplugins.plugins.neural.folder import ModelFolder
from smtplugins.plugins.neural.runtime import check_at_least, require_extra

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, Columns
    from smtplugins.contracts.tools.running import BatchScores, ScoreCache, ScoreFolder

Texts = Sequence["str | None"]
_PIECE = 512
"""Texts that a model is given at a time; scores are kept between two pieces."""


def check_options(who: str, batch: int, threads: int) -> None:
    """Raise an error if the extra is missing or an option of all models is out of its range."""
    require_extra(who)
    check_at_least(who, "batch", batch, 1)
    check_at_least(who, "threads", threads, 0)


def kept_scores(where: ScoreFolder | None, scorer: str, folder: ModelFolder, width: int = 1) -> ScoreCache:
    """The cache of a model's scores, known by the contents of the model's files; off if the host gives no folder."""
    from smtplugins.contracts.tools.running import ScoreCache

    return ScoreCache("off" if where is None else where, scorer, files=folder.files(), width=width)


def table_of(rows: Sequence[Sequence[float]], names: Sequence[str]) -> NDArray[Any] | Columns:
    """Rows of numbers as the columns ``names``, of which empty ones are left out; as numbers alone if one is left."""
    import numpy as np

    from smtformats import Columns

    kept = [i for i, name in enumerate(names) if name] if names else list(range(len(rows[0]) if rows else 1))
    table = np.array(rows, dtype=np.float64).reshape(len(rows), -1)
    if not rows:
        return np.zeros(0)
    if len(kept) == 1:
        column: NDArray[Any] = table[:, kept[0]]
        return column
    return Columns.dense([names[i] for i in kept], table[:, kept]) if names else table


class NeuralFeature:
    """A feature that scores pairs of source and hypothesis, in batches across lists; each different pair once.

    A class of its own calls ``keep`` at the end of its constructor.
    """

    name: str
    reads_source = True
    _cache: ScoreCache
    _scores: BatchScores

    def __init__(self, name: str, batch: int, threads: int) -> None:
        self.name = name
        self.who = f"feature {name!r}"
        check_options(self.who, batch, threads)

    def keep(self, where: ScoreFolder | None, scorer: str, folder: ModelFolder, width: int = 1) -> None:
        """Keep the scores of this model, ``width`` for each pair."""
        from smtplugins.contracts.tools.running import BatchScores, in_batches

        self._cache = kept_scores(where, scorer, folder, width)
        self._scores = BatchScores(self._cache, in_batches(self._compute, _PIECE))

    def columns(self) -> tuple[str, ...]:
        """The name of each column that ``compute`` returns; an empty one is left out."""
        return (self.name,)

    def compute(self, pairs: Sequence[tuple[str, str]]) -> NDArray[Any]:
        """Return a row for each pair of source and hypothesis."""
        raise NotImplementedError

    def score_batches(self, lists: Iterator[Candidates]) -> Iterator[NDArray[Any] | Columns]:
        """Score lists, reading ahead."""
        for rows in self._scores.score_lists(lists, lambda nbest: self._keys(nbest.source, nbest)):
            yield table_of(rows, self.columns())

    def score_candidates(self, source: str | None, candidates: Candidates) -> NDArray[Any] | Columns:
        """Score a list."""
        return table_of(self._scores.scores(self._keys(source, candidates)), self.columns())

    def _keys(self, source: str | None, candidates: Candidates) -> list[Texts]:
        if self.reads_source and source is None:
            raise UsageError(f"{self.who} needs the source: add it with `--source FILE` (source=FILE)")
        return [(source if self.reads_source else None, text) for text in candidates.texts]

    def _compute(self, keys: Sequence[Texts]) -> NDArray[Any]:
        return self.compute([(key[0] or "", key[1] or "") for key in keys])

    def close(self) -> None:
        """Close the cache of scores."""
        self._cache.close()


class ModelMetric(SegmentMetric):
    """A metric of segments by an ONNX model. A class of its own calls ``keep`` at the end of its constructor."""

    def __init__(self, name: str, batch: int, threads: int, scale: float) -> None:
        super().__init__(name, name, scale)
        check_options(self.who, batch, threads)

    def keep(self, where: ScoreFolder | None, scorer: str, folder: ModelFolder) -> None:
        """Keep the scores of this model."""
        from smtplugins.contracts.tools.running import BatchScores, in_batches

        self.scores = BatchScores(kept_scores(where, scorer, folder), in_batches(self._judge, _PIECE))

    def judge(self, keys: Sequence[Sequence[str]]) -> NDArray[Any]:
        """Return a score for each key."""
        raise NotImplementedError

    def _judge(self, keys: Sequence[Texts]) -> NDArray[Any]:
        return self.judge([[text or "" for text in key] for key in keys])
