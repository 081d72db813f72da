"""The options of the decoder ``hiero``: how forests are made, searched and pruned."""

from __future__ import annotations

import math
from typing import Any, Literal

from smtformats.records import dataclass
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.options import fill, option
from smtplugins.contracts.tools.decoding import ParsingOptions
from smtplugins.contracts.tools.search import SearchOptions
from smtplugins.plugins.hiero.limits import TOOLKITS, own_limit, pruning


@dataclass(frozen=True, kw_only=True)
class HieroOptions(ParsingOptions):
    """The options of the decoder ``hiero``."""

    search: Literal["cube_pruning", "full"] = option(
        "cube_pruning", "`full` looks at all derivations: exact, and slow with a language model"
    )
    pop_limit: int = option(30, "edges that cube pruning pops for each node")
    pops: Literal["own", "cdec", "moses", "joshua"] = option(
        "own", "whose pops the limit counts; a toolkit's limit is converted to ours at equal model score"
    )
    adapt: float | None = option(
        None, "how fast the limit falls at nodes that stateless features score low, 0: constant; default by `pop_limit`"
    )
    beam: float | None = option(
        None, "drop edges this much below the best of their node; default by `pop_limit`, none for Joshua"
    )
    max_edges: int = option(1 << 28, "limit of the edges of a sentence; more are an error")
    beam_prune: float | None = option(None, "prune the forest by this beam after the search, as cdec's option", least=0)
    beam_by_length: bool = option(False, "multiply `beam_prune` by the number of input words, as cdec can")
    density_prune: float | None = option(
        None, "prune the forest after the search to this many times the edges of the best derivation, as cdec", least=1
    )
    summary: str | None = option(None, "the name of a feature of the forest's posteriors, for the passes that follow")
    summary_type: Literal["node_risk", "edge_risk", "edge_prob"] = option(
        "node_risk", "posterior of an edge's head, of the edge, or its logarithm given the head"
    )
    constraint_words: int = option(
        0, "boundary words that a sentence's target, `source ||| target`, must have; 0: no constraint (Joshua)", least=0
    )
    boundary_words: int = option(
        0, "keep constituents apart that differ in so many words at either side, as Joshua does to rescore", least=0
    )
    reach: int | None = option(
        None,
        "phrases in any order instead of a chart: how many words behind the first that is not translated the next one "
        "may begin (cdec's pb)",
        least=0,
    )
    coarse_beam: float | None = option(
        None,
        "prune by this beam the forest of a grammar's rules without levels, then refine them, level by level (cdec)",
        least=0,
    )
    coarse_widening: float = option(2.0, "factor of `coarse_beam` if there is no fine derivation", least=1)
    coarse_widenings: int = option(2, "how often the beam is widened", least=0)
    coarse_exhaustive: bool = option(True, "at last refine the whole coarse forest")
    coarse_features: str | None = option(None, "features that score coarse rules beside those of tables: `A B`")
    max_steps: int = option(1_000_000, "with `reach`, limit of the steps of a sentence from phrase to phrase", least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pop_limit < 1 and not (self.pops == "joshua" and self.pop_limit == 0):
            raise UsageError(f"pop_limit: expected 1 or more, found {self.pop_limit}")
        if self.reach is not None and (self.markers or self.joshua):
            raise UsageError("reach: expected no markers, and not joshua")
        if self.reach is not None and self.coarse_beam is not None:
            raise UsageError("expected reach or coarse_beam, found both")

    def native(self, **more: Any) -> SearchOptions:
        """The options of the native search."""
        limit = own_limit(self.pop_limit, self.pops) if self.pops in TOOLKITS else self.pop_limit
        adapt, beam = pruning(limit)
        # Joshua's lists go deeper than a beam lets them.
        beam = math.inf if self.pops == "joshua" else beam
        computed = {
            "exact": self.search == "full",
            "pop_limit": limit,
            "adapt": adapt if self.adapt is None else self.adapt,
            "beam": beam if self.beam is None else self.beam,
        }
        return fill(SearchOptions, self, **{**computed, **more})
