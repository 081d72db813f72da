"""Each key of run.yaml: commands that use it refuse a wrong value, others are known not to."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from smtplugins.host.config.run_yaml import RunConfig

Smt = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]
TOYS, POLICIES = ROOT / "tests/host/toy_learners.py", ROOT / "tests/host/toy_policies.py"

COMMANDS: dict[str, tuple[str, ...]] = {
    "decode": ("decode", "-c", "run.yaml", "-o", "out"),
    "lists": ("tune", "-c", "run.yaml", "-o", "out", "--iterations", "1"),
    "policy": ("tune", "-c", "run.yaml", "-o", "out", "--set", "decoder=by-word", "--set", "model={}"),
}
TUNING = {"lists", "policy"}
BOTH = {"decode", "lists"}
ALL = {*COMMANDS}

USED: dict[str, tuple[str, set[str]]] = {
    "plugins": ("[no.py]", ALL),
    "source": ("no.de", ALL),
    "source_format": ("no-such-format", ALL),
    "text": ("no-such-folder", ALL),
    "escape": ("no-such-scheme", ALL),
    "references": ("[no.en]", TUNING),
    "decoder": ("no-such-decoder", ALL),
    "model.tables": ("[no.rules]", ALL),
    "model.grammar_format": ("no-such-format", ALL),
    "model.features": ("[no-such-feature]", ALL),
    "model.weights": ("no.weights", ALL),
    "model.missing": ("one", ALL),
    "model.passes": ("7", ALL),
    "learner": ("no-such-learner", TUNING),
    "metric": ("no-such-metric", TUNING),
    "runner": ("no-such-runner", ALL),
    "seed": ("-1", TUNING),
    "output.dir": ("run.yaml", TUNING),
    "output.nbest": ("0", ALL),
    "output.unique": ("often", ALL),
    "output.format": ("no-such-format", {"decode"}),
    "output.fields": ("[no-such-field]", {"decode"}),
    "output.template": ("no-%d", {"decode"}),
    "output.rescored": ("no-such-rescoring", {"decode"}),
    "output.project_case": ("often", ALL),
    "output.lists": ("7", ALL),
    "output.choice": ("no-such-choice", {"decode"}),
    "output.show": ("[no-such-part]", {"decode"}),
    "output.alignments": ("7", ALL),
    "output.unknowns": ("7", ALL),
    "output.graphs": ("7", ALL),
    "output.graphs_format": ("no-such-format", {"decode"}),
    "output.gains": ("7", ALL),
    "output.details": ("7", ALL),
    "output.first_id": ("one", ALL),
    "output.forests": ("{}", ALL),
    "output.forests_format": ("[1]", ALL),
}
"""A wrong value of each key, and who has to refuse it: whoever uses it."""


def keys(record: type, before: str = "") -> Iterator[str]:
    for one in dataclasses.fields(record):
        default = one.default_factory if one.default_factory is not dataclasses.MISSING else None
        if isinstance(default, type) and dataclasses.is_dataclass(default):
            yield from keys(default, f"{before}{one.name}.")
        elif one.init:
            yield before + one.name


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMT_CACHE", "off")
    shutil.copytree(ROOT / "examples/decode-hiero", tmp_path, dirs_exist_ok=True)
    text = Path("run.yaml").read_text().replace("output: {", "output: {dir: run, nbest: 5, ")
    Path("run.yaml").write_text(f"{text}references: [ref.en]\nmetric: {{name: bleu, tokenize: none}}\n")


def call(command: str, *overrides: str) -> list[str]:
    plugin, learner = (POLICIES, "trying") if command == "policy" else (TOYS, "toy-perceptron")
    loaded = [] if any(one.startswith("plugins=") for one in overrides) else ["--plugin", str(plugin)]
    settings = [f"learner={learner}", *overrides]
    return [*COMMANDS[command], *loaded, *(part for one in settings for part in ("--set", one)), "-q"]


def test_each_key_is_known_here() -> None:
    assert list(keys(RunConfig)) == list(USED)


@pytest.mark.parametrize("command", COMMANDS)
def test_all_is_well_without_a_wrong_value(smt: Smt, command: str) -> None:
    smt(*call(command)).ok()
    assert Path("run").exists() == (command in TUNING)


@pytest.mark.parametrize("key", USED)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_value_is_an_error_where_it_is_used(smt: Smt, command: str, key: str) -> None:
    wrong, users = USED[key]
    result = smt(*call(command, f"{key}={wrong}"))
    if command in users:
        assert result.code in (1, 2)
        assert wrong.strip("[]") in result.err
        assert not Path("out").exists()
        assert not Path("run").exists()
    else:
        result.ok()


COUNTING = """
import os
from smtplugins import Offer, hookimpl

class Counting:
    def __init__(self, path: str):
        self.path = path

    def map(self, function, items, *, setup=None):
        state = setup() if setup else None
        for item in items:
            with open(self.path, "a") as out:
                out.write("item\\n")
            yield function(state, item) if setup else function(item)

@hookimpl
def smt_runners():
    yield Offer(name="counting", make=Counting, summary="counts what it maps")
"""


class TestRunner:
    """The runner of a configuration maps sentences, unless -j says how many processes there are."""

    @pytest.fixture(autouse=True)
    def _counting(self) -> None:
        Path("counting.py").write_text(COUNTING)

    def arguments(self, command: str, *more: str) -> list[str]:
        runner = "runner={name: counting, path: " + str(Path("count").absolute()) + "}"
        return [*call(command, runner), "--plugin", "counting.py", *more]

    @pytest.mark.parametrize("command", COMMANDS)
    def test_is_used(self, smt: Smt, command: str) -> None:
        wanted = smt(*call(command)).ok()
        before = Path("out").read_bytes()
        shutil.rmtree("run", ignore_errors=True)
        assert smt(*self.arguments(command)).ok() == wanted
        assert Path("out").read_bytes() == before
        assert Path("count").read_text().count("item") >= len(Path("source.de").read_text().splitlines())

    @pytest.mark.parametrize("command", COMMANDS)
    def test_gives_way_to_jobs(self, smt: Smt, command: str) -> None:
        smt(*self.arguments(command, "-j", "2")).ok()
        assert not Path("count").exists()

    @pytest.mark.parametrize("command", COMMANDS)
    @pytest.mark.parametrize("runner", ["no-such-runner", "serial,jobs=2", "processes,jobs=-1"])
    def test_a_wrong_one_has_its_line(self, smt: Smt, command: str, runner: str) -> None:
        with open("run.yaml", "a") as out:
            out.write(f'runner: "{runner}"\n')
        lines = len(Path("run.yaml").read_text().splitlines())
        result = smt(*call(command))
        assert (result.code, result.err.count("\n")) == (1, 1)
        assert result.err.startswith(f"smt: run.yaml:{lines}: runner: ")
        assert not Path("run").exists()

    def test_a_run_may_go_on_with_another_one(self, smt: Smt) -> None:
        smt(*call("lists", "runner=serial")).ok()
        wanted = Path("out").read_bytes()
        smt(*self.arguments("lists", "--resume")).ok()
        assert Path("out").read_bytes() == wanted
        assert not Path("count").exists()

    def test_several_seeds_share_it(self, smt: Smt) -> None:
        smt(*self.arguments("policy", "--runs", "2")).ok()
        assert Path("count").read_text()
