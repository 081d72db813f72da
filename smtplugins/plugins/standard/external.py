"""Scores from an external command, as a feature and as a metric: JSON lines in, a number out for each.

    {"id": "0", "source": "ein haus", "hyp": "a house"}                              ->   -1.25   (or {"score": -1.25})
    {"source": "ein haus", "hyp": "a house", "refs": ["the house", "a home"]}        ->   0.83

The first line is a feature's request, the second a metric's. The command is started once (in each worker process) and
must answer every line before it waits for the next.
"""

from __future__ import annotations

import math
import shlex
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import FeatureError
from smtplugins.plugins.standard.command import ScoringCommand

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates

_REMEMBERED = 1_000_000


class External:
    """Scores hypotheses by an external command; ``timeout`` is the maximum time for a list, in seconds."""

    def __init__(self, command: str, *, timeout: float = 300.0) -> None:
        self._command = ScoringCommand("feature 'external'", command, timeout)

    def score_candidates(self, source: str | None, candidates: Candidates) -> list[float]:
        """Request a score for each hypothesis."""
        return self._command.ask([{"id": candidates.id, "source": source, "hyp": text} for text in candidates.texts])

    def close(self) -> None:
        """End the command; raises FeatureError if it has printed extra answers or exits with an error."""
        self._command.close()


class ExternalMetric:
    """A metric by an external command: a corpus score is the mean segment score times ``scale``.

    Repeated requests are cached. ``lower=true``: lower is better. ``timeout`` is the maximum time for the answers to a
    call, in seconds. ``name`` is the metric's name in tables. References are optional, for quality estimation.
    """

    def __init__(
        self,
        command: str,
        *,
        lower: bool = False,
        scale: float = 1.0,
        name: str = "external",
        timeout: float = 3600.0,
    ) -> None:
        self._command = ScoringCommand("metric 'external'", command, timeout)
        self._known: dict[tuple[str | None, str, tuple[str, ...]], float] = {}
        self._scale = scale
        self.name = name
        self.higher_is_better = not lower
        # Metrics are never closed, so the command is killed when the metric is deleted.
        weakref.finalize(self, self._command.abandon)

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
        keys = [
            (sources[i] if sources else None, hypothesis, tuple(stream[i] for stream in references))
            for i, hypothesis in enumerate(hypotheses)
        ]
        fresh = [key for key in dict.fromkeys(keys) if key not in self._known]
        known = {key: self._known[key] for key in keys if key in self._known}
        if fresh:
            requests = [{"source": source, "hyp": hypothesis, "refs": list(refs)} for source, hypothesis, refs in fresh]
            answers = self._command.ask(requests)
            for key, answer in zip(fresh, answers, strict=True):
                if not math.isfinite(answer):
                    name = self._command.arguments[0]
                    raise FeatureError(f"command {name!r}: expected a finite number for {key[1]!r}, found {answer}")
                known[key] = answer
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
        """Return the command line; the contents of its files are not part of the signature."""
        command = " ".join(shlex.join(self._command.arguments).split())
        scale = "" if self._scale == 1.0 else f"|scale:{self._scale:g}"
        return f"{self.name}|command:{command}|mean:segments{scale}"
