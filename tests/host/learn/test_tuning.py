"""Learning from lists: several seeds, combined runs, useless weights."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smtplugins as smt
from smtformats import Candidates
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.features.weighing import Weigher
from smtplugins.host.host import Host
from smtplugins.host.learn.tuning import Run, Tuned, combine_runs, plan_of
from smtplugins.host.runs import RunDirectory
from tests.host.teaching import BLEU, REFS, lists, teaching_host, write


@pytest.fixture(scope="module")
def host() -> Host:
    return teaching_host()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ref").write_text("".join(f"{ref}\n" for ref in REFS))


class TestLists:
    def test_weights_are_learnt_and_judged(self, host: Host) -> None:
        done = host.tune(lists(), [REFS], learner="toy-perceptron", metric=BLEU, seed=3)
        assert isinstance(done, Tuned)
        assert dict(done)["good"] > 0
        assert done.score == pytest.approx(100)
        assert smt.rescore(lists(), done).best() == REFS
        assert len(done.runs[0].steps) == 4
        assert done.signature.startswith("BLEU|nrefs:1|")
        assert done.signature.endswith("|in-sample")
        judged = host.evaluate([REFS], {"x": smt.rescore(lists(), done)}, [BLEU]).scores[0]
        assert judged.score == done.score
        assert judged.signature + "|in-sample" == done.signature

    def test_same_seed_same_bytes_for_any_number_of_jobs(self, host: Host) -> None:
        results = [
            host.tune(lists(), [REFS], learner="toy-perceptron", metric=BLEU, runs=3, jobs=jobs)
            for jobs in (1, 1, 2, 4)
        ]
        assert all(dict(result) == dict(results[0]) and result.runs == results[0].runs for result in results)

    def test_several_references_and_files(self, host: Host) -> None:
        first = [nbest.select(list(range(3))) for nbest in lists()]
        second = [nbest.select(list(range(2, len(nbest)))) for nbest in lists()]
        write("a", first)
        write("b.gz", second)
        joined = host.tune(["a", "b.gz"], [REFS, ["z"] * 5], learner="toy-perceptron", metric=BLEU, start={"good": 0.1})
        whole = host.tune(lists(), [REFS, ["z"] * 5], learner="toy-perceptron", metric=BLEU, start={"good": 0.1})
        assert dict(joined) == dict(whole)
        assert "nrefs:2" in joined.signature

    def test_start_is_what_explains_the_totals(self, host: Host) -> None:
        truth = {"good": -0.75, "noise": 0.25}
        weigher = Weigher(truth)
        given = [nbest.with_totals(weigher.totals(nbest)) for nbest in lists()]
        done = host.tune(given, [REFS], learner="given,value=2", metric=BLEU)
        assert done.begun == host.tune(lists(), [REFS], learner="given", metric=BLEU, start=truth).begun
        assert dict(done) == pytest.approx({"good": 2, "noise": 0.25}, abs=1e-6)

    def test_weights_stay_where_they_are_told_to(self, host: Host) -> None:
        done = host.tune(
            lists(), [REFS], learner="given,fixed=noise", metric=BLEU, start={"noise": 0.5, "other": 3.0, "good": 1.0}
        )
        assert dict(done) == {"good": 1.0, "noise": 0.5, "other": 3.0}
        assert plan_of(host, "given,fixed=a", ["b", "c"]).learner.options == {"fixed": "a b c"}
        with pytest.raises(
            UsageError, match="learner 'toy-perceptron' cannot keep weights fixed: it has no option `fixed`"
        ):
            host.tune(lists(), [REFS], learner="toy-perceptron", keep=["good"])

    def test_runs_are_an_option_of_any_learner(self, host: Host) -> None:
        assert len(host.tune(lists(), [REFS], learner={"name": "given", "runs": 3}, metric=BLEU).runs) == 3
        assert len(host.tune(lists(), [REFS], learner="given,runs=2", runs=1, metric=BLEU).runs) == 1
        for spec, message in (
            ("given,runs=x", "runs: expected a whole number, found 'x'"),
            ("given,runs=0", "1 or more"),
        ):
            with pytest.raises(UsageError, match=message):
                host.tune(lists(), [REFS], learner=spec, metric=BLEU)

    def test_a_worse_result_is_told(self, host: Host) -> None:
        notes: list[str] = []
        host.tune(lists(), [REFS], learner="given,value=-1", metric=BLEU, start={"good": 1.0}, note=notes.append)
        assert notes[0].startswith("the start weights score better on the training data (100)")


class TestConstantFeatures:
    """A feature with one value in all hypotheses of a list cannot be learnt from it."""

    START = {"good": 0.1, "noise": 0.3}  # noqa: RUF012

    @staticmethod
    def constant(**features: float) -> list[Candidates]:
        """The lists with features that have these values plus the number of the list."""
        return [
            Candidates(
                nbest.id,
                nbest.texts,
                [(*layout, *features) for layout in nbest.layouts],
                [[*row, *(value + k for value in features.values())] for row in nbest.values],
            )
            for k, nbest in enumerate(lists())
        ]

    @pytest.mark.parametrize("runs", [1, 2])
    @pytest.mark.parametrize(
        "learner", ["mert", "mert,restarts=0", "mira", "pro", "perceptron", "minrisk", "given,name=always"]
    )
    def test_its_weight_is_kept_and_it_is_named(self, host: Host, learner: str, runs: int) -> None:
        given, notes = self.constant(always=1 / 3), list[str]()
        options: dict[str, Any] = {"learner": learner, "metric": BLEU, "runs": runs}
        done = host.tune(given, [REFS], start={**self.START, "always": 0.7}, note=notes.append, **options)
        assert done["always"] == 0.7
        told = [note for note in notes if not note.endswith("seeds make no difference here")]
        assert told == ["feature 'always' is the same in all hypotheses of each list: its weight is kept"]
        without = host.tune(given, [REFS], start=self.START, **options)
        assert without.get("always", 0.0) == 0.0
        assert all(run.weights.get("always", 0.0) == 0.0 for run in without.runs)
        assert (done.begun, done.score) == (without.begun, done.runs[0].score)

    @pytest.mark.parametrize("learner", ["mert", "mira", "pro", "minrisk", "perceptron"])
    @pytest.mark.parametrize("pattern", ["always", "al*"])
    def test_bounds_hold_for_them(self, host: Host, learner: str, pattern: str) -> None:
        start = {"always": 0.0, "good": 0.1}
        chosen = f"{learner},bounds={pattern}=1:2"
        done = host.tune(self.constant(always=1.0), [REFS], learner=chosen, metric=BLEU, start=start)
        assert 1 <= done["always"] <= 2

    def test_a_few_are_named(self, host: Host) -> None:
        notes: list[str] = []
        names = {f"c{k}": k / 7 for k in range(7)}
        done = host.tune(self.constant(**names), [REFS], learner="mert", metric=BLEU, note=notes.append)
        assert notes == [
            "features 'c0', 'c1', 'c2', 'c3', 'c4' and 2 more are the same in all hypotheses of each list: their "
            "weights are kept"
        ]
        assert dict(done).keys() == {"good", "noise", *names}

    def test_one_that_differs_in_a_list_is_learnt(self, host: Host) -> None:
        notes: list[str] = []
        given = self.constant(often=1.0)
        given[0].values[0][-1] = 0.5
        host.tune(given, [REFS], learner="mert", metric=BLEU, note=notes.append)
        assert notes == []

    def test_its_weight_hides_no_failure(self, host: Host) -> None:
        """Learning that ends without any other weight fails as it does without the feature."""
        with pytest.raises(SmtError, match="learning ended with all weights 0"):
            host.tune(
                self.constant(always=1.0), [REFS], learner="given,value=0", metric=BLEU, start={"always": 1, "good": 0}
            )

    def test_resumed_runs_end_in_the_same_bytes(self, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
        def learn(folder: str) -> None:
            start = {**self.START, "always": 0.7}
            host.tune(self.constant(always=1 / 3), [REFS], learner="pro", metric=BLEU, start=start, folder=folder)

        def save_two(run: RunDirectory, count: int, step: Any) -> None:
            if count > 2:
                raise InterruptedError
            save(run, count, step)

        learn("whole")
        save = RunDirectory.save_step
        with monkeypatch.context() as patch:
            patch.setattr(RunDirectory, "save_step", save_two)
            with pytest.raises(InterruptedError):
                learn("part")
        learn("part")
        trees = [{path.relative_to(name): path.read_bytes() for path in Path(name).rglob("*") if path.is_file()}
                 for name in ("whole", "part")]  # fmt: skip
        assert trees[0] == trees[1]


class TestRuns:
    def test_average_and_deviation(self, host: Host) -> None:
        done = host.tune(lists(), [REFS], learner="given,by_seed=1", metric=BLEU, runs=3, seed=5)
        assert [run.seed for run in done.runs] == [5, 6, 7]
        assert done["good"] == pytest.approx(7)
        assert done.chosen == "average of 3 runs"
        assert done.spread() == pytest.approx((100, 0))
        assert [row["weights"] for row in done.results()] == [
            "run 1 (seed 5)", "run 2 (seed 6)", "run 3 (seed 7)", "result (average of 3 runs)"
        ]  # fmt: skip

    def test_an_average_worse_than_each_run_is_told(self, host: Host) -> None:
        # Each feature finds what is right in one of the lists, and both together in none.
        rows = [[2.0, -3.0], [0.0, 0.0], [-3.0, 2.0]]
        given = [Candidates("0", ["a b", "q r", "s t"], [("f", "g")] * 3, rows)]
        given += [Candidates("1", ["s t", "q r", "x y"], [("f", "g")] * 3, rows)]
        made = [Run(k, (), weights, 0.0) for k, weights in enumerate(({"f": 1.0}, {"g": 1.0}))]
        assert combine_runs(made, "average", True)[0] == {"f": 0.5, "g": 0.5}
        notes: list[str] = []
        for combine in ("average", "best"):
            host.tune(
                given, [["a b", "x y"]], learner="turning", metric=f"{BLEU},max_ngram_order=2", runs=2,
                combine=combine, note=notes.append,
            )  # fmt: skip
        assert notes == ["the average scores worse (0) than every run, as they ended far apart: try combine='best'"]

    def test_best(self) -> None:
        runs = [Run(k, (), {"a": float(k)}, score) for k, score in enumerate((1.0, 3.0, 3.0, 2.0))]
        assert combine_runs(runs, "best", True) == ({"a": 1.0}, "best of 4 runs, seed 1")
        assert combine_runs(runs, "best", False)[0] == {"a": 0.0}
        assert combine_runs(runs, "average", True)[0] == {"a": 1.5}
        assert combine_runs(runs[:1], "best", True) == ({"a": 0.0}, "one run")

    def test_spread_is_that_of_a_sample(self) -> None:
        runs = tuple(Run(k, (), {}, score) for k, score in enumerate((1.0, 2.0, 4.0)))
        mean, deviation = Tuned({}, runs, "x", 0, 0, "", "").spread()
        assert (mean, deviation) == (pytest.approx(7 / 3), pytest.approx(np.std([1, 2, 4], ddof=1)))


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (
            "given,value=nan",
            "the learnt weights: expected finite numbers, found nan for good: scale these features",
        ),
        ("given,value=inf", "expected finite numbers, found inf"),
        ("given,value=0", "learning ended with all weights 0: the features do not tell"),
        ("given,name=strange", "learning ended with all weights 0"),
        ("given,steps=0", "the learner took no step"),
    ],
)
def test_degenerate_results(host: Host, learner: str, message: str) -> None:
    with pytest.raises(SmtError, match=message):
        host.tune(lists(), [REFS], learner=learner, metric=BLEU)


def test_wrong_calls(host: Host) -> None:
    for arguments, message in (
        ({"learner": "toy-stumps"}, "learner 'toy-stumps' learns from rows, not from lists"),
        ({"seed": -1}, "seed: expected a whole number from 0 on"),
        ({"combine": "x"}, "combine: expected average or best"),
        ({"start": {"good": math.inf}}, "the start weights: expected finite numbers"),
        ({"start": {"gut": 1.0}}, "none of the 1 start weights names a feature"),
    ):
        with pytest.raises(SmtError, match=message):
            host.tune(lists(), [REFS], **{"learner": "given", "metric": BLEU, **arguments})


def test_steps_are_kept_and_gone_on_with(host: Host, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    first = host.tune(lists(), [REFS], learner="given,steps=2", metric=BLEU, folder=folder, runs=2)
    assert sorted(path.name for path in folder.iterdir()) == ["run-1", "run-2", "weights"]
    assert host.read_weights(folder / "weights") == dict(first)
    assert not (folder / "run-1/step-0001/state.npz").exists()
    longer = host.tune(lists(), [REFS], learner="given,steps=4,value=3", metric=BLEU, folder=folder, runs=2)
    assert [row.metrics["value"] for row in longer.runs[1].steps] == [1, 1, 3, 3]
    assert first.runs[0].steps == longer.runs[0].steps[:2]
    again = host.tune(lists(), [REFS], learner="given,steps=4,value=9", metric=BLEU, folder=folder, runs=2)
    assert again.runs == longer.runs
