"""Lists as a matrix: spread within lists, and size of features."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.host.learn.problems import Matrix


def matrix(rows: np.ndarray, lists: list[int], *, zeros: bool = True) -> Matrix:
    """Dense rows as a matrix, with or without entries of 0."""
    kept = [np.flatnonzero((row != 0) | zeros) for row in rows]
    return Matrix(
        names=tuple(f"f{i}" for i in range(rows.shape[1])),
        lists=np.array(lists),
        offsets=np.cumsum([0, *map(len, kept)]),
        ids=np.concatenate(kept).astype(np.int32),
        values=np.concatenate([row[ids] for row, ids in zip(rows, kept, strict=True)]),
        stats=np.zeros((len(rows), 1)),
    )


@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.7]), st.booleans())
def test_spread_and_size(seed: int, share: float, zeros: bool) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, size=4)
    rows = rng.normal(size=(sizes.sum(), 5)) * (rng.random((sizes.sum(), 5)) < share)
    rows[:, 4] = 0.1  # the same everywhere
    bounds = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    made = matrix(rows, bounds, zeros=zeros)
    wanted = np.sqrt(np.mean([rows[a:b].var(axis=0) for a, b in itertools.pairwise(bounds)], axis=0))
    np.testing.assert_allclose(made.spread, wanted, atol=1e-12)
    assert made.spread[4] == 0
    np.testing.assert_allclose(made.size, np.abs(rows).mean(axis=0), atol=1e-12)


def test_some_lists_at_a_time_are_all_lists(monkeypatch: object) -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(40, 3))
    whole = matrix(rows, list(range(0, 41, 4)))
    spread = whole.spread
    import smtplugins.host.learn.problems as problems

    monkeypatch.setattr(problems, "_VALUES", 20)  # type: ignore[attr-defined]
    np.testing.assert_allclose(replace(whole).spread, spread, rtol=1e-12)


def test_spread_of_a_score() -> None:
    rows = np.random.default_rng(4).normal(size=(40, 3))
    made = matrix(rows, list(range(0, 41, 4)))
    assert [made.spread_of(column) for column in rows.T] == pytest.approx(made.spread.tolist())
