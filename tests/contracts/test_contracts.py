"""The contracts' own code: sentences, states on disk, features written for one edge at a time."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtplugins.contracts import features as contracts
from smtplugins.contracts import metrics as metric_contracts
from smtplugins.contracts import runners as runner_contracts
from smtplugins.contracts.adapters import SimpleStateful
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.learners import LearnerState
from smtplugins.core.grammar.rules import Edges, Rules
from smtplugins.host.loading.shortcut import FunctionFeature
from smtplugins.plugins.standard import features, metrics, runners


def test_sentence_text() -> None:
    assert Sentence("0", ("ein", "haus")).text == "ein haus"
    assert Sentence("0", ()).text == ""


def test_state_comes_back_from_disk_bit_for_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    arrays = {
        "duals": rng.normal(size=(3, 4)),
        "counts": np.arange(5, dtype=np.int32),
        "empty": np.zeros(0, dtype=np.float32),
        "mask": np.array([True, False]),
    }
    values = {"generator": rng.bit_generator.state, "step": 3, "history": [0.1 + 0.2, 1e-300], "name": "é"}
    LearnerState(arrays, values).save(tmp_path / "state")
    loaded = LearnerState.load(tmp_path / "state")
    assert loaded.values == values
    assert loaded.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        assert loaded.arrays[name].dtype == array.dtype
        assert loaded.arrays[name].tobytes() == array.tobytes()
    again = np.random.default_rng()
    again.bit_generator.state = loaded.values["generator"]
    assert again.random() == rng.random()


def test_state_is_never_pickled(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="allow_pickle=False"):
        LearnerState({"objects": np.array([object()])}).save(tmp_path / "out")
    path = tmp_path / "state"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("state.json", '{"arrays": ["x"], "values": {}}')
        with out.open("x.npy", "w") as member:
            np.save(member, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(SmtError, match=r"expected a learner's state .* changed file: .*allow_pickle=False"):
        LearnerState.load(path)


def test_a_state_that_is_gone_or_cut_short_is_an_error_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "state"
    with pytest.raises(SmtError, match=r"state: expected a learner's state to resume from, found no file"):
        LearnerState.load(path)
    LearnerState({"x": np.arange(9)}, {"n": 1}).save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(SmtError, match=r"state: expected a learner's state as saved, found a changed file"):
            LearnerState.load(path)


def test_equal_states_are_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = []
    for name in ("a", "b"):
        LearnerState({"x": np.arange(9)}, {"n": 1}).save(tmp_path / name)
        files.append((tmp_path / name).read_bytes())
        monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(10**9))
    assert files[0] == files[1]


def test_values_that_json_cannot_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        LearnerState(values={"when": object()}).save(tmp_path / "state")


class Remembers(SimpleStateful):
    """Remembers what it was asked."""

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[float, Any]:
        return float(len(target)), (tuple(target), tuple(tails))


def test_simple_stateful_works_edge_by_edge() -> None:
    scorer = Remembers().start(Sentence("0", ()))
    edges = Edges(Rules.from_targets([["a", 0, "b"], [1, 0]]))
    scores, states = scorer.combine(edges, [("s",), ("t", "u")])
    assert scores == [3.0, 2.0]
    assert states == [(("a", 0, "b"), ("s",)), ((1, 0), ("t", "u"))]
    assert scorer.finish(states) == [0.0, 0.0]
    assert scorer.estimate(edges) == [0.0, 0.0]


def test_simple_stateful_has_to_be_filled_in() -> None:
    with pytest.raises(NotImplementedError):
        SimpleStateful().combine_one([], [])


@pytest.mark.parametrize(
    ("contract", "made", "other"),
    [
        (contracts.RuleFeature, features.Length(), SimpleStateful()),
        (contracts.StatefulFeature, SimpleStateful(), features.Length()),
        (contracts.CandidateFeature, FunctionFeature("x", len, ("hyp",), {}), features.Length()),
        (metric_contracts.Metric, metrics.Bleu(), runners.Serial()),
        (runner_contracts.Runner, runners.Serial(), metrics.Bleu()),
    ],
)
def test_contracts_tell_their_objects_apart(contract: Any, made: object, other: object) -> None:
    assert isinstance(made, contract)
    assert not isinstance(other, contract)
