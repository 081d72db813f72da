"""``swap``: the decoder of the localized prediction model, which swaps neighbouring blocks.

C. Tillmann and T. Zhang (ACL 2005), section 2, after C. Tillmann, "A Unigram Orientation Model for Statistical Machine
Translation" (2004): blocks from left to right, except that two neighbours may change places. The search is core's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.options import option
from smtplugins.contracts.tools.decoding import PhraseDecoder, StackOptions
from smtplugins.plugins.localized.model.block_model import RARE_LEFT, BlockModel

if TYPE_CHECKING:
    from smtplugins.contracts.tools.decoding import PhraseWorker, Resources, WeightedParser
    from smtplugins.contracts.tools.search import PhraseSearchOptions


@dataclass(frozen=True, kw_only=True)
class SwapOptions(StackOptions):
    """The options of the decoder ``swap``."""

    reordering: Literal["swap", "monotone"] = option(
        "swap", "`swap`: two neighbouring blocks may change places; `monotone`: blocks in the order of the source"
    )
    search: Literal["stack", "cube"] = "stack"
    beam_threshold: float = 0.0
    pop_limit: int = 1000
    max_options: int = option(9, "target sides kept for the same words, 0 for all; 9 in the paper")

    def native(self, **more: Any) -> PhraseSearchOptions:
        """The options of the native search."""
        return super().native(order=self.reordering, **more)


class Swap(PhraseDecoder):
    """Blocks from left to right on the source side, except that two neighbours may change places.

    A block that leaves a gap is followed by one that fills it, then by words after both. If the feature
    ``rare-left`` of ``block-model`` has no weight or the weight 0, the blocks that it marks are never put to the left;
    lists and forests do not have them there. Words without a block of their own are copied.
    """

    usual_features = tuple(
        "lm lexical-reordering distortion word-penalty phrase-penalty oov,value=-100,tuneable=false".split()
    )

    def __init__(self, *, resources: Resources, options: SwapOptions) -> None:
        super().__init__(resources, options)

    def worker(self, system: WeightedParser, graphs: bool) -> PhraseWorker:
        """Make a decoder for one thread. Without a weight for ``rare-left``, rare blocks are not put left."""
        worker = super().worker(system, graphs)
        for active, scorer in worker.scorers.native_scorers():
            if isinstance(active.feature, BlockModel):
                price = system.weights.get(active.feature.column_names(active.label)[RARE_LEFT], 0.0)
                scorer.forbid_left(price == 0.0)
        return worker
