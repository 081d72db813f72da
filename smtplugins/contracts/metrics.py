"""What a metric implements: sufficient statistics that add up, and scores of their sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.features import StatefulFeature


@runtime_checkable
class Metric(Protocol):
    """Scores translations by statistics that add up over segments.

    ``references`` is a sequence of reference streams, each as long as ``hypotheses``. ``score`` takes the statistics
    of one corpus, or of many along leading axes. ``sentence`` scores single rows, smoothed as ``signature`` says.
    """

    name: str
    higher_is_better: bool

    def stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None = None
    ) -> NDArray[Any]: ...

    def score(self, stats: NDArray[Any]) -> NDArray[Any]: ...

    def sentence(self, stats: NDArray[Any]) -> NDArray[Any]: ...

    def signature(self) -> str: ...


@runtime_checkable
class LinearMetric(Protocol):
    """A metric that can be linearised over edges, for minimum risk and consensus on hypergraphs.

    ``linear`` takes the references of one segment and returns a feature whose value is a gain: higher is better,
    whatever ``higher_is_better`` says. It returns ``None`` if the metric's options allow no such form. The feature
    should be a ``NativeFeature`` where possible.
    """

    def linear(self, references: Sequence[str]) -> StatefulFeature | None: ...


class PreparedReferences(Protocol):
    """References prepared once for many comparisons.

    ``stats`` takes the segment number of each hypothesis (default: hypothesis i belongs to segment i) and returns the
    rows of :meth:`Metric.stats`.
    """

    def __len__(self) -> int: ...

    def stats(
        self, hypotheses: Sequence[str], segments: Sequence[int] | NDArray[Any] | None = None
    ) -> NDArray[Any]: ...


@runtime_checkable
class PreparedMetric(Protocol):
    """A metric that prepares references. ``references`` are streams, as for :meth:`Metric.stats`.

    ``matrix`` returns the statistics of each hypothesis against each of the other texts (hypotheses x others x
    statistics), for minimum Bayes risk. ``host/judge/consensus.py`` does the same for any other metric, more slowly.
    """

    def prepare(self, references: Sequence[Sequence[str]]) -> PreparedReferences: ...

    def matrix(self, hypotheses: Sequence[str], others: Sequence[str]) -> NDArray[Any]: ...


@runtime_checkable
class AggregatingMetric(Protocol):
    """A metric that averages references into one, for minimum Bayes risk in linear time (``smt mbr --aggregate``).

    ``aggregate`` returns a row of statistics for each hypothesis, as :meth:`Metric.stats` does, against one reference
    with the mean counts of all ``references``, such as those of n-grams. ``weights`` are one for each reference, from
    0 on, and sum to one. With a single reference, the rows are those of ``stats``.
    """

    def aggregate(
        self, hypotheses: Sequence[str], references: Sequence[str], weights: Sequence[float]
    ) -> NDArray[Any]: ...
