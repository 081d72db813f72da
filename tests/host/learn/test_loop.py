"""Tuning a decoder: reasons to stop, files of a run, and a killed run ends in the same bytes."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtplugins import Offer
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import ForestProblem, LearnerState, LearnerStep, ListProblem
from smtplugins.contracts.models import Model
from smtplugins.core.graph.inference import kbest
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode import job
from smtplugins.host.host import Host
from smtplugins.host.learn import loop, tuning
from smtplugins.host.learn.loop import Ended, LoopPlan, tune_decoder
from smtplugins.host.learn.training_data import Material, union
from smtplugins.host.learn.trust_region import RADIUS, Way
from smtplugins.host.learn.tuning import plan_of
from smtplugins.host.runs import RunDirectory
from tests.host.killing import killed, moments, tree

EVENTS = ((job._Task, "decode"),)
TOYS = Path(__file__).parents[1] / "toy_learners.py"
EXAMPLE = Path(__file__).resolve().parents[3] / "examples/decode-hiero"


class Nudging:
    """Weights move towards the features of the derivation with most words of the reference among the best ones."""

    accepts = frozenset({ForestProblem})

    def learn(
        self, problem: ForestProblem, start: Model, *, resume: Any = None, seed: int = 1, runner: Any = None
    ) -> Iterator[LearnerStep]:
        weights = dict(start.weights)
        for number in range(0 if resume is None else resume.values["done"], 3):
            for graphs, reference in zip(problem.graphs, problem.references[0], strict=True):
                tops = [
                    (graph, derivation) for graph in graphs for derivation in kbest(graph.reweighted(weights), k=20)
                ]
                wanted = set(reference.split())
                graph, best = max(tops, key=lambda top: len(wanted & set(top[1].text.split())))
                for name, value in zip(graph.names[:], best.features(), strict=True):
                    weights[name] = weights.get(name, 0.0) + 0.01 * float(value)
                for name, value in zip(tops[0][0].names[:], tops[0][1].features(), strict=True):
                    weights[name] = weights.get(name, 0.0) - 0.01 * float(value)
            yield LearnerStep(Model(dict(weights)), float(number), {}, LearnerState({}, {"done": number + 1}))


class Reversing:
    """Weights turn round, all but one: what was best becomes bad."""

    accepts = frozenset({ListProblem, ForestProblem})

    def learn(
        self, problem: Any, start: Model, *, resume: Any = None, seed: int = 1, runner: Any = None
    ) -> Iterator[LearnerStep]:
        if resume is None:
            turned = {name: value if name == "LM" else -value for name, value in start.weights.items()}
            yield LearnerStep(Model(turned), 0.0, {}, LearnerState())


@pytest.fixture(scope="module")
def host() -> Host:
    made = smt.load_plugins([str(TOYS)])
    for name, make in (("nudging", Nudging), ("reversing", Reversing)):
        made.registry.add("learners", Offer(name=name, make=make, summary="for tests"), made.plugins[0])
    return made


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def run(
    host: Host,
    folder: str,
    learner: str = "toy-perceptron",
    *,
    resume: bool = False,
    config: tuple[str, ...] = (),
    jobs: int = 1,
    runs: int = 1,
    **options: Any,
) -> Ended:
    settings = load_config("run.yaml", ["references=ref.en", "metric={name: bleu, tokenize: none}", *config])
    plan = plan_of(host, learner, runs=runs, jobs=jobs)
    told: dict[str, Any] = {name: options.pop(name) for name in ("told", "note", "start") if name in options}
    chosen = LoopPlan(plan, **{"iterations": 3, "nbest": 10, **options})
    return tune_decoder(host, settings, chosen, Path(folder), resume=resume, cache="off", **told)


class TestLists:
    def test_a_run_says_why_it_stopped_and_what_it_found(self, host: Host) -> None:
        lines: list[str] = []
        done = run(host, "out", told=lines.append)
        assert done.score > done.iterations[0]["decoded"]
        assert "stopped: " in done.reason
        names = [f"iteration {n + 1} of 3" for n in range(3)] + ["after 3 iterations"]
        assert [line.split(":")[0] for line in lines] == names[: len(done.iterations)]
        best = done.iterations[0]["decoded"]
        for line, row in zip(lines[1:], done.iterations[1:], strict=True):
            assert f": BLEU {row['decoded']:.4g} ({row['decoded'] - best:+.3g} to the best so far), " in line
            best = max(best, row["decoded"])
        record = json.loads(Path("out/result.json").read_text())
        assert record["reason"] == done.reason
        gain = done.gain
        assert gain is not None
        assert (gain.before, gain.after) == (done.iterations[0]["decoded"], done.score)
        assert record["signature"].endswith("|in-sample")
        assert host.read_weights("out/weights") == dict(done)
        # The result is what the decoder really does with these weights.
        made = host.translator("run.yaml", weights=dict(done), cache="off")
        sources = Path("source.de").read_text().splitlines()
        texts = [decoding.best for decoding in made.decode(sources)]
        judged = host.evaluate(["ref.en"], {"x": texts}, ["bleu,tokenize=none"]).scores[0]
        assert judged.score == pytest.approx(done.score)
        # So does the comparison with the start weights.
        first = [decoding.best for decoding in host.translator("run.yaml", cache="off").decode(sources)]
        compared = host.evaluate(["ref.en"], {"first": first, "x": texts}, ["bleu,tokenize=none"], bootstrap=1000)
        assert gain.p == compared.scores[1].p

    def test_features_are_left_out_of_the_lists_of_all_iterations(self, host: Host) -> None:
        done = run(host, "out", iterations=2)
        given = [f"out/iteration-{k:04}/candidates.jsonl.gz" for k in range(1, len(done.iterations) + 1)]
        pooled = list(union([smt.read(path) for path in given]))
        references = Path("ref.en").read_text().splitlines()
        best = host.metric("bleu,tokenize=none")
        for row in done.left_out:
            texts = smt.rescore(pooled, {**done, row.feature: 0.0}).best()
            assert row.score == pytest.approx(float(best.score(best.stats(texts, [references]).sum(axis=0))))
        assert len(done.left_out) > 3
        assert run(host, "forests", "nudging", forests=True, iterations=1).left_out == ()

    def test_candidates_are_joined_over_iterations(self, host: Host) -> None:
        done = run(host, "out", epsilon=0.0, iterations=2)
        seen: set[Any] = set()
        for row in done.iterations:
            path = f"out/iteration-{row['iteration']:04d}/candidates.jsonl.gz"
            hypotheses = [
                (nbest.id, text, tuple(sorted(f.items()))) for nbest in smt.read(path) for text, f, _ in nbest.rows()
            ]
            new = set(hypotheses) - seen
            seen |= new
            assert (row["new"], row["candidates"]) == (len(new), len(seen))

    def test_it_ends_when_nothing_is_new(self, host: Host) -> None:
        done = run(host, "out", nbest=10000, iterations=30, epsilon=0.0)
        assert f"no translation in the lists is new in iteration {len(done.iterations)}" in done.reason
        assert done.iterations[-1]["new"] == 0

    def test_it_ends_when_weights_stay(self, host: Host) -> None:
        done = run(host, "out", "toy-perceptron,rate=0", iterations=5)
        assert "the weights converged in iteration" in done.reason or "is new in iteration" in done.reason
        first = run(host, "other", epsilon=10.0)
        assert "the weights converged in iteration 1 (they changed by" in first.reason
        assert len(first.iterations) == 1

    def test_best_or_last(self, host: Host) -> None:
        best, last = (run(host, choice, select=choice, iterations=2, epsilon=0.0) for choice in ("best", "last"))
        scores = [row["decoded"] for row in best.iterations]
        assert [row["decoded"] for row in last.iterations] == scores
        assert best.score == max(scores)
        assert last.score == scores[-1]
        model, _ = RunDirectory(Path("last")).step(len(scores) - 1)
        assert dict(model.weights) == dict(last)

    def test_jobs_and_runs_change_no_byte(self, host: Host) -> None:
        for name, jobs in (("one", 1), ("two", 2)):
            run(host, name, jobs=jobs, runs=2, iterations=2)
        assert tree("one") == tree("two")
        assert any(name.startswith("iteration-0001/run-2/step-") for name in tree("one"))

    def test_more_iterations_go_on_where_a_run_ended(self, host: Host) -> None:
        run(host, "out", iterations=1, epsilon=0.0)
        before = tree("out")
        longer = run(host, "out", iterations=3, epsilon=0.0, resume=True)
        run(host, "whole", iterations=3, epsilon=0.0)
        assert tree("out") == tree("whole")
        assert before.keys() < tree("out").keys()
        assert len(longer.iterations) > 2


def test_forests(host: Host) -> None:
    assert loop.takes_forests_only(host, plan_of(host, "nudging").learner)
    done = run(host, "out", "nudging", forests=True, iterations=2, epsilon=0.0)
    assert done.score >= done.iterations[0]["decoded"]
    assert done.iterations[0]["new"] == 9
    assert (Path("out") / "iteration-0001/forests/0.npz").exists()
    run(host, "two", "nudging", forests=True, iterations=2, epsilon=0.0, jobs=2)
    assert tree("out") == tree("two")
    still = run(host, "same", "nudging", forests=True, iterations=9, epsilon=0.0, config=("seed=2",))
    assert still.reason


class TestFolds:
    def test_a_step_is_judged_by_sentences_it_was_not_learnt_from(self, host: Host) -> None:
        """The first step, made again from the lists and the weights learnt without each fold."""
        done = run(host, "out", folds=3, iterations=1, reach=0.0)
        first, start = done.iterations[0], host.read_weights("weights")
        lists = list(smt.read("out/iteration-0001/candidates.jsonl.gz"))
        references = Path("ref.en").read_text().splitlines()
        metric = host.metric("bleu,tokenize=none")

        def problem(kept: Sequence[int]) -> Material:
            texts = [[references[k]] * len(lists[k]) for k in kept]
            stats = [metric.stats(lists[k].texts, [text]) for k, text in zip(kept, texts, strict=True)]
            return Material(ListProblem([lists[k] for k in kept], stats, metric), metric.signature)

        plan, learnt = plan_of(host, "toy-perceptron"), []
        for fold in range(3):
            learnt.append(tuning.tune(host, problem([k for k in range(9) if k // 3 != fold]), plan, start).weights)
            model = RunDirectory(Path(f"out/iteration-0001/fold-{fold + 1}/run-1")).last_step()
            assert model is not None
            assert model[1].weights == pytest.approx(learnt[-1])
        ways = [Way(start, weights, problem(range(9)).scales) for weights in learnt]
        scores = []
        for eighths in range(9):
            points = [way.weights(eighths / 8) for way in ways]
            texts = [smt.rescore([lists[k]], points[k // 3]).best()[0] for k in range(9)]
            scores.append(float(metric.score(metric.stats(texts, [references]).sum(axis=0))))
        assert (first["before"], first["learnt"]) == pytest.approx((scores[0], scores[8]))
        assert first["expected"] == pytest.approx(max(scores))
        taken = [way.weights(first["share"]) for way in ways]
        step, _ = RunDirectory(Path("out")).step(1)
        mean = {name: sum(weights[name] for weights in taken) / 3 for name in taken[0]}
        assert Way(start, mean, problem(range(9)).scales).weights(1.0) == pytest.approx(step.weights)

    def test_it_ends_when_sentences_left_out_support_no_step(self, host: Host) -> None:
        for forests in (False, True):
            folder = f"out-{forests}"
            done = run(host, folder, "reversing", folds=3, iterations=5, forests=forests, reach=0.0)
            assert "in iteration 1, no step scored better on the sentences it was not learnt from" in done.reason
            assert dict(done) == host.read_weights("weights")
            assert done.iterations[0]["learnt"] < done.iterations[0]["before"]

    def test_a_loop_that_sentences_left_out_end_did_not_collapse(
        self, host: Host, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A first step that falls far, then none that is supported: the result are the start weights."""
        share = loop.Loop._share

        def once(self: loop.Loop, course: Any, way: Any) -> tuple[float, float]:
            return (1.0, way.score(1.0)) if len(course.tried) == 1 else share(self, course, way)

        monkeypatch.setattr(loop.Loop, "_share", once)
        done = run(host, "out", "reversing", folds=3, iterations=5, reach=0.0, select="last")
        assert done.iterations[1]["decoded"] < 10
        assert "no step scored better" in done.reason
        assert done.score == done.iterations[-1]["decoded"]
        best = run(host, "best", "reversing", folds=3, iterations=5, reach=0.0)
        assert dict(best) == host.read_weights("weights")
        assert "No gain: " in best.reason

    def test_parts_follow_from_the_sentences(self, host: Host) -> None:
        plan = LoopPlan(plan_of(host, "mert"))
        assert [plan.parts(count) for count in (49, 50, 1000)] == [0, 5, 5]
        assert replace(plan, forests=True).parts(50) == 0
        assert [replace(plan, folds=folds).parts(50) for folds in (0, 2, 50)] == [0, 2, 50]
        for folds in (1, -2):
            with pytest.raises(UsageError, match=f"folds: expected 2 or more, or 0 for none, found {folds}"):
                replace(plan, folds=folds)
        with pytest.raises(UsageError, match="folds: expected at most 9, the number of sentences, found 10"):
            run(host, "out", folds=10)

    def test_jobs_change_no_byte(self, host: Host) -> None:
        for name, jobs in (("one", 1), ("two", 2)):
            run(host, name, folds=2, jobs=jobs)
        assert tree("one") == tree("two")


class TestStarts:
    def test_without_weights_a_run_begins_with_those_of_features_and_tables(self, host: Host) -> None:
        notes: list[str] = []
        ended = run(host, "out", "mert,restarts=5", config=("model.weights=null",), iterations=1, note=notes.append)
        assert notes[0] == (
            "no start weights: learning begins with those of the features and tables: EgivenF 0.2, FgivenE 0.2, "
            "LM 0.5, WordPenalty -1, Glue 0, PassThrough -5"
        )
        manifest = json.loads(Path("out/manifest.json").read_text())["options"]
        assert manifest["start_from"] == "features and tables"
        assert manifest["start"]["WordPenalty"] == -1
        assert ended.keys() >= manifest["start"].keys()

    def test_a_run_with_more_features_begins_with_the_weights_of_another(self, host: Host) -> None:
        before = run(host, "out", iterations=1)
        more = Path("run.yaml").read_text().replace("glue,name=Glue", "glue,name=Glue\n    - phrase-penalty,name=PP")
        Path("run.yaml").write_text(more)
        with pytest.raises(UsageError, match=r"options differ .*: config\. A new run .* begin with this one's weights"):
            run(host, "out", iterations=1, resume=True)
        start = host.read_weights("out")
        assert start == dict(before)
        notes: list[str] = []
        after = run(host, "more", "mert,restarts=5", start=start, note=notes.append)
        assert "features without a weight start at 0: PP" in notes
        assert len(set(notes)) == len(notes)
        assert after.iterations[0]["decoded"] == before.score
        assert after["PP"]
        Path("empty").mkdir()
        with pytest.raises(UsageError, match="empty/weights: expected the weights of a run that has ended"):
            host.read_weights("empty")

    def test_from_weights_that_decode_badly_there_is_no_limit(self, host: Host) -> None:
        Path("wrong").write_text("".join(f"{name} {-value}\n" for name, value in host.read_weights("weights").items()))
        done = run(host, "out", "mert,restarts=5", nbest=50, iterations=6, config=("model.weights=wrong",))
        assert done.iterations[0]["decoded"] < 10
        assert done.iterations[0]["distance"] > 2 * RADIUS
        assert done.score > 60

    def test_a_weight_that_outweighs_all_others_is_refused(self, host: Host) -> None:
        start = {**host.read_weights("weights"), "LM": 900.0}
        with pytest.raises(SmtError, match=r"start weight 900 of 'LM' outweighs all .* \(keep LM\)") as error:
            run(host, "out", start=start, iterations=1)
        lists = smt.read("out/iteration-0001/candidates.jsonl.gz")
        table = [{name: abs(value) for name, value in row.items()} for nbest in lists for _, row, _ in nbest.rows()]
        sums = {name: start[name] * sum(row.get(name, 0.0) for row in table) for name in start}
        others = sum(abs(value) for name, value in sums.items() if name != "LM")
        assert f"at {900 * others / sums['LM']:.4g}, it counts as much" in str(error.value)
        # A weight that is fixed is meant; here it leaves nothing to learn.
        with pytest.raises(SmtError, match="BLEU scores all hypotheses of each list the same"):
            run(host, "kept", "mert,fixed=LM", start=start, iterations=1)

    def test_bounds_hold_from_the_start(self, host: Host) -> None:
        notes: list[str] = []
        options: dict[str, Any] = {"folds": 3, "iterations": 2, "note": notes.append}
        done = run(host, "out", "mert,bounds=LM=1:2 P*=-3: *given*=:0.5", **options)
        assert 1 <= done["LM"] <= 2
        assert done["PassThrough"] >= -3
        assert max(done["EgivenF"], done["FgivenE"]) <= 0.5
        assert "the start weight 0.9 of 'LM' is out of bounds: 1 in its place" in notes
        assert not any("FgivenE" in note for note in notes)

    def test_a_score_of_nearly_nothing_is_no_result(self, host: Host) -> None:
        lines = Path("ref.en").read_text().splitlines()
        Path("ref.en").write_text("".join(f"{line.split()[0]} of quite another text, and longer\n" for line in lines))
        with pytest.raises(SmtError, match=r"expected BLEU to rise well above that of empty output, 0, found .*start"):
            run(host, "out", iterations=1)
        assert not Path("out/weights").exists()
        assert "weights that iteration" in json.loads(Path("out/result.json").read_text())["reason"]


class TestFalls:
    """Learnt weights that decode badly: without a limit mert's scores are 60, 83, 44, minrisk's 60, 2, .."""

    @pytest.mark.parametrize(
        ("learner", "nbest"),
        [
            ("mert,restarts=8", 5),
            ("mert,restarts=8", 20),
            ("minrisk", 5),
            ("minrisk", 20),
            ("mira,epochs=5", 20),
            ("pro", 20),
        ],
    )
    def test_no_iteration_is_far_below_the_start(self, host: Host, learner: str, nbest: int) -> None:
        done = run(host, "out", learner, nbest=nbest, iterations=4)
        scores = [row["decoded"] for row in done.iterations]
        # One of the nine sentences may get worse.
        assert min(scores) > scores[0] - 3
        assert done.score > scores[0] + 3
        for row in done.iterations[:-1]:
            assert row["distance"] <= row["radius"] + 1e-6

    def test_after_a_fall_it_goes_back_with_smaller_steps(self, host: Host) -> None:
        lines: list[str] = []
        done = run(host, "out", "reversing", reach=0.0, iterations=3, told=lines.append)
        assert "far below the best (60.05), returning to its weights" in lines[1]
        first, second, third = done.iterations
        assert second["decoded"] < 10
        assert second["radius"] == pytest.approx(first["distance"] / 2)
        assert third["decoded"] == first["decoded"] == done.score
        # Its lists are learnt from, too.
        assert third["candidates"] > second["candidates"] > first["candidates"]

    def test_a_loop_that_collapsed_writes_no_weights(self, host: Host) -> None:
        for resume in (False, True):
            with pytest.raises(SmtError, match=r"the loop collapsed: .* BLEU to rise, found 60.05, 2\.293. .*reach"):
                run(host, "out", "reversing", reach=0.0, iterations=1, resume=resume)
            record = json.loads(Path("out/result.json").read_text())
            assert "No gain: no weights decoded better than the start weights" in record["reason"]
            assert not Path("out/weights").exists()

    def test_a_resumed_loop_that_collapsed_leaves_no_weights(self, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its folder is that of a loop that collapsed at once, without the weights of the shorter run."""
        decode = loop.Loop._decode

        def end_below(self: loop.Loop, number: int, weights: Any) -> tuple[float, int, int]:
            score, *rest = decode(self, number, weights)
            return (score * (0.1 if number == 3 else 1.0), *rest)

        monkeypatch.setattr(loop.Loop, "_decode", end_below)
        options: dict[str, Any] = {"reach": 0.01, "epsilon": 0.0, "nbest": 5}
        run(host, "out", "reversing", iterations=1, **options)
        assert Path("out/weights").exists()
        for folder in ("out", "whole"):
            with pytest.raises(SmtError, match=r"the loop collapsed: .* No weights are written"):
                run(host, folder, "reversing", iterations=2, resume=True, **options)
        assert not Path("out/weights").exists()
        assert tree("out") == tree("whole")

    def test_the_last_line_says_that_nothing_was_gained(self, host: Host) -> None:
        done = run(host, "out", "reversing", reach=0.01, iterations=1)
        assert "No gain: " in done.reason
        assert done.iterations[0]["distance"] <= 0.01 + 1e-9


class TestRefused:
    def test_what_is_needed(self, host: Host) -> None:
        for change, message in (
            ("references=[]", "learning needs references in the configuration"),
            ("source=null", "learning needs a source in the configuration"),
        ):
            with pytest.raises(UsageError, match=message):
                run(host, "out", config=(change,))
        with pytest.raises(UsageError, match=r"expected nonzero start weights \(start, or model.weights"):
            run(host, "out", start={"LM": 0.0})
        for options, message in (
            ({"iterations": 0}, "iterations: expected 1 or more, found 0"),
            ({"nbest": 1}, "nbest: expected 2 or more to learn from, found 1"),
            ({"epsilon": -1.0}, "epsilon: expected 0 or more"),
            ({"select": "x"}, "select: expected best or last"),
            ({"reach": -1.0}, "reach: expected 0 or more, found -1"),
        ):
            with pytest.raises(UsageError, match=message):
                run(host, "out", **options)

    def test_references_that_do_not_fit(self, host: Host) -> None:
        Path("ref.en").write_text("a\n" * 8)
        with pytest.raises(SmtError, match=r"line numbers of .*ref.en as sentence ids \(0 to 7\), found 8"):
            run(host, "out")
        Path("ref.en").write_text("a\n" * 10)
        with pytest.raises(SmtError, match=r"expected as many sentences as .*ref.en has lines, 10, found 9"):
            run(host, "other")

    def test_degenerate_weights_end_it(self, host: Host) -> None:
        with pytest.raises(SmtError, match="the learnt weights: expected finite numbers, found nan for EgivenF"):
            run(host, "out", "toy-perceptron,rate=nan")
        assert not Path("out/weights").exists()

    def test_another_run_is_not_gone_on_with(self, host: Host) -> None:
        run(host, "out", iterations=1)
        with pytest.raises(UsageError, match="already contains a run; resume it"):
            run(host, "out", iterations=1)
        with pytest.raises(UsageError, match="cannot resume, options differ"):
            run(host, "out", "toy-perceptron,rate=0.2", resume=True)
        Path("source.de").write_text(Path("source.de").read_text().replace("alte", "neue"))
        with pytest.raises(UsageError, match="cannot resume, inputs differ"):
            run(host, "out", resume=True)

    def test_sentences_without_a_translation_count_as_empty(self, host: Host) -> None:
        config = ("decoder.pass_through=none",)
        Path("source.de").write_text(Path("source.de").read_text().replace("petersen", "unknown"))
        notes: list[str] = []
        done = run(host, "out", config=config, iterations=1, note=notes.append)
        assert notes[0] == "iteration 1: 1 sentences have no translation and count as empty"
        assert done.iterations[0]["candidates"] > 0
        Path("source.de").write_text("x\n" * 9)
        with pytest.raises(SmtError, match="no sentence has a translation"):
            run(host, "other", config=config)


@pytest.mark.parametrize("forests", [False, True])
def test_a_killed_run_ends_in_the_same_bytes(host: Host, forests: bool) -> None:
    learner = "nudging" if forests else "toy-perceptron,epochs=2"
    options: dict[str, Any] = {"iterations": 2, "epsilon": 0.0, "forests": forests, "nbest": 5}
    options |= {"runs": 2} if forests else {"folds": 2}
    # Nothing that happens in a run happens only with more sentences.
    for name in ("source.de", "ref.en"):
        Path(name).write_text("".join(Path(name).read_text().splitlines(keepends=True)[:3]))

    def go(folder: str, resume: bool) -> Callable[[], Ended]:
        return lambda: run(host, folder, learner, resume=resume, **options)

    go("here", False)()  # imports what each child would import again
    events = killed(go("whole", False), -1, EVENTS)
    wanted = tree("whole")
    assert events > 40
    # A prime, so that all kinds of events are met.
    for at in moments(events, 31 if forests else 11):
        folder = f"killed-{at}"
        assert killed(go(folder, True), at, EVENTS) == at
        assert not (Path(folder) / "result.json").exists() or at > events - 3
        # Killed once more on the way, then left alone.
        killed(go(folder, True), 7, EVENTS)
        go(folder, True)()
        files = tree(folder)
        assert files.keys() == wanted.keys(), at
        assert files == wanted, at


def test_lists_are_kept_as_json_lines(host: Host) -> None:
    run(host, "out", iterations=1)
    with gzip.open("out/iteration-0001/candidates.jsonl.gz", "rt") as lines:
        assert json.loads(next(lines))["id"] == 0
