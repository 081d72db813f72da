"""Pools of several systems' candidates."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import smtplugins as smt
from smtformats import Candidates
from smtformats.format import shortest
from smtformats.nbest.jsonl import write
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.pooling.origins import count_chosen, shown_counts


def nbest(key: str, **texts: tuple[float, float]) -> Candidates:
    """A list of texts with a feature ``lm`` and a total."""
    layout = ("lm",)
    return Candidates(
        key, list(texts), [layout] * len(texts), [[lm] for lm, _ in texts.values()], [t for _, t in texts.values()]
    )


A = [nbest("0", x=(-1.0, 0.0), y=(-3.0, math.log(3))), nbest("7", u=(-5.0, 1.0))]
B = [nbest("07", u=(-2.0, 2.0), v=(-4.0, 2.0)), nbest("0", y=(-8.0, 5.0))]


def pool(systems: Any = None, **options: Any) -> list[Candidates]:
    return list(smt.merge({"a": A, "b": B} if systems is None else systems, **options))


def rows(lists: list[Candidates]) -> list[tuple[str, str, dict[str, float]]]:
    return [
        (text, lists[k].extras["system"][i], features)
        for k in range(len(lists))
        for i, (text, features, _) in enumerate(lists[k].rows())
    ]


def test_candidates_keep_the_scores_of_each_system() -> None:
    lists = pool(missing="min")
    assert [one.id for one in lists] == ["0", "7"]
    assert rows(lists) == [
        ("y", "a,b", {"a.lm": -3, "a.total": math.log(3), "b.lm": -8, "b.total": 5}),
        ("x", "a", {"a.lm": -1, "a.total": 0, "b.lm": -8, "b.total": 5}),
        ("u", "a,b", {"a.lm": -5, "a.total": 1, "b.lm": -2, "b.total": 2}),
        ("v", "b", {"a.lm": -5, "a.total": 1, "b.lm": -4, "b.total": 2}),
    ]


def test_totals_are_mean_probabilities() -> None:
    first, second = pool()
    assert first.totals == pytest.approx([math.log((0.75 + 1) / 2), math.log(0.25 / 2)])
    assert second.totals == pytest.approx([math.log((1 + 0.5) / 2), math.log(0.5 / 2)])
    # Derivations of a text share its probability; the scores are those of the best.
    same = [Candidates("0", ["x", "x", "y"], [("f",)] * 3, [[1.0], [2.0], [3.0]], [0.0, math.log(2), 0.0])]
    (merged,) = pool({"a": same})
    assert merged.totals == pytest.approx([math.log(0.75), math.log(0.25)])
    assert merged.values[0] == [2.0, math.log(2), 0.0]


def test_missing_scores() -> None:
    flags = {(text, system): features for text, system, features in rows(pool())}
    assert flags["x", "a"] == {"a.lm": -1, "a.total": 0, "a.missing": 0, "b.lm": -8, "b.total": 5, "b.missing": 1}
    assert flags["y", "a,b"]["a.missing"] == flags["y", "a,b"]["b.missing"] == 0
    zeros = {(text, system): features for text, system, features in rows(pool(missing="0"))}
    assert zeros["x", "a"] == {"a.lm": -1, "a.total": 0, "b.total": 0}
    with pytest.raises(SmtError, match="expected scores of b for all candidates, found none for hypothesis 1"):
        pool(missing="error")
    both = {"a": [nbest("0", x=(1, 2))], "b": [nbest("0", x=(3, 4))]}
    assert rows(pool(both, missing="error")) == [("x", "a,b", {"a.lm": 1, "a.total": 2, "b.lm": 3, "b.total": 4})]
    with pytest.raises(UsageError, match="missing: expected flag, min, 0, error, found 'none'"):
        pool(missing="none")


def test_features_that_some_hypotheses_lack_are_zero() -> None:
    sparse = [Candidates("0", ["x", "y"], [("f", "g"), ("f",)], [[2.0, 4.0], [3.0]])]
    (merged,) = pool({"a": sparse, "b": [smt.candidates(["z"])]}, missing="min")
    assert dict(zip(merged.layouts[-1], merged.values[-1], strict=True)) in ({"a.f": 2, "a.g": 0}, {"a.f": 3})
    assert {text: row for text, row, _ in merged.rows()}["z"] == {"a.f": 2, "a.g": 0}


def test_ranks() -> None:
    features = {text: row for text, _, row in rows(pool(ranks=True, missing="0"))}
    assert [features["y"][name] for name in ("a.rank", "b.rank")] == [1, 1]
    assert [features["x"][name] for name in ("a.rank", "b.rank")] == [2, 2]
    assert [features["v"][name] for name in ("a.rank", "b.rank")] == [2, 2]


def test_equal_texts_apart() -> None:
    apart = pool(dedup=False, missing="0")
    assert sorted((text, system) for text, system, _ in rows(apart)) == sorted(
        [("x", "a"), ("y", "a"), ("y", "b"), ("u", "a"), ("u", "b"), ("v", "b")]
    )


def test_totals_that_are_features_stand_once() -> None:
    scored = smt.candidates(["x", "y"], scores=[-1, -2])
    (merged,) = pool({"a": [scored]}, missing="min")
    assert merged.layouts[0] == ("a.score",)


def test_totals_alone() -> None:
    names = ["a.total", "a.missing", "b.total", "b.missing"]
    assert [list(features) for _, _, features in rows(pool(scores="totals"))] == [names] * 4
    scored = smt.candidates(["x"], scores=[-1])
    assert pool({"a": [scored]}, scores="totals", missing="0")[0].layouts == [("a.total",)]
    with pytest.raises(UsageError, match="<a>: expected total scores, found features alone"):
        pool({"a": [smt.candidates(["x"], scores={"lm": [1]})]}, scores="totals")
    with pytest.raises(UsageError, match="scores: expected all, totals, found 'some'"):
        pool(scores="some")


def test_texts_have_one_candidate(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("x\nz\n")
    lists = [nbest("0", x=(-1.0, 0.0)), nbest("1", y=(-1.0, 0.0))]
    merged = pool({"a": lists, "words": tmp_path / "words.txt"})
    assert [one.extras["system"] for one in merged] == [["a,words"], ["a", "words"]]
    assert merged[1][1] == ("z", {"a.lm": -1, "a.total": 0, "a.missing": 1, "words.missing": 0}, math.log(0.5))
    assert pool({"a": lists, "words": ["x", "z"]}) == merged
    named = [Candidates("seg-0", ["x"], [()], [[]]), Candidates("seg-1", ["x"], [()], [[]])]
    with pytest.raises(SmtError, match=r"expected line numbers of .*words.txt as ids, found 'seg-0'"):
        pool({"a": named, "words": tmp_path / "words.txt"})


def test_ids_that_only_some_have() -> None:
    with pytest.raises(SmtError, match=r"expected candidates of b for all ids of a, found none for 7 .*allow_partial"):
        pool({"a": A, "b": [nbest("0", x=(0, 0))]})
    merged = pool({"a": A, "b": B[:1]}, allow_partial=True)
    assert [one.extras["system"] for one in merged] == [["a", "a"], ["a,b", "b"]]
    assert [row["b.missing"] for _, row, _ in merged[0].rows()] == [1, 1]
    assert all(math.isfinite(total) for one in merged for total in one.totals or [])
    with pytest.raises(SmtError, match=r"<a>: expected each id once, found 07 again \(first at <a>\)"):
        pool({"a": [*A, B[0]]})


def test_string_ids_keep_their_order() -> None:
    a, b = ([nbest(key, x=(0, 0)) for key in keys] for keys in (["q", "p"], ["p", "q"]))
    assert [one.id for one in pool({"a": a, "b": b})] == ["q", "p"]


def test_sources_have_to_be_the_same(tmp_path: Path) -> None:
    sourced = [[smt.candidates(["x"], source=source)] for source in ("Ein Haus.", "ein haus .", "ein hut")]
    assert pool({"a": sourced[0], "b": sourced[1]})[0].source == "Ein Haus."
    with pytest.raises(SmtError, match=r"expected the source of id 0 in a .*'Ein Haus.', found 'ein hut'"):
        pool({"a": sourced[0], "b": sourced[2]})
    (tmp_path / "source").write_text("das haus\n")
    (merged,) = pool({"a": sourced[0], "b": sourced[2]}, source=tmp_path / "source")
    assert merged.source == "das haus"


def test_extra_fields_have_the_name_of_their_system() -> None:
    aligned = [Candidates("0", ["x"], [()], [[]], extras={"alignment": ["0-0"], "tree": [""]})]
    (merged,) = pool({"a": aligned, "b": [smt.candidates(["y"])]})
    assert merged.extras == {"system": ["a", "b"], "a.alignment": ["0-0", ""]}


@pytest.mark.parametrize("name", ["", "a b", "a,b", "a.b", "a=b"])
def test_names(name: str) -> None:
    with pytest.raises(UsageError, match="expected a name without blanks"):
        pool({name: A})


def test_names_of_files(tmp_path: Path) -> None:
    for name in ("one.txt", "two.txt", "one.b"):
        (tmp_path / name).write_text("x\n")
    lists = smt.merge([tmp_path / "one.txt", tmp_path / "two.txt"])
    assert [one.extras["system"] for one in lists] == [["one,two"]]
    with pytest.raises(UsageError, match="expected a name of its own for each system, found 'one' twice"):
        smt.merge([tmp_path / "one.txt", tmp_path / "one.b"])
    with pytest.raises(UsageError, match="expected at least one, found none"):
        smt.merge({})
    with pytest.raises(UsageError, match=r"expected no feature 'missing', which the pool adds as a\.missing"):
        pool({"a": [Candidates("0", ["x"], [("missing",)], [[1.0]])]})


@given(st.lists(st.lists(st.sampled_from("wxyz"), min_size=1, max_size=4), min_size=1, max_size=3), st.data())
def test_all_texts_of_all_systems(texts: list[list[str]], data: st.DataObject) -> None:
    totals = st.floats(-800, 800)
    systems = {
        f"s{i}": [smt.candidates(row, scores=data.draw(st.lists(totals, min_size=len(row), max_size=len(row))))]
        for i, row in enumerate(texts)
    }
    (merged,) = pool(systems)
    assert sorted(merged.texts) == sorted({text for row in texts for text in row})
    assert merged.totals == sorted(merged.totals or [], reverse=True)
    assert math.fsum(map(math.exp, merged.totals or [])) == pytest.approx(1)
    for text, system in zip(merged.texts, merged.extras["system"], strict=True):
        assert system == ",".join(f"s{i}" for i, row in enumerate(texts) if text in row)
    out = io.StringIO()
    assert write([merged], out, shortest) == 1


def test_counts() -> None:
    counts = count_chosen(["a,b", "a", "b", "b", None])
    assert counts == {"b": (3, 2), "a": (2, 1)}
    assert shown_counts(counts, 5) == "b 3 of 5 (2 alone), a 2 of 5 (1 alone)"
