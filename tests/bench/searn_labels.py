"""Items, labels and the table of leaves of 29,000 sentence pairs, beside the extraction of all phrase pairs."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measure import best_child


def searn_labels(shared: Path, rounds: int = 5) -> dict[str, Any]:
    """CPU seconds and peak memory of the commands; sentence pairs a second of the kernel alone; sizes of the tables."""
    from smtplugins.host.files.aligned_text import read_pairs
    from smtplugins.plugins.searn.labels.items import find_items
    from smtplugins.plugins.searn.labels.table import shares, table_lengths

    data, links = shared / "data/multi30k", str(shared / "gold/moses/train/aligned.gdfa.gz")
    if not Path(links).exists():
        return {}
    smt = shutil.which("smt") or "smt"
    sides = [str(data / f"train.{one}.gz") for one in ("de", "en")]
    files = ["-s", sides[0], "-t", sides[1], "-a", links, "-q", "-o"]
    with tempfile.TemporaryDirectory() as name:
        commands: dict[str, Sequence[str]] = {
            "label": [smt, "searn", "label", *files, f"{name}/label"],
            "extract": [smt, "extract", "--phrases", *files, f"{name}/extract"],
        }
        found: dict[str, Any] = {
            key: {"cpu_s": cpu, "peak_rss_mb": memory}
            for key, (cpu, memory) in best_child(commands, rounds=rounds).items()
        }
        for key in commands:
            found[key] |= shares(table_lengths(Path(name, key, "phrase-table.gz")))
    found["cpu_of_extract"] = found["label"]["cpu_s"] / found["extract"]["cpu_s"]
    found["entries_of_extract"] = found["label"]["entries"] / found["extract"]["entries"]
    pairs = []
    for source, target, one in read_pairs(sides[0], sides[1], links):
        assert one is not None
        pairs.append((len(source.split()), len(target.split()), one.points))
    seconds = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        find_items(pairs)
        seconds = min(seconds, time.process_time() - start)
    found["kernel_pairs_per_s"] = len(pairs) / seconds
    return found
