"""KenLM's binary files of small models, written in plain Python: tries of all kinds, and probing files with rest costs.

The layout is what `build_binary` writes; the kenlm package reads these files, too.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from dataclasses import dataclass, field

from tests.core.ngrams import Ngram, Oracle, Table

SANITY = b"mmap lm http://kheafield.com/code format version 5\n".ljust(56, b"\0") + struct.pack(
    "<fffIIIQ", 0.0, 1.0, -0.5, 1, 0xFFFFFFFF, 0, 1
)
LAYOUTS = {"trie": 2, "quantised": 3, "compressed": 4, "both": 5}
MASK = 2**64 - 1


def header(order: int = 2, multiplier: float = 1.5, kind: int = 0, spellings: int = 1, version: int = 0) -> bytes:
    """The beginning of a file, without counts."""
    return SANITY + struct.pack("<B3xfIB3xI", order, multiplier, kind, spellings, version)


def word_hash(word: str) -> int:
    """MurmurHash64A."""
    data, mix = word.encode(), 0xC6A4A7935BD1E995
    h = len(data) * mix & MASK
    whole = len(data) // 8 * 8
    for (k,) in struct.iter_unpack("<Q", data[:whole]):
        k = k * mix & MASK
        h = (h ^ (k ^ k >> 47) * mix) * mix & MASK
    if data[whole:]:
        h = (h ^ int.from_bytes(data[whole:], "little")) * mix & MASK
    h = (h ^ h >> 47) * mix & MASK
    return h ^ h >> 47


def completed(table: Table, order: int) -> Table:
    """A table with the ending of each n-gram, as KenLM adds them."""
    oracle = Oracle(table, order)
    full = dict(oracle.table)
    for n in range(order, 1, -1):
        for ngram in [ngram for ngram in full if len(ngram) == n]:
            if n > 2 and ngram[1:] not in full:
                full[ngram[1:]] = (oracle.prob(ngram[1:-1], ngram[-1]), 0.0)
    return full


@dataclass
class Bits:
    """Numbers packed one behind the other, the lowest bits first."""

    value: int = 0
    size: int = 0

    def put(self, number: int, bits: int) -> None:
        """Append the lower bits of a number."""
        self.value |= (number & (1 << bits) - 1) << self.size
        self.size += bits

    def data(self, entry_bits: int) -> bytes:
        """The bytes of a table, with room for one more entry and for reading ahead."""
        self.size += entry_bits
        return self.value.to_bytes((self.size + 7) // 8 + 8, "little")


@dataclass
class TrieWriter:
    """``bins``: bits of quantised probabilities and back-offs; ``cut``: most bits of pointers kept in arrays."""

    table: Table
    order: int
    bins: tuple[int, int] | None = None
    cut: int | None = None
    spellings: bool = True
    out: bytearray = field(default_factory=bytearray)

    def write(self) -> bytes:
        """The file's bytes."""
        table = completed(self.table, self.order)
        words = sorted((ngram[0] for ngram in table if len(ngram) == 1 and ngram != ("<unk>",)), key=word_hash)
        ids = {"<unk>": 0, **{word: i for i, word in enumerate(words, 1)}}
        # Backwards, in the order of the file.
        self.levels: list[dict[tuple[int, ...], Ngram]] = [{} for _ in range(self.order)]
        for key, ngram in sorted((tuple(ids[word] for word in reversed(ngram)), ngram) for ngram in table):
            self.levels[len(ngram) - 1][key] = ngram
        self.full, self.contexts = table, {ngram[:-1] for ngram in table}
        for ngram in [ngram for ngram in table if len(ngram) < self.order and table[ngram][1]]:
            # A state keeps a back-off only with those of the shorter contexts. In KenLM's files it is a context itself.
            self.contexts |= {ngram[i:] for i in range(len(ngram))}
        kind = 2 + (self.bins is not None) + 2 * (self.cut is not None)
        self.out += header(self.order, kind=kind, spellings=self.spellings, version=1)
        self.out += struct.pack(f"<{self.order}Q", *map(len, self.levels))
        self.out += bytes(-len(self.out) % 8)
        self.out += struct.pack("<Q", len(words)) + b"".join(struct.pack("<Q", word_hash(word)) for word in words)
        self.out += bytes(8)
        self.centres: list[tuple[list[float], list[float]]] = []
        if self.bins is not None:
            self._bins(*self.bins)
        for key, ngram in self.levels[0].items():
            self.out += struct.pack("<ffQ", table[ngram][0], self._backoff(ngram), self._first(key, 1))
        self.out += struct.pack("<ffQ", 0.0, 0.0, len(self.levels[1])) + bytes(16)
        for n in range(2, self.order + 1):
            self._level(n)
        if self.spellings:
            self.out += b"".join(word.encode() + b"\0" for word in ["<unk>", *words])
        return bytes(self.out)

    def _backoff(self, ngram: Ngram) -> float:
        backoff = self.full[ngram][1]
        return backoff or (0.0 if ngram in self.contexts else -0.0)

    def _first(self, key: tuple[int, ...], n: int) -> int:
        return bisect_left(list(self.levels[n]), key)

    def _bins(self, prob_bits: int, backoff_bits: int) -> None:
        self.out += struct.pack("<BBB5x", 2, prob_bits, backoff_bits)
        for n in range(2, self.order + 1):
            probs = sorted(self.full[ngram][0] for ngram in self.levels[n - 1].values()) or [-1.0]
            backoffs = sorted(filter(None, (self.full[ngram][1] for ngram in self.levels[n - 1].values()))) or [-1.0]
            chosen = [probs[i * len(probs) >> prob_bits] for i in range(1 << prob_bits)]
            others = (1 << backoff_bits) - 2
            kept = [-0.0, 0.0, *(backoffs[i * len(backoffs) // others] for i in range(others))]
            self.centres.append((chosen, kept))
            self.out += struct.pack(f"<{len(chosen)}f", *chosen)
            if n < self.order:
                self.out += struct.pack(f"<{len(kept)}f", *kept)

    def _values(self, bits: Bits, n: int, prob: float, backoff: float | None) -> None:
        if self.bins is None:
            bits.put(struct.unpack("<I", struct.pack("<f", prob))[0], 31)
            if backoff is not None:
                bits.put(struct.unpack("<I", struct.pack("<f", backoff))[0], 32)
            return
        probs, backoffs = self.centres[n - 2]
        if backoff is not None:
            exact = 1 if backoff == 0.0 and str(backoff) == "0.0" else 0
            near = min(range(2, len(backoffs)), key=lambda i: abs(backoffs[i] - backoff), default=0)
            bits.put(near if backoff else exact, self.bins[1])
        bits.put(min(range(len(probs)), key=lambda i: abs(probs[i] - prob)), self.bins[0])

    def _level(self, n: int) -> None:
        level, word_bits = self.levels[n - 1], len(self.levels[0]).bit_length()
        longest = n == self.order
        firsts = [] if longest else [*(self._first(key, n) for key in level), len(self.levels[n])]
        inline = 0 if longest else len(self.levels[n]).bit_length()
        if self.cut is not None and not longest:
            inline = self._offsets(firsts, inline)
        value_bits = 31 if self.bins is None else self.bins[0]
        if not longest:
            value_bits += 32 if self.bins is None else self.bins[1]
        bits = Bits()
        for i, (key, ngram) in enumerate(level.items()):
            bits.put(key[-1], word_bits)
            self._values(bits, n, self.full[ngram][0], None if longest else self._backoff(ngram))
            if not longest:
                bits.put(firsts[i], inline)
        size = word_bits + value_bits + inline
        if not longest:  # the end of the last entry's children
            bits.put(0, word_bits + value_bits)
            bits.put(firsts[-1], inline)
            size = 0
        self.out += bits.data(size)

    def _offsets(self, firsts: list[int], bits: int) -> int:
        """Append the array of the pointers' higher bits; returns how many bits the entries keep."""
        assert self.cut is not None
        greatest, entries = firsts[-1], len(firsts)
        cuts = range(min(bits, self.cut) + 1)
        inline = bits - min(cuts, key=lambda cut: (greatest >> bits - cut) * 64 - entries * cut)
        padding = -len(self.out) % 8
        array = [bisect_left(firsts, i << inline) for i in range((greatest >> inline) + 1)]
        start = len(self.out)
        self.out += bytes(padding + 8) + struct.pack(f"<{len(array)}Q", *array) + bytes(7 - padding)
        self.out[start : start + 2] = bytes([0, self.cut])
        return inline


def written_trie(table: Table, order: int, layout: str = "trie", *, spellings: bool = True) -> bytes:
    """A model in one of LAYOUTS."""
    bins = (3, 4) if layout in ("quantised", "both") else None
    cut = 20 if layout in ("compressed", "both") else None
    return TrieWriter(table, order, bins, cut, spellings).write()


def with_rests(probing: bytes) -> bytes:
    """A probing file with a rest cost for each n-gram but the longest, made up from its probability."""
    order = probing[88]
    counts = struct.unpack_from(f"<{order}Q", probing, 108)
    at = (108 + 8 * order + 7) // 8 * 8
    slots = [max(count + 1, int(1.5 * count)) for count in counts]
    out = bytearray(probing[: at + 8 + 12 * slots[0]])
    struct.pack_into("<I", out, 96, 1)
    at = len(out)
    for form, places in [("<ff", counts[0] + 1), *(("<Qff", count) for count in slots[1:-1])]:
        for _ in range(places):
            entry = struct.unpack_from(form, probing, at)
            at += struct.calcsize(form)
            rest = -abs(entry[-2]) * 0.75 - 0.125 if any(entry) else 0.0
            out += struct.pack(form + "f", *entry, rest)
    return bytes(out + probing[at:])
