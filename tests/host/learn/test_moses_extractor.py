"""Files of Moses' extractor: joined, renamed, scored without texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from smtformats import FormatError
from smtplugins.contracts.errors import UsageError
from smtplugins.host.host import Host
from smtplugins.host.learn.moses_extractor import inner_names
from tests.host.teaching import REFS, teaching_host


@pytest.fixture(scope="module")
def host() -> Host:
    return teaching_host()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ref").write_text("".join(f"{ref}\n" for ref in REFS))


FEATURES = """\
FEATURES_TXT_BEGIN_0 0 2 3 LM0_0 TM0_0 TM0_1
-4 1 2
-5 3 4 pair_a~b=1
FEATURES_TXT_END_0
FEATURES_TXT_BEGIN_0 1 2 3 LM0_0 TM0_0 TM0_1
-1 5 6
-2 7 8
FEATURES_TXT_END_0
"""
SCORES = """\
SCORES_TXT_BEGIN_0 0 2 9 BLEU
3 5 2 4 1 3 0 2 5
5 5 4 4 3 3 2 2 5
SCORES_TXT_END_0
SCORES_TXT_BEGIN_0 1 2 9 BLEU
4 4 3 3 2 2 1 1 4
1 4 0 3 0 2 0 1 4
SCORES_TXT_END_0
"""


def test_names_are_those_of_lists() -> None:
    assert inner_names(["LM0_0", "TM0_0", "TM0_1", "plain"]) == ("LM0", "TM0[0]", "TM0[1]", "plain")


def test_features_and_statistics(host: Host) -> None:
    Path("f.dat").write_text(FEATURES)
    Path("s.dat").write_text(SCORES)
    done = host.tune("f.dat", learner="given,name=LM0,value=-1", scores=["s.dat"], metric="bleu")
    # The second of list 0 and of list 1.
    stats = np.array([[9.0, 9, 6, 4, 3, 2, 9, 7, 5, 3]])
    assert done.score == pytest.approx(host.metric("bleu").score(stats)[0])
    assert done.signature.startswith("BLEU|stats:s.dat|")
    assert "tok:" not in done.signature
    twice = host.tune(["f.dat", "f.dat"], learner="given,name=TM0[1]", scores=["s.dat"] * 2)
    assert twice.score == pytest.approx(done.score)


def test_files_that_do_not_fit(host: Host) -> None:
    Path("f.dat").write_text(FEATURES)
    for text, message in (
        (
            SCORES.replace("_0 1 2 9", "_0 2 2 9"),
            r"s.dat:5: .*expected sentence 1 with 2 entries, as line 5 of f.dat",
        ),
        ("".join(SCORES.splitlines(keepends=True)[:4]), "expected sentence 1, as f.dat has, found the end"),
        (SCORES.replace("BLEU", "TER"), "expected 9 statistics of BLEU, found TER"),
    ):
        Path("s.dat").write_text(text)
        with pytest.raises(FormatError, match=message):
            host.tune("f.dat", learner="given", scores=["s.dat"])
    Path("s.dat").write_text(SCORES)
    for files, options, message in (
        ("s.dat", {"scores": ["f.dat"]}, "expected features in s.dat and statistics in f.dat"),
        (
            "f.dat",
            {"scores": ["s.dat", "s.dat"]},
            "expected 1 files of statistics, one per feature file, found 2",
        ),
        ("f.dat", {"scores": ["s.dat"], "metric": "chrf"}, "expected metric bleu, found 'chrF2'"),
        ("f.dat", {"scores": ["s.dat"], "folds": 2}, "folds: expected lists"),
        ("f.dat", {"scores": ["s.dat"], "refs": ["ref"]}, "scores cannot be used with refs or forests"),
        ("f.dat", {"refs": ["ref"]}, r"features of Moses' extractor need its statistics \(scores=FILE"),
    ):
        with pytest.raises(UsageError, match=message):
            host.tune(files, learner="given,name=LM0", **options)
