"""Times and counts of decoding: for a sentence, and summed over all sentences."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from smtformats.records import dataclass
from smtplugins.contracts.decoders import Decoding

PHASES = ("loading", "parsing", "search", "output")
COUNTS = ("sentences", "nodes", "edges", "bundles", "pops", "lm_queries")
_OF_PHRASES = ("hypotheses", "moves")


class Times:
    """CPU and wall-clock seconds of the phases of a sentence's work, in one thread."""

    def __init__(self) -> None:
        self.sums: dict[str, float] = {}
        self._phase = ""
        self._begun = (0.0, 0.0)

    def __call__(self, phase: str) -> Times:
        self._phase = phase
        return self

    def __enter__(self) -> None:
        self._begun = (time.thread_time(), time.perf_counter())

    def taken(self) -> dict[str, float]:
        """Return the sums so far and reset them."""
        sums, self.sums = self.sums, {}
        return sums

    def __exit__(self, *error: object) -> None:
        now = (time.thread_time(), time.perf_counter())
        for kind, begun, ended in zip(("cpu", "wall"), self._begun, now, strict=True):
            key = f"{kind}.{self._phase}"
            self.sums[key] = self.sums.get(key, 0.0) + ended - begun


def added(sums: Mapping[str, float], more: Mapping[str, float]) -> dict[str, float]:
    """The sums of two sets of statistics, by name."""
    return {**sums, **{name: sums.get(name, 0.0) + value for name, value in more.items()}}


@dataclass
class DecodingStatistics:
    """Times and counts summed over all sentences."""

    sums: dict[str, float]
    sentences: int = 0
    failed: int = 0

    def add(self, decoding: Decoding) -> None:
        """Add the statistics of a sentence."""
        self.sentences += 1
        self.failed += not decoding.found
        for name, value in decoding.stats.items():
            self.sums[name] = self.sums.get(name, 0.0) + value

    def record(self) -> dict[str, Any]:
        """The members of stats.json."""
        import resource
        import sys

        # The peak of the largest process.
        peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        members: dict[str, Any] = {
            kind: {phase: round(self.sums.get(f"{kind}.{phase}", 0.0), 6) for phase in PHASES}
            for kind in ("cpu", "wall")
        }
        # In kilobytes, on macOS in bytes.
        members["peak_rss_mb"] = round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
        for name in (*COUNTS, *(name for name in _OF_PHRASES if name in self.sums)):
            members[name] = self.sentences if name == "sentences" else int(self.sums.get(name, 0))
        return members
