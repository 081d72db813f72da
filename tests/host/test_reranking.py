"""Reranking from Python: the same as its parts, whatever the lists are."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt
from smtformats import Candidates
from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.host import Host
from smtplugins.host.joining import Joined, texts_of
from smtplugins.host.reranking import oracle

TOYS = Path(__file__).with_name("toy_learners.py")
EXAMPLE = Path(__file__).resolve().parents[2] / "examples/rerank-marian"
BLEU = "bleu,tokenize=none"
LEARNER = "toy-perceptron"


@pytest.fixture(scope="module")
def host() -> Host:
    return smt.load_plugins([str(TOYS)])


def test_it_is_its_parts(host: Host) -> None:
    features = ["length", f"lm,path={EXAMPLE / 'en.arpa'}"]
    dev, test, dev_refs, test_refs = (
        EXAMPLE / "dev.nbest",
        EXAMPLE / "test.nbest",
        [EXAMPLE / "dev.en"],
        [EXAMPLE / "test.en"],
    )
    done = host.rerank(dev, dev_refs, test, test_refs, features=features, learner=LEARNER, metric=BLEU, samples=100)
    weights = host.tune(host.score(smt.read(dev), features), dev_refs, learner=LEARNER, metric=BLEU)
    rescored = host.score(smt.read(test), features).rescore(weights)
    assert dict(done.weights) == dict(weights)
    assert done.best() == rescored.best()
    assert [one.totals for one in done.lists] == [one.totals for one in rescored]
    judged = host.evaluate(test_refs, {"baseline": test, "result": done.best()}, [BLEU], bootstrap=100)
    assert done.test is not None
    assert done.test.scores[:2] == judged.scores
    rows = done.rows()
    assert [(row["set"], row["system"]) for row in rows] == [
        (name, system) for name in ("dev", "test") for system in ("baseline", "result", "oracle")
    ]
    assert rows[1]["score"] == weights.score
    assert [row["signature"].endswith("in-sample") for row in rows] == [False, True, False, False, False, False]
    assert rows[0]["score"] < rows[1]["score"] < rows[2]["score"]
    assert rows[5]["p"] is None
    assert rows[4]["p"] < 0.05


def test_each_feature_is_computed_once_for_a_list(host: Host) -> None:
    calls: list[str] = []

    class Counted:
        def score_candidates(self, source: str | None, candidates: Candidates) -> list[float]:
            calls.append(candidates.id)
            return [float(len(text)) for text in candidates.texts]

    refs = [EXAMPLE / "dev.en"], [EXAMPLE / "test.en"]
    lists = EXAMPLE / "dev.nbest", EXAMPLE / "test.nbest"

    def counted(hyp: str) -> float:
        calls.append(hyp)
        return float(len(hyp))

    feature = smt.feature("counted")(counted)
    host.rerank(lists[0], refs[0], lists[1], refs[1], features=[feature], learner=LEARNER, metric=BLEU, samples=10)
    assert len(calls) == 2 * 80 * 12


def test_without_references_for_the_test(host: Host, tmp_path: Path) -> None:
    lists = EXAMPLE / "dev.nbest", EXAMPLE / "test.nbest"
    done = host.rerank(lists[0], [EXAMPLE / "dev.en"], lists[1], learner=LEARNER, metric=BLEU, output=tmp_path / "out")
    assert done.test is None
    assert [row["set"] for row in done.rows()] == ["dev"] * 3
    assert (tmp_path / "out/best.txt").read_text().splitlines() == done.best()
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == ["best.txt", "rescored.nbest", "weights"]


def test_features_that_learning_did_not_see(host: Host) -> None:
    dev = [Candidates(str(k), ["a b", "b a"], [("f",)] * 2, [[1.0], [2.0]], [0.0, 0.0]) for k in range(2)]
    test = [Candidates("0", ["a b", "b a"], [("f", "g")] * 2, [[1.0, 0.0], [2.0, 0.0]], [0.0, 0.0])]
    metric = "bleu,tokenize=none,max_ngram_order=2"
    with pytest.raises(SmtError, match="feature 'g' has no weight; --missing-weight 0 counts such features 0"):
        host.rerank(dev, [["b a"] * 2], test, [["b a"]], learner=LEARNER, metric=metric)
    done = host.rerank(dev, [["b a"] * 2], test, [["b a"]], learner=LEARNER, metric=metric, missing=0.0, samples=10)
    assert done.best() == ["b a"]


def test_the_oracle_is_the_first_of_the_best(host: Host) -> None:
    lists = [Candidates("1", ["x", "a b c d", "a b c d", "a b"], [()] * 4, [[]] * 4)]
    refs = Joined([texts_of(["?", "a b c d"])])
    found = list(oracle(smt.ListStream(lambda: iter(lists), "x"), refs, host.metric(BLEU)))
    assert found[0].texts == ["a b c d"]
    assert found[0].ranks == [1]
    worst = list(oracle(smt.ListStream(lambda: iter(lists), "x"), refs, host.metric("ter")))
    assert worst[0].ranks == [1]


def test_a_file_is_no_folder(host: Host, tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(UsageError, match="expected a folder to write to, found a file"):
        host.rerank(EXAMPLE / "dev.nbest", [EXAMPLE / "dev.en"], EXAMPLE / "test.nbest", output=tmp_path / "out")
