"""The decoder ``amasis`` beside ``phrase``, with one table and stacks of one size; and how both grow with sentences.

The table of leaves and the policies are made anew of Multi30k's training part by ``smt searn label`` and ``train``.
Times are CPU times of parsing and search as ``--stats`` has them, the best of several rounds, interleaved.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import child

STACK = 100
LENGTHS = (10, 20, 40, 80)
COUNT = 40
WEIGHTS = {
    "lm": 0.23,
    "word-penalty": -0.25,
    "oov": -1.0,
    "distortion": 0.1,
    **{f"TranslationModel0[{k}]": value for k, value in enumerate((0.09, 0.03, 0.1, 0.07, -0.02))},
}
_STACKS = f"stack_size: {STACK}, beam_threshold: 0, max_options: 20"
DECODERS = {
    "amasis": f"name: amasis, policy_path: paper, {_STACKS}",
    "amasis, all history": f"name: amasis, policy_path: history, {_STACKS}",
    "amasis, monotone": f"name: amasis, policy: monotone, {_STACKS}",
    "amasis, 3 labels": f"name: amasis, policy_path: paper, labels: 3, {_STACKS}",
    "phrase": f"name: phrase, search: stack, {_STACKS}",
    "phrase, monotone": f"name: phrase, search: stack, order: monotone, {_STACKS}",
    "phrase, cubes": f"name: phrase, {_STACKS}, pop_limit: {STACK}",
}
"""``phrase`` has Moses' usual distortion limit, 6."""


def amasis(shared: Path, rounds: int = 3) -> dict[str, Any]:
    """For each decoder: ms a sentence of a test set, peak memory, then ms by length, and ms a word against 10 words."""
    gold, data = shared / "gold/moses", shared / "data/multi30k"
    if not gold.exists() or not data.exists():
        return {}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _prepare(folder, shared)
        test = gold / "in/test300.de"
        words = test.read_text(encoding="utf-8").split()
        inputs = {"test300": test}
        for length in LENGTHS:
            rows = [words[i * length % 3000 : i * length % 3000 + length] for i in range(COUNT)]
            inputs[str(length)] = folder / f"{length}.de"
            inputs[str(length)].write_text("".join(" ".join(row) + "\n" for row in rows), encoding="utf-8")
        best: dict[str, dict[str, Any]] = {case: {} for case in DECODERS}
        for _ in range(rounds):
            for case in DECODERS:
                for given, path in inputs.items():
                    now = _measured(folder, case, path)
                    known = best[case].setdefault(given, now)
                    known["ms"] = min(known["ms"], now["ms"])
    for case, found in best.items():
        first = found[str(LENGTHS[0])]["ms"] / LENGTHS[0]
        for length in LENGTHS:
            one = found[str(length)]
            one["ms_a_word_over_that_of_10"] = one["ms"] / length / first
            print(f"{case:>20} {length:>3} words {one['ms']:8.2f} ms", file=sys.stderr)
        found["over_phrase"] = found["test300"]["ms"] / best["phrase"]["test300"]["ms"]
    return best


def _prepare(folder: Path, shared: Path) -> None:
    """The table, two policies, and a configuration for each decoder."""
    smt = shutil.which("smt") or "smt"
    data = shared / "data/multi30k"
    given = ["-s", str(data / "train.de.gz"), "-t", str(data / "train.en.gz")]
    given += ["-a", str(shared / "gold/moses/train/aligned.gdfa.gz")]
    subprocess.run([smt, "searn", "label", *given, "-o", str(folder / "data"), "-q"], check=True)
    for name, more in (
        ("paper", []),
        ("history", ["--history", "label,label2,depth,fragment"]),
    ):
        command = [smt, "searn", "train", "-i", str(folder / "data"), "-o", str(folder / name), "-q", *more]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (folder / "weights").write_text("".join(f"{name} {value}\n" for name, value in WEIGHTS.items()))
    for case, decoder in DECODERS.items():
        features = [f"{{name: lm, path: {shared / 'gold/cdec/lm/en.4.klm'}}}", "word-penalty", "oov"]
        if case.startswith("phrase"):
            features.append("distortion")
        lines = ["model:", "  tables: [data/phrase-table.gz]", "  weights: weights", "  features:"]
        lines += [f"    - {one}" for one in features]
        text = "\n".join([*lines, f"decoder: {{{decoder}}}", ""])
        (folder / f"{case}.yaml").write_text(text, encoding="utf-8")


def _measured(folder: Path, case: str, path: Path) -> dict[str, Any]:
    stats = folder / "stats"
    command = [shutil.which("smt") or "smt", "decode", "-q", "-c", str(folder / f"{case}.yaml"), "-i", str(path)]
    command += ["-o", os.devnull, "--stats", str(stats), "--cache", str(folder / "cache")]
    _, memory = child(command)
    record = json.loads(stats.read_text())
    count = len(path.read_text(encoding="utf-8").splitlines())
    return {
        "ms": 1000 * (record["cpu"]["parsing"] + record["cpu"]["search"]) / count,
        "hypotheses": record.get("hypotheses", 0) / count,
        "peak_rss_mb": memory,
    }
