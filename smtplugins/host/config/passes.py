"""A further pass over the forest of a sentence, as a run.yaml has it (``model.passes``)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smtplugins.contracts.spec import Spec


@dataclass(frozen=True)
class ForestPass:
    """A pass after the first: the forest that the pass before kept is searched again with further features.

    Without ``weights`` those of the pass before count. ``search``, ``pop_limit``, ``beam_prune``, ``density_prune`` and
    ``summary`` are options of the decoder: the first two are the decoder's own unless given, the others are off.
    """

    features: tuple[Spec, ...] = ()
    weights: Path | None = None
    search: str | None = None
    pop_limit: int | None = None
    beam_prune: float | None = None
    density_prune: float | None = None
    summary: str | None = None

    def options(self) -> dict[str, Any]:
        """The options of the decoder in this pass."""
        given = {"search": self.search, "pop_limit": self.pop_limit}
        own = {"beam_prune": self.beam_prune, "density_prune": self.density_prune, "summary": self.summary}
        return {**{name: value for name, value in given.items() if value is not None}, **own}
