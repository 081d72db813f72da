"""Tuning from frozen lists: time and memory as lists grow, with dense features and with very many sparse ones."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import best_child

LONG, DEPTH, WIDTH = 20, 100, 14


def made(lists: int, folder: Path, sparse: bool) -> tuple[Path, Path]:
    """Lists of 100 hypotheses, references with some words changed, and the references."""
    source = random.Random(1)
    words = [f"w{i}" for i in range(2000)]
    references = [[source.choice(words) for _ in range(LONG)] for _ in range(lists)]
    refs, nbest = folder / f"{lists}.ref", folder / f"{lists}{'-sparse' * sparse}.nbest"
    refs.write_text("".join(" ".join(one) + "\n" for one in references), encoding="utf-8")

    def lines() -> Iterator[str]:
        for number, reference in enumerate(references):
            for _ in range(DEPTH):
                wrong = source.randrange(1, 12)
                made = list(reference)
                for _ in range(wrong):
                    made[source.randrange(LONG)] = source.choice(words)
                values = [f"f{i}={source.gauss(-wrong * 0.3 * (i < 3), 1):.4f}" for i in range(2 if sparse else WIDTH)]
                if sparse:
                    values += [f"pair:{a}~{b[:3]}=1" for a, b in dict(zip(made[::2], made[1::2], strict=True)).items()]
                yield f"{number} ||| {' '.join(made)} ||| {' '.join(values)} ||| 0\n"

    with nbest.open("w", encoding="utf-8") as out:
        out.writelines(lines())
    return nbest, refs


def tuning() -> dict[str, Any]:
    """CPU seconds and peak memory of ``smt tune`` with the perceptron, which does little itself."""
    smt = shutil.which("smt") or "smt"
    options = ["--learner", "perceptron", "-m", "bleu,tokenize=none", "-o", "/dev/null", "-q"]
    with tempfile.TemporaryDirectory() as name:
        commands = {}
        for lists, sparse in ((1000, False), (10_000, False), (1000, True)):
            nbest, refs = made(lists, Path(name), sparse)
            what = f"{lists * DEPTH} hypotheses" + ", sparse" * sparse
            commands[what] = [smt, "tune", "-i", str(nbest), "-r", str(refs), *options]
        found = best_child(commands, rounds=2)
    return {what: {"cpu_s": cpu, "peak_rss_mb": memory} for what, (cpu, memory) in found.items()}
