"""BLEU, chrF and TER through sacrebleu: its options, defaults, signatures; statistics are arrays that add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Sacrebleu:
    """A sacrebleu metric as additive statistics.

    sacrebleu computes corpus scores from sums of segment statistics; the two methods of its base class that do so are
    what its own significance tests use, and what is used here.
    """

    name = ""
    higher_is_better = True

    def __init__(self, metric: Any, sentence_metric: Any) -> None:
        self._metric = metric
        self._sentence = sentence_metric

    def stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None = None
    ) -> NDArray[Any]:
        """Statistics of each segment, a row each."""
        import numpy as np

        if not references:
            raise UsageError(f"metric {self.name!r} needs references")
        for stream in references:
            if len(stream) != len(hypotheses):
                raise ValueError(f"expected {len(hypotheses)} references, found {len(stream)}")
        if not hypotheses:
            raise ValueError("expected hypotheses, found none")
        rows = self._metric._extract_corpus_statistics(list(hypotheses), [list(one) for one in references])
        return np.asarray(rows, dtype=np.float64)

    def score(self, stats: NDArray[Any]) -> NDArray[Any]:
        """The corpus score of summed statistics; leading axes are kept."""
        return _scores(self._metric, stats)

    def sentence(self, stats: NDArray[Any]) -> NDArray[Any]:
        """The score of each row as a sentence of its own, as sacrebleu's ``sentence_score`` gives it."""
        return _scores(self._sentence, stats)

    def signature(self) -> str:
        """sacrebleu's signature."""
        return f"{self.name}|{self._metric.get_signature()}"


def _scores(metric: Any, stats: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    rows = np.asarray(stats, dtype=np.float64)
    flat = rows.reshape(-1, rows.shape[-1])
    values = [metric._compute_score_from_stats(row.tolist()).score for row in flat]
    return np.array(values, dtype=np.float64).reshape(rows.shape[:-1])


class Bleu(_Sacrebleu):
    """BLEU. Options are sacrebleu's; ``tokenize=none`` for text that is tokenised already.

    Sentence scores use effective order, as ``sacrebleu --sentence-level`` does.
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
        from sacrebleu.metrics.bleu import BLEU

        _check_tokenizer(tokenize, list(BLEU.TOKENIZERS))
        _check_least("bleu", "max_ngram_order", max_ngram_order, 1)
        options: dict[str, Any] = {
            "tokenize": tokenize,
            "lowercase": lowercase,
            "smooth_method": smooth_method,
            "smooth_value": smooth_value,
            "max_ngram_order": max_ngram_order,
            "trg_lang": trg_lang,
        }
        try:
            super().__init__(BLEU(effective_order=effective_order, **options), BLEU(effective_order=True, **options))
        except (RuntimeError, ImportError) as error:
            # A tokenizer that needs a package of its own; sacrebleu says which.
            raise UsageError(f"metric 'bleu': {' '.join(str(error).split())}") from None


class Chrf(_Sacrebleu):
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

        _check_least("chrf", "char_order", char_order, 1)
        _check_least("chrf", "word_order", word_order, 0)
        _check_least("chrf", "beta", beta, 0)
        metric = CHRF(
            char_order=char_order,
            word_order=word_order,
            beta=beta,
            lowercase=lowercase,
            whitespace=whitespace,
            eps_smoothing=eps_smoothing,
        )
        super().__init__(metric, metric)
        self.name = f"chrF{beta}{'+' * word_order}"


class Ter(_Sacrebleu):
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

        metric = TER(
            normalized=normalized, no_punct=no_punct, asian_support=asian_support, case_sensitive=case_sensitive
        )
        super().__init__(metric, metric)


def _check_least(metric: str, option: str, value: int, least: int) -> None:
    if value < least:
        raise UsageError(f"metric {metric!r}: {option}: expected {least} or more, found {value}")


def _check_tokenizer(name: str | None, known: Sequence[str]) -> None:
    from smtplugins.host.spec import suggestion

    if name is not None and name not in known:
        raise UsageError(f"metric 'bleu': tokenize: unknown tokenizer {name!r}{suggestion(name, known)}")
