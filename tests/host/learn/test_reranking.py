"""Reranking from Python equals its single steps, for any form of lists."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtformats import Candidates
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.files.joining import Joined, texts_of
from smtplugins.host.host import Host
from smtplugins.host.judge.evaluation import Evaluation, Score
from smtplugins.host.learn.reranking import Reranked, oracle

TOYS = Path(__file__).parents[1] / "toy_learners.py"
EXAMPLE = Path(__file__).resolve().parents[3] / "examples/rerank-marian"
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
    assert [nbest.totals for nbest in done.lists] == [nbest.totals for nbest in rescored]
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
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["best.txt", "rescored.nbest", "weights"]


def test_features_that_learning_did_not_see(host: Host) -> None:
    dev = [Candidates(str(k), ["a b", "b a"], [("f",)] * 2, [[1.0], [2.0]], [0.0, 0.0]) for k in range(2)]
    test = [Candidates("0", ["a b", "b a"], [("f", "g")] * 2, [[1.0, 0.0], [2.0, 0.0]], [0.0, 0.0])]
    metric = "bleu,tokenize=none,max_ngram_order=2"
    with pytest.raises(SmtError, match="feature 'g' has no weight; missing=0 counts such features as 0"):
        host.rerank(dev, [["b a"] * 2], test, [["b a"]], learner=LEARNER, metric=metric)
    done = host.rerank(dev, [["b a"] * 2], test, [["b a"]], learner=LEARNER, metric=metric, missing=0.0, samples=10)
    assert done.best() == ["b a"]


def test_the_oracle_is_the_first_of_the_best(host: Host) -> None:
    lists = [Candidates("1", ["x", "a b c d", "a b c d", "a b"], [()] * 4, [[]] * 4)]
    refs = Joined([texts_of(["?", "a b c d"])])
    best = list(oracle(smt.ListStream(lambda: iter(lists), "x"), refs, host.metric(BLEU)))
    assert best[0].texts == ["a b c d"]
    assert best[0].ranks == [1]
    worst = list(oracle(smt.ListStream(lambda: iter(lists), "x"), refs, host.metric("ter")))
    assert worst[0].ranks == [1]


def test_a_file_is_no_folder(host: Host, tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(UsageError, match="expected a folder to write to, found a file"):
        host.rerank(EXAMPLE / "dev.nbest", [EXAMPLE / "dev.en"], EXAMPLE / "test.nbest", output=tmp_path / "out")


def crossed(count: int, good: float) -> tuple[list[Candidates], list[str]]:
    """Lists of two hypotheses, the first of which is the reference; it has ``good`` of a feature, the other has 1."""
    texts = [f"a{k} b{k} c{k} d{k} e{k}" for k in range(count)]
    lists = [
        Candidates(str(k), [text, f"x {text} y z"], [("f",)] * 2, [[good], [1.0]], [1.0, 0.0])
        for k, text in enumerate(texts)
    ]
    return lists, texts


class TestWarnings:
    """Weights that make things worse are given back with plain words."""

    def rerank(self, host: Host, dev: float, test: float, metric: str = BLEU, **options: Any) -> Reranked:
        (dev_lists, dev_refs), (test_lists, test_refs) = crossed(20, dev), crossed(20, test)
        start = {"f": 1.0}
        refs = [test_refs] if options.pop("judge", True) else []
        return host.rerank(
            dev_lists, [dev_refs], test_lists, refs, learner="toy-perceptron", metric=metric, start=start, **options
        )

    def verdicts(self, done: Reranked) -> list[str]:
        rows = [row for row in done.rows() if row["system"] == "result"]
        assert all(row["verdict"] is None for row in done.rows() if row["system"] != "result")
        return [row["verdict"] for row in rows]

    @pytest.mark.parametrize("metric", [BLEU, "ter"])
    def test_worse(self, host: Host, metric: str) -> None:
        done = self.rerank(host, 2.0, 0.0, metric)
        assert self.verdicts(done) == ["equal", "worse"]
        (line,) = done.warnings()
        name, before, after = ("BLEU", "100.00", "") if metric == BLEU else ("TER", "0.00", "60.00")
        assert line.startswith(f"the sorted lists are WORSE: test {name} went from {before} to {after}")
        assert "(p = 0.0" in line
        assert "Keep the original lists; try more sentences" in line

    def test_worse_but_not_tested(self, host: Host) -> None:
        done = self.rerank(host, 2.0, 0.0, samples=0)
        assert self.verdicts(done) == ["equal", "worse"]
        assert "(not tested: samples=N)" in done.warnings()[0]

    def test_no_difference_that_could_not_be_chance(self, host: Host) -> None:
        done = self.rerank(host, 2.0, 2.0)
        row = Score("result", "BLEU", 98.0, "BLEU", p=0.4)
        done = replace(done, test=Evaluation((replace(row, system="baseline", score=99.0, p=None), row)))
        assert self.verdicts(done) == ["equal", "no significant difference"]
        assert done.warnings() == ["no gain: test BLEU went from 99.00 to 98.00 (p = 0.4, no significant difference)"]

    def test_worse_on_what_was_learnt_from(self, host: Host) -> None:
        done = self.rerank(host, 2.0, 2.0, judge=False)
        row = Score("result", "BLEU", 98.0, "BLEU|in-sample")
        done = replace(done, dev=Evaluation((replace(row, system="baseline", score=99.0), row)))
        assert self.verdicts(done) == ["worse"]
        assert done.warnings()[0].startswith(
            "no gain on the tuning data: dev BLEU went from 99.00 to 98.00 (not tested: samples=N); try"
        )

    def test_none_for_a_gain(self, host: Host) -> None:
        lists = EXAMPLE / "dev.nbest", EXAMPLE / "test.nbest"
        done = host.rerank(
            lists[0], [EXAMPLE / "dev.en"], lists[1], [EXAMPLE / "test.en"], learner=LEARNER, metric=BLEU, samples=100
        )
        assert (self.verdicts(done), done.warnings()) == (["better", "better"], [])
        # What was learnt from has neither intervals nor tests.
        tested = [(row["set"], row["system"]) for row in done.rows() if row["p"] is not None or row["tests"]]
        assert tested == [("test", "result")]


@pytest.mark.parametrize("there", [False, True])
def test_a_failure_leaves_nothing(host: Host, tmp_path: Path, there: bool) -> None:
    output = tmp_path / "a/out"
    if there:
        output.mkdir(parents=True)
    lists = EXAMPLE / "dev.nbest", EXAMPLE / "test.nbest"
    options: dict[str, Any] = {"learner": LEARNER, "metric": BLEU, "output": output, "samples": 10}
    for refs, more, error in (
        ([tmp_path / "no"], {}, FileNotFoundError),
        ([["a"] * 1000], {}, SmtError),
        ([EXAMPLE / "test.en"], {"to_format": "no-such-format"}, UsageError),
        ([EXAMPLE / "test.en"], {"to_format": "fairseq"}, SmtError),
        ([EXAMPLE / "test.en"], {"samples": -1}, UsageError),
    ):
        with pytest.raises(error):
            host.rerank(lists[0], [EXAMPLE / "dev.en"], lists[1], refs, **{**options, **more})
        assert output.exists() == there
        assert (tmp_path / "a").exists() == there
    host.rerank(lists[0], [EXAMPLE / "dev.en"], lists[1], [EXAMPLE / "test.en"], **options)
    assert (output / "best.txt").exists()
