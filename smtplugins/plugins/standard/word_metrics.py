"""Error rates and GTM: word-based metrics that sacrebleu lacks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.errors import UsageError
from smtplugins.plugins.standard.counted import Counted, texts_as, tokenizing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.tools.statistics import MetricReferences


class _Words(Counted):
    """A word-based metric with a signature in sacrebleu's style."""

    def __init__(self, offer: str, tokenize: str, lowercase: bool, **settings: Any) -> None:
        self._sacrebleu = tokenizing(offer, tokenize=tokenize, lowercase=lowercase)
        self._settings = settings
        self._references = 0

    def signature(self) -> str:
        """Return a signature in sacrebleu's style."""
        from importlib.metadata import version

        parts = {
            "nrefs": "var" if self._references < 0 else self._references,
            "case": "lc" if self._sacrebleu.lowercase else "mixed",
            **self._settings,
            "tok": self._sacrebleu.tokenizer_signature,
            "version": f"smtplugins-{version('smtplugins')}",
        }
        return "|".join([self.name, *(f"{name}:{value}" for name, value in parts.items())])

    def _text(self) -> Callable[[str], str] | None:
        return texts_as(self._sacrebleu)

    def _count_references(self, count: int) -> None:
        self._references = count


class Wer(_Words):
    """Word error rate: insertions, deletions and substitutions per reference word, in percent; lower is better.

    With several references the lowest rate counts; ties go to the first. ``unit=char`` gives the character error rate
    of words joined by single blanks.
    """

    name = "WER"
    higher_is_better = False

    def __init__(
        self, *, unit: Literal["word", "char"] = "word", tokenize: str = "none", lowercase: bool = False
    ) -> None:
        super().__init__("wer", tokenize, lowercase, unit=unit)
        self._characters = unit == "char"
        if self._characters:
            self.name = "CER"

    def _native(self, segments: list[list[str]]) -> MetricReferences:
        from smtplugins.contracts.tools.statistics import MetricReferences

        return MetricReferences.error_rate(segments, self._characters)

    def _scores(self, rows: NDArray[Any]) -> NDArray[Any]:
        from smtplugins.contracts.tools.statistics import edit_rates

        return edit_rates(rows)


class Gtm(_Words):
    """General text matching (Melamed, Green and Turian, 2003): F, precision or recall of the maximum match, in percent.

    The size of a match is (sum over its runs of length^e)^(1/e). For e = 1 the match is the largest; for e > 1 runs are
    chosen greedily, longest first, as in GTM, because finding the largest is NP-hard. With several references the best
    F counts. Corpus scores divide the sum of match sizes by the sums of lengths.
    """

    name = "GTM"

    def __init__(
        self,
        *,
        exponent: float = 1.0,
        measure: Literal["f", "precision", "recall"] = "f",
        tokenize: str = "none",
        lowercase: bool = False,
    ) -> None:
        if not 1 <= exponent < math.inf:
            raise UsageError(f"metric 'gtm': exponent: expected 1 or more, found {exponent}")
        super().__init__("gtm", tokenize, lowercase, e=f"{exponent:g}", measure=measure)
        self._exponent = exponent
        self._measure = measure
        self.name = {"f": "GTM", "precision": "GTM-P", "recall": "GTM-R"}[measure]

    def _native(self, segments: list[list[str]]) -> MetricReferences:
        from smtplugins.contracts.tools.statistics import MetricReferences

        return MetricReferences.gtm(segments, self._exponent)

    def _scores(self, rows: NDArray[Any]) -> NDArray[Any]:
        from smtplugins.contracts.tools.statistics import f_measures

        return f_measures(rows, self._measure)
