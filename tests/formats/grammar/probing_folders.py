"""Write ProbingPT folders as ``CreateProbingPT`` does; the tests compare them with folders that it wrote."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

BITS = (1 << 64) - 1
PREFIX = BITS


@cache
def word_hash(word: str) -> int:
    """MurmurHash64A with seed 0."""
    data, mix = word.encode(), 0xC6A4A7935BD1E995
    value = len(data) * mix & BITS
    whole = len(data) // 8 * 8
    for at in range(0, whole, 8):
        part = int.from_bytes(data[at : at + 8], "little") * mix & BITS
        value = (value ^ (part ^ part >> 47) * mix) * mix & BITS
    if data[whole:]:
        value = (value ^ int.from_bytes(data[whole:], "little")) * mix & BITS
    value = (value ^ value >> 47) * mix & BITS
    return value ^ value >> 47


def key_of(words: list[str]) -> int:
    return sum(word_hash(word) << i for i, word in enumerate(words)) & BITS


class Folder:
    """What is written in the end: vocabularies, alignments, blocks of target sides, the hash table and the cache."""

    def __init__(self, log_prob: bool, scfg: bool) -> None:
        self.log_prob, self.scfg = log_prob, scfg
        self.source: dict[str, int] = {}
        self.target: dict[str, int] = {}
        self.alignments: dict[tuple[int, ...], int] = {}
        self.blocks = bytearray()
        self.keys: list[tuple[int, int]] = []
        self.cache: list[tuple[float, int, str]] = []

    def score(self, text: str) -> float:
        (value,) = struct.unpack("<f", struct.pack("<f", float(text)))
        if self.log_prob:
            value = max(math.log(value), -100.0) if value else -100.0
            value = value or 1e-10
        return float(value)

    def align(self, points: list[tuple[int, int]]) -> int:
        flat = tuple(place for point in points for place in point)
        return self.alignments.setdefault(flat, len(self.alignments))

    def row(self, fields: list[str]) -> bytes:
        words = fields[1].split()
        numbers = [self.target.setdefault(word, len(self.target) + 1) for word in words]
        found = re.search(r"\{\{LexRO ([^}]*)\}\}", fields[6])
        scores = [self.score(text) for text in fields[2].split() + (found[1].split() if found else [])]
        points = [(int(s), int(t)) for s, t in (point.split("-") for point in fields[3].split())]
        gaps = [point for point in points if self.scfg and words[point[1]][0] + words[point[1]][-1] == "[]"]
        terms = [point for point in points if point not in gaps]
        head = struct.pack("<IIHHI", self.align(terms), self.align(gaps), len(words), 0, 32764)
        return head + struct.pack(f"<{len(scores)}f{len(words)}I", *scores, *numbers)

    def block(self, source: list[str], rows: list[list[str]]) -> None:
        """Rows of the same source side that follow each other."""
        for word in source:
            self.source.setdefault(word, word_hash(word))
        self.keys.append((key_of(source), len(self.blocks)))
        self.blocks += struct.pack("<Q", len(rows)) + b"".join(map(self.row, rows))
        counts = rows[0][4].split()
        if len(self.keys) > 1 and len(counts) > 1:  # the tool forgets the first source side
            self.cache.append((float(counts[1]), key_of(source), " ".join(source)))

    def table(self, entries: list[tuple[int, int]], size: int) -> bytes:
        slots: list[tuple[int, int]] = [(0, 0)] * size
        for key, value in entries:
            at = key % size
            while slots[at] != (0, 0):
                at = (at + 1) % size
            slots[at] = key, value
        return b"".join(struct.pack("<QQ", *slot) for slot in slots)


def write_folder(
    folder: Path, lines: Iterable[str], *, log_prob: bool = True, scfg: bool = False, cached: int = 50000, lex: int = 0
) -> Path:
    """Write the folder of a text table."""
    made = Folder(log_prob, scfg)
    rows: list[list[str]] = []
    source: list[str] = []
    scores = 0
    for line in lines:
        fields = [*(field.strip() for field in line.split("|||")), *[""] * 4][:7]
        words = fields[0].split()[: -1 if scfg else None]
        if rows and words != source:
            made.block(source, rows)
            rows = []
        source, scores = words, len(fields[2].split())
        rows.append(fields)
    made.block(source, rows)
    known = {key for key, _ in made.keys}
    prefixes = _prefixes(made.cache, known) if scfg else []
    folder.mkdir()
    size = max(int(len(made.keys) * 1.2), len(made.keys) + 1)
    (folder / "probing_hash.dat").write_bytes(made.table(made.keys + prefixes, size))
    (folder / "TargetColl.dat").write_bytes(made.blocks)
    kept = sorted(made.cache, key=lambda item: -item[0])[:cached]
    texts: dict[str, list[Any]] = {
        "source_vocabids": [f"{word}\t{number}" for word, number in made.source.items()],
        "TargetVocab.dat": [f"{word}\t{number}" for word, number in reversed(made.target.items())],
        "Alignments.dat": [
            f"{number}\t{''.join(f'{place} ' for place in flat)}" for flat, number in reversed(made.alignments.items())
        ],
        "cache": [f"{sum(item[0] for item in made.cache) if cached else 0:g}"]
        + [f"{count:g}\t{key}\t{text}" for count, key, text in kept],
        "config": [
            "API_VERSION\t15",
            f"uniq_entries\t{len(made.keys)}",
            f"num_scores\t{scores}",
            f"num_lex_scores\t{lex}",
            f"log_prob\t{int(log_prob)}",
        ],
    }
    for name, shown in texts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in shown), encoding="utf-8")
    return folder


def _prefixes(sources: list[tuple[float, int, str]], known: set[int]) -> list[tuple[int, int]]:
    """The keys of first words of source sides that are no source sides themselves."""
    found: dict[int, int] = {}
    for _, _, text in sources:
        words = text.split()
        for length in range(1, len(words)):
            key = key_of(words[:length])
            if key not in known:
                found[key] = PREFIX
    return list(found.items())
