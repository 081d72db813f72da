"""Write Moses' compact tables, from what is known of the format: small ones, and some that the tool would not write."""

from __future__ import annotations

import heapq
import struct
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

MASK = 0xFFFFFFFF
STOP, END = 0, (255, 255)
Entry = list[tuple[list[int], Sequence[float], Sequence[tuple[int, int]]]]


def u32(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def u64(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}Q", *values)


def murmur3(key: bytes, seed: int = 100000) -> int:
    def scramble(k: int) -> int:
        k = k * 0xCC9E2D51 & MASK
        return (k << 15 | k >> 17) * 0x1B873593 & MASK

    h, whole = seed, len(key) // 4 * 4
    for at in range(0, whole, 4):
        h ^= scramble(int.from_bytes(key[at : at + 4], "little"))
        h = ((h << 13 | h >> 19) & MASK) * 5 + 0xE6546B64 & MASK
    if key[whole:]:
        h ^= scramble(int.from_bytes(key[whole:], "little"))
    h ^= len(key)
    h = (h ^ h >> 16) * 0x85EBCA6B & MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & MASK
    return h ^ h >> 16


def jenkins(key: bytes, seed: int, signed: bool) -> tuple[int, int, int]:
    def at(i: int) -> int:
        return key[i] - 256 if signed and key[i] > 127 else key[i]

    def mix(a: int, b: int, c: int) -> tuple[int, int, int]:
        for p, q, r in ((13, 8, 13), (12, 16, 5), (3, 10, 15)):
            a = (a - b - c & MASK) ^ c >> p
            b = (b - c - a & MASK) ^ a << q & MASK
            c = (c - a - b & MASK) ^ b >> r
        return a, b, c

    a = b = 0x9E3779B9
    c, size = seed, len(key)
    while len(key) >= 12:
        a += sum(at(i) << 8 * i for i in range(4))
        b += sum(at(4 + i) << 8 * i for i in range(4))
        c += sum(at(8 + i) << 8 * i for i in range(4))
        a, b, c = mix(a & MASK, b & MASK, c & MASK)
        key = key[12:]
    c += size + sum(at(i) << 8 * (i - 7) for i in range(8, len(key)))
    b += sum((key[i] if i == 4 else at(i)) << 8 * (i - 4) for i in range(4, min(len(key), 8)))
    a += sum((key[i] if i == 0 else at(i)) << 8 * i for i in range(min(len(key), 4)))
    return mix(a & MASK, b & MASK, c & MASK)


def packed(bits: Iterable[int], unit: int = 32) -> bytes:
    """Bits from the lowest of each byte, filled up to whole units."""
    listed = list(bits)
    listed += [0] * (-len(listed) % unit)
    return bytes(sum(bit << k for k, bit in enumerate(listed[at : at + 8])) for at in range(0, len(listed), 8))


def number(value: int, width: int) -> list[int]:
    return [value >> k & 1 for k in range(width)]


def select(places: Sequence[int], zeros: int) -> bytes:
    """A bit vector with these bits set, with the places of every 128th."""
    size = len(places) + zeros
    bits = [0] * size
    for place in places:
        bits[place] = 1
    table = [places[i] if i < len(places) else 0 for i in range(0, len(places) // 128 * 128 + 1, 128)]
    body = u32(len(places), zeros) + packed(bits) + u32(*table)
    return u32(len(body)) + body


def log2(value: int) -> int:
    return max(value.bit_length() - 1, 0)


def sequence(values: Sequence[int]) -> bytes:
    lengths = [log2(value + 1) if value else 0 for value in values]
    stored = [bit for v, n in zip(values, lengths, strict=True) for bit in number(v - ((1 << n) - 1), n)]
    ends = list(accumulate(lengths))
    width = log2(ends[-1] // len(values))
    places = [(end >> width) + i for i, end in enumerate(ends)]
    rests = [bit for end in ends for bit in number(end & ((1 << width) - 1), width)]
    head = u32(len(values), width, ends[-1])
    return head + select(places, ends[-1] >> width) + packed(rests) + packed(stored)


def rank(values: Sequence[int]) -> bytes:
    most = values[-1]
    width = max(log2(most // len(values)), 1)
    counts = [bisect_left(values, i << width) for i in range(1, (most >> width) + 1)]
    rests = [bit for value in values for bit in number(value & ((1 << width) - 1), width)]
    head = u32(most, len(values), width)
    return head + select([n + i for i, n in enumerate(counts)], len(values)) + packed(rests)


def prime(least: int) -> int:
    return next(n for n in range(least | 1, 4 * least + 3, 2) if all(n % d for d in range(3, int(n**0.5) + 1, 2)))


def chd(keys: Sequence[bytes], signed: bool, seed: int = 0) -> tuple[bytes, list[int]]:
    """A hash function of the keys, and their numbers."""
    bins, buckets = prime(2 * len(keys) + 1), len(keys) // 4 + 1
    hashes = [jenkins(key, seed, signed) for key in keys]
    members: dict[int, list[int]] = {}
    for i, (g, _, _) in enumerate(hashes):
        members.setdefault(g % buckets, []).append(i)
    shifts, taken, bin_of = [0] * buckets, set(), [0] * len(keys)
    for bucket, own in sorted(members.items(), key=lambda entry: -len(entry[1])):
        for shift in range(bins * bins):
            at = [
                (hashes[i][1] % bins + (hashes[i][2] % (bins - 1) + 1) * (shift % bins) + shift // bins) % bins
                for i in own
            ]
            if len(set(at)) == len(at) and not taken & set(at):
                break
        else:
            return chd(keys, signed, seed + 1)
        shifts[bucket] = shift
        taken |= set(at)
        for i, place in zip(own, at, strict=True):
            bin_of[i] = place
    empty = sorted(set(range(bins)) - taken)
    first = u32(7, 0, seed, bins, buckets) + sequence(shifts)
    second = rank(empty)
    data = b"chd\0" + u32(len(keys), len(first)) + first + u32(len(second)) + second
    return data, [place - bisect_left(empty, place) for place in bin_of]


def strings(texts: Sequence[bytes], width: int, *, ordered: bool = True) -> bytes:
    """A string vector, with offsets of ``width`` bytes in the program."""
    offsets = [0, *accumulate(map(len, texts))][: len(texts)]
    words: list[int] = []
    anchors = []
    for first in range(0, len(offsets), 32):
        anchors.append(len(words))
        words.append(offsets[first])
        steps = [b - a for a, b in zip(offsets[first:], offsets[first + 1 : first + 32], strict=False)]
        while steps:
            # Not the best code, but one of each kind.
            for count, size in ((28, 1), (14, 2), (9, 3), (7, 4), (5, 5), (4, 7), (3, 9), (2, 14), (1, 28)):
                if len(steps) >= count and max(steps[:count]) < 1 << size:
                    kind = [1, 2, 3, 4, 5, 7, 9, 14, 28].index(count) + 1
                    words.append(kind << 28 | sum(s << size * (count - 1 - k) for k, s in enumerate(steps[:count])))
                    steps = steps[count:]
                    break
    last = (offsets[-1] if offsets else 0).to_bytes(width, "little")
    head = bytes([ordered, 1]) + u64(len(texts)) + last + u64(len(words)) + u32(*words)
    text = b"".join(texts)
    return head + u64(len(anchors)) + u32(*anchors) + u64(len(text)) + text


class Huffman:
    """Canonical codes of symbols."""

    def __init__(self, symbols: Iterable[Any]) -> None:
        counts = Counter(symbols)
        heap: list[tuple[int, int, list[Any]]] = [(n, i, [s]) for i, (s, n) in enumerate(counts.items())]
        heapq.heapify(heap)
        lengths = dict.fromkeys(counts, 1 if len(heap) == 1 else 0)
        while len(heap) > 1:
            (n, _, some), (m, i, more) = heapq.heappop(heap), heapq.heappop(heap)
            for symbol in some + more:
                lengths[symbol] += 1
            heapq.heappush(heap, (n + m, i, some + more))
        longest = max(lengths.values())
        number_of = Counter(lengths.values())
        self.firsts = [0] * (longest + 1)
        for n in range(longest - 1, 0, -1):
            self.firsts[n] = (self.firsts[n + 1] + number_of[n + 1]) // 2
        self.symbols = sorted(counts, key=lambda symbol: lengths[symbol])
        self.starts = [sum(number_of[k] for k in range(1, n)) for n in range(longest + 1)]
        places = {symbol: i for i, symbol in enumerate(self.symbols)}
        self.codes = {}
        for symbol, n in lengths.items():
            code = self.firsts[n] + places[symbol] - self.starts[n]
            self.codes[symbol] = [code >> k & 1 for k in range(n - 1, -1, -1)]

    def table(self, layout: str) -> bytes:
        values = [struct.pack(layout, *(s if isinstance(s, tuple) else (s,))) for s in self.symbols]
        parts = [u64(len(values)), *values]
        for numbers in (self.firsts, self.starts):
            parts += [u64(len(numbers)), u64(*numbers)]
        return b"".join(parts)


def index(keys: Sequence[bytes], order_bits: int, fingerprint_bits: int, signed: bool) -> bytes:
    ranges, places, landmarks = bytearray(), [], []
    for first in range(0, len(keys), 1 << order_bits):
        own = list(keys[first : first + (1 << order_bits)])
        landmarks.append(own[0])
        if len(own) == 1:
            own.append(b"###DUMMY_KEY###")
        function, numbers = chd(own, signed)
        width = order_bits + fingerprint_bits
        entries = [[0] * width] * len(own)
        for order, (key, place) in enumerate(zip(own, numbers, strict=True)):
            print_ = murmur3(key) & ((1 << fingerprint_bits) - 1)
            entries[place] = number(order | print_ << order_bits, width)
        array = packed([bit for entry in entries for bit in entry], 8)
        places.append(8 + len(ranges))
        ranges += function + u64(len(own), len(array)) + array
    end = strings(landmarks, 8) + u64(len(places), *places) + u64(len(keys))
    return u64(order_bits, fingerprint_bits, 8 + len(ranges)) + bytes(ranges) + end


def codes_of(scores: Sequence[Sequence[float]], joined: bool) -> list[Huffman]:
    columns = list(zip(*scores, strict=True))
    return [Huffman(value for column in columns for value in column)] if joined else list(map(Huffman, columns))


def reordering_file(
    rows: dict[bytes, Sequence[float]],
    *,
    order_bits: int = 10,
    fingerprint_bits: int = 16,
    joined: bool = False,
    signed: bool = False,
) -> bytes:
    """A table of rows by key, ``source ||| target ||| ``; values are float32."""
    keys = sorted(rows)
    width = len(rows[keys[0]])
    codes = codes_of(list(rows.values()), joined)
    entries = [
        packed([bit for k, v in enumerate(rows[key]) for bit in codes[0 if joined else k].codes[v]], 8) for key in keys
    ]
    tables = b"".join(code.table("<f") for code in codes)
    head = index(keys, order_bits, fingerprint_bits, signed) + u64(width) + bytes([not joined])
    return head + tables + strings(entries, 8, ordered=False)


def phrase_file(
    entries: dict[bytes, Entry],
    words: Sequence[str],
    *,
    coding: int = 0,
    aligned: bool = True,
    joined: bool = False,
    most_ranks: int = 100,
    lexicon: dict[str, list[int]] | None = None,
    order_bits: int = 10,
    fingerprint_bits: int = 16,
    signed: bool = False,
) -> bytes:
    """A table of translations by source phrase, as symbols: numbers of ``words``, of which the first is for the end.

    ``lexicon`` has the translations of source words, for REnc.
    """
    keys = sorted(key + b" ||| " for key in entries)
    every = [translation for entry in entries.values() for translation in entry]
    symbols = Huffman(symbol for own, _, _ in every for symbol in (*own, STOP))
    scores = codes_of([own for _, own, _ in every], joined)
    points = Huffman(point for _, _, own in every for point in (*own, END))
    coded = []
    for key in keys:
        bits: list[int] = []
        for own, values, where in entries[key[:-5]]:
            for symbol in (*own, STOP):
                bits += symbols.codes[symbol]
            for k, value in enumerate(values):
                bits += scores[0 if joined else k].codes[value]
            for point in (*where, END) if aligned else ():
                bits += points.codes[point]
        coded.append(packed(bits, 8))
    longest = max(key.count(b" ") for key in keys) - 1
    parts = [index(keys, order_bits, fingerprint_bits, signed), u32(coding), u64(len(every[0][1])), bytes([aligned])]
    parts.append(u64(most_ranks, longest))
    if coding == 1:
        listed = sorted((lexicon or {}).items())
        starts = [sum(len(own) for _, own in listed[:i]) for i in range(len(listed))]
        pairs = [(i, target) for i, (_, own) in enumerate(listed) for target in own]
        parts.append(strings([word.encode() for word, _ in listed], 4))
        parts += [u64(len(starts), *starts), u64(len(pairs)), *(u32(*pair) for pair in pairs)]
    parts += [strings([word.encode() for word in words], 4, ordered=False), symbols.table("<I"), bytes([not joined])]
    parts += [code.table("<f") for code in scores]
    parts += [points.table("<2B")] if aligned else []
    return b"".join(parts) + strings(coded, 8, ordered=False)
