"""A further pass over the forest of a sentence, as a run.yaml has it (``model.passes``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from smtformats.records import dataclass
from smtplugins.contracts.options import option
from smtplugins.contracts.spec import Spec


@dataclass(frozen=True)
class ForestPass:
    """A pass after the first: the forest that the pass before kept is searched again with further features.

    Without ``weights`` those of the pass before count. ``search``, ``pop_limit``, ``beam_prune``, ``density_prune`` and
    ``summary`` are options of the decoder: the first two are the decoder's own unless given, the others are off.
    """

    features: tuple[Spec, ...] = option((), "further features")
    weights: Path | None = option(None, "weights; default: those of the pass before")
    search: str | None = option(None, "cube_pruning or full; default: the decoder's")
    pop_limit: int | None = option(None, "edges that cube pruning pops for each node; default: the decoder's")
    beam_prune: float | None = option(None, "drop edges this far below the best derivation")
    density_prune: float | None = option(None, "keep this many edges for each edge of the best derivation")
    summary: str | None = option(None, "a feature of the posteriors of edges")

    def options(self) -> dict[str, Any]:
        """The options of the decoder in this pass."""
        given = {"search": self.search, "pop_limit": self.pop_limit}
        own = {"beam_prune": self.beam_prune, "density_prune": self.density_prune, "summary": self.summary}
        return {**{name: value for name, value in given.items() if value is not None}, **own}
