"""``smt train``: the plan as commands, what is wrong before anything is done, a system from text to scores."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smtplugins.host.train.build_folder import BuildFolder

Smt = Callable[..., Any]
TEXTS = ("-s", "a.de", "-t", "a.en", "--dev", "b.de", "b.en")


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


@pytest.mark.parametrize("model", ["hiero", "umt", "localized", "amasis", "bitree"])
def test_each_recipe_ends_in_a_system(smt: Smt, model: str) -> None:
    lines = smt("train", *TEXTS, "--model", model, "-o", "out", "--dry-run").ok().splitlines()
    assert sum(line.startswith("smt config show ") and line.endswith(" -o run.yaml") for line in lines) == 1
    assert lines[-1].startswith(("smt report ", "smt evaluate "))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--model", "phrases"), "unknown recipe 'phrases'; did you mean 'phrase'?"),
        (("--model", "phrase,lenght=3"), "option 'lenght'"),
        (("--test", "c.de"), "--test: expected a source file and a reference file, found 1"),
        (("--test", "c.de", "missing"), "missing: No such file"),
        (("--lm-text", "-"), "texts to train on are read more than once: expected a file, found standard input"),
        (("--max-ratio", "0.5"), "max-ratio"),
        (("-m", "blue"), "unknown metric 'blue'; did you mean 'bleu'?"),
        (("--learner", "mart"), "unknown learner 'mart'"),
        (("--align", "fast"), "unknown alignment model 'fast'"),
        (("--order", "17"), "--order: expected 1 to 16, found 17"),
        (("--iterations", "0"), "--iterations: expected 1 or more, found 0"),
        (("--memory", "2K"), "--memory: expected at least 1M, found 2048 bytes"),
        (("-j", "0"), "jobs: expected 1 or more, found 0"),
        (("--test", "c.de", "two"), "two: expected as many lines as c.de has, 1, found 2"),
        (("--test", "c.de", "empty"), "empty: expected as many lines as c.de has, 1, found 0"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_done(smt: Smt, given: tuple[str, ...], message: str) -> None:
    result = smt("train", *TEXTS, *given, "-o", "out")
    assert (result.code in (1, 2), result.out) == (True, "")
    assert message in result.err.replace(f"{os.getcwd()}/", "")
    assert not Path("out").exists()


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
