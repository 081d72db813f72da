"""Estimating a language model: `smt lm` as a whole process, for several orders, and on disk."""

from __future__ import annotations

import filecmp
import gzip
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import best_child, child


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


def estimation_on_disk(shared: Path) -> dict[str, Any]:
    """5-grams of 1, 3 and 10 million tokens with `--memory 200M` and in memory: CPU, peak memory, equal bytes."""
    smt = shutil.which("smt") or "smt"
    start = min(child([smt, "lm", "--help"]) for _ in range(3))
    results: dict[str, Any] = {"start": {"cpu_s": start[0], "peak_rss_mb": start[1]}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for millions in (1, 3, 10):
            text = folder / "text"
            with text.open("w", encoding="utf-8") as out:
                out.writelines(_noisy_text(shared, millions * 1_000_000))
            row: dict[str, Any] = {}
            for memory in ("200M", "16G"):
                model = folder / memory
                command = [smt, "lm", "--order", "5", "-i", str(text), "-o", str(model), "--memory", memory, "-q"]
                cpu, peak = child([*command, "--discount-fallback"])
                row[f"--memory {memory}"] = {"cpu_s": cpu, "peak_rss_mb": peak}
            row["equal"] = filecmp.cmp(folder / "200M", folder / "16G", shallow=False)
            row["arpa_mb"] = (folder / "200M").stat().st_size / (1 << 20)
            results[f"{millions} million tokens"] = row
    return results


def _noisy_text(shared: Path, tokens: int) -> Iterator[str]:
    """Lines of the English, German and French texts, again and again: 1 word of 10 replaced, 1 of 200 by a new one."""
    data = shared / "data"
    files = [*(data / f"multi30k/train.{code}.gz" for code in ("en", "de", "fr")), *sorted(data.glob("open/*/train.*"))]
    drawn = random.Random(1)
    seen: list[str] = []  # a sample of the text, so that replacements are distributed as its words
    made = 0
    while made < tokens:
        for path in files:
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                for line in lines:
                    words = line.replace("<s>", "").replace("</s>", "").replace("<unk>", "").split()
                    for at in range(len(words)):
                        chance = drawn.random()
                        if chance < 0.005:
                            words[at] = f"{words[at]}{drawn.randrange(1 << 30)}"
                        elif chance < 0.1 and seen:
                            words[at] = drawn.choice(seen)
                        elif chance > 0.999 and len(seen) < 20_000:
                            seen.append(words[at])
                    made += len(words)
                    yield " ".join(words) + "\n"
                    if made >= tokens:
                        return
