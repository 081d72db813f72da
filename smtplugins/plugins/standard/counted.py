"""Shared code of metrics with native statistics: preprocessed references, sacrebleu's tokenizers, option checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import suggestion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.tools.statistics import MetricReferences


def check_streams(name: str, references: Sequence[Sequence[str]], hypotheses: Sequence[str] | None = None) -> None:
    """Check that there are reference streams, each as long as the hypotheses."""
    if not references:
        raise UsageError(f"metric {name!r} needs references")
    wanted = len(references[0]) if hypotheses is None else len(hypotheses)
    for stream in references:
        if len(stream) != wanted:
            raise ValueError(f"expected {wanted} references, found {len(stream)}")
    if not wanted:
        raise ValueError(f"expected {'references' if hypotheses is None else 'hypotheses'}, found none")


class Counted:
    """A metric with native statistics."""

    name = ""
    higher_is_better = True

    def stats(
        self,
        hypotheses: Sequence[str],
        references: Sequence[Sequence[str]],
        sources: Sequence[str] | None = None,
        *,
        threads: int = 1,
    ) -> NDArray[Any]:
        """Compute the statistics of each segment, a row each."""
        from smtplugins.contracts.tools.statistics import segments_of

        check_streams(self.name, references, hypotheses)
        segments = segments_of(references)
        # The hypotheses of a list share their references, which are preprocessed once.
        numbers: dict[tuple[str, ...], int] = {}
        which = [numbers.setdefault(tuple(segment), len(numbers)) for segment in segments]
        self._see(hypotheses)
        return self._preprocess([list(segment) for segment in numbers]).stats(hypotheses, which, threads=threads)

    def prepare(self, references: Sequence[Sequence[str]]) -> CountedReferences:
        """Preprocess references for any number of hypotheses."""
        from smtplugins.contracts.tools.statistics import segments_of

        check_streams(self.name, references)
        return self._preprocess(segments_of(references))

    def matrix(self, hypotheses: Sequence[str], others: Sequence[str], *, threads: int = 1) -> NDArray[Any]:
        """Compute statistics of each hypothesis against each other text: hypotheses x others x width."""
        return self._preprocess([[text] for text in others]).matrix(hypotheses, threads=threads)

    def score(self, stats: NDArray[Any]) -> NDArray[Any]:
        """Compute corpus scores from summed statistics; leading axes are kept."""
        from smtplugins.contracts.tools.statistics import score_rows

        return score_rows(stats, self._scores)

    def sentence(self, stats: NDArray[Any]) -> NDArray[Any]:
        """Score each row as a sentence."""
        return self.score(stats)

    def _preprocess(self, segments: list[list[str]]) -> CountedReferences:
        if not all(segments):
            raise ValueError("expected a reference for every segment, found a segment without any")
        counts = set(map(len, segments))
        self._count_references(counts.pop() if len(counts) == 1 else -1)
        text = self._text()
        return CountedReferences(
            self._native([segment if text is None else list(map(text, segment)) for segment in segments]), text
        )

    def _see(self, hypotheses: Sequence[str]) -> None:
        """Inspect hypotheses before their statistics are computed."""

    def _text(self) -> Callable[[str], str] | None:
        """Return the preprocessing of texts, if any."""
        raise NotImplementedError

    def _native(self, segments: list[list[str]]) -> MetricReferences:
        raise NotImplementedError

    def _scores(self, rows: NDArray[Any]) -> NDArray[Any]:
        raise NotImplementedError

    def _count_references(self, count: int) -> None:
        raise NotImplementedError


class Aggregating(Counted):
    """A metric with native statistics, also against the mean of references."""

    def aggregate(self, hypotheses: Sequence[str], references: Sequence[str], weights: Sequence[float]) -> NDArray[Any]:
        """Compute a row for each hypothesis against one reference: the weighted mean of the references' counts."""
        return self._preprocess([[text] for text in references]).aggregate(hypotheses, weights)


class CountedReferences:
    """Preprocessed references of segments; ``native`` computes statistics."""

    def __init__(self, native: MetricReferences, text: Callable[[str], str] | None) -> None:
        self.native = native
        self._text = text

    def __len__(self) -> int:
        return len(self.native)

    def stats(
        self, hypotheses: Sequence[str], segments: Sequence[int] | NDArray[Any] | None = None, *, threads: int = 1
    ) -> NDArray[Any]:
        """Compute a row for each hypothesis against the references of its segment."""
        import numpy as np

        numbers = None if segments is None else np.ascontiguousarray(segments, dtype=np.int32)
        return self.native.stats(self._texts(hypotheses), numbers, threads)

    def matrix(self, hypotheses: Sequence[str], *, threads: int = 1) -> NDArray[Any]:
        """Compute rows for each hypothesis against each segment."""
        return self.native.matrix(self._texts(hypotheses), threads)

    def aggregate(self, hypotheses: Sequence[str], weights: Sequence[float]) -> NDArray[Any]:
        """Compute a row for each hypothesis against the mean of all references, which have a weight each."""
        import numpy as np

        return self.native.aggregate(self._texts(hypotheses), np.asarray(weights, dtype=np.float64))

    def _texts(self, hypotheses: Sequence[str]) -> list[str]:
        return list(hypotheses) if self._text is None else list(map(self._text, hypotheses))


def tokenizing(metric: str, **options: Any) -> Any:
    """Make sacrebleu's BLEU, whose tokenizers and case folding are also used by other metrics."""
    from sacrebleu.metrics.bleu import BLEU

    _check_tokenizer(metric, options["tokenize"], list(BLEU.TOKENIZERS))
    try:
        return BLEU(**options)
    except (RuntimeError, ImportError) as error:
        # The tokenizer needs another package, which sacrebleu's message names.
        raise UsageError(f"metric {metric!r}: {' '.join(str(error).split())}") from None


def texts_as(bleu: Any) -> Callable[[str], str] | None:
    """Return sacrebleu's preprocessing of a text (case, tokens): native for 13a, else its own, with its cache."""
    if bleu.tokenizer_signature == "13a":
        from smtplugins.contracts.tools.statistics import tokenize_13a

        if bleu.lowercase:
            return lambda text: tokenize_13a(text.lower().rstrip())
        return lambda text: tokenize_13a(text.rstrip())
    if bleu.tokenizer_signature != "none":
        prepare: Callable[[str], str] = bleu._preprocess_segment
        return prepare
    return str.lower if bleu.lowercase else None


def check_range(metric: str, option: str, value: int, least: int, most: int) -> None:
    """Raise UsageError if an option is out of range."""
    if value < least:
        raise UsageError(f"metric {metric!r}: {option}: expected {least} or more, found {value}")
    if value > most:
        raise UsageError(f"metric {metric!r}: {option}: expected {most} or less, found {value}")


def _check_tokenizer(metric: str, name: str | None, known: Sequence[str]) -> None:
    if name is not None and name not in known:
        raise UsageError(f"metric {metric!r}: tokenize: unknown tokenizer {name!r}{suggestion(name, known)}")
