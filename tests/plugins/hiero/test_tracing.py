"""The best derivation for people to read."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.models import Model
from smtplugins.host.config.resources import resources
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import ModelConfig
from smtplugins.host.decode.built_steps import source_words
from smtplugins.plugins.hiero.decoder import Hiero, HieroOptions

RULES = """\
[X] ||| das [X,1] ||| the [1] ||| p=-1
[X] ||| haus ||| house ||| p=-2
[X] ||| [X,1] des [X,2] ||| [2] 's [1] ||| p=-4
"""


def traced(tmp_path: Path, text: str) -> tuple[Decoding, list[str]]:
    path = tmp_path / "rules"
    path.write_text(RULES)
    given = resources(smt.load_plugins().registry, ModelConfig((RuleTable(path),)), cache="off")
    made = Hiero(resources=given, options=HieroOptions(pass_through="none"))
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


def test_steps_are_those_of_a_chart(tmp_path: Path) -> None:
    found, lines = traced(tmp_path, "das haus haus")
    assert found.built is not None
    steps = list(found.built())
    assert [(one.first, one.last) for one in steps] == [(1, 2), (2, 3), (0, 2), (0, 2), (0, 3), (0, 3)]
    assert [(one.beside, one.above, one.child, one.further) for one in steps] == [
        (-1, False, 0, ()),
        (-1, False, 0, ()),
        (0, True, 0, ()),
        (2, True, 0, ()),
        (3, True, 0, ((1, 1),)),
        (4, True, 0, ()),
    ]
    assert [one.rule for one in steps] == [
        "[X] ||| haus ||| house",
        "[X] ||| haus ||| house",
        "[X] ||| das [X,1] ||| the [X,1]",
        "[S] ||| [X,1] ||| [X,1]",
        "[S] ||| [S,1] [X,2] ||| [S,1] [X,2]",
        "[Goal] ||| [S,1] ||| [S,1]",
    ]
    assert sum(one.score for one in steps) == pytest.approx(found.score)
    assert len(lines) == len(steps)
    assert source_words(steps) == ("das", "haus", "haus")


def test_children_are_counted_on_the_source_side(tmp_path: Path) -> None:
    found, _ = traced(tmp_path, "haus des das haus")
    assert found.built is not None
    steps = list(found.built())
    (swap,) = [one for one in steps if "des" in one.rule]
    assert swap.rule == "[X] ||| [X,1] des [X,2] ||| [X,2] 's [X,1]"
    ((second, child),) = swap.further
    assert (swap.child, steps[swap.beside].first, steps[swap.beside].last) == (0, 0, 1)
    assert (child, steps[second].first, steps[second].last) == (1, 2, 4)
    assert source_words(steps) == ("haus", "des", "das", "haus")


def test_no_steps(tmp_path: Path) -> None:
    found, _ = traced(tmp_path, "xyz")
    assert found.built is not None
    assert list(found.built()) == []
