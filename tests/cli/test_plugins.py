"""``smt plugins``: origins and states of plugins."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]
Install = Callable[[str, str], None]

ONES = """
from smtplugins import Offer, hookimpl

class Ones:
    "One for each."
    def score_candidates(self, source, candidates):
        return [1.0] * len(candidates)

@hookimpl
def smt_features():
    yield Offer(name="NAME", make=Ones, summary="one each", needs={"target"})
"""
REASON = "ModuleNotFoundError: No module named 'no_such_module_at_all'"


def by_name(smt: Smt, *arguments: str) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(smt("plugins", "-f", "json", *arguments).ok())}


def test_json_names_distribution_version_hooks_and_status(smt: Smt, install: Install) -> None:
    install("ones", ONES.replace("NAME", "ones"))
    rows = by_name(smt)
    assert rows["ones"] == {
        "name": "ones",
        "distribution": "smt-ones",
        "version": "1.2",
        "origin": "installed_ones",
        "status": "ok",
        "reason": "",
        "hooks": ["smt_features"],
        "offers": {"features": ["ones"]},
    }
    assert rows["standard"]["distribution"] == "smtplugins"
    assert rows["standard"]["status"] == "ok"
    header, *lines = smt("plugins").ok().splitlines()
    assert header.split() == ["name", "distribution", "version", "status", "hooks", "reason"]
    assert [line.split()[0] for line in lines] == list(rows)


def test_broken_plugin_is_listed_and_everything_else_works(smt: Smt, install: Install, nbest: Path) -> None:
    install("bad", "import no_such_module_at_all\n")
    row = by_name(smt)["bad"]
    assert (row["status"], row["reason"], row["hooks"], row["offers"]) == ("broken", REASON, [], {})
    smt("score", "--feature", "length", "-i", nbest).ok()


@pytest.mark.parametrize(
    "arguments",
    [("bad",), ("bad", "run"), ("plugins", "check", "bad"), ("score", "--feature", "bad"), ("features", "show", "bad")],
)
def test_broken_plugin_by_name_ends_with_2_and_its_reason(
    smt: Smt, install: Install, nbest: Path, arguments: tuple[str, ...]
) -> None:
    install("bad", "import no_such_module_at_all\n")
    result = smt(*arguments, stdin=nbest.read_text())
    assert (result.code, result.out) == (2, "")
    assert f"plugin 'bad' (smt-bad 1.2) is broken: {REASON}" in result.err


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            ONES.replace("smt_features", "smt_feature"),
            ONES,
            "plugin 'one' (smt-one 1.2) implements 'smt_feature', which is no hook of smtplugins; did you mean "
            "'smt_features'",
        ),
        (
            ONES.replace("@hookimpl\n", ""),
            ONES,
            "plugin 'one' (smt-one 1.2): 'smt_features' lacks @hookimpl",
        ),
        (
            ONES,
            ONES,
            "feature 'NAME' is offered twice: by plugin 'one' (smt-one 1.2) and by plugin 'two' (smt-two 1.2); ",
        ),
    ],
)
def test_mistakes_of_plugins_name_both_sides(smt: Smt, install: Install, first: str, second: str, message: str) -> None:
    install("one", first)
    install("two", second)
    result = smt("plugins")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"smt: {message}")


def test_disabled_plugin_is_listed(smt: Smt, install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install("one", ONES)
    install("two", ONES)
    monkeypatch.setenv("SMT_DISABLE_PLUGINS", "two")
    rows = by_name(smt)
    assert (rows["two"]["status"], rows["two"]["reason"]) == ("disabled", "switched off by name")
    assert rows["one"]["status"] == "ok"
    result = smt("plugins", "check", "two")
    assert (result.code, result.err) == (2, "smt: plugin 'two' (smt-two 1.2) is disabled: switched off by name\n")


def test_trace_goes_to_standard_error(smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMT_TRACE_PLUGINS", "1")
    result = smt("plugins", "-f", "json")
    assert json.loads(result.out)
    assert "smt_features" in result.err


class TestCheck:
    def test_options_may_stand_before_and_behind_the_verb(self, smt: Smt) -> None:
        Path("mine.py").write_text(ONES.replace("NAME", "mine"))
        before = smt("plugins", "--plugin", "mine.py", "-f", "json", "check", "mine").ok()
        behind = smt("plugins", "check", "mine", "--plugin", "mine.py", "-f", "json").ok()
        assert before == behind
        rows = json.loads(before)
        assert {(row["kind"], row["name"], row["result"]) for row in rows} == {("feature", "mine", "ok")}

    def test_failed_checks_end_with_1(self, smt: Smt) -> None:
        Path("mine.py").write_text(ONES.replace("[1.0] * len(candidates)", "[1.0] * (len(candidates) + 1)"))
        result = smt("plugins", "check", "mine", "--plugin", "mine.py")
        assert result.code == 1
        assert "FAILED" in result.out
        assert result.err.endswith(" checks failed\n")

    def test_unknown_plugin_suggests(self, smt: Smt) -> None:
        result = smt("plugins", "check", "standrad")
        assert (result.code, result.err) == (2, "smt: unknown plugin 'standrad'; did you mean 'standard'?\n")


class TestNew:
    def test_new_plugin_is_written_and_named(self, smt: Smt) -> None:
        paths = [Path(line) for line in smt("plugins", "new", "my-thing").ok().splitlines()]
        assert Path("smt-my-thing/pyproject.toml") in paths
        assert all(path.is_file() for path in paths)
        smt("plugins", "new", "other", "some/folder").ok()
        assert Path("some/folder/pyproject.toml").is_file()

    def test_wrong_name_and_full_folder_are_refused(self, smt: Smt) -> None:
        assert smt("plugins", "new", "a b").code == 2
        result = smt("plugins", "new", "score")
        assert (result.code, result.err.split(";")[0]) == (2, "smt: `smt score` is already a command")
        Path("full").mkdir()
        Path("full/thesis.tex").touch()
        assert smt("plugins", "new", "mine", "full").code == 2
        assert [path.name for path in Path("full").iterdir()] == ["thesis.tex"]


def test_new_plugin_cannot_have_the_name_of_an_installed_one(smt: Smt) -> None:
    result = smt("plugins", "new", "standard")
    assert (result.code, result.err.split(";")[0]) == (2, "smt: a plugin named 'standard' is already installed")
    assert not Path("smt-standard").exists()
