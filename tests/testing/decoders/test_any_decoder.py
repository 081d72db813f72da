"""Each check of decoders fails for the decoder that breaks it, and says what is wrong."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

from smtformats.hypergraph.graph import Edge
from smtplugins import Offer
from smtplugins.contracts.decoders import BuiltStep, Decoding
from smtplugins.contracts.models import Model
from smtplugins.core.graph.hypergraph import Hypergraph, HypergraphBuilder
from smtplugins.core.graph.inference import viterbi
from smtplugins.host.host import Host
from smtplugins.plugins.reference.decoder import Reference, ReferenceOptions
from smtplugins.testing import run_checks
from smtplugins.testing.decoders import any_decoder as decoders
from smtplugins.testing.decoders import rule_systems as grammars

Failures = Callable[..., dict[str, str]]


class Copy:
    """Gives the source back, a word at a time if a model says so."""

    def decode(self, sentences: Any, model: Model, *, threads: int = 1) -> Iterator[Decoding]:
        for sentence in sentences:
            yield Decoding(sentence.id, sentence.text * round(model.weights.get("times", 1)))


def offer(change: Callable[[list[Decoding], int], list[Decoding]] = lambda decodings, threads: decodings) -> Offer:
    class Changed:
        def decode(self, sentences: Any, model: Model, *, threads: int = 1) -> Iterator[Decoding]:
            return iter(change(list(Copy().decode(sentences, model)), threads))

    return Offer(name="tried", make=Changed, summary="a decoder under test")


def renamed(decodings: list[Decoding], threads: int) -> list[Decoding]:
    return [replace(decoding, id=str(number)) for number, decoding in enumerate(decodings)]


def chatty(decodings: list[Decoding], threads: int) -> list[Decoding]:
    return decodings or [Decoding("0", "")]


def by_chance(decodings: list[Decoding], threads: int) -> list[Decoding]:
    return [replace(decoding, best=str(random.random())) for decoding in decodings]


def by_threads(decodings: list[Decoding], threads: int) -> list[Decoding]:
    return [replace(decoding, best=decoding.best * threads) for decoding in decodings]


def test_good_decoders_pass(failures: Failures) -> None:
    assert failures("decoders", offer()) == {}


def test_usual_features_are_checked(failures: Failures) -> None:
    class Usual(Copy):
        usual_features = ("lm", "oov,value=-100,tuneable=false,name=OOV")
        start_weights: ClassVar[dict[str, float]] = {"own": 0.5}

    assert failures("decoders", Offer(name="tried", make=Usual, summary="under test")) == {}
    Usual.usual_features = ("oov,valu=-100",)
    found = failures("decoders", Offer(name="tried", make=Usual, summary="under test"))
    assert found.keys() == {"usual_features_are_known"}
    Usual.usual_features, Usual.start_weights = (), {"own": float("nan")}
    found = failures("decoders", Offer(name="tried", make=Usual, summary="under test"))
    assert "expected finite numbers, found {'own': nan}" in found["usual_features_are_known"]


def test_a_model_given_is_what_is_decoded_with(failures: Failures) -> None:
    class Strict(Copy):
        def decode(self, sentences: Any, model: Model, *, threads: int = 1) -> Iterator[Decoding]:
            assert model.weights == {"times": 2.0}
            return super().decode(sentences, model)

    record = Offer(name="tried", make=Strict, summary="a decoder under test")
    assert failures("decoders", record, model=Model({"times": 2.0})) == {}


@pytest.mark.parametrize(
    ("change", "check", "words"),
    [
        (lambda decodings, threads: decodings[::-1], "output_follows_input", "expected decodings of ['7', 'b', "),
        (
            lambda decodings, threads: decodings[:-1],
            "output_follows_input",
            "found ['7', 'b', '0', 'x-1', '1', 'again']",
        ),
        (renamed, "output_follows_input", "found ['0', '1', '2', "),
        (chatty, "output_follows_input", "expected no decodings without sentences"),
        (
            lambda decodings, threads: [replace(decoding, best=decoding.best + "\n") for decoding in decodings],
            "best_is_a_line",
            "sentence 7: expected one line, found 'wo ist mein hut ?\\n'",
        ),
        (
            lambda decodings, threads: [replace(decoding, best=None) for decoding in decodings],
            "best_is_a_line",
            "expected a text, found",
        ),
        (by_chance, "output_repeats", "and, again, '0."),
        (by_threads, "output_repeats", "sentence 7 is 'wo ist mein hut ?' and, with two threads, 'wo ist "),
    ],
)
def test_a_bad_decoder_fails(
    change: Callable[[list[Decoding], int], list[Decoding]], check: str, words: str, failures: Failures
) -> None:
    failed = failures("decoders", offer(change))
    assert set(failed) == {check}
    assert words in failed[check]


FEW = tuple(grammars.systems()[:4])


@pytest.fixture
def few_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the kit's systems, to save time; what was enumerated is kept."""
    monkeypatch.setattr(decoders, "_systems", lambda: FEW)


# Decoders that are made with the kit's tiny grammars: the reference, and what is wrong with it.

Change = Callable[[Decoding, bool], Decoding]


class Kept(Reference):
    """The reference decoder; what it decodes is kept for all tests, whose subject is not its search."""

    known: ClassVar[dict[Any, Decoding]] = {}

    def _decode(self, sentence: Any, weights: Any, graphs: bool) -> Decoding:
        (table,) = self._resources.tables
        given = (table.path.read_bytes(), self._options, self._pop_limit, tuple(sorted(weights.items())))
        key = (*given, sentence.id, sentence.tokens, graphs)
        if key not in self.known:
            made = super()._decode(sentence, weights, graphs)
            self.known[key] = replace(made, graph=made.graph and functools.cache(made.graph))
        return self.known[key]


@pytest.fixture(scope="module", autouse=True)
def _forget() -> Iterator[None]:
    yield
    Kept.known.clear()


def searching(change: Change = lambda decoding, graphs: decoding, **fixed: Any) -> Offer:
    """The reference decoder with changed decodings, or with something fixed that options should say."""

    class Changed(Kept):
        def decode(self, sentences: Any, model: Model, *, threads: int = 1, graphs: bool = False) -> Iterator[Decoding]:
            self._options = replace(self._options, **fixed)
            self._pop_limit = fixed.get("pop_limit", self._pop_limit)
            for decoding in super().decode(sentences, model, threads=threads, graphs=graphs):
                yield change(decoding, graphs)

    return Offer(name="tried", make=Changed, summary="a decoder under test")


def graph_changed(change: Callable[[Hypergraph], Hypergraph]) -> Change:
    def changed(decoding: Decoding, graphs: bool) -> Decoding:
        if decoding.graph is None or not decoding.found:
            return decoding
        made = decoding.graph()
        return replace(decoding, graph=lambda: change(made))

    return changed


def found_only(change: Callable[[Decoding], Decoding]) -> Change:
    return lambda decoding, graphs: change(decoding) if decoding.found else decoding


def without_best(graph: Hypergraph) -> Hypergraph:
    """The graph without the best edge into the goal, if there is another one."""
    best = viterbi(graph)
    assert best is not None
    keep = np.ones(len(graph), dtype=bool)
    first, last = graph.edge_offsets[-2:].tolist()
    if last - first > 1:
        keep[best.edges[0]] = False
    return graph.restricted(keep).graph


def without_worst(graph: Hypergraph) -> Hypergraph:
    """The graph without one edge that is not in the best derivation, if there is one."""
    best = viterbi(graph)
    assert best is not None
    rest = np.setdiff1d(np.arange(len(graph)), best.edges)
    keep = np.ones(len(graph), dtype=bool)
    keep[rest[:1]] = False
    return graph.restricted(keep).graph


def other_rule(graph: Hypergraph) -> Hypergraph:
    """Edges of the words that have the next rule's number."""
    return replace(
        graph, rules=np.where(np.diff(graph.tail_offsets) == 0, (graph.rules + 1) % len(graph.grammar), graph.rules)
    )


def shifted(graph: Hypergraph) -> Hypergraph:
    return replace(graph, spans=graph.spans + np.int32([[0, 1]]))


def twice(graph: Hypergraph) -> Hypergraph:
    """Every derivation twice: the edges into the goal doubled."""
    builder = HypergraphBuilder()
    columns = graph.to_columns()
    for node in range(graph.nodes):
        edges = [
            Edge(
                graph.tails[graph.tail_offsets[i] : graph.tail_offsets[i + 1]].tolist(),
                int(graph.rules[i]),
                columns.edge_features(i),
                tuple(graph.spans[i].tolist()),
                float(graph.scores_or(None)[i]),
            )
            for i in range(graph.edge_offsets[node], graph.edge_offsets[node + 1])
        ]
        label = graph.labels[int(graph.node_labels[node])]
        builder.add(edges * 2 if node == graph.nodes - 1 else edges, label)
    return builder.build(graph.id, [graph.grammar.rule(i) for i in range(len(graph.grammar))])


class Sticky(Kept):
    """Decodes with the first model it saw."""

    first: Model | None = None

    def decode(self, sentences: Any, model: Model, *, threads: int = 1, graphs: bool = False) -> Iterator[Decoding]:
        self.first = self.first or model
        return super().decode(sentences, self.first, graphs=graphs)


class Fussy(Kept):
    """Gives up at the first sentence without a translation."""

    def decode(self, sentences: Any, model: Model, *, threads: int = 1, graphs: bool = False) -> Iterator[Decoding]:
        lost = False
        for decoding in super().decode(sentences, model, graphs=graphs):
            lost = lost or not decoding.found
            yield replace(decoding, best="", found=False) if lost else decoding


class Counting(Kept):
    """Changes its scores from call to call by what nobody sees in the text."""

    calls = 0

    def decode(self, sentences: Any, model: Model, *, threads: int = 1, graphs: bool = False) -> Iterator[Decoding]:
        for decoding in super().decode(sentences, model, graphs=graphs):
            yield replace(decoding, score=decoding.score and decoding.score + 1e-9 * threads)


def test_good_decoders_with_resources_pass(failures: Failures) -> None:
    assert failures("decoders", searching()) == {}


def test_what_a_decoder_does_not_have_is_not_checked(host: Host, tmp_path: Path) -> None:
    class Quiet(Kept):
        def decode(self, sentences: Any, model: Model, *, threads: int = 1) -> Iterator[Decoding]:  # type: ignore[override]
            for decoding in super().decode(sentences, model):
                yield Decoding(decoding.id, decoding.best, found=decoding.found)

    record = Offer(name="tried", make=Quiet, summary="a decoder under test")
    results = run_checks("decoders", record, tmp_path, host=host)
    assert [result for result in results if not result.ok] == []
    names = {result.check for result in results}
    assert {"derivations_are_in_the_grammar", "best_is_the_best", "what_has_no_translation_is_said"} <= names
    assert not names & {"graphs_hold_all", "asking_for_graphs_changes_nothing", "score_is_that_of_its_features"}


def test_without_options_of_the_kit_there_is_no_enumeration(host: Host, tmp_path: Path) -> None:
    class Plain:
        def __init__(self, *, resources: Any) -> None:
            self.decoder = Kept(resources=resources, options=ReferenceOptions())

        def decode(self, sentences: Any, model: Model, *, threads: int = 1) -> Iterator[Decoding]:
            return self.decoder.decode(sentences, model)

    record = Offer(name="tried", make=Plain, summary="a decoder under test")
    results = {result.check: result for result in run_checks("decoders", record, tmp_path, host=host)}
    assert all(result.ok for result in results.values())
    assert "output_repeats" in results
    assert "best_is_the_best" not in results


def test_options_that_prune_nothing_can_be_named(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoders, "CHECKS", (decoders.best_is_the_best,))

    class Limited(Kept):
        def __init__(
            self,
            *,
            resources: Any,
            stack: int = 1,
            glue: bool = True,
            pass_through: Literal["all", "unknown", "none"] = "all",
            max_span: int | None = None,
        ) -> None:
            options = ReferenceOptions(pop_limit=stack, glue=glue, pass_through=pass_through, max_span=max_span)
            super().__init__(resources=resources, options=options)

    record = Offer(name="tried", make=Limited, summary="a decoder under test")
    for exact, best in ((None, None), ({"stack": 10**9}, True), ({"stack": 2}, False)):
        folder = tmp_path / str(exact)
        folder.mkdir()
        results = {result.check: result for result in run_checks("decoders", record, folder, host=host, exact=exact)}
        assert (results["best_is_the_best"].ok if "best_is_the_best" in results else None) is best


@pytest.mark.parametrize(
    ("record", "wrong"),
    [
        (
            searching(found_only(lambda decoding: replace(decoding, score=(decoding.score or 0.0) + 0.01))),
            {
                "score_is_that_of_its_features": "that of its features",
                "best_is_the_best": "but EnumeratedDerivation(words=",
                "graphs_begin_with_the_best": "that of the graph's best derivation",
            },
        ),
        (
            searching(
                found_only(
                    lambda decoding: replace(
                        decoding, features={**decoding.features, "kit-pairs": decoding.features["kit-pairs"] + 1}
                    )
                )
            ),
            {
                "score_is_that_of_its_features": "the score is",
                "features_are_those_of_the_text": "'kit-pairs' is",
                "derivations_are_in_the_grammar": "which no derivation with that text has: 'kit-pairs' is",
            },
        ),
        (
            searching(
                found_only(
                    lambda decoding: replace(
                        decoding, features={**decoding.features, "p": decoding.features.get("p", 0) + 1}
                    )
                )
            ),
            {
                "score_is_that_of_its_features": "the score is",
                "derivations_are_in_the_grammar": "which no derivation with that text has: 'p' is",
            },
        ),
        (
            searching(found_only(lambda decoding: replace(decoding, best=decoding.best + " Z"))),
            {
                "features_are_those_of_the_text": "'kit-words' is",
                "derivations_are_in_the_grammar": "no derivation has the text",
                "graphs_begin_with_the_best": "in the graph",
                "steps_build_the_tree": "the translation is",
            },
        ),
        (
            searching(pop_limit=1),
            {
                "best_is_the_best": "but EnumeratedDerivation(words=",
                "graphs_hold_all": "the graph has 1 derivations, the grammar",
            },
        ),
        (
            searching(glue=False),
            {
                "derivations_are_in_the_grammar": "found nothing, where EnumeratedDerivation(",
                "best_is_the_best": "found nothing, where",
                "what_has_no_translation_is_said": "beside those without one",
            },
        ),
        (
            searching(pass_through="all"),
            {
                "derivations_are_in_the_grammar": "no derivation has the text",
                "what_has_no_translation_is_said": "'unknown' has no derivation, but `found` is true",
                "graphs_are_in_the_grammar": "is no rule of the grammar",
                "best_is_the_best": "",
                "graphs_hold_all": "",
            },
        ),
        (
            searching(lambda decoding, graphs: replace(decoding, found=True)),
            {
                "what_has_no_translation_is_said": "`found` is true",
                "derivations_are_in_the_grammar": "no derivation has the text ''",
                "graphs_begin_with_the_best": "the graph has no derivation, where '' was found",
                "graphs_are_in_the_grammar": "the goal of the graph spans None",
            },
        ),
        (
            searching(lambda decoding, graphs: decoding if decoding.found else replace(decoding, best="?")),
            {"what_has_no_translation_is_said": "'unknown' has no derivation, but the text '?'"},
        ),
        (
            searching(
                lambda decoding, graphs: (
                    replace(decoding, score=decoding.score and decoding.score + 1e-6) if graphs else decoding
                )
            ),
            {"asking_for_graphs_changes_nothing": "with a graph"},
        ),
        (
            searching(lambda decoding, graphs: replace(decoding, trace=lambda: ["a\nb"])),
            {"traces_are_lines": "expected lines, found 'a\\nb'"},
        ),
        (
            searching(
                found_only(
                    lambda decoding: replace(
                        decoding, built=lambda: [BuiltStep("[X] ||| a ||| a", 0, 1, 0, True, 0, 0.0)]
                    )
                )
            ),
            {"steps_build_the_tree": "expected step 0 beside an earlier one, or beside -1, found 0"},
        ),
        (
            searching(
                found_only(
                    lambda decoding: replace(
                        decoding, built=lambda: [BuiltStep("[X] ||| a ||| ?", 0, 1, -1, False, 0, 0.0)]
                    )
                )
            ),
            {"steps_build_the_tree": "the steps cover ('a',), not "},
        ),
        (
            searching(graph_changed(lambda graph: graph.with_scores(graph.scores_or(None) * 2))),
            {
                "graphs_begin_with_the_best": "the graph's best derivation",
                "graphs_hold_all": "derivation 0 of the graph",
            },
        ),
        (
            searching(graph_changed(without_best)),
            {
                "graphs_begin_with_the_best": "the graph's best derivation",
                "graphs_hold_all": "derivations, the grammar",
            },
        ),
        (searching(graph_changed(without_worst)), {"graphs_hold_all": "derivations, the grammar"}),
        (
            searching(graph_changed(other_rule)),
            {
                "graphs_begin_with_the_best": "",
                "graphs_are_in_the_grammar": "edge ",
            },
        ),
        (searching(graph_changed(shifted)), {"graphs_are_in_the_grammar": "edge "}),
        (
            searching(graph_changed(twice)),
            {
                "graphs_are_in_the_grammar": "the graph has more derivations than the grammar's",
                "graphs_hold_all": "derivations, the grammar",
            },
        ),
        (
            Offer(name="tried", make=Sticky, summary="a decoder under test"),
            {"models_do_not_stick": "with one that had another model before"},
        ),
        (
            Offer(name="tried", make=Fussy, summary="a decoder under test"),
            {
                "what_has_no_translation_is_said": "beside those without one",
                "derivations_are_in_the_grammar": "found nothing, where",
                "best_is_the_best": "found nothing, where",
            },
        ),
        (
            Offer(name="tried", make=Counting, summary="a decoder under test"),
            {"output_repeats": "`score` is"},
        ),
    ],
)
@pytest.mark.usefixtures("few_systems")
def test_each_promise_is_checked(record: Offer, wrong: dict[str, str], failures: Failures) -> None:
    failed = failures("decoders", record)
    assert set(failed) == set(wrong), failed
    for check, words in wrong.items():
        assert words in failed[check]
