"""Estimating a language model: `smt lm` as a whole process, for several orders."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from pathlib import Path
from typing import Any

from measure import best_child


def estimation(shared: Path) -> dict[str, Any]:
    """CPU seconds, words a CPU second and peak memory, with what starting takes beside them."""
    text = shared / "data/multi30k/train.en.gz"
    words = sum(len(line.split()) for line in gzip.decompress(text.read_bytes()).split(b"\n"))
    smt = shutil.which("smt") or "smt"
    commands = {"start": [smt, "lm", "--help"]}
    for order in (3, 4, 5):
        commands[f"-o {order}"] = [smt, "lm", "-o", str(order), "--discount-fallback", "-i", str(text)]
    commands["-o 4 --prune 0 0 1"] = [*commands["-o 4"], "--prune", "0", "0", "1"]
    with tempfile.TemporaryDirectory() as folder:
        commands["-o 4 --binary"] = [*commands["-o 4"], "--binary", f"{folder}/lm"]
        found = best_child(commands, rounds=5)
    start = found["start"][0]
    return {
        "words": words,
        **{
            name: {"cpu_s": cpu, "peak_rss_mb": memory, "words_per_cpu_s_above_start": words / (cpu - start)}
            for name, (cpu, memory) in found.items()
            if name != "start"
        },
        "start": {"cpu_s": start, "peak_rss_mb": found["start"][1]},
    }
