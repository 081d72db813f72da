"""Models as plain files with one hash, and totals under their weights."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smtplugins as smt
from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.models import Files, Model
from smtplugins.host.features.weighing import Weigher


@dataclass(frozen=True)
class Note:
    """An artefact that is one text."""

    text: str

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "note.txt").write_text(self.text)

    def digest(self) -> str:
        return self.text


def test_saved_weights_come_back_exactly(tmp_path: Path) -> None:
    weights = {"LM0": 0.1 + 0.2, "TM0[1]": -1e-300, "TM0[0]": 3.0, "w:a=b": 0.0, "éß": -2.5}
    model = Model(weights)
    model.save(tmp_path / "model")
    loaded = Model.load(tmp_path / "model")
    assert loaded.weights == weights
    assert loaded.digest() == model.digest()
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["model.json", "weights.txt"]


@given(weights=st.dictionaries(st.from_regex(r"[A-Za-z][A-Za-z0-9:\[\]_]*", fullmatch=True), st.floats(-1e9, 1e9)))
def test_digest_survives_saving(tmp_path_factory: pytest.TempPathFactory, weights: dict[str, float]) -> None:
    folder = tmp_path_factory.mktemp("model")
    Model(weights).save(folder)
    assert Model.load(folder).digest() == Model(weights).digest()


def test_digest_is_that_of_the_content() -> None:
    model = Model({"a": 1.0, "b": 2.0}, {"note": Note("x")})
    assert model.digest() == Model({"b": 2.0, "a": 1}, {"note": Note("x")}).digest()
    for other in (
        Model({"a": 1.0, "b": 2.5}, {"note": Note("x")}),
        Model({"a": 1.0, "c": 2.0}, {"note": Note("x")}),
        Model({"a": 1.0, "b": 2.0}, {"note": Note("y")}),
        Model({"a": 1.0, "b": 2.0}, {"letter": Note("x")}),
        Model({"a": 1.0, "b": 2.0}),
    ):
        assert other.digest() != model.digest()


def test_with_weights_shares_the_artefacts() -> None:
    weights = {"a": 1.0}
    model = Model({"b": 2.0}, {"note": Note("x")})
    changed = model.with_weights(weights)
    assert changed.artefacts is model.artefacts
    assert (dict(changed.weights), dict(model.weights)) == ({"a": 1.0}, {"b": 2.0})
    weights["a"] = 5.0
    assert changed.weights == {"a": 1.0}


def test_artefacts_come_back_as_files_and_can_be_saved_on(tmp_path: Path) -> None:
    model = Model({"a": 1.0}, {"note": Note("hello")})
    model.save(tmp_path / "first")
    loaded = Model.load(tmp_path / "first")
    note = loaded.artefacts["note"]
    assert isinstance(note, Files)
    assert (note.folder / "note.txt").read_text() == "hello"
    assert loaded.digest() == model.digest()
    loaded.save(tmp_path / "second")
    again = Model.load(tmp_path / "second")
    assert again.digest() == model.digest()
    assert (tmp_path / "second" / "note" / "note.txt").read_text() == "hello"


def test_files_have_a_digest_of_names_and_contents(tmp_path: Path) -> None:
    digests = set()
    for folder, name, text in (("a", "x", "1"), ("b", "x", "2"), ("c", "y", "1"), ("d", "x", "1")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text)
        digests.add(Files(tmp_path / folder).digest())
    assert len(digests) == 3


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SmtError, match=r"model: expected a saved model, found no model\.json"):
        Model.load(tmp_path / "model")
    (tmp_path / "model.json").write_text("{")
    with pytest.raises(SmtError, match=r"model\.json: expected JSON, found "):
        Model.load(tmp_path)


def test_nothing_is_pickled(tmp_path: Path) -> None:
    Model({"a": 1.0}).save(tmp_path)
    assert json.loads((tmp_path / "model.json").read_text())["artefacts"] == {}
    assert (tmp_path / "weights.txt").read_text() == "a 1\n"


def test_totals_add_up_in_order_of_the_names() -> None:
    rng = np.random.default_rng(5)
    names = [f"f{i}" for i in range(40)]
    weights = dict(zip(names, rng.normal(size=40).tolist(), strict=True))
    scores = {name: rng.normal(scale=1e6, size=3).tolist() for name in names}
    shuffled = {name: scores[name] for name in reversed(names)}
    nbest, other = smt.candidates(["a", "b", "c"], scores=scores), smt.candidates(["a", "b", "c"], scores=shuffled)
    assert Weigher(weights).totals(nbest) == Weigher(weights).totals(other)
    expected = []
    for i in range(3):
        total = 0.0
        for name in sorted(names):
            total += scores[name][i] * weights[name]
        expected.append(total)
    assert Weigher(weights).totals(nbest) == expected


def test_used_weights_are_remembered() -> None:
    weigher = Weigher({"a": 1.0, "b": 1.0}, missing=0.0)
    weigher.totals(smt.candidates(["x"], scores={"a": [1.0], "c": [1.0]}))
    assert weigher.used == {"a"}


def test_changed_files_are_noticed(tmp_path: Path) -> None:
    Model({"LM": 0.5}).save(tmp_path)
    (tmp_path / "weights.txt").write_text("LM 0.75\n")
    with pytest.raises(SmtError, match="expected the model as saved, found changed files"):
        Model.load(tmp_path)
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(SmtError, match="expected `artefacts` and `digest`"):
        Model.load(tmp_path)
