"""How decoding grows with the length of a sentence: time and memory for 10 to 80 words, drawn as bars.

Sentences are those of a test set one behind the other, cut to length; a rule spans 15 words at most, so that the chart
grows as the number of words does, while glue, which joins all that begins at the first word, has more to do with each.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import child

LENGTHS = (10, 20, 40, 80)
COUNT = 40


def growth(shared: Path) -> dict[str, Any]:
    """For each length: ms a sentence for parsing and search, nodes, edges, peak memory; and bars of the times."""
    gold = shared / "gold/moses"
    if not gold.exists():
        return {}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    words = (gold / "in/test300.de").read_text(encoding="utf-8").split()
    found: dict[str, Any] = {}
    here = Path.cwd()
    os.chdir(gold)
    try:
        with tempfile.TemporaryDirectory() as name:
            for length in LENGTHS:
                rows = [words[i * length % 3000 : i * length % 3000 + length] for i in range(COUNT)]
                path = Path(name) / f"{length}"
                path.write_text("".join(" ".join(row) + "\n" for row in rows), encoding="utf-8")
                found[str(length)] = _measured(path, Path(name))
    finally:
        os.chdir(here)
    for key in ("parsing_ms", "search_ms"):
        most = max(one[key] for one in found.values())
        for length, one in found.items():
            bar = "#" * round(60 * one[key] / most)
            print(f"{key:>10} {length:>3} words {one[key]:8.3f} {bar}", file=sys.stderr)
    return found


def _measured(path: Path, folder: Path) -> dict[str, Any]:
    import json

    stats = folder / "stats"
    command = ["smt", "decode", "-q", "-c", "model/moses.hiero.tuned.ini", "-i", str(path), "-o", os.devnull]
    command += [
        "--set",
        "decoder.max_span=15",
        "--pop-limit",
        "200",
        "--stats",
        str(stats),
        "--cache",
        str(folder / "c"),
    ]
    best: dict[str, Any] = {}
    for _ in range(5):
        _, memory = child(command)
        record = json.loads(stats.read_text())
        now = {
            "parsing_ms": 1000 * record["cpu"]["parsing"] / COUNT,
            "search_ms": 1000 * record["cpu"]["search"] / COUNT,
        }
        best = {key: min(value, best.get(key, value)) for key, value in now.items()}
        rest = {"nodes": record["nodes"] / COUNT, "edges": record["edges"] / COUNT, "peak_rss_mb": memory}
    return {**best, **rest}
