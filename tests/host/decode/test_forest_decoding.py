"""Tables are made ready once for all weights, and each thread has a worker of its own."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.models import Model
from smtplugins.host.decode.forest_decoding import ForestDecoder


class Times:
    """What loading took, told once."""

    def __init__(self) -> None:
        self.left: dict[str, float] = {}

    def taken(self) -> dict[str, float]:
        told, self.left = self.left, {}
        return told


class Worker:
    """Knows its threads; with a barrier workers wait for one another, so that no thread can do the work of two."""

    def __init__(self, graphs: bool, barrier: threading.Barrier | None) -> None:
        self.graphs = graphs
        self.barrier = barrier
        self.threads: set[int] = set()

    def decode(self, sentence: Sentence) -> Decoding:
        if self.barrier is not None:
            self.barrier.wait(timeout=300)
        self.threads.add(threading.get_ident())
        return Decoding(id=sentence.id, best=sentence.text.upper(), score=1.0, features={}, stats={"search": 1.0})


class Upper(ForestDecoder[Mapping[str, float]]):
    def __init__(self, barrier: threading.Barrier | None = None) -> None:
        forests: Any = SimpleNamespace(times=Times(), dense_names=["a[0]", "a[1]"])
        super().__init__(forests)
        self.barrier = barrier
        self.systems: list[Mapping[str, float]] = []
        self.workers: list[Worker] = []

    def system(self, weights: Mapping[str, float]) -> Mapping[str, float]:
        if "bad" in weights:
            raise ValueError("bad weights")
        self.systems.append(weights)
        times: Any = self.parser.times
        times.left = {"loading": 2.0}
        return dict(weights)

    def worker(self, system: Mapping[str, float], graphs: bool) -> Worker:
        self.workers.append(Worker(graphs, self.barrier))
        return self.workers[-1]


SENTENCES = [Sentence(str(i), (word,)) for i, word in enumerate("abcd")]


def test_tables_are_made_once_for_the_same_weights() -> None:
    decoder, model = Upper(), Model({"x": 1.0})
    for _ in range(2):
        assert [one.best for one in decoder.decode(SENTENCES, model)] == ["A", "B", "C", "D"]
    assert len(decoder.systems) == len(decoder.workers) == 1
    list(decoder.decode(SENTENCES, Model({"x": 1.0})))
    assert len(decoder.systems) == len(decoder.workers) == 2
    assert decoder.dense_names == ("a[0]", "a[1]")


def test_the_first_sentence_tells_what_loading_took() -> None:
    decoder, model = Upper(), Model({"x": 1.0})
    first, *rest = decoder.decode(SENTENCES, model)
    assert first.stats == {"search": 1.0, "loading": 2.0}
    assert all(one.stats == {"search": 1.0} for one in rest)
    assert Upper().load(model) == {"loading": 2.0}


def test_weights_that_failed_fail_again() -> None:
    decoder, model = Upper(), Model({"bad": 1.0})
    decoder.load(Model({"x": 1.0}))
    for _ in range(2):
        with pytest.raises(ValueError, match="bad weights"):
            list(decoder.decode(SENTENCES, model))


def test_each_thread_has_its_worker_with_and_without_graphs() -> None:
    decoder, model = Upper(threading.Barrier(2)), Model({"x": 1.0})
    assert [one.best for one in decoder.decode(SENTENCES, model, threads=2)] == ["A", "B", "C", "D"]
    assert len(decoder.workers) == 2
    assert [len(one.threads) for one in decoder.workers] == [1, 1]
    decoder = Upper()
    for graphs in (False, True):
        list(decoder.decode(SENTENCES, model, graphs=graphs))
    assert [one.graphs for one in decoder.workers] == [False, True]
