"""Scores from a command, as a feature and as a metric: it reads a JSON object on each line and answers with a line.

    {"id": "0", "source": "ein haus", "hyp": "a house"}                              ->   -1.25   (or {"score": -1.25})
    {"source": "ein haus", "hyp": "a house", "refs": ["the house", "a home"]}        ->   0.83

The first is what a feature asks, the second a metric. A command runs once for all (once in each worker) and has to
answer every line before it waits for the next.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import FeatureError
from smtplugins.plugins.standard.command import Command

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates

_REMEMBERED = 1_000_000


class External:
    """A command that scores. ``timeout`` is how many seconds a list may take."""

    def __init__(self, command: str, *, timeout: float = 300.0) -> None:
        self._command = Command("feature 'external'", command, timeout)

    def score_candidates(self, source: str | None, candidates: Candidates) -> list[float]:
        """Ask the command about each hypothesis."""
        return self._command.ask([{"id": candidates.id, "source": source, "hyp": text} for text in candidates.texts])

    def close(self) -> None:
        """End the command; one that answers more than it was asked or fails at the end fails the run."""
        self._command.close()


class ExternalMetric:
    """A command that judges: the score of a corpus is the mean of its segments', times ``scale``.

    It is asked once for a source, hypothesis and references that come again. ``lower=true`` says that less is better,
    ``timeout`` how many seconds the answers to one call may take, ``name`` what the metric is called in tables.
    References may be missing, for commands that estimate quality without them.
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
        self._command = Command("metric 'external'", command, timeout)
        self._known: dict[tuple[str | None, str, tuple[str, ...]], float] = {}
        self._scale = scale
        self.name = name
        self.higher_is_better = not lower
        # No one closes a metric: its command ends with it.
        weakref.finalize(self, self._command.abandon)

    def stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None = None
    ) -> NDArray[Any]:
        """The answer for each segment, and 1 to count them."""
        import numpy as np

        for what, stream in (
            *(("references", one) for one in references),
            *([("sources", sources)] if sources else ()),
        ):
            if len(stream) != len(hypotheses):
                raise ValueError(f"expected {len(hypotheses)} {what}, found {len(stream)}")
        keys = [
            (sources[i] if sources else None, hypothesis, tuple(one[i] for one in references))
            for i, hypothesis in enumerate(hypotheses)
        ]
        fresh = [key for key in dict.fromkeys(keys) if key not in self._known]
        known = {key: self._known[key] for key in keys if key in self._known}
        if fresh:
            asked = [{"source": source, "hyp": hypothesis, "refs": list(refs)} for source, hypothesis, refs in fresh]
            answers = self._command.ask(asked)
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
        """The mean; leading axes are kept."""
        import numpy as np

        rows = np.asarray(stats, dtype=np.float64)
        count = rows[..., 1]
        means: NDArray[Any] = self._scale * rows[..., 0] / np.where(count > 0, count, 1.0)
        return means

    def sentence(self, stats: NDArray[Any]) -> NDArray[Any]:
        """The answer for each segment."""
        return self.score(stats)

    def signature(self) -> str:
        """The command; what it does with its files is not known here."""
        import shlex

        command = " ".join(shlex.join(self._command.arguments).split())
        scale = "" if self._scale == 1.0 else f"|scale:{self._scale:g}"
        return f"{self.name}|command:{command}|mean:segments{scale}"
