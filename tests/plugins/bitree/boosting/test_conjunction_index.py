"""Confidences by parameters against those of the trees."""

from __future__ import annotations

import numpy as np

from smtplugins.plugins.bitree.boosting.boosting import boost
from smtplugins.plugins.bitree.boosting.conjunction_index import ConjunctionIndex
from smtplugins.plugins.bitree.boosting.examples import Examples, Problem


def test_parameters_and_trees_say_the_same() -> None:
    draw = np.random.default_rng(3)
    table = draw.random((300, 12)) < 0.3
    names = tuple(f"a{k}" for k in range(12))
    rows = [[names[k] for k in np.flatnonzero(row)] for row in table]
    examples = Examples.of(rows, names)
    classes = np.where(table[:, 0] & ~table[:, 1], 0, np.where(table[:, 2] ^ table[:, 3], 1, draw.integers(0, 3, 300)))
    model = boost([Problem("p", examples, classes, ("x", "y", "z"))], least=0.5)
    assert model.sizes().min() > 3
    other = Examples.of([[names[k] for k in np.flatnonzero(row)] for row in draw.random((200, 12)) < 0.4], names)
    index = ConjunctionIndex(model, "p")
    for given in (examples, other):
        assert np.allclose(index.scores(given.offsets, given.ids), model.scores("p", given), atol=1e-9)
    assert index.scores(np.array([0]), np.zeros(0, dtype=np.int64)).shape == (0, 3)


def test_a_model_without_parameters() -> None:
    examples = Examples.of([["a"], ["b"]])
    model = boost([Problem("p", examples, np.array([0, 0]), ("x",))], least=1e6)
    assert ConjunctionIndex(model, 0).scores(examples.offsets, examples.ids).tolist() == [[0.0], [0.0]]
