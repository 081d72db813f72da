"""The best derivation for people to read."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.host.config import ModelConfig
from smtplugins.host.contracts import Decoding, Sentence
from smtplugins.host.model import Model
from smtplugins.host.resources import resources
from smtplugins.plugins.hiero.decoder import Hiero

RULES = """\
[X] ||| das [X,1] ||| the [1] ||| p=-1
[X] ||| haus ||| house ||| p=-2
[X] ||| [X,1] des [X,2] ||| [2] 's [1] ||| p=-4
"""


def traced(tmp_path: Path, text: str) -> tuple[Decoding, list[str]]:
    path = tmp_path / "rules"
    path.write_text(RULES)
    given = resources(smt.load_plugins().registry, ModelConfig(grammar=(path,)), cache="off")
    made = Hiero(resources=given, pass_through="none")
    (found,) = made.decode([Sentence("0", tuple(text.split()))], Model(weights={"p": 1.0}))
    assert found.trace is not None
    return found, list(found.trace())


def test_a_line_for_each_rule_with_its_score_and_that_of_all_below(tmp_path: Path) -> None:
    found, lines = traced(tmp_path, "haus des haus")
    assert lines == [
        "[0, 3) Goal -> [S,1] ||| [S,1]  0.0000  -8.0000",
        "  [0, 3) S -> [X,1] ||| [X,1]  0.0000  -8.0000",
        "    [0, 3) X -> [X,1] des [X,2] ||| [X,2] 's [X,1]  -4.0000  -8.0000",
        "      [0, 1) X -> haus ||| house  -2.0000  -2.0000",
        "      [2, 3) X -> haus ||| house  -2.0000  -2.0000",
    ]
    assert found.score == pytest.approx(-8.0)


def test_children_follow_each_other_under_their_parent(tmp_path: Path) -> None:
    _, lines = traced(tmp_path, "das haus haus")
    spans = [(len(line) - len(line.lstrip()), line.split(")")[0].strip() + ")") for line in lines]
    assert spans == [(0, "[0, 3)"), (2, "[0, 3)"), (4, "[0, 2)"), (6, "[0, 2)"), (8, "[1, 2)"), (4, "[2, 3)")]


def test_no_derivation(tmp_path: Path) -> None:
    found, lines = traced(tmp_path, "xyz")
    assert (found.found, found.best, lines) == (False, "", ["no derivation"])
