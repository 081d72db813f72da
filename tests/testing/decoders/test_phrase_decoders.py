"""Decoders of phrases under the kit: the plain one passes, and each fault is found by the check that is for it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from smtplugins import Offer
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.models import Model
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.host.host import Host
from smtplugins.plugins.reference.phrases import ReferencePhrase, ReferencePhraseOptions
from smtplugins.plugins.reference.stacks import StackLimits
from smtplugins.testing import run_checks
from smtplugins.testing.decoders import any_decoder as decoders
from smtplugins.testing.decoders import phrase_systems

Failures = Callable[..., dict[str, str]]
# With a limit of jumps and without one; to save time no long sentences, and long jumps not in the first one.
FEW = tuple(replace(system, sentences=system.sentences[1:4]) for system in phrase_systems.systems()[2::-2])


@pytest.fixture(autouse=True)
def _few_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoders, "_phrase_systems", lambda: FEW)


class Kept(ReferencePhrase):
    """The plain decoder; what it decodes is kept for all tests, whose subject is not its search."""

    known: ClassVar[dict[Any, Decoding]] = {}

    def __init__(self, *, resources: Any, options: ReferencePhraseOptions) -> None:
        super().__init__(resources=resources, options=options)
        self._given = (*(table.path.read_bytes() for table in resources.tables), options)

    def _decode(self, sentence: Any, weighted: Any, graphs: bool) -> Decoding:
        weights = tuple(sorted(weighted.weights.items()))
        key = (*self._given, self._limits, weights, sentence.id, sentence.tokens, graphs)
        if key not in self.known:
            made = super()._decode(sentence, weighted, graphs)
            self.known[key] = replace(made, graph=made.graph and functools.cache(made.graph))
        return self.known[key]


@pytest.fixture(scope="module", autouse=True)
def _forget() -> Iterator[None]:
    yield
    Kept.known.clear()


def searching(change: Callable[[Decoding], Decoding] = lambda decoding: decoding, **limits: Any) -> Offer:
    """The plain decoder with changed decodings, or with limits that options should set."""

    class Changed(Kept):
        def decode(self, sentences: Any, model: Model, *, threads: int = 1, graphs: bool = False) -> Iterator[Decoding]:
            self._limits = StackLimits(**{**vars(self._limits), **limits})
            return map(change, super().decode(sentences, model, threads=threads, graphs=graphs))

    return Offer(name="tried", make=Changed, summary="a decoder under test")


def graph_changed(change: Callable[[Hypergraph], Hypergraph]) -> Offer:
    def changed(decoding: Decoding) -> Decoding:
        graph = decoding.graph() if decoding.graph is not None else None
        return decoding if graph is None or not graph.nodes else replace(decoding, graph=lambda: change(graph))

    return searching(changed)


def other_words(graph: Hypergraph) -> Hypergraph:
    """All phrases stand for the words behind their own."""
    return replace(graph, spans=graph.spans + np.int32(1))


def other_rules(graph: Hypergraph) -> Hypergraph:
    return replace(graph, rules=(graph.rules + 1) % len(graph.grammar))


def test_the_plain_decoder_passes(failures: Failures) -> None:
    assert failures("decoders", searching()) == {}


def test_a_decoder_that_always_copies_unknown_words_passes(failures: Failures, host: Host) -> None:
    assert failures("decoders", host.registry.entry("decoders", "phrase").record) == {}


@pytest.mark.parametrize(
    ("record", "wrong"),
    [
        (
            searching(stack_size=1),
            {"best_is_the_best": "but EnumeratedDerivation(words=", "graphs_hold_all": "derivations, the grammar"},
        ),
        (searching(jump=-1), {"derivations_are_in_the_grammar": "no derivation", "graphs_hold_all": "the graph has"}),
        (
            searching(order="monotone"),
            {"best_is_the_best": "but EnumeratedDerivation(", "graphs_hold_all": "the graph has"},
        ),
        (
            searching(lambda decoding: replace(decoding, features={**decoding.features, "kit-jumps": 7.125})),
            {
                "score_is_that_of_its_features": "the score is",
                "derivations_are_in_the_grammar": "'kit-jumps' is",
            },
        ),
        (
            searching(lambda decoding: replace(decoding, score=(decoding.score or 0.0) + 0.01)),
            {"score_is_that_of_its_features": "the score is", "graphs_begin_with_the_best": "that of the graph's best"},
        ),
        (graph_changed(other_words), {"graphs_are_in_the_grammar": "is no phrase of the sentence"}),
        (graph_changed(other_rules), {"graphs_are_in_the_grammar": "edge"}),
    ],
)
def test_what_is_wrong_is_found(record: Offer, wrong: dict[str, str], failures: Failures) -> None:
    checks = [check for check in decoders.CHECKS if check.__name__ in wrong]
    failed = failures("decoders", record, checks)
    assert wrong.keys() <= failed.keys(), failed
    for check, words in wrong.items():
        assert words in failed[check]


def test_without_a_limit_of_jumps_there_is_no_enumeration(host: Host, tmp_path: Path) -> None:
    class Plain:
        def __init__(self, *, resources: Any, max_phrase_length: int = 3) -> None:
            self.decoder = Kept(
                resources=resources, options=ReferencePhraseOptions(max_phrase_length=max_phrase_length)
            )

        def decode(self, sentences: Any, model: Model, *, threads: int = 1) -> Iterator[Decoding]:
            return self.decoder.decode(sentences, model)

    results = {
        result.check: result
        for result in run_checks("decoders", Offer(name="tried", make=Plain, summary="s"), tmp_path, host=host)
    }
    assert all(result.ok for result in results.values())
    assert "output_repeats" in results
    assert "best_is_the_best" not in results


def test_all_orders_are_enumerated() -> None:
    """By hand: two words, each with one phrase, and a phrase of both."""
    from smtformats.grammar.rules import Rule

    rules = [Rule("X", ("a",), ("A",), ("p",), (1.0,)), Rule("X", ("b",), ("B",)), Rule("X", ("a", "b"), ("C",))]
    weights = {"p": 1.0}
    for limit, texts in ((-1, ["A B", "B A", "C"]), (1, ["A B", "C"]), (0, ["A B", "C"])):
        options = {"distortion_limit": limit, "max_phrase_length": 2}
        system = phrase_systems.PhraseSystem(0, tuple(rules), (), weights, options)
        derivations = system.derivations(("a", "b"))
        assert derivations is not None
        assert sorted(" ".join(derivation.words) for derivation in derivations) == texts
        jumped = {" ".join(derivation.words): derivation.features["kit-jumps"] for derivation in derivations}
        jump = phrase_systems.jump
        assert jumped["A B"] == jump(0, 0, 1) + jump(1, 1, 2) + 0.5
        assert jumped.get("B A", 0.0) == (jump(0, 1, 2) + jump(2, 0, 1) + 0.25 if limit < 0 else 0.0)
    assert system.derivations(("z",)) is not None
    assert system.derivations(()) == ()
