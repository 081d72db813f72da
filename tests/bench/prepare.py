"""Preparing text: `smt prepare` as a whole process, by tokenizer and case."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from measure import best_child


def prepare(shared: Path) -> dict[str, Any]:
    """CPU seconds and peak memory of the 29,000 pairs of Multi30k."""
    data = shared / "data/multi30k"
    smt = shutil.which("smt") or "smt"
    call = [smt, "prepare", "-s", str(data / "train.de.gz"), "-t", str(data / "train.en.gz"), "-f", "tsv"]
    with tempfile.TemporaryDirectory() as folder:
        runs = {
            f"{tokenizer}, {case}": [*call, "-o", folder, "--tokenize", tokenizer, "--case", case]
            for tokenizer, case in (
                ("none", "keep"),
                ("none", "true"),
                ("moses", "true"),
                ("13a", "keep"),
                ("intl", "keep"),
            )
        }
        found = best_child(runs, rounds=3)
    return {name: {"cpu_s": cpu, "peak_rss_mb": memory} for name, (cpu, memory) in found.items()}
