"""Pairs of hypotheses for training on preferences."""

from __future__ import annotations

import io
import itertools
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import Candidates, FormatError
from smtformats.format import shortest
from smtformats.nbest.preferences import FORMAT, write
from smtformats.writing import Written


def nbest(totals: list[float] | None, texts: list[str] | None = None, **parts: Any) -> Candidates:
    count = len(totals) if totals is not None else 2
    texts = texts or [f"text {i}" for i in range(count)]
    return Candidates(
        parts.pop("id", "0"), texts, [()] * count, [[]] * count, totals=totals, **{"source": "ein haus", **parts}
    )


def pairs(*lists: Candidates, **options: Any) -> list[dict[str, Any]]:
    out = io.StringIO()
    count = write(lists, out, shortest, **options)
    rows = [json.loads(line) for line in out.getvalue().splitlines()]
    assert count == len(lists)
    lost = len(lists) - len({row["id"] for row in rows})
    assert isinstance(count, Written)
    assert count.note == (f"{lost} of {len(lists)} lists have no pair: left out" if lost else "")
    return rows


def test_best_against_worst() -> None:
    out = io.StringIO()
    assert write([nbest([-1, -3.5, -2], ["a", "\u00e9\n", "c"])], out, shortest) == 1
    assert out.getvalue() == (
        '{"id": 0, "prompt": "ein haus", "chosen": "a", "rejected": "\u00e9\\n", "margin": 2.5, "chosen_rank": 1, '
        '"rejected_rank": 2, "chosen_score": -1, "rejected_score": -3.5}\n'
    )


def test_several_pairs() -> None:
    found = pairs(nbest([1, 5, 2, 4, 3]), pairs=9)
    assert [(row["chosen_rank"], row["rejected_rank"], row["margin"]) for row in found] == [(2, 1, 4), (4, 3, 2)]
    found = pairs(nbest([1, 5, 2, 4, 3]), pairs=9, margin=2.5)
    assert [row["margin"] for row in found] == [4]


def test_equal_texts_and_equal_totals_are_no_pairs() -> None:
    (row,) = pairs(nbest([1, 5, 3], ["a", "a", "b"]), nbest([2, 2], id="1"), nbest([2], id="x"))
    assert (row["chosen"], row["rejected"], row["margin"]) == ("a", "b", 2)


def test_ranks_are_those_of_the_file() -> None:
    (row,) = pairs(nbest([1, 5, 3]).select([2, 0]))
    assert (row["chosen_rank"], row["rejected_rank"]) == (3, 1)


@given(st.lists(st.tuples(st.integers(-3, 3), st.sampled_from("abcdef")), min_size=2, max_size=8), st.integers(1, 4))
def test_pairs_against_enumeration(items: list[tuple[int, str]], count: int) -> None:
    best = {text: max(total for total, other in items if other == text) for _, text in items}
    try:
        found = pairs(nbest([float(total) for total, _ in items], [text for _, text in items]), pairs=count)
    except FormatError:
        assert len(set(best.values())) == 1
        return
    taken = [text for row in found for text in (row["chosen"], row["rejected"])]
    assert len(taken) == len(set(taken))
    assert all(
        (best[row["chosen"]], best[row["rejected"]]) == (row["chosen_score"], row["rejected_score"]) for row in found
    )
    assert all(row["margin"] == row["chosen_score"] - row["rejected_score"] > 0 for row in found)
    values = sorted(best.values())
    margins = [values[-1 - k] - values[k] for k in range(min(count, len(values) // 2))]
    assert [row["margin"] for row in found] == [margin for margin in margins if margin > 0]
    assert all(first["margin"] >= second["margin"] for first, second in itertools.pairwise(found))


@pytest.mark.parametrize(
    ("lists", "options", "message"),
    [
        ([nbest(None)], {}, "x:7: field 1: expected a total score (rescore the list with weights, or judge it by a"),
        (
            [nbest([1, 2], source=None)],
            {},
            "x:7: field 1: expected the source of each list, which is the prompt, found",
        ),
        ([nbest([1, 1])], {}, "x:7: expected a list with two texts whose totals differ, found none in 1"),
        ([nbest([1, 2])], {"margin": 1.5}, "x:7: expected a list with two texts whose totals differ by at least 1.5,"),
        ([nbest([1, -math.inf])], {}, "x:7: field 1: expected a finite number (JSON has no others), found inf"),
        ([], {"pairs": 0}, "preferences-nbest: expected pairs of 1 or more for each list, found 0"),
        ([], {"margin": math.nan}, "preferences-nbest: expected a margin of 0 or more, found nan"),
    ],
)
def test_errors(lists: list[Candidates], options: dict[str, Any], message: str) -> None:
    for item in lists:
        item.file, item.line = "x", 7
    with pytest.raises(FormatError) as caught:
        pairs(*lists, **options)
    assert str(caught.value).startswith(message)


def test_no_lists_and_record() -> None:
    assert pairs() == []
    assert (FORMAT.name, FORMAT.kind, FORMAT.parse) == ("preferences-nbest", "nbest", None)
