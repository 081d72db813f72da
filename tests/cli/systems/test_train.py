"""``smt train``: the plan as commands, what is wrong before anything is done, a system from text to scores."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import smtplugins
from smtformats.files import release_output
from smtplugins.cli.main import main
from smtplugins.host.train import build_folder
from smtplugins.host.train.build_folder import BuildFolder
from tests.forked import client_environment
from tests.host.killing import DEEP, tree

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/from-text"
Smt = Callable[..., Any]
TEXTS = ("-s", "a.de", "-t", "a.en", "--dev", "b.de", "b.en")
# Those of papers' plugins may be taken out.
RECIPES = smtplugins.load_plugins().registry.names("recipes")
WRONG_OPTIONS = [
    ("localized,features=xyz", "features: expected letters from abcdef, each once, found 'xyz'"),
    ("localized,passes=0", "passes: expected 1 or more, found 0"),
    ("amasis,base=svm", "base: expected one of perceptron, logistic, found 'svm'"),
    ("amasis,history=foo", "unknown feature 'foo'; known: depth"),
    ("amasis,iterations=0", "iterations: expected 1 or more, found 0"),
    ("bitree,iterations=0", "iterations: expected 1 or more, found 0"),
]


@pytest.fixture(autouse=True)
def _texts(smt: Smt) -> None:
    for name in ("a.de", "a.en", "b.de", "b.en", "c.de", "c.en", "d.en"):
        Path(name).write_text(f"{name}\n")
    Path("two").write_text("1\n2\n")
    Path("empty").write_text("")


def test_the_plan_is_a_script(smt: Smt, golden: Callable[[str, str], None]) -> None:
    given = ("--test", "c.de", "c.en", "d.en", "--lm-text", "d.en", "--tokenize", "moses", "--case", "true", "-j", "2")
    plan = smt("train", *TEXTS, *given, "--model", "phrase,max_length=5", "-o", "out", "--dry-run").ok()
    assert not Path("out").exists()
    golden(plan.replace(os.getcwd(), "HERE"), "train_plan.txt")


@pytest.mark.parametrize("model", RECIPES)
def test_each_recipe_ends_in_a_system(smt: Smt, model: str) -> None:
    lines = smt("train", *TEXTS, "--model", model, "-o", "out", "--dry-run").ok().splitlines()
    assert sum(line.startswith("smt config show ") and line.endswith(" -o run.yaml") for line in lines) == 1
    assert lines[-1].startswith(("smt report ", "smt evaluate "))


@pytest.mark.parametrize(
    ("words", "raw"),
    [
        ((), True),
        (("--case", "true"), True),
        (("--tokenize", "moses"), True),
        (("--tokenize", "moses", "--case", "lower"), False),
        (("--tokenize", "13a", "--case", "true"), False),
        (("--tokenize", "intl"), False),
    ],
)
def test_translations_and_references_are_both_raw_or_both_prepared(smt: Smt, words: tuple[str, ...], raw: bool) -> None:
    plan = smt("train", *TEXTS, *words, "-o", "out", "--dry-run").ok().replace(f"{os.getcwd()}/", "")
    assert (" -i b.de -o dev/translations" in plan, " -r b.en -m bleu --bootstrap" in plan) == (raw, raw)
    prepared = " -i text/dev/source -o dev/translations" in plan, " -r text/dev/target -m bleu --bootstrap" in plan
    assert prepared == (not raw, not raw)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--model", "phrases"), "unknown recipe 'phrases'; did you mean 'phrase'?"),
        (("--model", "phrase,lenght=3"), "option 'lenght'"),
        (("--test", "c.de"), "--test: expected a source file and a reference file, found 1"),
        (("--test", "c.de", "missing"), "missing: No such file"),
        (("--test", "c.de", "c.en", "./c.en"), "--test: expected different files, found ./c.en twice"),
        (("-t", "a.de"), "--target: expected different files, found a.de twice"),
        (("--lm-text", "-"), "texts to train on are read more than once: expected a file, found standard input"),
        (("--lm-text", "/dev/null"), "expected a file, found the pipe or device /dev/null"),
        (("--max-ratio", "0.5"), "max-ratio"),
        (("-m", "blue"), "unknown metric 'blue'; did you mean 'bleu'?"),
        (("--learner", "mart"), "unknown learner 'mart'"),
        (("--model", "phrase,reordering=swap"), "reordering: expected a model name like wbe-msd-bidirectional-fe"),
        *((("--model", model), message) for model, message in WRONG_OPTIONS if model.partition(",")[0] in RECIPES),
        (("--align", "fast"), "unknown alignment model 'fast'"),
        (("--order", "17"), "--order: expected 1 to 16, found 17"),
        (("--iterations", "0"), "--iterations: expected 1 or more, found 0"),
        (("--memory", "2K"), "--memory: expected at least 1M, found 2048 bytes"),
        (("-j", "0"), "jobs: expected 1 or more, found 0"),
        (("--seed", "-1"), "seed: expected a whole number from 0 on, found -1"),
        (
            ("--test", "c.en", "c.de"),
            "test: expected a source file in de and references in en, as the names of the training text say, found "
            "c.en and c.de",
        ),
        (("--test", "c.de", "two"), "two: expected as many lines as c.de has, 1, found 2"),
        (("--test", "c.de", "empty"), "empty: expected as many lines as c.de has, 1, found 0"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_done(smt: Smt, given: tuple[str, ...], message: str) -> None:
    result = smt("train", *TEXTS, *given, "-o", "out")
    assert (result.code in (1, 2), result.out) == (True, "")
    assert message in result.err.replace(f"{os.getcwd()}/", "")
    assert not Path("out").exists()


@pytest.mark.parametrize("model", [model for model in ("phrase", "localized", "bitree") if model in RECIPES])
def test_options_without_effect_are_errors(smt: Smt, model: str) -> None:
    loop, lm = model == "phrase", model != "bitree"
    options = {"--learner": ("pro", loop), "--iterations": ("3", loop), "--order": ("3", lm), "--lm-text": ("d.en", lm)}
    for name, (value, used) in {**options, "--align": ("hmm", True)}.items():
        result = smt("train", *TEXTS, "--model", model, name, value, "-o", "out", "--dry-run")
        message = "" if used else f"smt: {name}: the model '{model}' has no use for it\n"
        assert (result.code, result.err) == (0 if used else 2, message)


def test_other_options_cannot_resume(smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BuildFolder, "run", lambda self, steps, check: Path("out/kept").touch())
    smt("train", *TEXTS, "-o", "out", "-q")
    other = smt("train", *TEXTS, "-o", "out", "--resume", "--case", "lower", "--order", "3", "-j", "2")
    message = "out: cannot resume, options differ from those of the run in the folder: case, order. A new run"
    assert (other.code, other.err) == (2, f"smt: {message} in another folder is possible\n")
    # The same files, used otherwise.
    other = smt("train", *TEXTS, "-o", "out", "--resume", "--test", "b.de", "b.en", "--lm-text", "b.en")
    assert "options differ from those of the run in the folder: lm_text, test." in other.err


def test_a_second_call_leaves_a_running_one_alone(smt: Smt) -> None:
    Path("out/tuning").mkdir(parents=True)
    Path("out/manifest.json").write_text("{}")
    Path("out/tuning/.lists.123.part").write_text("half")
    with BuildFolder(Path("out"), lambda text: None).alone():
        result = smt("train", *TEXTS, "-o", "out", "--resume")
    assert (result.code, result.err) == (2, "smt: out: another process is building a system in this folder\n")
    assert sorted(str(path) for path in Path("out").rglob("*") if path.is_file()) == [
        "out/manifest.json",
        "out/tuning/.lists.123.part",
    ]


class Forked:
    """A command in a process that is forked from this one."""

    def __init__(self, command: list[str], stdout: Any, cwd: Path, env: dict[str, str], pass_fds: list[int]) -> None:
        self.returncode: int | None = None
        self.pid = os.fork()
        if not self.pid:
            code = 1
            try:
                os.chdir(cwd)
                os.environ.clear()
                os.environ.update(env)
                release_output()
                os.dup2(os.open(os.devnull, os.O_WRONLY) if stdout == subprocess.DEVNULL else stdout.fileno(), 1)
                sys.stdout = os.fdopen(1, "w", closefd=False)
                sys.argv = ["smt", *command[3:]]
                code = main()
                sys.stdout.flush()
            finally:
                os._exit(code)

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def killed(arguments: list[str], folder: Path, number: int, delay: float) -> bool:
    """Run ``smt``; kill it and its command a time after the command with a number was begun. Whether it was killed."""
    process = os.fork()
    if not process:
        begun = 0

        def begin(*given: Any, **options: Any) -> Forked:
            nonlocal begun
            begun += 1
            if begun == number:
                threading.Timer(delay, os.killpg, (0, signal.SIGKILL)).start()
            return Forked(*given, **options)

        code = 1
        try:
            os.setsid()
            os.chdir(folder)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            build_folder.subprocess.Popen = begin  # type: ignore[misc, assignment]
            sys.argv = ["smt", *arguments]
            code = main()
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert status in (0, -signal.SIGKILL)
    return status != 0


def test_killed_runs_and_the_script_end_in_the_same_bytes(tmp_path: Path, server: str) -> None:
    """Killed at many moments in the deep profile; moved between the kill and the end."""
    arguments = ["train", "--model", "phrase,reordering=none", "--order", "2", "--iterations", "1", "--tokenize", "13a"]
    texts = {"train.de": (25, "-s"), "train.en": (25, "-t"), "dev.de": (4, "--dev"), "dev.en": (4, "")}
    for name, (lines, option) in texts.items():
        text = (EXAMPLE / name).read_text(encoding="utf-8").splitlines(keepends=True)[:lines]
        (tmp_path / name).write_text("".join(text), encoding="utf-8")
        arguments += [*([option] if option else []), str(tmp_path / name)]
    arguments += ["-o", "out", "-q"]
    (tmp_path / "client").mkdir()
    environment = client_environment(tmp_path / "client", server)
    plan = subprocess.run(["smt", *arguments, "--dry-run"], env=environment, stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["sh"], input=plan, env=environment, check=True, stderr=subprocess.PIPE)
    script = tree("out")
    moments = [(7, 0.05)]
    if settings().max_examples >= DEEP:
        moments += [(1, 0.0), (3, 0.02), (4, 0.01), (5, 0.02), (6, 0.02), (7, 0.0), (7, 0.1), (8, 0.02), (11, 0.05)]
    ends = []
    for number, delay in moments:
        folder = tmp_path / f"{number}-{delay}"
        folder.mkdir()
        if killed(arguments, folder, number, delay):
            shutil.move(folder, folder.with_suffix(".moved"))
            folder = folder.with_suffix(".moved")
            assert not killed([*arguments, "--resume"], folder, 0, 0)
        ends.append(tree(str(folder / "out")))
    for end in ends:
        assert end == ends[0]
        assert end.keys() - script.keys() == {"manifest.json", *(name for name in end if name.startswith("steps/"))}
        assert {name: end[name] for name in script if name != "tuning/manifest.json"} == {
            name: text for name, text in script.items() if name != "tuning/manifest.json"
        }
    assert json.loads(ends[0]["dev/scores.json"])[0]["metric"] == "BLEU"


def test_plugins_are_found_in_the_folder_of_the_system(smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from smtplugins.contracts.hookspecs import hookimpl\n@hookimpl\ndef smt_recipes():\n    return []\n"
    for name in ("mine.py", "more.py"):
        Path(name).write_text(code)
    monkeypatch.setenv("SMT_PLUGINS", "mine.py")
    plan = smt("train", *TEXTS, "-o", "out", "--dry-run", "--plugin", "more.py").ok()
    here = os.getcwd()
    assert plan.splitlines()[3] == f"export SMT_PLUGINS={here}/mine.py,{here}/more.py"
