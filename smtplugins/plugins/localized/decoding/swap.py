"""``swap``: the decoder of the localized prediction model, which swaps neighbouring blocks.

C. Tillmann and T. Zhang (ACL 2005), section 2, after C. Tillmann, "A Unigram Orientation Model for Statistical Machine
Translation" (2004): blocks from left to right, except that two neighbours may change places. The search is core's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from smtplugins.host.decode.phrase_decoding import PhraseDecoder, PhraseOptions
from smtplugins.plugins.localized.model.block_model import RARE_LEFT, BlockModel

if TYPE_CHECKING:
    from smtplugins.host.config.resources import Resources
    from smtplugins.host.decode.forests import Weighted
    from smtplugins.host.decode.phrase_decoding import PhraseWorker


class Swap(PhraseDecoder):
    """Blocks from left to right on the source side, but that with ``reordering=swap`` two neighbours may change places.

    A block that leaves a gap is followed by one that fills it, and then come words behind both. ``monotone`` takes
    blocks in the order of the source. Where the weight of the feature ``rare-left`` of ``block-model`` is 0 or not
    given, blocks that it marks are not put to the left at all: no list or forest has them there.

    ``search``: ``stack`` tries each hypothesis with all that may come next; ``cube`` makes at most ``pop_limit`` for
    each number of translated words. A stack keeps ``stack_size`` hypotheses (0: all) and none whose probability is less
    than ``beam_threshold`` times that of the best. ``max_phrase_length`` is that of source sides, ``max_options`` the
    number of target sides for the same words: 9 in the paper. Words without a block of their own are copied.
    """

    def __init__(
        self,
        *,
        resources: Resources,
        reordering: Literal["swap", "monotone"] = "swap",
        search: Literal["stack", "cube"] = "stack",
        stack_size: int = 200,
        beam_threshold: float = 0.0,
        pop_limit: int = 1000,
        max_phrase_length: int = 20,
        max_options: int = 9,
        max_edges: int = 1 << 28,
    ) -> None:
        super().__init__(
            resources,
            PhraseOptions(
                search=search,
                stack_size=stack_size,
                beam_threshold=beam_threshold,
                pop_limit=pop_limit,
                distortion_limit=-1,
                order=reordering,
                max_phrase_length=max_phrase_length,
                max_options=max_options,
                max_edges=max_edges,
            ),
        )

    def worker(self, system: Weighted, graphs: bool) -> PhraseWorker:
        """What decodes in one thread. Blocks that may not go left are kept from it where they have no price."""
        made = super().worker(system, graphs)
        for one, scorer in made.scorers.native_scorers():
            if isinstance(one.feature, BlockModel):
                price = system.weights.get(one.feature.column_names(one.label)[RARE_LEFT], 0.0)
                scorer.forbid_left(price == 0.0)
        return made
