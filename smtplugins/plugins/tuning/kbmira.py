"""The gains of Moses' batch MIRA (``kbmira``), for ``mira`` with ``rule=kbmira``.

``tests/plugins/tuning/kbmira.py`` is the same rule as a program of its own, checked against what Moses printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtplugins.contracts.learners import ListProblem
from smtplugins.plugins.tuning.common import bleu_counts
from smtplugins.plugins.tuning.online import ListSource, ListView

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


class KbmiraSource(ListSource):
    """Lists whose gains are BLEU together with the background, times the length of the references of both.

    The background starts with ones. Gains are in words, and are multiplied by ``scale``.
    """

    updates_only = True

    def __init__(self, problem: ListProblem, scale: float, origin: Array) -> None:
        super().__init__(problem, scale, True, origin)
        bleu_counts(self.metric, self.matrix.stats, "mira: rule=kbmira")
        self._scale = scale

    def background(self) -> Array:
        """Ones."""
        import numpy as np

        return np.ones(self.matrix.stats.shape[1] + 1)

    def view(self, index: int, background: Array | None) -> ListView:
        """A sentence's list with its gains."""
        import numpy as np

        assert background is not None
        first, last = self.bounds[index], self.bounds[index + 1]
        stats = self.matrix.stats[first:last] + background[:-1]
        lengths, references, matches, totals = bleu_counts(self.metric, stats, "mira: rule=kbmira")
        log = np.mean(np.log(matches) - np.log(totals), axis=1) + np.minimum(0.0, 1 - references / lengths)
        return ListView(self, first, last, self._scale * references * np.exp(log))
