"""Training: risk and gradient against enumeration, better picks of held-out sentences, kill and resume, any ``-j``."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtplugins.cli.main import main
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import ForestProblem
from smtplugins.contracts.models import Model
from smtplugins.contracts.spec import Spec
from smtplugins.core.graph.inference import kbest
from smtplugins.core.learn.minimising import Objective
from smtplugins.host import runs
from smtplugins.host.host import Host
from smtplugins.host.learn import loop
from smtplugins.plugins.cdlm.sets.confusing import ConfusionSetting, confusion_sets, read_text
from smtplugins.plugins.cdlm.training.rounds import RUN, Training, lm_weights, save, train
from smtplugins.plugins.tuning.forest_risk import forest_risk
from smtplugins.plugins.tuning.gains import ForestSource
from tests.plugins.cdlm.confusions import FIGURE_1, derivations, linear_bleu, sentences, write

BLEU = "bleu,tokenize=none"


@pytest.fixture
def setting(tmp_path: Path) -> ConfusionSetting:
    """Sentences for runs whose quality is not looked at."""
    return write(tmp_path, 8, 6)


def with_classes(setting: ConfusionSetting) -> ConfusionSetting:
    return replace(setting, classes=setting.grammar.parent / "classes.txt")


START = {"blm": 1.0}


def problem_of(
    host: Host, setting: ConfusionSetting, name: str, paraphrases: Sequence[Sequence[str]] = ()
) -> ForestProblem:
    """Sets of a text."""
    text = read_text(host, setting.grammar.parent / name)
    graphs = [[graph.with_scores(None)] for graph in confusion_sets(host, setting, text)]
    references = [[one.text for one in text], *paraphrases]
    return ForestProblem(graphs, references, host.metric(BLEU))


def objective_of(problem: ForestProblem, scale: float, temperature: float) -> tuple[tuple[str, ...], Objective]:
    """The names of the features, and the risk."""
    with forest_risk(problem, START, 0) as forests:
        return forests.names, forests.objective(scale, temperature)


class TestRisk:
    """The sets are real ones, small enough to write all derivations out."""

    @pytest.fixture
    def small(self, tmp_path: Path) -> ConfusionSetting:
        setting = replace(with_classes(write(tmp_path)), density=8.0)
        (tmp_path / "few.txt").write_text("".join(f"{one}\n" for one in sentences(4, 11)), encoding="utf-8")
        return setting

    @pytest.mark.parametrize("temperature", [0.0, 0.3])
    @pytest.mark.parametrize("paraphrases", [0, 2])
    def test_all_derivations(self, host: Host, small: ConfusionSetting, temperature: float, paraphrases: int) -> None:
        others = [sentences(4, 20 + k) for k in range(paraphrases)]
        problem = problem_of(host, small, "few.txt", others)
        source = ForestSource(problem, START, 1.0, 0)
        assert {"blm", "wp"} < set(source.names) and any(name.startswith("tsrb:") for name in source.names)
        own = [one.text.split() for one in read_text(host, small.grammar.parent / "few.txt")]
        rows = [own, *([one.split() for one in stream] for stream in others)]
        mean_length = np.mean([len(words) for stream in rows for words in stream])
        weights = np.random.default_rng(5).normal(size=len(source.names)) * 0.3
        scale, wanted, slopes, written = 1.3, 0.0, np.zeros(len(weights)), 0
        for k, (one,) in enumerate(source.sentences):
            found = derivations(one.graph)
            written += len(found)
            gains = np.array([one.gains[list(each.edges)].sum() for each in found])
            features = np.array([one.sums(np.bincount(each.edges, minlength=len(one.graph))) for each in found])
            for each, gain in zip(found, gains, strict=True):
                expected = linear_bleu(each.words, [stream[k] for stream in rows]) / mean_length
                assert gain == pytest.approx(expected, abs=1e-6)
            scores = scale * features @ weights
            shares = np.exp(scores - np.logaddexp.reduce(scores))
            logs = np.log(shares)
            losses = temperature * logs - gains
            wanted += shares @ losses
            slopes += scale * (shares * (losses - shares @ losses)) @ features
        assert written > 100
        _, objective = objective_of(problem, scale, temperature)
        value, gradient = objective(weights)
        assert value == pytest.approx(wanted / 4, abs=1e-10)
        np.testing.assert_allclose(gradient, slopes / 4, atol=1e-10)

    def test_differences(self, host: Host, small: ConfusionSetting) -> None:
        names, objective = objective_of(problem_of(host, small, "few.txt"), 1.0, 0.1)
        weights = np.random.default_rng(6).normal(size=len(names)) * 0.3
        _, gradient = objective(weights)
        for i in range(len(weights)):
            step = np.zeros(len(weights))
            step[i] = 1e-5
            rise = (objective(weights + step)[0] - objective(weights - step)[0]) / 2e-5
            assert gradient[i] == pytest.approx(rise, abs=1e-8)

    def test_figure_1(self, host: Host, tmp_path: Path) -> None:
        made = write(tmp_path)
        (tmp_path / "figure1.cdec").write_text(FIGURE_1, encoding="utf-8")
        (tmp_path / "figure1.txt").write_text("a cat on the mat\n", encoding="utf-8")
        problem = problem_of(host, ConfusionSetting(tmp_path / "figure1.cdec", made.lm), "figure1.txt")
        source = ForestSource(problem, START, 1.0, 0)
        ((one,),) = source.sentences
        found = {each.words: one.gains[list(each.edges)].sum() * 5 for each in derivations(one.graph)}
        wanted = {words: linear_bleu(words, ["a cat on the mat".split()]) for words in found}
        assert len(found) == 4 and found == pytest.approx(wanted, abs=1e-5)
        # "the" and "mat" twice, "on the" once: of four words two pairs are right at most.
        assert max(wanted, key=wanted.__getitem__) == ("the", "cat", "the", "mat")


def risk(host: Host, setting: ConfusionSetting, name: str, weights: Mapping[str, float]) -> float:
    names, objective = objective_of(problem_of(host, setting, name), 1.0, 0.0)
    return objective(np.array([weights.get(one, 0.0) for one in names]))[0]


def picked(host: Host, setting: ConfusionSetting, name: str, weights: Mapping[str, float]) -> tuple[float, int]:
    """BLEU of the best strings of sets, and how many are the sentences themselves."""
    text = read_text(host, setting.grammar.parent / name)
    graphs = confusion_sets(host, setting, text, weights)
    found = [kbest(graph).texts()[0] for graph in graphs]
    metric = host.metric(BLEU)
    own = [one.text for one in text]
    score = float(metric.score(metric.stats(found, [own]).sum(axis=0)))
    return score, sum(one == other for one, other in zip(found, own, strict=True))


def training_of(setting: ConfusionSetting, **options: Any) -> Training:
    return Training(setting, setting.grammar.parent / "train.txt", **{"iterations": 2, **options})


class TestTraining:
    def test_the_original_is_preferred(self, host: Host, tmp_path: Path) -> None:
        setting = write(tmp_path)
        told: list[str] = []
        start = {"blm": 1.0}
        two = train(host, training_of(setting), tmp_path / "two", told=told.append)
        rich = with_classes(setting)
        many = train(host, training_of(rich), tmp_path / "many")
        assert told[0].startswith("iteration 1 of 2: BLEU ")
        before, after, best = (
            picked(host, one, "test.txt", weights)
            for one, weights in ((setting, start), (setting, two.weights), (rich, many.weights))
        )
        # The features are those of the language, which a language model alone does not see.
        assert before[0] + 10 < after[0] < best[0] - 10 and before[1] < after[1] < best[1] == 20
        for name in ("train.txt", "test.txt"):
            falling = [risk(host, rich, name, one) for one in (start, two.weights, many.weights)]
            assert falling[0] > falling[1] > falling[2]

    def test_only_the_language_model_is_learnt(self, host: Host, setting: ConfusionSetting, tmp_path: Path) -> None:
        training = training_of(with_classes(setting), iterations=1, select="last")
        ended = train(host, training, tmp_path / "run")
        assert ended.weights["OOV"] == -100.0
        save(training, ended, tmp_path / "model")
        model = Model.load(tmp_path / "model")
        assert model.weights == lm_weights(ended.weights)
        assert all(name in ("blm", "wp") or name.startswith("tsrb:") for name in model.weights)
        assert len(model.weights) > 5
        kept = train(host, replace(training, keep=("blm",)), tmp_path / "kept")
        assert kept.weights["blm"] == 1.0 != ended.weights["blm"]

    def test_rounds(self, host: Host, tmp_path: Path) -> None:
        # With fewer sentences a loop that learns from the last round alone collapses.
        setting, sizes = write(tmp_path), {}
        for rounds in (1, 2, 0):
            options = training_of(setting, rounds=rounds, iterations=3, epsilon=0.0, select="last")
            ended = train(host, replace(options, setting=replace(setting, density=2.0)), tmp_path / f"run{rounds}")
            sizes[rounds] = [int(row["candidates"]) for row in ended.iterations]
        count = len(read_text(host, tmp_path / "train.txt"))
        assert set(sizes[1]) == {count}
        with pytest.raises(UsageError, match="rounds: expected 0 or more"):
            train(host, training_of(setting, rounds=-1), tmp_path / "none")
        assert sizes[0] == sorted(sizes[0]) and sizes[0][2] > 2 * count >= max(sizes[2])

    def test_paraphrases_are_references(self, host: Host, setting: ConfusionSetting, tmp_path: Path) -> None:
        (tmp_path / "other.txt").write_text("".join(f"{one}\n" for one in sentences(8, 7)), encoding="utf-8")
        plain = train(host, training_of(setting, iterations=1), tmp_path / "one")
        both = training_of(setting, iterations=1, paraphrases=(tmp_path / "other.txt",))
        more = train(host, both, tmp_path / "two")
        assert plain.weights != more.weights and "nrefs:2" in more.signature
        (tmp_path / "short.txt").write_text("the dog sees a cat\n", encoding="utf-8")
        with pytest.raises(SmtError, match=r"short.txt: expected 8 lines.*found 1"):
            train(host, replace(both, paraphrases=(tmp_path / "short.txt",)), tmp_path / "three")

    def test_other_learners(self, host: Host, setting: ConfusionSetting, tmp_path: Path) -> None:
        for name in ("mira,epochs=1", "minrisk,temperature=0.05,temperatures=1,quenches=1"):
            spec = Spec.parse(name)
            ended = train(host, training_of(setting, learner=spec, select="last"), tmp_path / spec.name)
            assert set(ended.weights) >= {"blm", "wp", "OOV"}
        with pytest.raises(UsageError, match="learner:nobody"):
            train(host, training_of(setting, learner=Spec("nobody")), tmp_path / "none")


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class _Killed(BaseException):
    pass


@contextlib.contextmanager
def stopping(monkeypatch: pytest.MonkeyPatch, place: Any, name: str, at: int) -> Iterator[None]:
    """Work is given up at a call of a function."""
    calls, real = iter(range(at + 1)), getattr(place, name)

    def call(*arguments: Any, **options: Any) -> Any:
        if next(calls) == at:
            raise _Killed
        return real(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(place, name, call)
        with pytest.raises(_Killed):
            yield


class TestRuns:
    def test_kill_and_resume_and_jobs(
        self, host: Host, setting: ConfusionSetting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        training = training_of(with_classes(setting), select="last", epsilon=0.0)

        def go(name: str, **options: Any) -> Any:
            return train(host, training, tmp_path / name / RUN, **options)

        # The manifest has the paths of the run, so all of them have one name in turn.
        wanted = go("one")
        whole = tree(tmp_path / "one")
        shutil.rmtree(tmp_path / "one")
        for place, name, at in (
            (loop.Loop, "_learn", 1),
            (runs.RunDirectory, "save_step", 1),
            (loop, "write_json", 0),
        ):
            with stopping(monkeypatch, place, name, at):
                go("one")
            found = go("one", resume=True)
            assert found == wanted and tree(tmp_path / "one") == whole
            shutil.rmtree(tmp_path / "one")
        assert go("one", jobs=2) == wanted
        assert tree(tmp_path / "one") == whole

    def test_another_run_is_not_gone_on_with(self, host: Host, setting: ConfusionSetting, tmp_path: Path) -> None:
        train(host, training_of(setting, iterations=1), tmp_path / "run")
        with pytest.raises(UsageError, match="resume=True"):
            train(host, training_of(setting, iterations=1), tmp_path / "run")
        other = replace(setting, pop_limit=7)
        with pytest.raises(UsageError, match="cannot resume"):
            train(host, training_of(other, iterations=1), tmp_path / "run", resume=True)


class TestCommand:
    def test_a_call_that_fails_leaves_nothing(
        self,
        setting: ConfusionSetting,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        fails_without_trace: Callable[[list[str], Path], None],
    ) -> None:
        monkeypatch.chdir(tmp_path)
        given = ["-g", "confusion.cdec", "--lm", "lm.arpa", "--classes", "classes.txt", "-i", "train.txt", "-q"]
        for command in ("train", "confuse"):
            more = ["--iterations", "1"] if command == "train" else []
            fails_without_trace(["cdlm", command, *given, *more, "-o", "new/out"], Path("new/out"))

    def test_train(
        self,
        setting: ConfusionSetting,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.chdir(tmp_path)
        given = ["-g", "confusion.cdec", "--lm", "lm.arpa", "--classes", "classes.txt", "-i", "train.txt"]

        def run(*more: str) -> tuple[int, str]:
            code = main(["cdlm", "train", *given, "--iterations", "1", *more])
            found = capsys.readouterr()
            assert not found.out
            return code, found.err

        code, err = run("-o", "model", "--dir", "work")
        assert code == 0 and "iteration 1" in err and "stopped:" in err
        assert json.loads(Path("model/about/about.json").read_text(encoding="utf-8"))["references"] == 1
        code, err = run("-o", "again", "--dir", "work", "--resume", "-q")
        assert (code, err) == (0, "") and tree(Path("again")) == tree(Path("model"))
        # A model can be begun with, and weighs confusion sets.
        assert run("-o", "more", "-w", "model", "-q")[0] == 0 and Path("more/training/run").is_dir()
        code, err = run("-o", "bad", "--learner", "minrisk,speed=3")
        assert code != 0 and "speed" in err
        sets = ["-g", "confusion.cdec", "--lm", "lm.arpa", "--classes", "classes.txt", "-i", "test.txt"]
        assert main(["cdlm", "confuse", *sets, "-w", "model", "-o", "sets", "-q"]) == 0
