"""Scores of models are kept: a second run asks no model, and another model or option has scores of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.plugins.neural import trial
from smtplugins.plugins.neural.runtime import OnnxModel
from tests.plugins.neural.tiny import LISTS, TEXTS


def scored(cache: Path, spec: str) -> list[Any]:
    host = smt.load_plugins(score_cache=cache)
    return [nbest.values for nbest in host.score(LISTS, [spec])]


@pytest.mark.parametrize(
    ("tiny", "name"),
    [
        (trial.tiny_lm, "neural-lm"),
        (trial.tiny_masked, "neural-lm,kind=masked"),
        (trial.tiny_seq2seq, "neural-seq2seq"),
        (trial.tiny_encoder, "neural-similarity"),
        (trial.tiny_quality, "neural-quality"),
    ],
)
def test_the_second_run_asks_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny: Any, name: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    tiny(folder)
    spec = f"{name},path={folder}"
    first = scored(tmp_path / "cache", spec)
    assert first == scored(Path("off"), spec)
    with monkeypatch.context() as patch:
        patch.setattr(OnnxModel, "run", lambda *given: pytest.fail("the model was run"))
        assert scored(tmp_path / "cache", spec) == first
        # How it is run does not matter, what the columns are neither.
        assert scored(tmp_path / "cache", f"{spec},batch=1,threads=1") == first
    # Any file of the model counts.
    path = folder / "tokenizer.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"a": 9', '"a": 10'), encoding="utf-8")
    assert scored(tmp_path / "cache", spec) != first


def test_features_and_metrics_share_scores_options_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    spec = f"neural-quality,path={trial.tiny_quality(folder)['path']}"
    host = smt.load_plugins(score_cache=tmp_path / "cache")
    first = [row for nbest in host.score(LISTS[:1], [spec]) for row in nbest.values]
    other = [row for nbest in host.score(LISTS[:1], [f"{spec},order=target-source"]) for row in nbest.values]
    assert first != other
    monkeypatch.setattr(OnnxModel, "run", lambda *given: pytest.fail("the model was run"))
    metric = host.registry.make("metrics", spec)
    assert metric.stats(TEXTS, [], ["ein haus"] * len(TEXTS))[:, :1].tolist() == first
