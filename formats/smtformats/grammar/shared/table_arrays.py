"""The arrays that a folder of ``smt-table`` has for the columns of a grammar.

A table of phrases has its distinct source sides once, numbered by their first rule: ``source``, ``source_offsets``; the
rules of the k-th are ``rows[starts[k]:starts[k + 1]]``, without ``rows`` if they follow each other. ``keys`` are the
hashes of the source sides in ascending order, ``sides`` their numbers, ``heads`` every 512th key. The first features of
all rules are the same and in the same order in most tables: their ``values`` alone are kept, others are ``features``,
``extra`` values and ``feature_offsets``. A quantised table has numbers of values, ``codes``, and the ``books`` of the
values of each feature. Whatever is the same for all rules is left out.

Any other table has the columns as they are, and the index that its decoder made.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtformats.columns import GrammarColumns, IndexedColumns, StringTable, spans

Array = NDArray[Any]
TABLES = ("words", "labels", "names")
COLUMNS = (
    "lhs", "level", "source", "source_offsets", "target", "target_offsets", "features", "values", "feature_offsets",
    "points", "point_offsets",
)  # fmt: skip
PHRASES, RULES = "phrases", "rules"
HEAD = 512  # keys in a block of a file
_FACTOR = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def are_phrases(columns: GrammarColumns) -> bool:
    """Whether all rules are phrases, of level 0 and with a source side."""
    sizes = np.diff(columns.source_offsets)
    return bool(len(columns)) and not (columns.source < 0).any() and not columns.level.any() and bool(sizes.all())


def arrays_of(columns: GrammarColumns, bits: int) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays of a table, and what its header says of them; ``bits`` of each quantised value, or 0."""
    arrays: dict[str, Array] = {}
    for name in TABLES:
        table: StringTable = getattr(columns, name)
        arrays[f"{name}.blob"] = np.frombuffer(table.blob, dtype="u1")
        arrays[f"{name}.offsets"] = _narrow(table.offsets)
    about = {"kind": PHRASES if are_phrases(columns) else RULES, "rules": len(columns), "bits": bits}
    if about["kind"] == RULES:
        arrays |= {name: getattr(columns, name) for name in COLUMNS}
        index = (isinstance(columns, IndexedColumns) and columns.index) or ()
        arrays |= {f"index.{number}": array for number, array in enumerate(index)}
        return arrays, about
    arrays |= _sources(columns, about)
    arrays |= _values(columns, bits, about)
    arrays |= {"target": columns.target, "target_offsets": _narrow(columns.target_offsets)}
    if len(columns.points):
        points = columns.points.reshape(-1)
        arrays |= {"points": points.astype("u1") if points.max() < 256 else points}
        arrays |= {"point_offsets": _narrow(columns.point_offsets)}
    if columns.lhs.any():
        arrays["lhs"] = columns.lhs
    return arrays, about


def _narrow(offsets: Array) -> Array:
    return offsets.astype("i4" if offsets[-1] < 1 << 31 else "i8")


def _sources(columns: GrammarColumns, about: dict[str, Any]) -> dict[str, Array]:
    """The distinct source sides, where they are found, and their rules."""
    source, offsets = columns.source, np.asarray(columns.source_offsets, dtype=np.int64)
    runs = _run_starts(source, offsets)
    sizes = (offsets[1:] - offsets[:-1])[runs]
    for salt in range(100):
        hashes = _hashes(columns.words, source, offsets[runs], sizes, salt)
        keys, first, side_of_run = np.unique(hashes, return_index=True, return_inverse=True)
        if _are_same(source, offsets[runs], sizes, first[side_of_run]):
            break
    else:
        raise ValueError("two source sides have the same hash with any salt")
    # Numbered in the order of their first rule.
    order = np.argsort(first, kind="stable")
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    chosen = first[order]
    ends = np.concatenate([[0], np.cumsum(sizes[chosen], dtype=np.int64)])
    arrays = {"keys": keys, "heads": keys[::HEAD], "sides": number, "source_offsets": _narrow(ends)}
    arrays["source"] = source[spans(offsets[runs][chosen], offsets[runs][chosen] + sizes[chosen])[1]]
    lengths = np.diff(np.append(runs, len(columns)))
    if len(chosen) == len(runs):
        arrays["starts"] = _narrow(np.append(runs, len(columns)))
    else:
        side_of_rule = np.repeat(number[side_of_run.reshape(-1)], lengths)
        arrays["rows"] = np.argsort(side_of_rule, kind="stable").astype("i4" if len(columns) < 1 << 31 else "i8")
        counts = np.bincount(side_of_rule, minlength=len(chosen))
        arrays["starts"] = _narrow(np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]))
    about |= {"salt": salt, "longest": int(sizes.max()), "sides": len(chosen)}
    return arrays


def _run_starts(source: Array, offsets: Array) -> Array:
    """The rules whose source side is not that of the rule before them."""
    sizes = np.diff(offsets)
    same = sizes[1:] == sizes[:-1]
    rules = np.flatnonzero(same)
    before, places = spans(offsets[rules], offsets[rules + 1])
    equal = source[places] == source[places + np.repeat(sizes[rules], sizes[rules])]
    same[rules] = np.logical_and.reduceat(equal, before[:-1]) if len(rules) else True
    return np.concatenate([[0], np.flatnonzero(~same) + 1])


def _are_same(source: Array, firsts: Array, sizes: Array, others: Array) -> bool:
    """Whether each side has the words of another one, by number."""
    if (sizes != sizes[others]).any():
        return False
    here, there = (spans(begins, begins + sizes)[1] for begins in (firsts, firsts[others]))
    return bool((source[here] == source[there]).all())


def word_hash(word: bytes, salt: int) -> int:
    """64 bits of a word."""
    return int.from_bytes(blake2b(word, digest_size=8, salt=salt.to_bytes(8, "little")).digest(), "little")


def phrase_hash(words: list[int]) -> int:
    """64 bits of a phrase, by those of its words."""
    total = 0
    for word in words:
        total = (total + word) * _FACTOR & _MASK
        total ^= total >> 29
    return total


def _hashes(words: StringTable, source: Array, firsts: Array, sizes: Array, salt: int) -> Array:
    """``phrase_hash`` of the phrases that begin at ``firsts``."""
    numbers, places = np.unique(source, return_inverse=True)
    known = np.array([word_hash(words[number].encode(), salt) for number in numbers.tolist()], dtype=np.uint64)
    places = places.reshape(-1)
    totals = np.zeros(len(firsts), dtype=np.uint64)
    left = np.arange(len(firsts))
    for place in range(int(sizes.max())):
        left = left[sizes[left] > place]
        sums = (totals[left] + known[places[firsts[left] + place]]) * np.uint64(_FACTOR)
        totals[left] = sums ^ (sums >> np.uint64(29))
    return totals


def _values(columns: GrammarColumns, bits: int, about: dict[str, Any]) -> dict[str, Array]:
    """The values of the first features, which all rules have, and the other features."""
    offsets = np.asarray(columns.feature_offsets, dtype=np.int64)
    sizes = np.diff(offsets)
    width = 0
    while width < sizes.min() and (columns.features[offsets[:-1] + width] == width).all():
        width += 1
    about["width"] = width
    if (sizes == width).all():
        dense, arrays = columns.values.reshape(len(columns), width), {}
    else:
        dense = columns.values[offsets[:-1, None] + np.arange(width)]
        ends, places = spans(offsets[:-1] + width, offsets[1:])
        arrays = {"features": columns.features[places], "extra": columns.values[places]}
        arrays["feature_offsets"] = _narrow(ends)
    if not bits:
        return arrays | {"values": np.asarray(dense, dtype="f4").reshape(-1)}
    coded = [quantised(dense[:, column], bits) for column in range(width)]
    books = np.zeros((width, 1 << bits), dtype="f4")
    codes = np.empty(dense.shape, dtype="u1" if bits <= 8 else "u2")
    for column, (book, numbers) in enumerate(coded):
        books[column, : len(book)] = book
        codes[:, column] = numbers
    return arrays | {"books": books.reshape(-1), "codes": codes.reshape(-1)}


def quantised(values: Array, bits: int) -> tuple[Array, Array]:
    """At most ``2 ** bits`` values that stand for these, and the number of each value's.

    All are kept if they are so few; else each bin has about as many values, whose mean stands for it.
    """
    most = 1 << bits
    known, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    places = places.reshape(-1)
    if len(known) <= most:
        return known, places
    before = np.cumsum(counts) - counts
    # A value that is more frequent than a bin has one of its own: bins are numbered by where values begin.
    bins = before * most // len(values)
    _, bins = np.unique(bins, return_inverse=True)
    bins = bins.reshape(-1)
    means = np.bincount(bins, known.astype(np.float64) * counts) / np.bincount(bins, counts)
    return means.astype("f4"), bins[places]
