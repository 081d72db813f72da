"""``swap``: the decoder of the localized prediction model, which swaps neighbouring blocks.

C. Tillmann and T. Zhang (ACL 2005), section 2, after C. Tillmann, "A Unigram Orientation Model for Statistical Machine
Translation" (2004): blocks from left to right, except that two neighbours may change places. The search is core's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from smtplugins.host.phrase_decoding import PhraseDecoder, PhraseOptions
from smtplugins.plugins.localized.block_model import COLUMNS, BlockModel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtplugins.host.contracts import Decoding, Sentence
    from smtplugins.host.model import Model
    from smtplugins.host.resources import Resources

FORBIDDEN = 1e4
"""What a block costs that may not stand to the left: more than any other thing."""


class Swap(PhraseDecoder):
    """Blocks from left to right on the source side, but that with ``reordering=swap`` two neighbours may change places.

    A block that leaves a gap is followed by one that fills it, and then come words behind both. ``monotone`` takes
    blocks in the order of the source. Where the feature ``block-model`` has no weight for ``rare-left``, blocks that
    it marks with that are not put to the left at all.

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
        # The last of the model's columns.
        self._rare = [
            one.feature.column_names(one.label)[len(COLUMNS) - 1]
            for one in resources.features
            if isinstance(one.feature, BlockModel)
        ]
        self._given: Model | None = None
        self._used: Model | None = None

    def load(self, model: Model) -> dict[str, float]:
        """Read the tables, and do to them what weights do."""
        return super().load(self._with_rare(model))

    def decode(
        self, sentences: Iterable[Sentence], model: Model, *, threads: int = 1, graphs: bool = False
    ) -> Iterator[Decoding]:
        """Translations in the order of the input."""
        return super().decode(sentences, self._with_rare(model), threads=threads, graphs=graphs)

    def _with_rare(self, model: Model) -> Model:
        """The model with the cost of what is forbidden; the same for the same one, as it is known by it."""
        if self._given is not model and self._used is not model:
            cost = dict.fromkeys(self._rare, FORBIDDEN)
            self._given, self._used = model, replace(model, weights={**cost, **model.weights})
        assert self._used is not None
        return self._used
