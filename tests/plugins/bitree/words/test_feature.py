"""The features ``bitree`` and ``bitree-aligned`` against their definition."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest

from smtformats import Candidates
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.plugins.bitree.boosting.boosted_model import costs
from smtplugins.plugins.bitree.trial import transducer_trial, words_trial
from smtplugins.plugins.bitree.words.feature import AlignedWords, BitreeWords
from smtplugins.plugins.bitree.words.word_model import WordModel

SOURCE = "das haus ja neu"
TEXTS = ["a b c", "b", "zzz", ""]


def _candidates(links: list[str] | None = None) -> Candidates:
    extras = {} if links is None else {"alignment": links}
    count = len(TEXTS) if links is None else len(links)
    return Candidates(
        id="0", texts=TEXTS[:count], layouts=[()] * count, values=[[]] * count, totals=[0.0] * count, extras=extras
    )


def _costs(path: Path) -> list[dict[str, float]]:
    found = WordModel.load(path).confidences(tuple(SOURCE.split()))
    return [dict(zip(names, costs(confidence).tolist(), strict=True)) for names, confidence in found]


def test_the_cheapest_words(tmp_path: Path) -> None:
    path = words_trial(tmp_path)["model_path"]
    known = _costs(path)
    found = BitreeWords(model_path=path, unseen=3.0).score_candidates(SOURCE, _candidates())
    for value, text in zip(found, TEXTS, strict=True):
        ways = itertools.product([*text.split(), ""], repeat=len(known))
        wanted = min(sum(min(one.get(name, 3.0), 3.0) for one, name in zip(known, way, strict=True)) for way in ways)
        assert math.isclose(-value, wanted)
    assert found[0] > found[2]


def test_linked_words(tmp_path: Path) -> None:
    path = words_trial(tmp_path)["model_path"]
    known = _costs(path)
    found = AlignedWords(model_path=path, unseen=3.0).score_candidates(SOURCE, _candidates(["0-0 1-1 1-2 2-0", ""]))
    wanted = [
        known[0].get("a", 3.0),
        min(known[1].get("b", 3.0), known[1].get("c", 3.0)),
        known[2].get("a", 3.0),
        known[3][""],
    ]
    assert math.isclose(-found[0], sum(wanted))
    assert math.isclose(-found[1], sum(one.get("", 3.0) for one in known))
    for links in ("4-0", "0-3", "0"):
        with pytest.raises(SmtError, match=f"list 0: expected links of 4 and 3 words, found '{links}'"):
            AlignedWords(model_path=path).score_candidates(SOURCE, _candidates([links]))


def test_the_words_of_a_transducer(tmp_path: Path) -> None:
    path = transducer_trial(tmp_path)["model_path"]
    one = BitreeWords(model_path=path).score_candidates(SOURCE, _candidates())
    assert one == BitreeWords(model_path=path / "words").score_candidates(SOURCE, _candidates())
    with pytest.raises(UsageError, match="unseen: expected a cost of 0 or more, found -1"):
        BitreeWords(model_path=path, unseen=-1)
