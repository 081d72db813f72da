"""Lists that cannot be learnt from are refused before learning."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from smtformats import Candidates
from smtplugins.contracts.errors import SmtError
from smtplugins.host.host import Host
from tests.host.teaching import BLEU, REFS, lists, teaching_host


@pytest.fixture(scope="module")
def host() -> Host:
    return teaching_host()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ref").write_text("".join(f"{ref}\n" for ref in REFS))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda nbest: nbest.select([0]), "expected lists to choose from, found a single hypothesis in each"),
        (
            lambda nbest: nbest.with_texts(["x"] * len(nbest)),
            "BLEU scores all hypotheses of each list the same: do the references",
        ),
        (
            lambda nbest: Candidates(nbest.id, nbest.texts, [("f",)] * len(nbest), [[float(nbest.id)]] * len(nbest)),
            "all hypotheses of each list have the same feature values",
        ),
        (
            lambda nbest: Candidates(nbest.id, nbest.texts, [()] * len(nbest), [[]] * len(nbest)),
            "expected features in the lists, found none",
        ),
        (
            lambda nbest: Candidates(nbest.id, nbest.texts, nbest.layouts, [[math.nan, 1.0]] * len(nbest)),
            "expected finite features, found inf or nan",
        ),
    ],
)
def test_lists_that_teach_nothing(host: Host, change: Any, message: str) -> None:
    with pytest.raises(SmtError, match=message):
        host.tune(list(map(change, lists())), [REFS], learner="given", metric=BLEU)


def test_numbers_of_values_that_differ(host: Host) -> None:
    lines = [f"{i} ||| {text} ||| TM= 1 {j} {extra}||| 0\n" for i, (text, extra) in enumerate(
        [("a b", "3 "), ("a c", "3 "), ("a d", "")]) for j in range(2)]  # fmt: skip
    Path("mixed.nbest").write_text("".join(lines))
    with pytest.raises(SmtError, match=r"mixed.nbest:5: expected 3 values of the feature 'TM', as other .*, found 2"):
        host.tune("mixed.nbest", [["a b", "a c", "a d"]], learner="given", metric=BLEU)
    Path("single.nbest").write_text("".join(lines).replace("TM= 1 0 ||| 0", "TM= 7 ||| 0"))
    with pytest.raises(SmtError, match=r"expected \d values of the feature 'TM'"):
        host.tune("single.nbest", [["a b", "a c", "a d"]], learner="given", metric=BLEU)


def test_a_feature_that_one_list_lacks_is_told(host: Host) -> None:
    given = lists()
    given[3] = Candidates("3", given[3].texts, [("good",)] * len(given[3]), [[row[0]] for row in given[3].values])
    notes: list[str] = []
    host.tune(given, [REFS], learner="given", metric=BLEU, note=notes.append)
    assert notes == [
        "feature 'noise' is in all hypotheses of 4 lists and in none of list 3 (<data>:1): it counts as 0 there"
    ]
