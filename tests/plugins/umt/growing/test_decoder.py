"""The decoder: its options, and what its trees are worth against all derivations."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import smtplugins as smt
from smtplugins.contracts.adapters import SimpleStateful
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.models import Model
from smtplugins.contracts.offers import Offer
from smtplugins.contracts.spec import Spec
from smtplugins.core.graph.inference import kbest
from smtplugins.host.config.resources import Resources, resources
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import ModelConfig, load_config
from smtplugins.host.features.scoring import Active
from smtplugins.plugins.umt.features.cff import Cff
from smtplugins.plugins.umt.features.shape import UndirectedShape
from smtplugins.plugins.umt.growing.decoder import Umt, UmtOptions

EXAMPLE = Path(__file__).resolve().parents[4] / "examples/decode-hiero"
WEIGHTS = {"EgivenF": 0.6, "FgivenE": 0.3, "LM": 0.9, "W": -1.2, "P": -5.0}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"cff": "slots"},
    {"cff": "none"},
    {"cff": "difference", "cff_lm": 0.5},
    {"lm_mode": "rescored"},
    {"lm_mode": "split"},
    {"samples": 5},
    {"beam": 4},
]
WORDS = sorted({word for line in (EXAMPLE / "source.de").read_text().splitlines() for word in line.split()})


def made(*features: str, grammar: Path = EXAMPLE / "rules.txt", **more: Any) -> Resources:
    config = ModelConfig((RuleTable(grammar),), features=tuple(map(Spec.parse, features)), **more)
    return resources(smt.load_plugins().registry, config, cache="off")


@pytest.fixture(scope="module")
def given_resources() -> Resources:
    lm = f"lm,path={EXAMPLE / 'en.arpa'},base=10,name=LM"
    return made(lm, "word-penalty,value=cdec,name=W", "pass-through,name=P")


def sentences() -> list[Sentence]:
    lines = (EXAMPLE / "source.de").read_text().splitlines()
    return [Sentence(str(i), tuple(line.split())) for i, line in enumerate(lines)]


def decode(
    decoder: Umt, given: list[Sentence] | None = None, weights: dict[str, float] = WEIGHTS, **options: Any
) -> list[Decoding]:
    return list(decoder.decode(sentences() if given is None else given, Model(weights=weights), **options))


def exhaustive(given: Resources, sentence: Sentence, weights: dict[str, float] = WEIGHTS) -> Any:
    """All derivations, by another decoder."""
    hiero = smt.load_plugins().registry.make("decoders", Spec("hiero", {"search": "full"}), given={"resources": given})
    (one,) = hiero.decode([sentence], Model(weights=weights), graphs=True)
    return one.graph()


def texts(found: list[Decoding]) -> list[tuple[str, float | None]]:
    return [(one.best, one.score) for one in found]


@settings(max_examples=30)
@given(words=st.lists(st.sampled_from([*WORDS, "xyz"]), min_size=1, max_size=6))
def test_bounds_that_are_exact_lead_to_the_best_derivation(given_resources: Resources, words: list[str]) -> None:
    one = Sentence("0", tuple(words))
    local = {**WEIGHTS, "LM": 0.0}
    (found,) = decode(Umt(resources=given_resources, options=UmtOptions(cff_scale=1.0)), [one], local)
    best = kbest(exhaustive(given_resources, one, local), k=1)
    assert found.score == pytest.approx(best.scores[0], abs=1e-4)


@settings(max_examples=30)
@given(
    words=st.lists(st.sampled_from([*WORDS, "xyz"]), min_size=1, max_size=6),
    options=st.sampled_from(OPTIONS),
)
def test_what_is_found_is_a_derivation_with_its_score(
    given_resources: Resources, words: list[str], options: dict[str, Any]
) -> None:
    one = Sentence("0", tuple(words))
    (found,) = decode(Umt(resources=given_resources, options=UmtOptions(**options)), [one], graphs=True)
    every = kbest(exhaustive(given_resources, one), k=100_000)
    scores = {(text, round(score, 3)) for text, score in zip(every.texts(), every.scores.tolist(), strict=True)}
    assert found.score is not None and found.graph is not None and found.built is not None
    assert found.score <= every.scores[0] + 1e-3
    near = {(found.best, round(found.score + change, 3)) for change in (-0.0005, 0.0, 0.0005)}
    assert near & scores
    total = sum(WEIGHTS.get(name, 0.0) * value for name, value in found.features.items())
    assert total == pytest.approx(found.score, abs=1e-4)
    assert found.stats["lm_queries"] > 0
    graph = kbest(found.graph(), k=100)
    assert graph.scores[0] == pytest.approx(found.score, abs=1e-4)
    assert len(graph) >= 1 and len(set(graph.texts())) <= 1 + options.get("samples", 0) + 4 * options.get("beam", 0)


def test_more_trees_find_no_less(given_resources: Resources) -> None:
    one = decode(Umt(resources=given_resources, options=UmtOptions(cff_scale=1.0)))
    for options in ({"samples": 30, "temperature": 0.5}, {"beam": 8}):
        more = decode(Umt(resources=given_resources, options=UmtOptions(cff_scale=1.0, **options)))
        gains = [(b.score or 0.0) - (a.score or 0.0) for a, b in zip(one, more, strict=True)]
        if "samples" in options:
            assert min(gains) >= -1e-6
        assert max(gains) > 0.1


def test_drawing_is_repeated_by_its_seed(given_resources: Resources) -> None:
    def lists(seed: int) -> list[list[str]]:
        found = decode(Umt(resources=given_resources, options=UmtOptions(samples=20, seed=seed)), graphs=True)
        return [kbest(one.graph(), k=50).texts() for one in found if one.graph is not None]

    assert lists(3) == lists(3)
    assert lists(3) != lists(4)
    assert max(map(len, lists(3))) > 3


def test_threads_give_the_same(given_resources: Resources) -> None:
    given, others = sentences() * 4, threading.active_count()
    decoder = Umt(resources=given_resources, options=UmtOptions(samples=3))
    assert texts(decode(decoder, given, threads=2)) == texts(decode(decoder, given))
    assert threading.active_count() <= others + 1


class TestFirstPass:
    """Bounds are made with weights of their own."""

    OTHER: ClassVar[dict[str, float]] = {"EgivenF": -2.0, "W": 3.0}

    def test_come_with_the_weights(self, given_resources: Resources, tmp_path: Path) -> None:
        file = tmp_path / "first"
        file.write_text("".join(f"{name} {value}\n" for name, value in self.OTHER.items()))
        options: dict[str, Any] = {"cff_scale": 1.0}
        plain = texts(decode(Umt(resources=given_resources, options=UmtOptions(**options))))
        by_file = texts(decode(Umt(resources=given_resources, options=UmtOptions(first_pass_path=file, **options))))
        brought = {**WEIGHTS, **{f"cff:{name}": value for name, value in self.OTHER.items()}}
        assert (
            texts(decode(Umt(resources=given_resources, options=UmtOptions(**options)), weights=brought))
            == by_file
            != plain
        )

    def test_are_the_configured_ones_else(self, tmp_path: Path) -> None:
        host = smt.load_plugins()
        (tmp_path / "other").write_text("".join(f"{name} {value}\n" for name, value in self.OTHER.items()))
        config = load_config(EXAMPLE / "run.yaml", ["decoder={name: umt, cff_scale: 1.0}"])
        learnt = host.read_weights(EXAMPLE / "weights")
        same = [one.best for one in host.translator(config, weights=learnt).decode(sentences())]
        other = load_config(
            EXAMPLE / "run.yaml", ["decoder={name: umt, cff_scale: 1.0}", f"model.weights={tmp_path / 'other'}"]
        )
        assert [one.best for one in host.translator(other, weights=learnt).decode(sentences())] != same

    def test_stay_with_what_is_learnt(self, given_resources: Resources) -> None:
        decoder = Umt(resources=given_resources, options=UmtOptions())
        task = decoder.task(sentences(), [["x"] * len(sentences())], smt.load_plugins().metric("bleu"), Model(WEIGHTS))
        assert task.start == {"cff": 1.0, **{f"cff:{name}": value for name, value in WEIGHTS.items()}}


def test_the_feature_cff_says_how_bounds_are_made(given_resources: Resources) -> None:
    lm = f"lm,path={EXAMPLE / 'en.arpa'},base=10,name=LM"
    own = made(lm, "word-penalty,value=cdec,name=W", "pass-through,name=P", "cff,mode=slots,scale=2,lm=0.5,name=bound")
    decoder = Umt(resources=own, options=UmtOptions(cff="none"))
    assert decoder.working().names[:3] == ("bound[0]", "bound[1]", "bound[2]")
    found = decode(decoder, weights={**WEIGHTS, "bound[1]": 0.3})
    assert texts(found) != texts(decode(decoder, weights={**WEIGHTS, "bound[1]": 5.0}))
    assert "bound" not in found[0].features
    two = Resources(own.tables, (*own.features, own.features[-1]))
    with pytest.raises(UsageError, match="expected one feature cff, found bound, bound"):
        Umt(resources=two, options=UmtOptions())


def test_shapes_guide_and_do_not_count(given_resources: Resources) -> None:
    shape = Active("shape", Offer(name="undirected-shape", make=UndirectedShape, summary="x"), UndirectedShape())
    decoder = Umt(resources=Resources(given_resources.tables, (*given_resources.features, shape)), options=UmtOptions())
    assert texts(decode(decoder)) == texts(decode(Umt(resources=given_resources, options=UmtOptions())))
    upwards = decode(decoder, weights={**WEIGHTS, "shape-above": 50.0})
    # As long as anything can be put above, it is: the tree is the first leaf's spine at first.
    for one in upwards:
        assert one.built is not None
        steps = [step.above for step in one.built()][1:]
        assert steps == sorted(steps, reverse=True)
        assert "shape-above" not in one.features


class Late(SimpleStateful):
    """A feature in Python that has no undirected form: pairs of equal words."""

    def combine_one(self, target: Any, tails: Any) -> tuple[float, Any]:
        words: list[str] = []
        for one in target:
            words += [one] if isinstance(one, str) else list(tails[one][0])
        inner = sum(tails[one][1] for one in target if isinstance(one, int))
        pairs = float(sum(a == b for a, b in itertools.pairwise(words)))
        return pairs - inner, (tuple(words), pairs)


def test_a_feature_without_an_undirected_form_counts_when_all_is_known(given_resources: Resources) -> None:
    late = Active("late", Offer(name="late", make=Late, summary="x"), Late())
    decoder = Umt(resources=Resources(given_resources.tables, (*given_resources.features, late)), options=UmtOptions())
    assert decoder.notes == ["decoder umt: late cannot be scored in part: counted when all below a rule is known"]
    one = [Sentence("0", ("xyz", "xyz", "der", "koch"))]
    (found,) = decode(decoder, one, {**WEIGHTS, "late": -3.0})
    words = found.best.split()
    assert found.features["late"] == sum(a == b for a, b in itertools.pairwise(words)) > 0
    assert Umt(resources=given_resources, options=UmtOptions()).notes == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 2, "beam": 2}, "expected samples or a beam, found both"),
        ({"samples": -1}, "expected samples and seed of 0 or more"),
        ({"beam": 0}, "a beam of 1 or more"),
        ({"temperature": 0.0}, "temperature: expected a number above 0, found 0.0"),
        ({"cff_scale": 0.0}, "cff: scale: expected a number above 0, found 0.0"),
        ({"cff_lm": float("nan")}, "cff: expected finite numbers"),
    ],
)
def test_options_that_cannot_be_are_refused(given_resources: Resources, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Umt(resources=given_resources, options=UmtOptions(**options))


def test_steps_are_told(given_resources: Resources) -> None:
    (found,) = decode(Umt(resources=given_resources, options=UmtOptions()), [Sentence("0", ("xyz", "uvw"))])
    assert found.trace is not None and found.built is not None
    lines, steps = list(found.trace()), found.built()
    assert len(lines) == len(steps) == found.stats["pops"]
    assert lines[0].startswith("0  first  [")
    assert "[X] ||| xyz ||| xyz" in "\n".join(lines)
    assert steps[0].beside == -1 and all(0 <= one.beside < i for i, one in enumerate(steps) if i)


def test_names_of_bounds() -> None:
    assert Cff().names("cff") == Cff(mode="difference").names("cff") == ("cff",)
    assert Cff(mode="slots").names("b") == ("b[0]", "b[1]", "b[2]")
    assert Cff(mode="none").names("b") == ()
