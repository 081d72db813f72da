"""The base of decoders that parse: the weights are applied to the tables once, and each thread has a worker."""

from __future__ import annotations

import functools
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from smtplugins.host.decode.statistics import added
from smtplugins.host.decode.threads import in_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.decoders import Decoding
    from smtplugins.contracts.models import Model
    from smtplugins.host.decode.parsing import SentenceForest, SentenceParser

SystemT = TypeVar("SystemT")


class Worker(Protocol):
    """Decodes sentences one by one, in one thread; caches are kept from sentence to sentence."""

    def decode(self, sentence: Sentence) -> Decoding:
        """Translate a sentence."""
        ...


class BestFeatures(Mapping[str, float]):
    """The features of the best derivation, summed on first access: those of its rules, and ``names`` step by step.

    ``steps`` returns the rules of its steps, and their values of ``names``, a row each; None without a derivation.
    """

    def __init__(
        self,
        forest: SentenceForest,
        names: Sequence[str],
        steps: Callable[[], tuple[NDArray[Any], NDArray[Any]] | None],
    ) -> None:
        self._forest, self._names, self._steps = forest, names, steps

    @functools.cached_property
    def _sums(self) -> dict[str, float]:
        steps = self._steps()
        if steps is None:
            return {}
        rules, values = steps
        stateful = values.sum(axis=0, dtype="float64").tolist() if self._names else []
        return self._forest.sums(rules.tolist()) | dict(zip(self._names, stateful, strict=True))

    def __getitem__(self, name: str) -> float:
        return self._sums[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sums)

    def __len__(self) -> int:
        return len(self._sums)


def unknown_words(forest: SentenceForest, *, markers: bool = False) -> list[str]:
    """The words of the input that are copied because no rule translates them alone, in their order.

    With ``markers`` the first word of the forest is ``<s>``.
    """
    import numpy as np

    from smtplugins.core.search.phrase_options import edge_spans

    inner = forest.forest
    if not inner.nodes:
        return []
    origins = np.asarray(inner.native.origins)[np.asarray(inner.native.rules)]
    minted = (origins >= inner.minted_from) & (origins < inner.goal_origin)
    spans = edge_spans(inner, np.flatnonzero(minted))
    firsts = {first - int(markers) for first, last in spans.tolist() if last == first + 1}
    words = forest.sentence.tokens
    return [words[first] for first in sorted(firsts) if 0 <= first < len(words)]


class ForestDecoder(ABC, Generic[SystemT]):
    """A decoder whose sentences ``parser`` parses; a system is its tables with the weights of a run applied."""

    def __init__(self, parser: SentenceParser) -> None:
        self.parser = parser
        self._weights: Mapping[str, float] | None = None
        self._system: SystemT | None = None
        self._local = threading.local()

    @abstractmethod
    def system(self, weights: Mapping[str, float]) -> SystemT:
        """Apply weights to the tables."""

    @abstractmethod
    def worker(self, system: SystemT, graphs: bool) -> Worker:
        """Make a decoder for one thread, with or without graphs."""

    @property
    def dense_names(self) -> tuple[str, ...]:
        """The features that every rule of a table has, table by table; known once the tables are loaded."""
        return tuple(self.parser.dense_names)

    def table_names(self, own: Iterable[str] = ()) -> tuple[str, ...]:
        """The features of the tables and of ``own`` per-sentence files; all others are the configuration's."""
        return self.parser.table_names(own)

    def load(self, model: Model) -> dict[str, float]:
        """Load the tables, apply the weights, return the time spent; ``decode`` calls it if needed."""
        # A tuning loop decodes often with the same weights, of which there may be many: compare the objects.
        if self._system is None or self._weights is not model.weights:
            self._system = self.system(model.weights)
            self._weights = model.weights
        return self.parser.times.taken()

    def decode(
        self, sentences: Iterable[Sentence], model: Model, *, threads: int = 1, graphs: bool = False
    ) -> Iterator[Decoding]:
        """Translate sentences; translations come in the order of the input."""
        loading = self.load(model)
        system: Any = self._system
        if threads == 1:
            decodings: Iterator[Decoding] = map(self._own_worker(system, graphs).decode, sentences)
        else:
            decodings = in_order(lambda sentence: self._own_worker(system, graphs).decode(sentence), sentences, threads)
        for decoding in decodings:
            yield replace(decoding, stats=added(decoding.stats, loading)) if loading else decoding
            loading = {}

    def _own_worker(self, system: SystemT, graphs: bool) -> Worker:
        known: tuple[SystemT, bool, Worker] | None = getattr(self._local, "worker", None)
        if known is None or known[0] is not system or known[1] != graphs:
            known = self._local.worker = (system, graphs, self.worker(system, graphs))
        return known[2]
