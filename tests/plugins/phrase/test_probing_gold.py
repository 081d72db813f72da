"""Configurations of Moses with ProbingPT folders: our translations and lists against those of Moses.

Our search is that of `moses`. With a lexical reordering model that of `moses2` is another: 20 of its 750 hypotheses are
not in the lists of `moses`. Its chart decoder lists hypotheses twice, 11 of 250.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.decoded_lists import candidates_of
from smtplugins.host.decode.translator import make_translator

pytestmark = pytest.mark.shared
Row = tuple[str, dict[str, float], float]


def decoded(config: str) -> list[list[Row]]:
    """The 50 best of each sentence."""
    made = make_translator(smt.load_plugins(), load_config(config), None, "off")
    lists = []
    for sentence in made.decode(Path("in.de").read_text().splitlines(), graphs=True):
        assert sentence.graph is not None
        found = candidates_of(sentence, 50, names=made.names(), graph=sentence.graph(), hidden=made.fixed)
        assert found is not None
        lists.append([row(*found[i]) for i in range(len(found))])
    return lists


def row(text: str, features: dict[str, float], total: float | None) -> Row:
    assert total is not None
    return " ".join(text.split()), {name: value for name, value in features.items() if value}, total


def gold(path: str) -> list[list[Row]]:
    return [[row(*nbest[i]) for i in range(len(nbest))] for nbest in smt.load_plugins().read(path)]


def same(ours: Row, theirs: Row) -> bool:
    """Whether hypotheses are equal to the six digits that Moses prints."""
    return ours[0] == theirs[0] and ours[1] == pytest.approx(theirs[1], rel=1e-5, abs=2e-5)


def near(one: float, other: float) -> bool:
    return one == pytest.approx(other, rel=6e-6, abs=2e-5)


def lacks(ours: list[Row], theirs: list[Row]) -> list[Row]:
    """What ours lacks of their list, equal hypotheses counted one by one."""
    left = list(ours)
    lacking = []
    for wanted in theirs:
        at = next((i for i, mine in enumerate(left) if near(mine[2], wanted[2]) and same(mine, wanted)), None)
        if at is None:
            lacking.append(wanted)
        else:
            del left[at]
    return lacking


def translations(path: str) -> list[str]:
    return [" ".join(line.split()) for line in Path(path).read_text().splitlines()]


@pytest.mark.parametrize(
    ("config", "best"),
    [
        ("probing-log", "nolex"),
        ("probing-nolog", "nolex"),
        ("probing-log-lex", "lex"),
        ("probing-nolog-lex", "lex"),
        ("probing-log.textlex", "lex"),
    ],
)
def test_phrases(shared: Path, monkeypatch: pytest.MonkeyPatch, config: str, best: str) -> None:
    monkeypatch.chdir(shared / "gold/moses/binary/moses")
    ours = decoded(f"{config}.ini")
    assert [rows[0][0] for rows in ours] == translations(f"expected/{best}.1best.txt")
    for mine, theirs in zip(ours, gold(f"expected/{best}.moses.align.nbest50.txt.gz"), strict=True):
        assert len(mine) == len(theirs)
        assert all(near(one[2], other[2]) for one, other in zip(mine, theirs, strict=True))
        assert not lacks(mine, theirs)
    others = 0
    for mine, theirs in zip(ours, gold(f"expected/{best}.moses2.nbest50.txt.gz"), strict=True):
        others += sum(not near(wanted[2], mine[-1][2]) for wanted in lacks(mine, theirs[:50]))
    assert others == (0 if best == "nolex" else 20)


def test_rules(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shared / "gold/moses/binary/moses-scfg")
    ours = decoded("probing.ini")
    assert [rows[0][0] for rows in ours] == translations("expected/1best.txt")
    doubles = 0
    for mine, theirs in zip(ours, gold("expected/moses2.nbest50.txt.gz"), strict=True):
        for wanted in lacks(mine, theirs):
            equal = [
                sum(near(other[2], wanted[2]) and same(other, wanted) for other in rows) for rows in (mine, theirs)
            ]
            assert 0 < equal[0] < equal[1]
            doubles += 1
        extra = lacks(theirs, mine)
        assert all(one[2] <= theirs[-1][2] + 2e-5 for one in extra)
    assert doubles == 11
