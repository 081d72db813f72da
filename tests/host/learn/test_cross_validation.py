"""Cross-validation: no list is sorted by weights learnt from it."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.host import Host
from tests.host.teaching import BLEU, REFS, lists, teaching_host, write


@pytest.fixture(scope="module")
def host() -> Host:
    return teaching_host()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ref").write_text("".join(f"{ref}\n" for ref in REFS))


def test_lists_are_sorted_by_weights_of_the_others(host: Host) -> None:
    write("a", lists())
    done = host.tune("a", [REFS], learner="toy-perceptron", metric=BLEU, folds=3, start={"good": 0.0})
    parts = [[k for k in range(5) if k * 3 // 5 == fold] for fold in range(3)]
    assert [k for part in parts for k in part] == list(range(5))
    texts = []
    for part, weights in zip(parts, done.folds, strict=True):
        rest = [nbest for k, nbest in enumerate(lists()) if k not in part]
        alone = host.tune(rest, [REFS], learner="toy-perceptron", metric=BLEU, allow_partial=True, start={"good": 0.0})
        assert dict(weights) == dict(alone)
        texts += smt.rescore([lists()[k] for k in part], weights).best()
    assert smt.ListStream(lambda: iter(done.resorted), "x").best() == texts
    judged = host.evaluate([REFS], {"x": texts}, [BLEU]).scores[0]
    assert done.held_out == pytest.approx(judged.score)
    assert done.results()[-1]["signature"] == judged.signature + "|folds:3"


def test_numbers_of_folds(host: Host) -> None:
    for folds in (1, 6):
        with pytest.raises(UsageError, match=f"folds: expected 2 to 5, as there are 5 lists, found {folds}"):
            host.tune(lists(), [REFS], learner="given", metric=BLEU, folds=folds)


def test_a_fold_without_which_nothing_can_be_learnt_is_named(host: Host) -> None:
    known = [nbest if k == 4 else nbest.select([0]) for k, nbest in enumerate(lists())]
    with pytest.raises(SmtError, match=r"without fold 3 of 3 \(folds\): expected .*, found a single hypothesis"):
        host.tune(known, [REFS], learner="given", metric=BLEU, folds=3, start={"good": 0.0})


def test_runs_that_cannot_differ_are_noted(host: Host) -> None:
    notes: list[str] = []
    for learner in ("given", "given,by_seed=1"):
        host.tune(lists(), [REFS], learner=learner, metric=BLEU, runs=3, start={"good": 0.1}, note=notes.append)
    assert notes == ["all 3 runs of given gave the same weights: seeds make no difference here"]
