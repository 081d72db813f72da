"""Extracting hierarchical rules: `smt extract --rules` as a whole process, in memory, by threads and over the disk."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import child

from smtformats.files import open_bytes


def extract_rules(shared: Path) -> dict[str, Any]:
    """CPU and real seconds, rules and peak memory of all pairs of Multi30k, for each toolkit."""
    data = shared / "data/multi30k"
    smt = shutil.which("smt") or "smt"
    call = [smt, "extract", "--rules", "-s", str(data / "train.de.gz"), "-t", str(data / "train.en.gz")]
    call += ["-a", str(shared / "gold/moses/train/aligned.gdfa.gz")]
    runs: dict[str, list[str]] = {
        "moses": [],
        "moses, 2 threads": ["-j", "2"],
        "moses, 200M": ["--memory", "200M"],
        "moses, chiang's limits": ["--limits", "chiang"],
        "cdec": ["--to", "cdec"],
        "joshua": ["--to", "joshua"],
    }
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, options in runs.items():
            start = time.perf_counter()
            cpu, memory = child([*call, "-q", "-o", folder, *options])
            found[name] = {"cpu_s": cpu, "real_s": time.perf_counter() - start, "peak_rss_mb": memory}
            table = Path(folder, "grammar.gz" if "--to" in options else "rule-table.gz")
            with open_bytes(table) as stream:
                found[name]["rules"] = sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))
    return found
