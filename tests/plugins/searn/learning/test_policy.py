"""Policies: features by name, mixtures that choose, and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.plugins.searn.learning.policy import BEGIN, History, Policy, draw_index, operations, static_names

LABELS = ("S", "S,R+", "S,R-,R+")
TEMPLATES = ("source", "previous", "target", "bias", "label", "label2", "depth", "fragment")
NAMES = ("source=le chat", "bias", "label=S", f"label={BEGIN}", "label2=S S,R+", "depth=0", "fragment=cat", "fragment=")


def made(policies: int = 2) -> Policy:
    weights = np.arange(policies * len(NAMES) * 3, dtype=np.float32).reshape(policies, len(NAMES), 3) / 8
    return Policy(LABELS, TEMPLATES, NAMES, weights, np.full(policies, 1 / policies))


def test_names_of_an_item() -> None:
    assert static_names(TEMPLATES, "le chat", "the cat", BEGIN) == [
        "source=le chat",
        f"previous={BEGIN}",
        "target=the cat",
        "bias",
    ]
    assert static_names(("target", "label", "length"), "a", "", "b") == ["target="]


def test_operations() -> None:
    assert operations("S,R+,R-") == (True, False)
    assert operations("S") == operations("NN") == operations("NN,R+") == operations("S,X") == ()


def test_history_follows_the_stack() -> None:
    # The items of the paper's appendix, two of them made empty.
    words = ["a", "to learn about", "Chinese", "music", "", "great", "", "way"]
    labels = ["S", "S", "S,R+", "S,R+", "S,R+", "S", "S,R+", "S,R+,R-,R+"]
    state, seen = History(), []
    for word, label in zip(words, labels, strict=True):
        seen.append(state.names(TEMPLATES))
        state = state.after(label, word)
    tops = [names[-1] for names in seen]
    assert tops == [
        "fragment=<s>",
        "fragment=a",
        "fragment=about",
        "fragment=Chinese",
        "fragment=music",
        "fragment=music",
        "fragment=great",
        "fragment=great",
    ]
    assert [names[2] for names in seen] == [f"depth={k}" for k in (0, 1, 2, 2, 2, 2, 3, 3)]
    assert seen[1][:2] == ["label=S", "label2=<s> S"]
    # great way | R- puts it before "learn about Chinese music": the whole ends with music.
    assert state == History(("S,R+", "S,R+,R-,R+"), ("music",))


def test_reductions_of_a_lone_fragment_are_left_out() -> None:
    assert History().after("S,R+,R-", "x").stack == ("x",)
    assert History(stack=("",)).after("S,R-", "x").stack == ("x",)
    assert History(stack=("y",)).after("S,R-", "").stack == ("y",)
    assert History(stack=("",)).after("S,R+", "").stack == ("",)
    assert History(stack=("a",) * 7).names(("depth",)) == ["depth=5"]


def test_scores_are_sums_of_rows() -> None:
    policy = made()
    whole = policy.scores(["source=le chat", "target=unheard of", "label=S"])
    assert whole.tolist() == (policy.weights[:, 0] + policy.weights[:, 2]).tolist()
    assert (policy.scores(["bias", "label=S"], [2.0, -1.0]) == 2 * policy.weights[:, 1] - policy.weights[:, 2]).all()
    found = policy.log_probabilities(whole)
    assert np.exp(found).sum() == pytest.approx(1.0)
    assert found[1] - found[0] == pytest.approx((whole[:, 1] - whole[:, 0]).mean())


def test_choices() -> None:
    policy = Policy(LABELS, ("bias",), ("bias",), np.zeros((3, 1, 3), dtype=np.float32), np.array([0.25, 0.25, 0.5]))
    scores = np.array([[0, 1, 0], [0, 1, 1], [0, 0, 2]], dtype=float)
    # Two of them are together as much as the third: the first label.
    assert policy.choose(scores) == 1
    assert policy.choose(scores, "last") == 2
    assert [policy.choose(scores, "draw", u) for u in (0.0, 0.49, 0.5, 0.999)] == [1, 1, 2, 2]
    with pytest.raises(UsageError, match="decide: unknown value 'veto'; known: draw, last, vote"):
        policy.choose(scores, "veto")  # type: ignore[arg-type]
    assert [draw_index(np.array([1.0, 0.0, 3.0]), u) for u in (0.0, 0.2499, 0.25, 0.99)] == [0, 0, 2, 2]


def test_rows_of_the_history() -> None:
    rows = made().history_rows()
    assert rows.label.tolist() == [2, -1, -1, 3]
    assert rows.label2[0, 1] == 4
    assert (rows.label2 >= 0).sum() == 1
    assert rows.depth.tolist() == [5, -1, -1, -1, -1, -1]
    assert rows.fragment == {"cat": 6, "": 7}


def test_saved_and_loaded(tmp_path: Path) -> None:
    policy = made(3)
    policy.save(tmp_path / "one")
    again = Policy.load(tmp_path / "one")
    assert (again.labels, again.templates, again.names) == (policy.labels, policy.templates, policy.names)
    assert (again.weights == policy.weights).all()
    assert (again.shares == policy.shares).all()
    assert again.digest() == policy.digest() != made(2).digest()


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("policy.json", "{}", "expected labels, templates and shares, found others"),
        ("policy.json", "{", "expected a policy, found"),
        ("names.txt", "a\n", r"expected weights of policies x names x labels, \(2, 1, 3\), found \(2, 8, 3\)"),
    ],
)
def test_files_that_are_none(tmp_path: Path, file: str, text: str, message: str) -> None:
    made().save(tmp_path)
    (tmp_path / file).write_text(text)
    with pytest.raises(SmtError, match=message):
        Policy.load(tmp_path)
    (tmp_path / file).unlink()
    with pytest.raises(SmtError, match=f"expected a policy, found no {file}"):
        Policy.load(tmp_path)


@pytest.mark.parametrize("change", [{"shares": np.array([0.5, 0.6])}, {"weights": np.full((2, 8, 3), np.nan, "f4")}])
def test_values_that_are_none(change: dict[str, Any]) -> None:
    with pytest.raises(SmtError, match="policy: expected"):
        Policy(**{**made().__dict__, **change})
