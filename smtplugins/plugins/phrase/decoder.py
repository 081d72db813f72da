"""The decoder ``phrase``: options of a sentence from the tables, stacks of hypotheses over them.

P. Koehn, F. J. Och and D. Marcu, "Statistical Phrase-Based Translation" (2003); P. Koehn, "Pharaoh: a Beam Search
Decoder for Phrase-Based Statistical Machine Translation Models" (2004). The search is core's (``phrase_search.hpp``),
and so are sentences, tables, features and runs of several decoders the host's (``host/decode/phrase_decoding.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from smtplugins.host.decode.phrase_conventions import PhraseConventions
from smtplugins.host.decode.phrase_decoding import PhraseDecoder, PhraseOptions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtplugins.host.config.resources import Resources


class Phrase(PhraseDecoder):
    """Stacks of hypotheses, by how many source words they have translated.

    ``search``: ``stack`` tries each hypothesis with all that may come next; ``cube`` makes at most ``pop_limit``
    hypotheses for a stack, the best ones first. A stack keeps ``stack_size`` of them (0: all) and none whose
    probability is less than ``beam_threshold`` times that of the best. With cubes none may lack more than ``lm_beam``
    either, in nats that a language model's weight makes scores of: it means the same whatever the weights add up
    to. By default 14.5, more above a pop limit of 200; ``inf`` for none. ``stack_diversity`` and ``cube_diversity`` are
    how many of each set of translated words are kept, and made, whatever they score. Phrases that are less probable
    than ``option_threshold`` times the best one for the same words are not used, and hypotheses that seem less probable
    than ``early_discarding`` times the last one kept are dropped before their words are scored.

    ``distortion_limit`` is the longest jump, -1 for any; ``order`` says what may come next: ``free`` all within the
    limit, ``window`` all that end within the limit from the first gap, ``monotone`` the next words, ``swap`` these or,
    for two neighbouring phrases, one behind the other.
    ``max_phrase_length`` is that of source sides, ``max_options`` the number of phrases for the same words, for each
    table that has no limit of its own.

    ``input`` may be a ``lattice`` or a ``confusion-net``. Words without a phrase of their own are copied;
    ``drop_unknown`` leaves out those without a digit, ``mark_unknown`` gives them out between ``unknown_prefix`` and
    ``unknown_suffix``. ``xml`` says what becomes of translations in Moses' mark-up: ``exclusive`` uses these alone,
    ``inclusive`` these and others, ``constraint`` those that have these in them, ``ignore`` none; ``pass-through``
    takes tags for words.

    As in Joshua, ``pass_through=all`` lets any word be copied, known ones too; ``mark_oovs`` puts ``_OOV`` behind
    copies; sentences are cut after ``max_length`` words; ``joshua`` spells brackets and bars as Joshua does, and gives
    back a sentence without a translation.
    """

    def __init__(
        self,
        *,
        resources: Resources,
        search: Literal["stack", "cube"] = "cube",
        stack_size: int = 200,
        beam_threshold: float = 1e-5,
        lm_beam: float | None = None,
        pop_limit: int = 200,
        distortion_limit: int = 6,
        order: Literal["free", "window", "monotone", "swap"] = "free",
        max_phrase_length: int = 20,
        max_options: int = 0,
        option_threshold: float = 0.0,
        early_discarding: float = 0.0,
        stack_diversity: int = 0,
        cube_diversity: int = 0,
        max_edges: int = 1 << 28,
        input: Literal["text", "lattice", "confusion-net"] = "text",
        xml: Literal["pass-through", "ignore", "exclusive", "inclusive", "constraint"] = "pass-through",
        drop_unknown: bool = False,
        mark_unknown: bool = False,
        unknown_prefix: str = "UNK",
        unknown_suffix: str = "",
        pass_through: Literal["all", "unknown"] = "unknown",
        mark_oovs: bool = False,
        max_length: int | None = None,
        joshua: bool = False,
    ) -> None:
        super().__init__(
            resources,
            PhraseOptions(
                search=search,
                stack_size=stack_size,
                beam_threshold=beam_threshold,
                lm_beam=lm_beam,
                pop_limit=pop_limit,
                distortion_limit=distortion_limit,
                order=order,
                max_phrase_length=max_phrase_length,
                max_options=max_options,
                option_threshold=option_threshold,
                early_discarding=early_discarding,
                stack_diversity=stack_diversity,
                cube_diversity=cube_diversity,
                max_edges=max_edges,
                lattice=input != "text",
                pass_through=pass_through,
                mark_oovs=mark_oovs,
                max_length=max_length,
                joshua=joshua,
                phrases=PhraseConventions(
                    xml=xml,
                    drop_unknown=drop_unknown,
                    mark_unknown=mark_unknown,
                    unknown_prefix=unknown_prefix,
                    unknown_suffix=unknown_suffix,
                ),
            ),
        )

    def table_names(self, own: Iterable[str] = ()) -> tuple[str, ...] | None:
        """The features of tables, ``own`` files of sentences among them; all others are the configuration's."""
        return self.forests.table_names(own)
