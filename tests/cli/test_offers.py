"""``smt features`` and its kin: lists of offers, and the options of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]

NEEDY = """
from smtplugins import Offer, hookimpl

class Needy:
    '''Does this.

    And that.
    '''
    def __init__(self, size: int = 3, *, mode=None): ...

@hookimpl
def smt_features():
    yield Offer(name="needy", make=Needy, summary="does this", needs={"source"}, reference="Me (2020)",
                requires=("learner:absent",))
"""


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("formats", ["moses-nbest", "cdec-nbest", "moses-ini", "text"]),
        ("features", ["length", "word-penalty", "lm", "column", "external"]),
        ("metrics", ["bleu", "chrf", "ter"]),
    ],
)
def test_lists_name_what_is_there_with_its_plugin(smt: Smt, kind: str, names: list[str]) -> None:
    rows = {row["name"]: row for row in json.loads(smt(kind, "-f", "json").ok())}
    assert set(names) <= set(rows)
    for name in names:
        assert rows[name]["plugin"] == "standard"
        assert rows[name]["summary"]
    lines = smt(kind).ok().splitlines()
    assert lines[0].split()[0] == "name"
    assert [line.split()[0] for line in lines[1:]] == sorted(rows)


@pytest.mark.parametrize("kind", ["learners", "decoders"])
def test_kinds_without_offers_say_so(smt: Smt, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from smtplugins.host.loading.installed import installed_plugins

    monkeypatch.setenv("SMT_DISABLE_PLUGINS", ",".join(point.name for point in installed_plugins()))
    assert smt(kind).ok() == f"no {kind} are loaded\n"
    assert smt(kind, "-f", "json").ok() == "[]\n"


def test_show_gives_options_types_and_defaults(smt: Smt) -> None:
    facts, options = smt("features", "show", "lm").ok().split("\n\n")
    rows = [line.split(None, 1) for line in facts.splitlines()]
    assert ["plugin", "standard"] in rows
    assert ["needs", "target"] in rows
    rows = [line.split(None, 2) for line in options.splitlines()]
    assert rows[0] == ["option", "type", "default"]
    assert ["path", "Path", "(required)"] in rows
    assert ["oov", "bool", "False"] in rows
    (row,) = json.loads(smt("metrics", "show", "bleu", "-f", "json").ok())
    assert {"option": "lowercase", "type": "bool", "default": "False"} in row["options"]


def test_show_says_what_options_of_a_dataclass_do(smt: Smt) -> None:
    _, options = smt("decoders", "show", "hiero").ok().split("\n\n")
    rows = [line.split(None, 3) for line in options.splitlines()]
    assert rows[0] == ["option", "type", "default", "meaning"]
    assert ["goal", "str", "S", "label of the goal"] in rows
    (row,) = json.loads(smt("decoders", "show", "phrase", "-f", "json").ok())
    # Its meaning is said where the option is shared.
    (limit,) = [option for option in row["options"] if option["option"] == "pop_limit"]
    assert limit["default"] == "200"
    assert limit["meaning"] == "hypotheses that cube pruning makes for a stack"


def test_show_of_a_format_has_its_documentation(smt: Smt) -> None:
    out = smt("formats", "show", "moses-nbest").ok()
    assert ["access", "rw"] in [line.split() for line in out.splitlines()]
    assert "Name[0]" in out


def test_unavailable_offer_says_what_it_needs(smt: Smt) -> None:
    Path("n.py").write_text(NEEDY)
    (row,) = json.loads(smt("features", "show", "needy", "--plugin", "n.py", "-f", "json").ok())
    assert row == {
        "name": "needy",
        "plugin": "n",
        "summary": "does this (unavailable: needs learner:absent)",
        "details": "Does this.",
        "reference": "Me (2020)",
        "needs": ["source"],
        "requires": ["learner:absent"],
        "options": [
            {"option": "size", "type": "int", "default": "3"},
            {"option": "mode", "type": "", "default": "None"},
        ],
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show",), "expected `smt features` or `smt features show NAME`"),
        (("show", "lenght"), "unknown feature 'lenght'; did you mean 'length'?"),
    ],
)
def test_wrong_calls(smt: Smt, arguments: tuple[str, ...], message: str) -> None:
    result = smt("features", *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"smt: {message}\n")


BROKEN = """
from smtplugins import Command, Offer, hookimpl

@hookimpl
def smt_features():
    yield Offer(name="lazy", make="no_such_module:Lazy", summary="never imported")

@hookimpl
def smt_commands():
    yield Command(name="run", summary="x", configure="no_such_module:configure", run="no_such_module:run")
"""


def test_an_offer_that_cannot_be_imported_is_unavailable(smt: Smt) -> None:
    Path("broken.py").write_text(BROKEN)
    rows = {row["name"]: row for row in json.loads(smt("features", "--plugin", "broken.py", "-f", "json").ok())}
    assert "(unavailable: feature 'lazy' of plugin 'broken'" in rows["lazy"]["summary"]
    assert "No module named 'no_such_module'" in rows["lazy"]["summary"]
    assert rows["lazy"]["options"] == []
    Path("x").write_text("0 ||| a house ||| f= 1 ||| 1\n")
    result = smt("score", "--plugin", "broken.py", "--feature", "lazy", "-i", "x")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "No module named 'no_such_module'" in result.err
