"""``--score-cache``: every command that scores asks a command for the same scores only once."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]
SCORER = """\
import json, sys
open("starts", "a").write(".")
for line in sys.stdin:
    one = json.loads(line)
    def score(item):
        common = set(item["hyp"].split()) & set(" ".join(item.get("refs", ["the a"])).split())
        return len(common) / (1 + len(item["hyp"]))
    print(json.dumps({"scores": {i["key"]: score(i) for i in one["items"]}} if "items" in one else score(one)))
"""
COMMAND = f"external,command={sys.executable} -S scorer.py,name=mine"
LEARNER = ("--plugin", str(ROOT / "tests/host/toy_learners.py"), "--learner", "toy-perceptron")
LISTS = ("-i", "moses.nbest")
RERANK = ("--dev", "moses.nbest", "--dev-ref", "ref.en", "--test", "moses.nbest", "-m", "bleu,tokenize=none")
COMMANDS = {
    "score": ("score", *LISTS, "--feature", COMMAND, "-o", "out"),
    "batches": ("score", *LISTS, "--feature", f"{COMMAND},protocol=batches", "-j", "2", "-o", "out"),
    "rerank": ("rerank", *RERANK, "--feature", COMMAND, *LEARNER, "-o", "out"),
    "tune": ("tune", *LISTS, "-r", "ref.en", *LEARNER, "-m", f"{COMMAND},protocol=batches", "-o", "out"),
    "evaluate": ("evaluate", "-r", "ref.en", "-m", f"{COMMAND},protocol=batches,workers=2", "moses.nbest"),
    "mbr": ("mbr", *LISTS, "-m", COMMAND, "--top", "4", "-o", "out"),
    "oracle": ("oracle", *LISTS, "-r", "ref.en", "-m", COMMAND),
    "convert": ("convert", *LISTS, "-r", "ref.en", "-m", COMMAND, "--to", "jsonl-nbest", "-o", "out"),
    "report": ("report", *LISTS, "-r", "ref.en", "-m", COMMAND, "-o", "out"),
}


@pytest.fixture(autouse=True)
def _scorer(example: Path) -> None:
    Path("scorer.py").write_text(SCORER)


def run(smt: Smt, *arguments: str) -> tuple[str, dict[str, bytes], str]:
    """What a command prints and writes, and its notes but for those of weights."""
    result = smt(*arguments)
    assert result.code == 0, result.err
    files = {str(path): path.read_bytes() for path in [Path("out"), *Path("out").glob("*")] if path.is_file()}
    files.pop("out/manifest.json", None)
    shutil.rmtree("out", ignore_errors=True)
    Path("out").unlink(missing_ok=True)
    return result.out, files, result.err


@pytest.mark.parametrize("name", COMMANDS)
def test_the_second_run_gives_the_same_and_starts_nothing(smt: Smt, name: str) -> None:
    plain = run(smt, *COMMANDS[name])
    assert Path("starts").exists()
    for expected in (True, False):
        Path("starts").unlink(missing_ok=True)
        out, files, notes = run(smt, *COMMANDS[name], "--score-cache", "kept")
        assert (out, files) == plain[:2]
        assert Path("starts").exists() == expected
    assert "uses scores kept in kept; --score-cache off computes them anew" in notes
    assert "uses scores kept" not in run(smt, *COMMANDS[name], "--score-cache", "kept", "-q")[2]


def test_the_folder_may_be_in_the_environment(smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMT_SCORE_CACHE", "named")
    first = run(smt, *COMMANDS["score"])[1]
    assert run(smt, *COMMANDS["score"])[1] == first
    assert Path("starts").read_text() == "."
    assert run(smt, *COMMANDS["score"], "--score-cache", "off")[1] == first
    assert Path("starts").read_text() == ".."


def test_scores_are_counted_and_cleared(smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMT_CACHE", "grammars")
    run(smt, *COMMANDS["batches"], "--score-cache", "kept")
    run(smt, "score", *LISTS, "--feature", f"{COMMAND},version=v2", "--score-cache", "kept", "-o", "out")
    Path("kept/scores-0000.damaged").write_bytes(b"x" * 100)
    (database,) = Path("kept").glob("*.sqlite3")
    command = f"{sys.executable} -S scorer.py"
    rows = json.loads(smt("cache", "show", "--score-cache", "kept", "-f", "json").ok())
    about = [{key: row[key] for key in ("format", "source", "scores", "version", "path")} for row in rows]
    texts = len({tuple(line.split(" ||| ")[:2]) for line in Path("moses.nbest").read_text().splitlines()})
    assert about[0]["scores"] <= texts
    kept = {"format": "scores", "path": str(database)}
    assert about == [
        {**kept, "source": f"feature 'external', batches: {command}", "scores": about[0]["scores"], "version": None},
        {**kept, "source": f"feature 'external', lines: {command}", "scores": texts, "version": "v2"},
        {"format": "damaged", "source": None, "scores": 0, "version": None, "path": "kept/scores-0000.damaged"},
    ]
    assert [row["bytes"] for row in rows][1:] == [None, 100]
    assert smt("cache", "show", "--score-cache", "kept").ok().split("\n")[0].split() == [
        *("bytes", "format", "scores", "version", "source", "path"),
    ]
    size = sum(path.stat().st_size for path in Path("kept").glob("scores-*"))
    count = sum(row["scores"] for row in rows)
    assert (
        smt("cache", "clear", "--cache", "off", "--score-cache", "kept").ok()
        == f"kept: {count} scores removed, {size} bytes\n"
    )
    both = smt("cache", "clear", "--score-cache", "kept").ok()
    assert both == "grammars: 0 removed, 0 bytes\nkept: 0 scores removed, 0 bytes\n"
    assert json.loads(smt("cache", "show", "--score-cache", "kept", "-f", "json").ok()) == []


def test_a_damaged_database_is_noted_and_scores_are_computed(smt: Smt) -> None:
    first = run(smt, *COMMANDS["score"], "--score-cache", "kept")[1]
    (database,) = Path("kept").glob("*.sqlite3")
    database.write_bytes(b"something else")
    _, files, notes = run(smt, *COMMANDS["score"], "--score-cache", "kept")
    assert files == first
    assert f"smt: note: score cache {database} is damaged (file is not a database): set aside as " in notes


KEEPS = """\
import random
from smtplugins import Offer, hookimpl
from smtplugins.contracts.tools.running import ScoreCache

class Guess:
    def __init__(self, *, score_cache=None) -> None:
        self.cache = ScoreCache(score_cache, "guess")

    def score_candidates(self, source, candidates):
        keys = [(text,) for text in candidates.texts]
        return self.cache.scores(keys, lambda missing: [random.random() for _ in missing])[:, 0]

@hookimpl
def smt_features():
    yield Offer(name="guess", make=Guess, summary="guesses", needs={"target"})
"""


def test_the_conformance_kit_keeps_nothing(smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMT_SCORE_CACHE", "kept")
    Path("guesses.py").write_text(KEEPS)
    first, second = (smt("score", *LISTS, "--plugin", "guesses.py", "--feature", "guess").out for _ in range(2))
    assert first == second
    rows = json.loads(smt("plugins", "check", "guesses", "--plugin", "guesses.py", "-f", "json").out)
    assert "scores_repeat" in [row["check"] for row in rows if row["result"] == "FAILED"]


def test_concurrent_runs_share_a_folder(start: Callable[..., Any]) -> None:
    processes = [start(*COMMANDS["score"][:-1], f"out-{i}", "-j", i, "--score-cache", "kept") for i in (1, 2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert Path("out-1").read_bytes() == Path("out-2").read_bytes()
