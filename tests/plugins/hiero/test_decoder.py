"""The decoder: its options, its result against all derivations, and its page."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import smtplugins as smt
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.models import Model
from smtplugins.contracts.spec import Spec, parameters
from smtplugins.core.graph.inference import kbest, viterbi
from smtplugins.host.config.resources import Resources, resources
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import ModelConfig
from smtplugins.plugins.hiero.decoder import Hiero, HieroOptions
from smtplugins.plugins.hiero.limits import TOOLKITS

README = Path(__file__).resolve().parents[3] / "smtplugins/plugins/hiero/README.md"
EXAMPLE = Path(__file__).resolve().parents[3] / "examples/decode-hiero"
WEIGHTS = {"EgivenF": 0.6, "FgivenE": 0.3, "LM": 0.9, "W": -1.2, "P": -5.0}
WORDS = sorted({word for line in (EXAMPLE / "source.de").read_text().splitlines() for word in line.split()})


@pytest.fixture(scope="module")
def given_resources() -> Resources:
    features = (
        f"lm,path={EXAMPLE / 'en.arpa'},base=10,name=LM",
        "word-penalty,value=cdec,name=W",
        "pass-through,name=P",
    )
    config = ModelConfig((RuleTable(EXAMPLE / "rules.txt"),), features=tuple(map(Spec.parse, features)))
    return resources(smt.load_plugins().registry, config, cache="off")


def sentences() -> list[Sentence]:
    lines = (EXAMPLE / "source.de").read_text().splitlines()
    return [Sentence(str(i), tuple(line.split())) for i, line in enumerate(lines)]


def decode(made: Hiero, given: list[Sentence], **options: Any) -> list[Decoding]:
    return list(made.decode(given, Model(weights=WEIGHTS), **options))


@settings(max_examples=40)
@given(words=st.lists(st.sampled_from([*WORDS, "xyz"]), max_size=7))
def test_pruning_finds_no_more_than_all_derivations_and_much_of_it(
    given_resources: Resources, words: list[str]
) -> None:
    one = [Sentence("0", tuple(words))]
    (full,) = decode(Hiero(resources=given_resources, options=HieroOptions(search="full")), one, graphs=True)
    (wide,) = decode(
        Hiero(resources=given_resources, options=HieroOptions(pop_limit=100_000, adapt=0.0, beam=1e9)), one
    )
    (small,) = decode(Hiero(resources=given_resources, options=HieroOptions(pop_limit=3)), one)
    assert full.found is wide.found is small.found is bool(words)
    if not words:
        return
    assert full.score is not None
    assert wide.score == pytest.approx(full.score, abs=1e-4)
    assert small.score is not None
    assert small.score <= full.score + 1e-4
    for found in (full, wide, small):
        total = sum(WEIGHTS.get(name, 0.0) * value for name, value in found.features.items())
        assert total == pytest.approx(found.score, abs=1e-4)
    assert full.graph is not None
    best = viterbi(full.graph())
    assert best is not None
    assert best.score == pytest.approx(full.score, abs=1e-4)
    # Of derivations with equal scores it may be another one, but it is one of them.
    equals = [one for one in kbest(full.graph(), k=1000) if one.score >= best.score - 1e-6]
    assert full.best in {one.text for one in equals}


def test_threads_take_sentences_and_give_them_back_in_order(given_resources: Resources) -> None:
    given, others = sentences() * 5, threading.active_count()
    one = decode(Hiero(resources=given_resources, options=HieroOptions()), given)
    two = decode(Hiero(resources=given_resources, options=HieroOptions()), given, threads=2)
    assert [(a.id, a.best, a.score, dict(a.features)) for a in one] == [
        (b.id, b.best, b.score, dict(b.features)) for b in two
    ]
    assert threading.active_count() <= others + 1


def test_a_sentence_that_fails_ends_the_run(given_resources: Resources) -> None:
    given = [Sentence("0", ("koch",)), Sentence("1", ("koch",), grammars=("/absent",)), Sentence("2", ("koch",))]
    for threads in (1, 2):
        found: Iterator[Decoding] = Hiero(resources=given_resources, options=HieroOptions()).decode(
            given, Model(WEIGHTS), threads=threads
        )
        assert next(found).best == "cook"
        with pytest.raises(OSError, match="absent"):
            next(found)


def test_graphs_may_be_pruned(given_resources: Resources) -> None:
    def edges(**options: Any) -> int:
        (found,) = decode(
            Hiero(resources=given_resources, options=HieroOptions(**options)), sentences()[:1], graphs=True
        )
        assert found.graph is not None
        return len(found.graph())

    every = edges()
    assert edges(beam_prune=0.5) < every
    assert edges(density_prune=1.0) < every
    assert edges(beam_prune=1e6) == every


def test_no_graphs_without_asking(given_resources: Resources) -> None:
    assert all(
        one.graph is None for one in decode(Hiero(resources=given_resources, options=HieroOptions()), sentences())
    )


def test_counts_are_those_of_the_sentence(given_resources: Resources) -> None:
    first, again = decode(Hiero(resources=given_resources, options=HieroOptions()), sentences()[:1] * 2)
    for name in ("nodes", "edges", "bundles", "pops"):
        assert first.stats[name] == again.stats[name] > 0
    # The tables are loaded for the first sentence alone.
    assert again.stats.get("cpu.loading", 0.0) <= first.stats["cpu.loading"]


def test_a_limit_of_edges(given_resources: Resources) -> None:
    with pytest.raises(SmtError, match="sentence 0: more than 10 edges to look at: lower pop_limit or raise max_edges"):
        decode(Hiero(resources=given_resources, options=HieroOptions(search="full", max_edges=10)), sentences())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pop_limit": 0}, "pop_limit: expected 1 or more, found 0"),
        ({"beam_prune": -1.0}, "beam_prune: expected 0 or more, found -1.0"),
        ({"oov_list": "CD 0.1 NN"}, "oov_list: expected labels with a number each, found 3 items"),
        ({"oov_list": "CD x"}, "oov_list: expected a number after 'CD', found 'x'"),
    ],
)
def test_wrong_options(given_resources: Resources, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        Hiero(resources=given_resources, options=HieroOptions(**options))


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_pop_limits_of_toolkits(given_resources: Resources, toolkit: Any) -> None:
    few, many = (
        sum(
            one.stats["pops"]
            for one in decode(
                Hiero(resources=given_resources, options=HieroOptions(pops=toolkit, pop_limit=n)), sentences()
            )
        )
        for n in (1, 30)
    )
    assert few < many
    if toolkit == "joshua":
        decode(Hiero(resources=given_resources, options=HieroOptions(pops=toolkit, pop_limit=0)), sentences()[:1])


def test_the_page_has_every_option_with_its_default() -> None:
    page = README.read_text().split("## Options")[1]
    listed = dict(re.findall(r"^\| `(\w+)` \| \*\*([^|*]*)\*\*[^|]* \|", page, re.MULTILINE))
    shown = {"None": "none", "True": "true", "False": "false", str(1 << 28): "2^28"}
    defaults = {name: str(one.default) for name, one in parameters(Hiero).items()}
    assert listed == {name: shown.get(default, default) for name, default in defaults.items()}
