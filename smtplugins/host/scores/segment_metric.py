"""Metrics of segments: a corpus score is a mean, and no segment is scored twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import FeatureError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.host.scores.batch_scores import BatchScores
    from smtplugins.host.scores.score_cache import Texts

_REMEMBERED = 1_000_000


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
                    raise FeatureError(f"{self.who}: expected a finite number for {key[1]!r}, found {row[0]}")
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
