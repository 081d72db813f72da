"""Lists by Moses' configuration against those that Moses wrote: totals by rank, and how many entries are the same.

They were made with stacks of 100, and by cube pruning with a pop limit of 200. A stack of Moses may hold up to twice as
many until it is pruned, so that a few sentences have others far down their lists; with larger stacks all that Moses
has is there, and more that is better.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

import smtplugins as smt
from smtformats import Candidates
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.decoded_lists import candidates_of
from smtplugins.host.decode.translator import make_translator

CONFIG = "model/moses.pb.tuned.ini"
ALL, FIRST = range(50), range(10)
APART = (1, 16, 20, 29, 35, 45)  # sentences whose lists are not Moses' with stacks of 100
FIELDS = ("segmentation", "alignment")

pytestmark = pytest.mark.shared


@pytest.fixture(autouse=True)
def _here(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shared / "gold/moses")


@functools.cache
def lists(which: Sequence[int], k: int, unique: bool = False, *options: str) -> list[Candidates]:
    """Those of some sentences."""
    overrides = [f"decoder.{one}" for one in options]
    made = make_translator(smt.load_plugins(), load_config(CONFIG, overrides), None, "off")
    sentences = Path("in/test50.de").read_text().splitlines()
    found = []
    for one in made.decode([sentences[i] for i in which], graphs=True):
        assert one.graph is not None
        mine = candidates_of(
            one, k, unique=unique, names=made.names(), graph=one.graph(), fields=FIELDS, hidden=made.fixed
        )
        assert mine is not None
        found.append(mine)
    return found


def gold(name: str) -> list[Candidates]:
    return list(smt.load_plugins().read(f"pb/{name}"))


def near(one: float, other: float) -> bool:
    """Whether numbers are the same to the digits that Moses prints of totals."""
    return one == pytest.approx(other, rel=5e-6, abs=1e-5)


def by_rank(ours: list[Candidates], theirs: list[Candidates]) -> Counter[str]:
    """How many totals are those of the same rank, how many are better or worse."""
    found: Counter[str] = Counter()
    for mine, one in zip(ours, theirs, strict=False):
        assert mine.totals is not None and one.totals is not None
        assert mine.layouts[0] == one.layouts[0] or one.layouts[0][0] == "F[0]"
        for k, total in enumerate(one.totals):
            here = mine.totals[k] if k < len(mine) else -float("inf")
            found["same" if near(here, total) else ("better" if here > total else "worse")] += 1
    return found


def common(ours: list[Candidates], theirs: list[Candidates]) -> int:
    """How many of their entries are ours too: text, fields, and all features to the digits that are printed."""
    found = 0
    for mine, one in zip(ours, theirs, strict=True):
        fields = [mine.extras[name] for name in FIELDS if name in one.extras]
        known: dict[tuple[str, ...], list[list[float]]] = {}
        for text, values, *own in zip(mine.texts, mine.values, *fields, strict=True):
            known.setdefault((text, *own), []).append(values)
        fields = [one.extras[name] for name in FIELDS if name in one.extras]
        for text, values, *own in zip(one.texts, one.values, *fields, strict=True):
            left = known.get((text, *own), [])
            at = next((i for i, row in enumerate(left) if all(map(near, row, values))), None)
            if at is not None:
                del left[at]
                found += 1
    return found


def test_the_best_translations() -> None:
    wanted = [line.strip() for line in Path("pb/1best.txt").read_text().splitlines()]
    assert [one.texts[0] for one in lists(ALL, 100, False, "stack_size=100")] == wanted


@pytest.mark.parametrize("name", ["align_seg", "labeled", "unlabeled"])
def test_a_hundred_best(name: str) -> None:
    ours, theirs = lists(ALL, 100, False, "stack_size=100"), gold(f"nbest100.{name}.txt.gz")
    found = by_rank(ours, theirs)
    assert found["same"] >= 4890
    assert found["worse"] <= 20
    assert common(ours, theirs) >= 4890


def test_a_hundred_best_with_larger_stacks() -> None:
    theirs = gold("nbest100.labeled.txt.gz")
    ours = lists(APART, 100, False, "stack_size=300")
    assert by_rank(ours, [theirs[i] for i in APART])["worse"] == 0


def test_different_texts() -> None:
    """Moses looks at 2,000 derivations and gives fewer than a hundred texts of some sentences."""
    theirs = gold("nbest100.labeled.distinct.txt.gz")
    assert by_rank(lists(ALL, 100, True, "stack_size=100"), theirs)["same"] >= 3850
    assert by_rank(lists(APART, 100, True, "stack_size=300"), [theirs[i] for i in APART])["worse"] == 0


def test_cube_pruning() -> None:
    ours = lists(FIRST, 20, False, "search=cube", "pop_limit=200", "stack_size=200")
    found = by_rank(ours, gold("nbest20.cube200.txt"))
    assert found == {"same": 180, "better": 20}
