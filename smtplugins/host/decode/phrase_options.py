"""The options of phrase decoders: which phrases, which stacks, unknown words, mark-up. Decoders inherit what they have.

Moses' mark-up is applied in ``host/decode/markup.py``, the options of stacks in ``core/native/phrase``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from smtformats.records import dataclass
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.options import CheckedOptions, fill, option
from smtplugins.host.decode.parsing_options import ParsingOptions, SentenceOptions
from smtplugins.host.decode.sentences import target_of

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.core.search.search_options import PhraseSearchOptions

PASS_THROUGH, IGNORE, INCLUSIVE, CONSTRAINT = "pass-through", "ignore", "inclusive", "constraint"
"""Moses' names for what happens to mark-up; the other one is `exclusive`."""


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """What phrase decoders do with mark-up, punctuation marks and words that no phrase translates."""

    xml: Literal["pass-through", "ignore", "exclusive", "inclusive", "constraint"] = option(
        PASS_THROUGH,
        "translations in Moses' mark-up: ignored, used alone, beside the table's, or required; or tags are words",
    )
    drop_unknown: bool = option(False, "leave out unknown words that have no digit, as Moses can")
    mark_unknown: bool = option(False, "print unknown words between `unknown_prefix` and `unknown_suffix`")
    unknown_prefix: str = option("UNK", "printed before unknown words; features do not see it")
    unknown_suffix: str = option("", "printed after unknown words")
    monotone_at_punctuation: bool = option(False, "put walls around punctuation marks, which no phrase jumps over")

    def target(self, word: str) -> str:
        """The translation of an unknown word."""
        return "" if self.drop_unknown and not any(char in "0123456789" for char in word) else word

    def shown(self, word: str) -> str:
        """The translation of an unknown word as it is printed."""
        return f"{self.unknown_prefix}{word}{self.unknown_suffix}"


AS_WRITTEN = InputOptions()
"""Tags are words, and unknown words are copied."""


@dataclass(frozen=True, kw_only=True)
class PhraseTableOptions(CheckedOptions):
    """Which phrases a sentence has; unknown words are copied."""

    max_phrase_length: int = option(20, "longest source side, in words", least=1)
    max_options: int = option(
        0, "phrases kept for the same words, 0 for all; a table's own limit takes precedence", least=0
    )

    def parsing(self) -> ParsingOptions:
        """The parsing options that find the phrases of a sentence: rules without gaps, no glue."""
        own = {"pass_through": getattr(self, "pass_through", "unknown"), "glue": False}
        return fill(ParsingOptions, self, max_span=self.max_phrase_length, **own)

    def input_options(self) -> InputOptions:
        """What happens to mark-up and unknown words."""
        return AS_WRITTEN


@dataclass(frozen=True, kw_only=True)
class StackOptions(PhraseTableOptions):
    """Stacks of hypotheses, one for each number of translated words."""

    search: Literal["stack", "cube"] = option(
        "cube", "`stack` extends each hypothesis with all phrases that may come next, `cube` by cube pruning"
    )
    stack_size: int = option(200, "hypotheses kept in a stack, 0 for all", least=0)
    beam_threshold: float = option(
        1e-5, "drop hypotheses less probable than this times the best of their stack; 0 for none", probability=True
    )
    pop_limit: int = option(200, "hypotheses that cube pruning makes for a stack", least=1)
    max_edges: int = option(1 << 28, "limit of the hypotheses of a sentence; more are an error", least=1)

    def native(self, **more: Any) -> PhraseSearchOptions:
        """The options of the native search."""
        from smtplugins.core.search.search_options import PhraseSearchOptions

        beams = {"beam": nats(self.beam_threshold), "lm_beam": usual_lm_beam(self.pop_limit)}
        return fill(PhraseSearchOptions, self, **{"cube": self.search == "cube", **beams, **more})

    def constraint(self, sentence: Sentence) -> str | None:
        """The target that a sentence's translation is constrained to."""
        return None


@dataclass(frozen=True, kw_only=True)
class PhraseOptions(StackOptions, SentenceOptions, InputOptions):
    """The options of the decoder ``phrase``."""

    lm_beam: float | None = option(
        None, "with `cube`, beam of the language model score, in nats below the best; default by `pop_limit`"
    )
    distortion_limit: int = option(6, "longest jump, also back to the first gap; -1 for any", least=-1)
    order: Literal["free", "window", "monotone", "swap"] = option(
        "free",
        "the next phrase: `free` within the limit, `window` ending within it from the first gap (Joshua), "
        "`monotone` the next words, `swap` these or two neighbouring phrases swapped",
    )
    option_threshold: float = option(
        0.0, "drop phrases less probable than this times the best for the same words", probability=True
    )
    early_discarding: float = option(
        0.0,
        "before the language model, drop hypotheses less probable by estimate than this times the last one kept",
        probability=True,
    )
    stack_diversity: int = option(0, "hypotheses kept for each set of translated words, whatever their score", least=0)
    cube_diversity: int = option(0, "hypotheses that cube pruning makes for each set of translated words", least=0)
    input: Literal["text", "lattice", "confusion-net"] = option("text", "what the input holds")
    pass_through: Literal["all", "unknown"] = option("unknown", "input words that may be copied; Joshua copies all")
    max_length: int | None = option(None, least=1)
    constrained: bool = option(
        False, "two phrases that follow each other must stand in a sentence's target, `source ||| target` (Joshua)"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lm_beam is not None and not self.lm_beam > 0:
            raise UsageError(f"lm_beam: expected a number above 0, found {self.lm_beam}")

    def input_options(self) -> InputOptions:
        """What happens to mark-up and unknown words."""
        return self

    def constraint(self, sentence: Sentence) -> str | None:
        """The target of a sentence if translations are constrained."""
        return target_of(sentence, self.max_length) if self.constrained else None

    def native(self, **more: Any) -> PhraseSearchOptions:
        """The options of the native search."""
        beams = {"option_beam": nats(self.option_threshold), "early_discarding": nats(self.early_discarding)}
        if self.lm_beam is not None:
            beams["lm_beam"] = self.lm_beam
        return super().native(**{**beams, **more})


def usual_lm_beam(pop_limit: int) -> float:
    """The default ``lm_beam`` of a pop limit: it loses almost no model score on sentences of Multi30k."""
    return 14.5 + max(0.0, 6.0 * math.log(pop_limit / 200))


def nats(probability: float) -> float:
    """Convert a ratio of probabilities to a difference of scores in nats; 0 is no limit."""
    return -math.log(probability) if probability > 0 else math.inf
