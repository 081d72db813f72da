"""The native language model against the kenlm package, on the same files and text; also beyond the caches."""

from __future__ import annotations

import gzip
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import interleaved


def lm(shared: Path, example: Path) -> dict[str, Any]:
    """Scores of Multi30k's test set by the gold 4-gram; what loading takes."""
    path = shared / "gold/cdec/lm/en.4.arpa.gz"
    text = shared / "data/multi30k/test_2016.en"
    if not path.exists():
        path, text = example / "en.arpa", example / "ref.en"
    sentences = [" ".join(line.lower().split()) for line in text.read_text(encoding="utf-8").splitlines()]
    sentences *= max(1, 10_000 // len(sentences))
    with tempfile.TemporaryDirectory() as name:
        plain, binary = Path(name) / "lm.arpa", Path(name) / "lm.klm"
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as packed, plain.open("wb") as out:
            shutil.copyfileobj(packed, out)
        return {"file": path.name, **_loads(path, plain, binary), **_scores(binary, sentences, rounds=15)}


def lm_kinds(shared: Path, rounds: int = 9) -> dict[str, Any]:
    """Scores of Multi30k's test set by the gold 4-gram in KenLM's files of each kind."""
    from smtplugins.core.lm.ngram_model import read_lm

    gold = shared / "gold/moses/binary/kenlm"
    if not gold.exists():
        return {}
    text = (shared / "data/multi30k/test_2016.en").read_text(encoding="utf-8")
    sentences = [" ".join(line.lower().split()) for line in text.splitlines()] * 10
    return {file.stem: _speed(read_lm(file), file, sentences, rounds) for file in sorted(gold.glob("en.4.*.klm"))}


def lm_big(lines: int = 330_000) -> dict[str, Any]:
    """A synthetic trigram model of more than 200 MB and 50,000 of its own sentences; takes a minute to make."""
    with tempfile.TemporaryDirectory() as name:
        plain, binary = Path(name) / "lm.arpa", Path(name) / "lm.klm"
        sentences = _synthetic(plain, lines)
        found = _loads(plain, plain, binary, rounds=1)
        return {"megabytes": binary.stat().st_size / 1e6, **found, **_scores(binary, sentences, rounds=7)}


def _loads(packed: Path, plain: Path, binary: Path, rounds: int = 5) -> dict[str, Any]:
    import kenlm

    from smtplugins.core.lm.ngram_model import read_lm, write_lm

    write_lm(read_lm(plain), binary)
    files = dict.fromkeys((packed, plain, binary))
    loads = {
        f"{file.suffixes[-1]} {who}": run
        for file in files
        for who, run in (
            ("ours", lambda file=file: read_lm(file)),
            ("kenlm", lambda file=file: kenlm.Model(str(file))),
        )
    }
    return {"load_cpu_s": interleaved(loads, rounds)}


def _scores(binary: Path, sentences: list[str], rounds: int) -> dict[str, Any]:
    from smtplugins.core.lm.ngram_model import read_lm

    ways = {"mapped": False, "copied": True}
    return {way: _speed(read_lm(binary, copy=copy), binary, sentences, rounds) for way, copy in ways.items()}


def _speed(ours: Any, binary: Path, sentences: list[str], rounds: int) -> dict[str, Any]:
    import kenlm
    import numpy as np

    theirs = kenlm.Model(str(binary))
    words = sum(len(line.split()) + 1 for line in sentences)
    columns = [ours.ids(line.split()) for line in sentences]
    ids, offsets = np.concatenate(columns), np.cumsum([0, *map(len, columns)], dtype=np.int64)
    calls: dict[str, Callable[[int], object]] = {
        "score_sentences": lambda threads: ours.score_sentences(sentences, threads=threads),
        "score_ids": lambda threads: ours.score_ids(ids, offsets, threads=threads),
    }
    cpu = interleaved(
        {
            "kenlm": lambda: [theirs.score(line) for line in sentences],
            "score_sentences": lambda: ours.score_sentences(sentences),
            "score_ids": lambda: ours.score_ids(ids, offsets),
        },
        rounds,
    )
    return {
        "million_words_per_cpu_s": {name: words / seconds / 1e6 for name, seconds in cpu.items()},
        "speed_over_kenlm": {name: cpu["kenlm"] / cpu[name] for name in calls},
        "two_threads_wall": {name: _gain(call, rounds) for name, call in calls.items()},
    }


def _gain(call: Callable[[int], object], rounds: int) -> float:
    best = {1: float("inf"), 2: float("inf")}
    for _ in range(rounds):
        for threads in best:
            start = time.perf_counter()
            call(threads)
            best[threads] = min(best[threads], time.perf_counter() - start)
    return best[1] / best[2]


def _synthetic(path: Path, lines: int, words: int = 200_000, length: int = 20) -> list[str]:
    """Writes the ARPA file of sentences of Zipf-distributed words, half of which depend on the word before."""
    import numpy as np

    rng = np.random.default_rng(1)
    ids = np.exp(rng.random((lines, length)) * np.log(words - 3)).astype(np.int64)
    follows, step = rng.random((lines, length)) < 0.5, rng.integers(1, 60, (lines, length))
    for at in range(1, length):
        ids[:, at] = np.where(follows[:, at], (ids[:, at - 1] * 2654435761 + step[:, at]) % (words - 3), ids[:, at])
    ids = np.pad(ids + 3, ((0, 0), (1, 1)), constant_values=((0, 0), (1, 2)))
    names = np.array(["<unk>", "<s>", "</s>", *(f"w{i}x{i % 977}" for i in range(3, words))], object)
    tables = [np.arange(words)[:, None]]
    for n in (2, 3):
        windows = np.lib.stride_tricks.sliding_window_view(ids, n, axis=1).reshape(-1, n)
        packed = np.unique(windows @ (1 << 18) ** np.arange(n)[::-1])
        tables.append(packed[:, None] >> 18 * np.arange(n)[::-1] & (1 << 18) - 1)
    with path.open("w", encoding="utf-8") as out:
        out.write("\\data\\\n" + "".join(f"ngram {n}={len(table)}\n" for n, table in enumerate(tables, 1)))
        for n, table in enumerate(tables, 1):
            out.write(f"\n\\{n}-grams:\n")
            for start in range(0, len(table), 1 << 17):
                part = table[start : start + (1 << 17)]
                probs, backoffs = -3 * rng.random(len(part)), -0.1 - rng.random(len(part))
                ends = [
                    "" if n == 3 or row[-1] == 2 else f"\t{back:.6f}" for row, back in zip(part, backoffs, strict=True)
                ]
                rows = zip(probs, names[part], ends, strict=True)
                out.writelines(f"{prob:.6f}\t{' '.join(ngram)}{end}\n" for prob, ngram, end in rows)
        out.write("\n\\end\\\n")
    return [" ".join(row) for row in names[rng.permutation(ids)[:50_000, 1:-1]]]
