"""Models' scores of texts as a feature of lists, and as a metric whose corpus score is a mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import FeatureError, UsageError
from smtplugins.plugins.neural.folder import ModelFolder
from smtplugins.plugins.neural.runtime import check_at_least, require_extra

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, Columns
    from smtplugins.contracts.tools.running import BatchScores, ScoreCache, ScoreFolder

Texts = Sequence["str | None"]
_REMEMBERED = 1_000_000
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


class SegmentMetric:
    """A metric of segments: a corpus score is their mean times ``scale``; a segment that repeats is scored once.

    A class of its own sets ``scores``.
    """

    name: str
    higher_is_better = True
    scores: BatchScores

    def __init__(self, name: str, kind: str, scale: float) -> None:
        self.name = name
        self.who = f"metric {kind!r}"
        self._scale = scale
        self._known: dict[Texts, float] = {}

    def keys(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None
    ) -> Sequence[Texts]:
        """What each segment's score depends on."""
        raise NotImplementedError

    def settings(self) -> Mapping[str, str]:
        """What the signature says beside the name."""
        raise NotImplementedError

    def stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None = None
    ) -> NDArray[Any]:
        """Return the score of each segment, and a 1 to count it."""
        import numpy as np

        for what, stream in (
            *(("references", stream) for stream in references),
            *([("sources", sources)] if sources else ()),
        ):
            if len(stream) != len(hypotheses):
                raise ValueError(f"expected {len(hypotheses)} {what}, found {len(stream)}")
        keys = self.keys(hypotheses, references, sources)
        fresh = [key for key in dict.fromkeys(keys) if key not in self._known]
        known = {key: self._known[key] for key in keys if key in self._known}
        if fresh:
            for key, row in zip(fresh, self.scores.scores(fresh, self.name), strict=True):
                if not np.isfinite(row[0]):
                    raise FeatureError(f"{self.who}: expected a finite number for {key!r}, found {row[0]}")
                known[key] = row[0]
            if len(self._known) > _REMEMBERED:
                self._known.clear()
            self._known.update(known)
        return np.array([[known[key], 1.0] for key in keys], dtype=np.float64).reshape(-1, 2)

    def score(self, stats: NDArray[Any]) -> NDArray[Any]:
        """Compute the mean of summed statistics; leading axes are kept."""
        import numpy as np

        rows = np.asarray(stats, dtype=np.float64)
        count = rows[..., 1]
        means: NDArray[Any] = self._scale * rows[..., 0] / np.where(count > 0, count, 1.0)
        return means

    def sentence(self, stats: NDArray[Any]) -> NDArray[Any]:
        """Return the score of each segment."""
        return self.score(stats)

    def signature(self) -> str:
        """Return the name, the model and the settings that change scores."""
        scale = {} if self._scale == 1.0 else {"scale": f"{self._scale:g}"}
        settings = {**self.settings(), "mean": "segments", **scale}
        return "|".join([self.name, *(f"{key}:{' '.join(value.split())}" for key, value in settings.items())])


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
