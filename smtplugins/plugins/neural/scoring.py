"""Models' scores of pairs of texts as a feature of lists, and as a metric whose corpus score is a mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import FeatureError, UsageError
from smtplugins.plugins.neural.folder import ModelFolder
from smtplugins.plugins.neural.runtime import check_at_least, require_extra

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, Columns
    from smtplugins.contracts.tools.running import ScoreCache, ScoreFolder

_REMEMBERED = 1_000_000


def cached(where: ScoreFolder | None, scorer: str, folder: ModelFolder, width: int = 1) -> ScoreCache:
    """The cache of a model's scores, known by the contents of the model's files; off if the host gives no folder."""
    from smtplugins.contracts.tools.running import ScoreCache

    return ScoreCache("off" if where is None else where, scorer, files=folder.files(), width=width)


class NeuralFeature:
    """A feature that scores pairs of source and hypothesis; each different pair of a list is scored once.

    A class of its own sets ``cache``.
    """

    cache: ScoreCache

    name: str
    reads_source = True

    def __init__(self, name: str, batch: int, threads: int) -> None:
        self.name = name
        self.who = f"feature {name!r}"
        require_extra(self.who)
        check_at_least(self.who, "batch", batch, 1)
        check_at_least(self.who, "threads", threads, 0)

    def columns(self) -> tuple[str, ...]:
        """The name of each column that ``compute`` returns; an empty one is left out."""
        return (self.name,)

    def compute(self, pairs: Sequence[tuple[str, str]]) -> NDArray[Any]:
        """Return a row for each pair of source and hypothesis."""
        raise NotImplementedError

    def score_candidates(self, source: str | None, candidates: Candidates) -> NDArray[Any] | Columns:
        """Score each hypothesis."""
        from smtformats import Columns

        if self.reads_source and source is None:
            raise UsageError(f"{self.who} needs the source: add it with `--source FILE` (source=FILE)")
        texts = list(dict.fromkeys(candidates.texts))
        place = {text: i for i, text in enumerate(texts)}
        rows = self.cache.scores([(source or "" if self.reads_source else "", text) for text in texts], self._compute)
        table = rows[[place[text] for text in candidates.texts]] if texts else rows
        names = self.columns()
        kept = [i for i, name in enumerate(names) if name]
        if len(kept) == 1:
            column: NDArray[Any] = table[:, kept[0]]
            return column
        return Columns.dense([names[i] for i in kept], table[:, kept])

    def _compute(self, keys: Sequence[Sequence[str | None]]) -> NDArray[Any]:
        return self.compute([(key[0] or "", key[1] or "") for key in keys])

    def close(self) -> None:
        """Close the cache of scores."""
        self.cache.close()


class NeuralMetric:
    """A metric of segments: a corpus score is their mean times ``scale``; a segment that repeats is scored once.

    A class of its own sets ``cache``.
    """

    name: str
    higher_is_better = True
    cache: ScoreCache

    def __init__(self, name: str, batch: int, threads: int, scale: float) -> None:
        self.name = name
        self.who = f"metric {name!r}"
        require_extra(self.who)
        check_at_least(self.who, "batch", batch, 1)
        check_at_least(self.who, "threads", threads, 0)
        self._scale = scale
        self._known: dict[Any, float] = {}

    def keys(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None
    ) -> Sequence[tuple[str, ...]]:
        """What each segment's score depends on."""
        raise NotImplementedError

    def judge(self, keys: Sequence[Sequence[str]]) -> NDArray[Any]:
        """Return a score for each key."""
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
            scores = self.cache.scores(fresh, self._judge)[:, 0].tolist()
            for key, score in zip(fresh, scores, strict=True):
                if not np.isfinite(score):
                    raise FeatureError(f"{self.who}: expected a finite number for {key[-1]!r}, found {score}")
                known[key] = score
            if len(self._known) > _REMEMBERED:
                self._known.clear()
            self._known.update(known)
        return np.array([[known[key], 1.0] for key in keys], dtype=np.float64).reshape(-1, 2)

    def _judge(self, keys: Sequence[Sequence[str | None]]) -> NDArray[Any]:
        return self.judge([[text or "" for text in key] for key in keys])

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
