"""Feature values of rules as columns: sparse blocks agree with dense ones."""

from __future__ import annotations

import numpy as np
import pytest

from smtformats import Columns
from smtplugins.contracts.errors import FeatureError
from smtplugins.contracts.offers import Offer
from smtplugins.core.grammar.rules import Rules
from smtplugins.host.features.rule_columns import ColumnBlock, SparseBlock, blocks_of
from smtplugins.host.features.scoring import Active

ROWS = [{"n:a": 1.0, "n:c": -2.0}, {}, {"n:b": 0.5}, {"n:a": 3.0, "n:b": 0.25}, {"n:c": 9.0}]
RULES = Rules.from_targets([["w"]] * len(ROWS))


class Says:
    def __init__(self, rows: list[dict[str, float]]) -> None:
        self._rows = rows

    def score_rules(self, rules: Rules) -> Columns:
        return Columns.from_mappings(self._rows)


def blocks(
    rows: list[dict[str, float]], label: str = "n", nobodys: int | None = None
) -> list[ColumnBlock | SparseBlock]:
    offer = Offer(name="n", make=Says, summary="sums")
    return list(blocks_of([Active(label, offer, Says(rows))], RULES, nobodys))


def test_open_namespaces_stay_sparse() -> None:
    (block,) = blocks(ROWS, nobodys=-1)
    assert isinstance(block, SparseBlock)
    table = np.array([[row.get(name, 0.0) for row in ROWS] for name in block.names])
    table[:, -1] = 0.0
    dense = ColumnBlock(block.names, tuple(table))
    assert np.array_equal(np.array(block.columns), table)
    for weights in ({"n:a": 0.5, "n:b": -1.0, "other": 3.0}, {}):
        scores = [np.ones(len(ROWS)), np.ones(len(ROWS))]
        block.add_scores(scores[0], weights)
        dense.add_scores(scores[1], weights)
        assert scores[0] == pytest.approx(scores[1])
    assert block.sums([0, 3, 3, 1]) == {"n:a": 7.0, "n:c": -2.0, "n:b": 0.5}
    assert dense.sums([0, 3, 3, 1]) == block.sums([0, 3, 3, 1])
    assert block.sums([]) == block.sums([4]) == {}
    for some in ([4, 1, 3], [], list(range(len(ROWS)))):
        assert np.array_equal(np.array(block.of(np.array(some, dtype=int)).columns), table[:, some])
        assert np.array_equal(np.array(dense.of(np.array(some, dtype=int)).columns), table[:, some])
    entries = [sorted(zip(*(part.tolist() for part in values.entries()), strict=True)) for values in (block, dense)]
    assert entries[0] == entries[1]


def test_the_label_takes_the_place_of_the_name() -> None:
    (block,) = blocks(ROWS, label="m")
    assert block.names == ("m:a", "m:c", "m:b")


def test_names_that_are_not_open_are_written_out() -> None:
    (block,) = blocks([{"x": 1.0}] * len(ROWS))
    assert isinstance(block, ColumnBlock)


def test_what_is_wrong() -> None:
    with pytest.raises(FeatureError, match="expected a row for each of 5 rules, found 2"):
        blocks(ROWS[:2])
    with pytest.raises(FeatureError, match="expected finite scores"):
        blocks([{"n:a": float("inf")}] * len(ROWS))
