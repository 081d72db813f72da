"""Posteriors of texts and words, against all alignments of small texts."""

from __future__ import annotations

import functools
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smtplugins as smt
from smtformats import Candidates
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.statistics import word_posteriors
from smtplugins.plugins.standard.confidence import LONGEST, Confidence

Text = tuple[str, ...]


def nbest(texts: list[str], totals: list[float] | None) -> Candidates:
    return Candidates("7", texts, [()] * len(texts), [[]] * len(texts), totals=totals)


def best_alignments(text: Text, other: Text) -> list[frozenset[int]]:
    """The positions of equal words in each alignment with the fewest edits."""

    @functools.cache
    def distance(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        through = distance(i - 1, j - 1) + (text[i - 1] != other[j - 1])
        return min(through, distance(i - 1, j) + 1, distance(i, j - 1) + 1)

    def ways(i: int, j: int) -> list[frozenset[int]]:
        """In the order of the preferences."""
        if not i or not j:
            return [frozenset()]
        found: list[frozenset[int]] = []
        equal = text[i - 1] == other[j - 1]
        if distance(i, j) == distance(i - 1, j - 1) + (not equal):
            found += [way | {i - 1} if equal else way for way in ways(i - 1, j - 1)]
        if distance(i, j) == distance(i - 1, j) + 1:
            found += ways(i - 1, j)
        if distance(i, j) == distance(i, j - 1) + 1:
            found += ways(i, j - 1)
        return found

    return ways(len(text), len(other))


TEXTS = st.lists(st.text("abc", max_size=5).map(" ".join), min_size=1, max_size=5)


@given(TEXTS, st.data())
def test_word_posteriors_against_enumeration(texts: list[str], data: st.DataObject) -> None:
    totals = data.draw(st.lists(st.floats(-5, 5), min_size=len(texts), max_size=len(texts)))
    scale = data.draw(st.sampled_from([0.5, 1.0, 2.0]))
    weights = [math.exp(scale * total) for total in totals]
    shares = [weight / math.fsum(weights) for weight in weights]
    rows = Confidence(scale=scale, words=True).score_candidates(None, nbest(texts, totals))
    by_text = {
        text: math.fsum(share for share, one in zip(shares, texts, strict=True) if one == text) for text in texts
    }
    for i, text in enumerate(texts):
        row, split = rows[i], tuple(text.split())
        assert row["confidence"] == pytest.approx(by_text[text])
        assert row["confidence:entropy"] == pytest.approx(-sum(p * math.log(p) for p in by_text.values()), abs=1e-12)
        ways = [best_alignments(split, tuple(other.split())) for other in texts]
        wanted = [math.fsum(p for p, way in zip(shares, ways, strict=True) if k in way[0]) for k in range(len(split))]
        found = [row[f"confidence:word[{k}]"] for k in range(len(split))]
        assert found == pytest.approx(wanted)
        assert set(row) == {
            *("confidence", "confidence:entropy", "confidence:mean", "confidence:least"),
            *(f"confidence:word[{k}]" for k in range(len(split))),
        }
        assert row["confidence:least"] == pytest.approx(min(wanted, default=by_text[text]))
        assert row["confidence:mean"] == pytest.approx(sum(wanted) / len(wanted) if wanted else by_text[text])
        # Whatever alignment is taken, a posterior lies between those of the most and the least favourable ones.
        for k, value in enumerate(found):
            least = math.fsum(p for p, way in zip(shares, ways, strict=True) if all(k in one for one in way))
            most = math.fsum(p for p, way in zip(shares, ways, strict=True) if any(k in one for one in way))
            assert least - 1e-12 <= value <= most + 1e-12
            assert value >= by_text[text] - 1e-12


def test_values_by_hand() -> None:
    lists = nbest(["a b c", "a c", "a  b c", "x"], [math.log(0.4), math.log(0.3), math.log(0.2), math.log(0.1)])
    rows = Confidence(words=True).score_candidates(None, lists)
    assert [rows[0][f"confidence:word[{i}]"] for i in range(3)] == pytest.approx([0.9, 0.6, 0.9])
    assert [rows[1][f"confidence:word[{i}]"] for i in range(2)] == pytest.approx([0.9, 0.9])
    assert [row["confidence"] for row in (rows[i] for i in range(4))] == pytest.approx([0.6, 0.3, 0.6, 0.1])
    assert rows[0]["confidence:mean"] == pytest.approx(0.8)
    assert rows[3]["confidence:least"] == pytest.approx(0.1)


def test_columns_and_impossible_hypotheses() -> None:
    lists = nbest(["a", "b"], [0.0, -math.inf])
    assert [Confidence().score_candidates(None, lists)[i]["confidence"] for i in (0, 1)] == [1, 0]
    assert Confidence().score_candidates(None, lists)[0]["confidence:entropy"] == 0
    lists = Candidates("7", ["a", "b"], [("lp",), ("lp", "x")], [[0.0], [math.log(3), 1]])
    assert Confidence(column="lp").score_candidates(None, lists)[1]["confidence"] == pytest.approx(0.75)
    assert len(Confidence().score_candidates(None, nbest([], None))) == 0


@pytest.mark.parametrize(
    ("column", "totals", "texts", "message"),
    [
        (None, None, ["a"], "expected totals, found none: rescore the list with weights, or name a feature by column="),
        ("lm", [1.0], ["a"], "expected the feature 'lm', found a hypothesis without it: 1"),
        (None, [math.inf, 1.0], ["a", "b"], "expected scores with a finite maximum, found inf"),
        (None, [-math.inf], ["a"], "expected scores with a finite maximum, found -inf"),
        (
            None,
            [1.0],
            ["a " * (LONGEST + 1)],
            f"list 7: expected texts of at most {LONGEST} words, found one of {LONGEST + 1}",
        ),
    ],
)
def test_errors(column: str | None, totals: list[float] | None, texts: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Confidence(column=column).score_candidates(None, nbest(texts, totals))
    assert str(caught.value).startswith(message)


def test_through_the_host(tmp_path: Path) -> None:
    (tmp_path / "lists").write_text("0 ||| a b ||| LM= -1 ||| -1\n0 ||| a c ||| LM= -1 ||| -1\n")
    host = smt.load_plugins()
    (scored,) = host.score(host.read(tmp_path / "lists"), ["confidence,words=true,name=post"])
    assert scored.names() == ("LM", "post", "post:entropy", "post:mean", "post:least", "post:word[0]", "post:word[1]")
    assert scored.values[0][1:] == pytest.approx([0.5, math.log(2), 0.75, 0.5, 1, 0.5])


def test_arrays_are_checked() -> None:
    words, offsets = np.zeros(3, dtype=np.int32), np.array([0, 1, 3])
    assert word_posteriors(words, offsets, np.array([0.25, 0.75])).tolist() == [1.0, 0.75, 1.0]
    for bad in ([0, 1], [1, 3], [0, 3, 2]):
        with pytest.raises(ValueError, match="offsets must increase from 0 to the number of words"):
            word_posteriors(words, np.array(bad), np.ones(len(bad) - 1))
    with pytest.raises(ValueError, match="expected a probability for each text"):
        word_posteriors(words, offsets, np.ones(3))


def test_order_of_the_list_does_not_count() -> None:
    texts = ["a b c a", "b c", "c a b", "a a"]
    totals = [0.1, 0.7, -0.3, 0.2]
    whole = Confidence().score_candidates(None, nbest(texts, totals))
    wanted = dict(zip(texts, (whole[i] for i in range(4)), strict=True))
    for order in itertools.permutations(range(4)):
        rows = Confidence().score_candidates(None, nbest(texts, totals).select(order))
        for place, i in enumerate(order):
            assert rows[place] == pytest.approx(wanted[texts[i]])
