"""What decoders of parsed sentences share: tables made ready once for all weights, a worker for each thread."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from smtplugins.host.decode.forests import added
from smtplugins.host.decode.threads import in_order

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Decoding, Sentence
    from smtplugins.host.decode.forests import Forests
    from smtplugins.host.model import Model

SystemT = TypeVar("SystemT")


class Worker(Protocol):
    """Decodes one sentence after the other, in one thread: what it learnt is kept from sentence to sentence."""

    def decode(self, sentence: Sentence) -> Decoding:
        """The translation of a sentence."""
        ...


class ForestDecoder(ABC, Generic[SystemT]):
    """A decoder whose sentences ``forests`` makes; its system is the tables under the weights of a run."""

    def __init__(self, forests: Forests) -> None:
        self.forests = forests
        self._weights: Mapping[str, float] | None = None
        self._system: SystemT | None = None
        self._local = threading.local()

    @abstractmethod
    def system(self, weights: Mapping[str, float]) -> SystemT:
        """The tables under weights."""

    @abstractmethod
    def worker(self, system: SystemT, graphs: bool) -> Worker:
        """What decodes in one thread, with or without graphs."""

    @property
    def dense_names(self) -> tuple[str, ...]:
        """The features that each rule of a table has, table by table; known when the first sentence is decoded."""
        return tuple(self.forests.dense_names)

    def load(self, model: Model) -> dict[str, float]:
        """Read the tables, and do to them what weights do; what that took. Decoding does it if nobody did before."""
        # A decoder in a loop has the same weights again and again, and there may be many.
        if self._system is None or self._weights is not model.weights:
            self._system = self.system(model.weights)
            self._weights = model.weights
        return self.forests.times.taken()

    def decode(
        self, sentences: Iterable[Sentence], model: Model, *, threads: int = 1, graphs: bool = False
    ) -> Iterator[Decoding]:
        """Translations in the order of the input."""
        loading = self.load(model)
        system: Any = self._system

        def work(sentence: Sentence) -> Decoding:
            return self._own_worker(system, graphs).decode(sentence)

        for one in in_order(work, sentences, threads):
            yield replace(one, stats=added(one.stats, loading)) if loading else one
            loading = {}

    def _own_worker(self, system: SystemT, graphs: bool) -> Worker:
        known: tuple[SystemT, bool, Worker] | None = getattr(self._local, "worker", None)
        if known is None or known[0] is not system or known[1] != graphs:
            known = self._local.worker = (system, graphs, self.worker(system, graphs))
        return known[2]
