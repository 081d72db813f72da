"""Extracting phrase pairs: `smt extract --phrases` as a whole process, in memory and over the disk."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from pathlib import Path
from typing import Any

from measure import best_child


def extract(shared: Path) -> dict[str, Any]:
    """CPU seconds, occurrences of phrase pairs a CPU second and peak memory, with what starting takes beside them."""
    data = shared / "data/multi30k"
    smt = shutil.which("smt") or "smt"
    call = [smt, "extract", "--phrases", "-q", "-s", str(data / "train.de.gz"), "-t", str(data / "train.en.gz")]
    call += ["-a", str(shared / "gold/moses/train/aligned.gdfa.gz")]
    commands = {"start": [smt, "extract", "--help"]}
    with tempfile.TemporaryDirectory() as folder:
        out = ["-o", folder]
        commands["phrases"] = [*call, *out]
        commands["phrases, msd"] = [*call, *out, "--reordering", "wbe-msd-bidirectional-fe"]
        commands["phrases, msd, 20M"] = [*commands["phrases, msd"], "--memory", "20M"]
        commands["phrases, hier-mslr"] = [*call, *out, "--reordering", "hier-mslr-bidirectional-fe"]
        found = best_child(commands, rounds=3)
        with gzip.open(Path(folder, "phrase-table.gz"), "rt", encoding="utf-8") as lines:
            counts = [int(line.split(" ||| ")[4].split()[2]) for line in lines]
    start = found["start"][0]
    return {
        "pairs": len(counts),
        "occurrences": sum(counts),
        **{
            name: {
                "cpu_s": cpu,
                "peak_rss_mb": memory,
                "occurrences_per_cpu_s_above_start": sum(counts) / (cpu - start),
            }
            for name, (cpu, memory) in found.items()
            if name != "start"
        },
        "start": {"cpu_s": start, "peak_rss_mb": found["start"][1]},
    }
