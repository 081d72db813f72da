"""Scores in batches across lists: those of each list in order, each text computed once, memory bounded."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smtplugins as smt
from smtformats import Candidates
from smtplugins.contracts.tools.running import BatchScores, ScoreCache, in_batches
from smtplugins.host.scores import batch_scores

Texts = Sequence["str | None"]


def lists_of(*texts: Sequence[str]) -> list[Candidates]:
    return [smt.candidates(list(some), id=i, source="s" * (i % 2)) for i, some in enumerate(texts)]


def keys(nbest: Candidates) -> list[Texts]:
    return [(nbest.source, text) for text in nbest.texts]


def score(key: Texts) -> float:
    return sum(ord(char) * (i + 1) for text in key for i, char in enumerate(text or "")) / 7


class Model:
    """A function that remembers what it was asked."""

    def __init__(self) -> None:
        self.batches: list[list[Texts]] = []

    def __call__(self, texts: list[Texts]) -> list[float]:
        self.batches.append(list(texts))
        return [score(key) for key in texts]


@given(
    lists=st.lists(st.lists(st.text("ab", max_size=3), max_size=6), max_size=8),
    ahead=st.integers(1, 9),
    batch=st.integers(1, 5),
    known=st.integers(0, 9),
)
def test_each_list_gets_its_scores_in_order(lists: list[list[str]], ahead: int, batch: int, known: int) -> None:
    made, model = lists_of(*lists), Model()
    scores = BatchScores(ScoreCache("off", "x"), in_batches(model, batch), ahead=ahead)
    rows = list(scores.score_lists(iter(made), keys))
    assert rows == [[(score(key),) for key in keys(nbest)] for nbest in made]
    assert all(len(set(texts)) == len(texts) <= batch for texts in model.batches)


def test_batches_have_texts_of_similar_length_and_none_twice() -> None:
    made = lists_of(["aaaa", "b", "ccc"], ["dd", "aaaa"], ["b", "eeeee"], ["ff"])
    model = Model()
    scores = BatchScores(ScoreCache("off", "x"), in_batches(model, 2), ahead=5)
    list(scores.score_lists(made, keys))
    texts = [[text for _, text in batch] for batch in model.batches]
    # The second list has a source, so its "aaaa" is another question, and "b" of the third list is not.
    assert texts == [["aaaa", "aaaa"], ["ccc", "dd"], ["b"], ["eeeee", "ff"]]


def test_lists_are_read_as_far_ahead_as_batches_need() -> None:
    read: list[int] = []

    def stream() -> Iterator[Candidates]:
        for i in range(100):
            read.append(i)
            yield smt.candidates([f"a{i}", f"b{i}"], id=i)

    scores = BatchScores(ScoreCache("off", "x"), in_batches(Model(), 4), ahead=8)
    given_out = scores.score_lists(stream(), keys)
    assert read == []
    for i, _ in enumerate(given_out):
        # Two windows of four lists, and one more list, to know whether there is one.
        assert len(read) <= i + 9
    assert len(read) == 100


def test_what_is_kept_is_not_computed(tmp_path: Path) -> None:
    made, model = lists_of(["a", "b"], ["c"], ["a", "d"]), Model()
    for _ in range(2):
        with ScoreCache(tmp_path, "x") as cache:
            rows = list(BatchScores(cache, in_batches(model, 64), ahead=2).score_lists(made, keys))
        assert rows == [[(score(key),) for key in keys(nbest)] for nbest in made]
        assert sum(map(len, model.batches)) == 4
    with ScoreCache(tmp_path, "x") as cache:
        assert BatchScores(cache, in_batches(model, 64)).scores([("", "a"), ("", "new"), ("", "new")]) == [
            (score(("", "a")),),
            *[(score(("", "new")),)] * 2,
        ]
    assert model.batches[-1] == [("", "new")]


def test_what_was_computed_before_an_error_is_kept(tmp_path: Path) -> None:
    def fails(texts: list[Texts]) -> list[float]:
        if ("", "a") in texts:
            raise RuntimeError("out of memory")
        return [score(key) for key in texts]

    with ScoreCache(tmp_path, "x") as cache, pytest.raises(RuntimeError, match="out of memory"):
        BatchScores(cache, in_batches(fails, 1)).scores([("", "a"), ("", "long"), ("", "longer")])
    with ScoreCache(tmp_path, "x") as cache:
        assert [row is not None for row in cache.lookup([("", "a"), ("", "long"), ("", "longer")])] == [
            False,
            True,
            True,
        ]


def test_a_killed_run_keeps_what_it_has_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_scores, "_STORING", 0.0)
    made = lists_of(*([f"{i} {k}" for k in range(4)] for i in range(10)))
    child = os.fork()
    if child == 0:
        left = iter(range(5))

        def dies(texts: list[Texts]) -> list[float]:
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return [score(key) for key in texts]

        try:
            with ScoreCache(tmp_path, "x") as cache:
                list(BatchScores(cache, in_batches(dies, 4), ahead=8).score_lists(made, keys))
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    model = Model()
    with ScoreCache(tmp_path, "x") as cache:
        rows = list(BatchScores(cache, in_batches(model, 4), ahead=8).score_lists(made, keys))
    assert rows == [[(score(key),) for key in keys(nbest)] for nbest in made]
    assert sum(map(len, model.batches)) == 40 - 5 * 4


@pytest.mark.parametrize("rows", [[1.0], [[1.0], [2.0], [3.0]], 1.0, [[[1.0]], [[2.0]]]])
def test_a_function_returns_a_row_for_each_text(rows: Any) -> None:
    scores = BatchScores(ScoreCache("off", "x"), in_batches(lambda texts: rows, 64))
    with pytest.raises(ValueError, match="expected 2 scores, one for each text, found the shape"):
        scores.scores([("a",), ("b",)])
    pairs = BatchScores(ScoreCache("off", "x", width=2), in_batches(lambda texts: np.ones((len(texts), 2)), 64))
    assert pairs.scores([("a",), ("b",)]) == [(1.0, 1.0)] * 2


def test_answers_that_are_missing_are_an_error() -> None:
    scores = BatchScores(ScoreCache("off", "x"), lambda texts, last: iter([(0, (1.0,))]))
    with pytest.raises(ValueError, match="expected scores of 2 texts, found 1"):
        scores.scores([("a",), ("b",)])
