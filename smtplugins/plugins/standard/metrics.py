"""BLEU, chrF and TER with sacrebleu's options, defaults, signatures and scores, on additive sufficient statistics.

Signatures and all tokenizers but 13a are sacrebleu's own; statistics and scores are native.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.plugins.standard.counted import Aggregating, Counted, check_range, texts_as, tokenizing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.tools.search import LinearGain
    from smtplugins.contracts.tools.statistics import MetricReferences

_TOKENIZED = 100


class Bleu(Aggregating):
    """BLEU with sacrebleu's options; use ``tokenize=none`` for tokenised text.

    Sentence scores use effective order, like ``sacrebleu --sentence-level``.
    """

    name = "BLEU"

    def __init__(
        self,
        *,
        tokenize: str | None = None,
        lowercase: bool = False,
        smooth_method: Literal["exp", "floor", "add-k", "none"] = "exp",
        smooth_value: float | None = None,
        max_ngram_order: int = 4,
        effective_order: bool = False,
        trg_lang: str = "",
    ) -> None:
        check_range("bleu", "max_ngram_order", max_ngram_order, 1, 1000)
        self._sacrebleu = tokenizing(
            "bleu",
            tokenize=tokenize,
            lowercase=lowercase,
            smooth_method=smooth_method,
            smooth_value=smooth_value,
            max_ngram_order=max_ngram_order,
            effective_order=effective_order,
            trg_lang=trg_lang,
        )
        default = self._sacrebleu.SMOOTH_DEFAULTS[smooth_method]
        self._value = float((default or 0.0) if smooth_value is None else smooth_value)
        self._looked = False

    def sentence(self, stats: NDArray[Any]) -> NDArray[Any]:
        """Score each row as a sentence, like sacrebleu's ``sentence_score``."""
        from smtplugins.contracts.tools.statistics import score_rows

        return score_rows(stats, lambda rows: self._bleu(rows, True))

    def signature(self) -> str:
        """Return sacrebleu's signature."""
        return f"{self.name}|{self._sacrebleu.get_signature()}"

    def linear(self, references: Sequence[str], *, precision: float = 0.85, decay: float = 0.7) -> LinearGain | None:
        """Return linear BLEU (Tromble and others, 2008) for a sentence's references, whose n-grams are pooled.

        The gain is in units of words: -1 for each word, and 1 / (N p r^(n-1)) for each n-gram that is in a reference,
        with unigram ``precision`` p and ``decay`` r. None unless ``tokenize=none``, as graphs hold words, not texts.
        """
        from smtplugins.contracts.tools.search import LinearGain, published_gains

        if self._sacrebleu.tokenizer_signature != "none":
            return None
        fold = str.lower if self._sacrebleu.lowercase else None
        words = [(text if fold is None else fold(text)).split() for text in references]
        return LinearGain(words, published_gains(self._sacrebleu.max_ngram_order, precision, decay), fold)

    def _see(self, hypotheses: Sequence[str]) -> None:
        # sacrebleu's warning, once for each metric.
        if self._looked or self._sacrebleu.tokenizer_signature == "none":
            return
        if sum(text.endswith(" .") for text in hypotheses) >= _TOKENIZED:
            import logging

            self._looked = True
            logging.getLogger("sacrebleu").warning(
                "At least %d lines end in a tokenized period (' .'), but BLEU tokenises its input: detokenise the "
                "text, or use tokenize=none if the references are tokenised, too.",
                _TOKENIZED,
            )

    def _text(self) -> Callable[[str], str] | None:
        return texts_as(self._sacrebleu)

    def _native(self, segments: list[list[str]]) -> MetricReferences:
        from smtplugins.contracts.tools.statistics import MetricReferences

        return MetricReferences.bleu(segments, self._sacrebleu.max_ngram_order)

    def _scores(self, rows: NDArray[Any]) -> NDArray[Any]:
        return self._bleu(rows, self._sacrebleu.effective_order)

    def _bleu(self, rows: NDArray[Any], effective: bool) -> NDArray[Any]:
        from smtplugins.contracts.tools.statistics import bleu_scores

        own = self._sacrebleu
        return bleu_scores(rows, own.max_ngram_order, own.smooth_method, self._value, effective)

    def _count_references(self, count: int) -> None:
        self._sacrebleu.num_refs = count


class Chrf(Aggregating):
    """chrF; ``word_order=2`` gives chrF++."""

    name = "chrF"

    def __init__(
        self,
        *,
        char_order: int = 6,
        word_order: int = 0,
        beta: int = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
    ) -> None:
        from sacrebleu.metrics.chrf import CHRF

        check_range("chrf", "char_order", char_order, 1, 1000)
        check_range("chrf", "word_order", word_order, 0, 1000)
        check_range("chrf", "beta", beta, 0, 1_000_000)
        self._sacrebleu = CHRF(
            char_order=char_order,
            word_order=word_order,
            beta=beta,
            lowercase=lowercase,
            whitespace=whitespace,
            eps_smoothing=eps_smoothing,
        )
        self.name = f"chrF{beta}{'+' * word_order}"

    def signature(self) -> str:
        """Return sacrebleu's signature."""
        return f"{self.name}|{self._sacrebleu.get_signature()}"

    def _text(self) -> Callable[[str], str] | None:
        return str.lower if self._sacrebleu.lowercase else None

    def _native(self, segments: list[list[str]]) -> MetricReferences:
        from smtplugins.contracts.tools.statistics import MetricReferences

        own = self._sacrebleu
        return MetricReferences.chrf(
            segments, own.char_order, own.word_order, own.beta, own.whitespace, own.eps_smoothing
        )

    def _scores(self, rows: NDArray[Any]) -> NDArray[Any]:
        from smtplugins.contracts.tools.statistics import chrf_scores

        own = self._sacrebleu
        return chrf_scores(rows, own.char_order, own.word_order, own.beta, own.eps_smoothing)

    def _count_references(self, count: int) -> None:
        self._sacrebleu.num_refs = count


class Ter(Counted):
    """Translation edit rate: lower is better."""

    name = "TER"
    higher_is_better = False

    def __init__(
        self,
        *,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
    ) -> None:
        from sacrebleu.metrics.ter import TER

        self._sacrebleu: Any = TER(
            normalized=normalized, no_punct=no_punct, asian_support=asian_support, case_sensitive=case_sensitive
        )

    def signature(self) -> str:
        """Return sacrebleu's signature."""
        return f"{self.name}|{self._sacrebleu.get_signature()}"

    def _text(self) -> Callable[[str], str] | None:
        own = self._sacrebleu
        if own.normalized or own.no_punct:
            prepare: Callable[[str], str] = own._preprocess_segment
            return prepare
        return None if own.case_sensitive else str.lower

    def _native(self, segments: list[list[str]]) -> MetricReferences:
        from smtplugins.contracts.tools.statistics import MetricReferences

        return MetricReferences.ter(segments)

    def _scores(self, rows: NDArray[Any]) -> NDArray[Any]:
        from smtplugins.contracts.tools.statistics import edit_rates

        return edit_rates(rows)

    def _count_references(self, count: int) -> None:
        self._sacrebleu.num_refs = count
