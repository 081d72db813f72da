"""Minimum Bayes-risk decoding against its definition, hypothesis by hypothesis."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.files.lists import candidates
from smtplugins.host.host import Host
from smtplugins.host.judge.consensus import (
    Consensus,
    PseudoReferences,
    choices,
    gains,
    matrix,
    posteriors,
    prepare_references,
)
from smtplugins.host.judge.postprocess import make_post

METRICS = ["bleu,tokenize=none", "chrf", "ter", "wer", "gtm,exponent=2"]
SEEDS = st.integers(0, 1 << 30)


def random_list(rng: random.Random, key: int = 0) -> Any:
    texts = [" ".join(rng.choice("abc") for _ in range(rng.randint(0, 5))) for _ in range(rng.randint(1, 7))]
    return candidates(texts, id=key, scores=[rng.choice([0.0, rng.uniform(-3, 0)]) for _ in texts])


def expected_gains(metric: Any, texts: list[str], weights: list[float]) -> list[float]:
    """Every hypothesis against every other, one call each."""
    sign = 1 if metric.higher_is_better else -1
    return [
        sum(
            weight * sign * float(metric.sentence(metric.stats([text], [[other]]))[0])
            for other, weight in zip(texts, weights, strict=True)
        )
        for text in texts
    ]


@given(SEEDS, st.sampled_from(METRICS), st.sampled_from([0.0, 0.5, 2.0]))
def test_choice_has_the_least_expected_loss(seed: int, spec: str, scale: float) -> None:
    import smtplugins as smt

    metric = smt.load_plugins().metric(spec)
    nbest = random_list(random.Random(seed))
    choice = Consensus(metric, scale).choose(nbest)
    weights = [math.exp(scale * total) for total in nbest.totals]
    wanted = expected_gains(metric, nbest.texts, [weight / sum(weights) for weight in weights])
    assert choice.gains == pytest.approx(wanted, abs=1e-9)
    assert wanted[choice.best] == pytest.approx(max(wanted), abs=1e-9)
    assert choice.text == nbest.texts[choice.best]
    again = choice.resort()
    assert again.totals == sorted(again.totals or [], reverse=True)
    assert sorted(again.texts) == sorted(nbest.texts)


def test_pruning_keeps_different_texts_of_highest_total(host: Host) -> None:
    nbest = candidates(["a b", "x", "a b c", "x", "a b d"], scores=[-1.0, 0.0, -2.0, -0.5, -9.0])
    choice = Consensus(host.metric("bleu,tokenize=none"), 1.0, top=2).choose(nbest)
    assert [gain is None for gain in choice.gains] == [False, False, True, False, True]
    assert choice.text == "x"
    assert choice.resort().texts == ["x", "x", "a b"]
    assert Consensus(host.metric("bleu,tokenize=none"), 0.0).choose(nbest).text == "a b"


def test_equal_choices_go_to_the_higher_total_then_to_the_first(host: Host) -> None:
    metric = host.metric("bleu,tokenize=none")
    assert Consensus(metric, 0.0).choose(candidates(["a", "b"], scores=[-1.0, 0.0])).best == 1
    assert Consensus(metric, 0.0).choose(candidates(["a", "b"])).best == 0


def test_metric_sees_texts_after_post(host: Host) -> None:
    nbest = candidates(["a@@ b", "ab", "c d"], scores=[0.0, 0.0, 0.1])
    how = Consensus(host.metric("wer"), 1.0)
    [choice] = choices([nbest], how, post=make_post("bpe"))
    assert choice.text == "a@@ b"
    assert choice.gains[0] == choice.gains[1]


def test_runners_change_nothing(host: Host) -> None:
    rng = random.Random(2)
    lists = [random_list(rng, key) for key in range(20)]
    how = Consensus(host.metric("chrf"), 1.0)
    runner = host.registry.make("runners", {"name": "processes", "jobs": 3})
    alone = [(choice.best, choice.gains) for choice in choices(lists, how)]
    assert [(choice.best, choice.gains) for choice in choices(lists, how, runner=runner)] == alone


@pytest.mark.parametrize("spec", METRICS)
def test_prepared_and_matrix_for_any_metric(host: Host, spec: str) -> None:
    metric = host.metric(spec)
    texts, references = ["a b", "", "b a c"], [["a", "b c", "a b"], ["b", "c", "a c"]]
    held = prepare_references(metric, references)
    assert len(held) == 3
    assert held.stats(texts).tolist() == metric.stats(texts, references).tolist()
    chosen = [[stream[k] for k in (2, 0, 2)] for stream in references]
    assert held.stats(texts, [2, 0, 2]).tolist() == metric.stats(texts, chosen).tolist()
    table = matrix(metric, texts, references[0], "source")
    assert table.shape[:2] == (3, 3)
    for j, other in enumerate(references[0]):
        assert table[:, j].tolist() == metric.stats(texts, [[other] * 3]).tolist()


def test_long_lists_go_in_blocks(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    metric, texts = host.metric("chrf"), [f"a{i} b" for i in range(30)]
    weights = posteriors([float(-i) for i in range(30)], 0.1)
    whole = gains(metric, texts, texts, weights)
    monkeypatch.setattr("smtplugins.host.judge.consensus._CELLS", 1000)
    assert gains(metric, texts, texts, weights) == pytest.approx(whole, rel=1e-12)
    assert sum(weights) == pytest.approx(1)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (None, r"list 7 \(<data>:1\): expected total scores, found none; `smt rescore` computes them"),
        ([0.0, float("nan")], r"list 7 \(<data>:1\): expected finite totals, found inf or nan"),
    ],
)
def test_lists_without_probabilities_are_told(host: Host, scores: Any, message: str) -> None:
    with pytest.raises(SmtError, match=message):
        Consensus(host.metric("wer")).choose(candidates(["a", "b"], id=7, scores=scores))
    with pytest.raises(SmtError, match="expected hypotheses, found none"):
        Consensus(host.metric("wer")).choose(candidates([], scores=[]))


@pytest.mark.parametrize("options", [{"scale": -1.0}, {"scale": math.inf}, {"scale": math.nan}, {"top": -1}])
def test_wrong_options_are_told(host: Host, options: Any) -> None:
    with pytest.raises(UsageError, match="expected a number"):
        Consensus(host.metric("wer"), **options)


def test_probabilities_of_low_totals() -> None:
    assert posteriors([-1e9, -1e9 - math.log(3)]) == pytest.approx([0.75, 0.25])
    assert posteriors([5.0, -1e6]) == [1.0, 0.0]
    assert np.isclose(sum(posteriors([0.1] * 7)), 1)


@given(SEEDS, st.sampled_from(METRICS), st.sampled_from([0.0, 0.7]), st.sampled_from([0, 2]))
def test_choice_against_other_samples(seed: int, spec: str, scale: float, top: int) -> None:
    import smtplugins as smt

    rng, metric = random.Random(seed), smt.load_plugins().metric(spec)
    nbest, others = random_list(rng), random_list(rng)
    how = Consensus(metric, scale, top)
    choice = how.choose(nbest, None, PseudoReferences.of(others, None, scale))
    whole = sum(math.exp(scale * total) for total in others.totals)
    sign = 1 if metric.higher_is_better else -1
    ranked = sorted(range(len(nbest)), key=lambda i: -nbest.totals[i])
    kept = list(dict.fromkeys(nbest.texts[i] for i in ranked))[: top or None]
    for text, gain in zip(nbest.texts, choice.gains, strict=True):
        # By definition: each sample of the references by itself, whether or not another has the same text.
        wanted = sum(
            sign * math.exp(scale * total) / whole * float(metric.sentence(metric.stats([text], [[other]]))[0])
            for other, total in zip(others.texts, others.totals, strict=True)
        )
        assert gain == (pytest.approx(wanted, abs=1e-9) if text in kept else None)
    assert choice.gains[choice.best] == max(gain for gain in choice.gains if gain is not None)


def test_own_hypotheses_as_references_change_nothing(host: Host) -> None:
    rng, metric = random.Random(5), host.metric("chrf")
    for _ in range(5):
        nbest = random_list(rng)
        own = Consensus(metric, 0.5).choose(nbest)
        given = Consensus(metric, 0.5).choose(nbest, None, PseudoReferences.of(nbest, None, 0.5))
        assert (given.best, given.gains) == (own.best, pytest.approx(own.gains))


def test_reference_lists_are_joined_by_id(host: Host) -> None:
    hypotheses = [candidates(["a b", "c d"], id=key) for key in ("07", "x")]
    samples = [candidates(["c d@@ e"], id="x"), candidates(["a b"], id="7")]
    result = list(host.mbr(hypotheses, "wer", references=samples, scale=0.0, post="bpe", whole=False))
    assert [nbest.texts for nbest in result] == [["a b"], ["c d"]]
    with pytest.raises(SmtError, match=r"list x .*: expected pseudo-references of id x in <.*>, found none"):
        list(host.mbr(hypotheses, "wer", references=samples[1:], scale=0.0))
    with pytest.raises(SmtError, match="expected each id once, found 7 again"):
        list(host.mbr(hypotheses, "wer", references=[*samples, candidates(["u"], id="7")], scale=0.0))
    with pytest.raises(SmtError, match=r"list x .*: expected total scores, found none"):
        list(host.mbr(hypotheses, "wer", references=samples))
    with pytest.raises(SmtError, match=r"list x .*: expected hypotheses, found none"):
        list(host.mbr(hypotheses, "wer", references=[candidates([], id="x")], scale=0.0))
    # The totals of the references weigh, so the hypotheses need none.
    weighed = [candidates(["a b", "c d"], id=key, scores=[0.0, 2.0]) for key in ("7", "x")]
    assert [nbest.texts for nbest in host.mbr(hypotheses, "wer", references=weighed, whole=False)] == [["c d"]] * 2
