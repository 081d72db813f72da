"""Read the slices of a packed Joshua grammar: tries, walked level by level, and feature blocks."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smtformats.grammar.shared.packed_files import Bytes, Encoding, Ints, Mask, PackedVocabulary


@dataclass(frozen=True)
class Limits:
    """Limits on the symbols of a side, the features of a rule, and the totals of either in a slice."""

    symbols: int
    features: int
    total: int


@dataclass(frozen=True)
class Slice:
    """The rules of a slice, with vocabulary numbers; offsets as in columns."""

    lhs: Ints
    source: NDArray[np.int32]
    source_offsets: Ints
    target: NDArray[np.int32]
    target_offsets: Ints
    features: NDArray[np.int32]
    values: NDArray[np.float32]
    feature_offsets: Ints
    points: Ints
    point_offsets: Ints


def read_slice(folder: str, name: str, vocabulary: PackedVocabulary, encoding: Encoding, limits: Limits) -> Slice:
    """Read ``name.source`` and the files beside it."""
    file = Bytes(folder, name + ".source")
    parents, symbols, nodes, rules, places = _walk(file, vocabulary, limits)
    lhs, addresses, blocks = rules.T
    file.check(vocabulary.is_label(lhs), "a left-hand side, the number of a [LABEL]", lhs.__getitem__, places)
    source, source_offsets = _climb(file, parents, symbols, nodes, places, limits)
    # Symbols were collected last to first.
    source = source[::-1][_spread(len(source) - source_offsets[1:], np.diff(source_offsets))]
    target, target_offsets = _targets(Bytes(folder, name + ".target"), vocabulary, addresses, limits, (file, places))
    fault = _gap_fault(source, source_offsets, target, target_offsets)
    if fault >= 0:
        raise file.error("each source-side gap once on the target side", "another target", int(places[fault]) + 4)
    if vocabulary.empty >= 0:
        kept = target != vocabulary.empty
        target, target_offsets = target[kept], np.concatenate([[0], np.cumsum(kept)])[target_offsets]
    features = _features(Bytes(folder, name + ".features"), blocks, encoding, limits, (file, places))
    points = np.empty((0, 2), dtype=np.int64), np.zeros(len(rules) + 1, dtype=np.int64)
    if os.path.exists(os.path.join(folder, name + ".alignments")):
        points = _points(Bytes(folder, name + ".alignments"), blocks, (file, places))
    return Slice(lhs, source, source_offsets, target, target_offsets, *features, *points)


def _spread(starts: Ints, counts: Ints, step: int = 1) -> Ints:
    """Return ``counts[i]`` numbers from ``starts[i]``, a step apart, for all i."""
    ends = np.cumsum(counts)
    first = np.repeat(starts - (ends - counts) * step, counts)
    return first + np.arange(len(first)) * step


def _offsets(counts: Ints | Mask) -> Ints:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def _walk(file: Bytes, vocabulary: PackedVocabulary, limits: Limits) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Walk the source trie; returns parents and symbols of its nodes, and node, numbers and byte position of rules."""
    words = file.array(1)[:, 0]
    size = len(words)
    seen = np.full(size, -1)
    level = np.zeros(1, dtype=np.int64)
    parents, symbols = [np.array([-1])], [np.zeros(1, dtype=np.int64)]
    nodes, rules = [], []
    count = used = depth = 0
    while len(level):
        first, count = count, count + len(level)
        seen[level] = np.arange(first, count)
        children = _sized(file, words, level, 2)
        rules_at = level + 1 + 2 * children
        ruled = _sized(file, words, rules_at, 3)
        used += int((2 + 2 * children + 3 * ruled).sum())
        if used > size:
            raise file.error("nodes that do not overlap", "some that do", int(level[0]) * 4)
        if not depth and ruled[0]:
            raise file.error("no rules without a source side", str(ruled[0]), int(rules_at[0]) * 4)
        nodes.append(np.repeat(np.arange(first, count), ruled))
        rules.append(_spread(rules_at + 1, ruled, 3))
        pairs = _spread(level + 1, children, 2)
        if depth == limits.symbols and len(pairs):
            expected = f"a source side of at most {limits.symbols} symbols"
            raise file.error(expected, "a longer one", int(pairs[0]) * 4)
        below, level = words[pairs].astype(np.int64), words[pairs + 1].astype(np.int64)
        good = vocabulary.is_label(below) | (vocabulary.is_word(below) & (below != vocabulary.empty))
        file.check(good, "the number of a word, or the negative one of a [LABEL]", below.__getitem__, pairs * 4)
        good = (level > 0) & (level < size - 1)
        file.check(good, f"the address of a node, below {size - 1}", level.__getitem__, pairs * 4 + 4)
        parents.append(np.repeat(np.arange(first, count), children))
        symbols.append(below)
        # A node reached twice could be a cycle.
        mark = np.arange(len(level))
        again = seen[level] >= 0
        seen[level] = mark
        again |= seen[level] != mark
        file.check(~again, "the address of a node not met before", level.__getitem__, pairs * 4 + 4)
        depth += 1
    at = np.concatenate(rules)
    table = words[at[:, None] + np.arange(3)].astype(np.int64)
    return np.concatenate(parents), np.concatenate(symbols), np.concatenate(nodes), table, at * 4


def _sized(file: Bytes, words: NDArray[np.int32], at: Ints, width: int) -> Ints:
    """Return the number of entries of ``width`` at these positions, after checking that they lie inside the file."""
    counts = words[at].astype(np.int64)
    room = (len(words) - at - (4 - width)) // width
    expected = "a number of children and rules that fits the file"
    file.check((counts >= 0) & (counts <= room), expected, counts.__getitem__, at * 4)
    return counts


def _climb(
    file: Bytes, parents: Ints, symbols: Ints, at: Ints, places: Ints, limits: Limits
) -> tuple[NDArray[np.int32], Ints]:
    """Return the symbols on the paths from nodes to their roots, and offsets."""
    jump = np.where(parents < 0, np.arange(len(parents)), parents)
    depth = (parents >= 0).astype(np.int64)
    for _ in range(limits.symbols.bit_length()):
        # Pointer doubling; terminates on cycles too.
        depth += depth[jump]
        jump = jump[jump]
    lengths = depth[at]
    expected = f"a side of at most {limits.symbols} symbols"
    file.check(lengths <= limits.symbols, expected, lambda i: "a longer one, or a cycle of nodes", places)
    offsets = _offsets(lengths)
    if offsets[-1] > limits.total:
        raise file.error(f"at most {limits.total} symbols of all sides together", str(offsets[-1]), 0)
    flat = np.empty(offsets[-1], dtype=np.int32)
    active = np.flatnonzero(lengths)
    step = 0
    while len(active):
        flat[offsets[active] + step] = symbols[at[active]]
        at = parents[at]
        step += 1
        active = active[lengths[active] > step]
    return flat, offsets


def _targets(
    file: Bytes, vocabulary: PackedVocabulary, addresses: Ints, limits: Limits, rules: tuple[Bytes, Ints]
) -> tuple[NDArray[np.int32], Ints]:
    """Return the target sides, read from their addresses up to the root of the trie."""
    table = file.array(2).astype(np.int64)
    parents, symbols = table.T
    size = 2 * len(table)
    at = np.arange(len(table)) * 8
    good = (parents == -1) | ((parents >= 0) & (parents < size) & (parents % 2 == 0))
    file.check(good, f"-1 or the address of a node, an even number below {size}", parents.__getitem__, at)
    good = (symbols < 0) | vocabulary.is_word(symbols) | (parents == -1)
    file.check(good, "the number of a word or of a gap", symbols.__getitem__, at + 4)
    source, places = rules
    good = (addresses >= 0) & (addresses < size) & (addresses % 2 == 0)
    expected = f"the address of a target side, an even number below {size}"
    source.check(good, expected, addresses.__getitem__, places + 4)
    return _climb(file, np.where(parents < 0, -1, parents // 2), symbols, addresses // 2, addresses * 4, limits)


def _gap_fault(source: NDArray[np.int32], source_offsets: Ints, target: NDArray[np.int32], target_offsets: Ints) -> int:
    """Return the first rule whose target side does not have each source-side gap once, or -1."""
    arity: Ints = np.diff(_offsets(source < 0)[source_offsets])
    first = _offsets(arity)
    at = np.flatnonzero(target < 0)
    rule = np.searchsorted(target_offsets, at, "right") - 1
    gap = -1 - target[at]
    wrong = rule[gap >= arity[rule]]
    used = np.bincount((first[rule] + gap)[gap < arity[rule]], minlength=int(first[-1]))
    odd = np.flatnonzero(used != 1)
    wrong = np.concatenate([wrong, np.searchsorted(first, odd, "right") - 1])
    return int(wrong.min()) if len(wrong) else -1


def _blocks(file: Bytes, blocks: Ints, rules: tuple[Bytes, Ints]) -> Ints:
    """Return the positions of the rules' blocks."""
    count = file.count("blocks", 4)
    payload = file.number()
    if payload != len(file.data) - 8 - 4 * count:
        raise file.error("the number of bytes after the addresses", str(payload), 4)
    source, places = rules
    good = (blocks >= 0) & (blocks < count)
    source.check(good, f"the number of a block, below {count}", blocks.__getitem__, places + 8)
    starts = np.frombuffer(file.take(4 * count), dtype=">i4").astype(np.int64)
    good = (starts >= file.at) & (starts < len(file.data))
    expected = f"the address of a block, from {file.at} to {len(file.data) - 1}"
    file.check(good, expected, starts.__getitem__, 8 + 4 * np.arange(count))
    return starts[blocks]


def _features(
    file: Bytes, blocks: Ints, encoding: Encoding, limits: Limits, rules: tuple[Bytes, Ints]
) -> tuple[NDArray[np.int32], NDArray[np.float32], Ints]:
    """Return features, values and offsets. The k-th features of all rules are read together: entries differ in size."""
    starts = _blocks(file, blocks, rules)
    counts = file.gather(starts, encoding.id_type).astype(np.int64)
    good = (counts >= 0) & (counts <= limits.features)
    file.check(good, f"at most {limits.features} features", counts.__getitem__, starts)
    offsets = _offsets(counts)
    if offsets[-1] > limits.total:
        raise file.error(f"at most {limits.total} features of the rules together", str(offsets[-1]), 0)
    features = np.empty(offsets[-1], dtype=np.int32)
    values = np.empty(offsets[-1], dtype=np.float32)
    width = np.dtype(encoding.id_type).itemsize
    at, active = starts + width, np.flatnonzero(counts)
    step = 1
    while len(active):
        places = at[active]
        numbers = file.gather(places, encoding.id_type).astype(np.int64)
        good = (numbers >= 0) & (numbers < encoding.count)
        file.check(good, f"the number of a feature, below {encoding.count}", numbers.__getitem__, places)
        # Blocks are stored last to first.
        slots = offsets[active + 1] - step
        features[slots] = numbers
        values[slots] = encoding.read(file, numbers, places + width)
        at[active] = places + width + encoding.sizes[numbers]
        active = active[counts[active] > step]
        step += 1
    twice = _twice(features, offsets)
    if twice >= 0:
        raise file.error("each feature once", "one twice", int(starts[twice]))
    return features, values, offsets


def _twice(features: NDArray[np.int32], offsets: Ints) -> int:
    """Return a rule that has a feature twice, or -1."""
    rule = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    if not np.any((np.diff(features) <= 0) & (np.diff(rule) == 0)):
        return -1
    order = np.lexsort((features, rule))
    same = np.flatnonzero((np.diff(features[order]) == 0) & (np.diff(rule[order]) == 0))
    return int(rule[order[same[0]]]) if len(same) else -1


def _points(file: Bytes, blocks: Ints, rules: tuple[Bytes, Ints]) -> tuple[Ints, Ints]:
    """Return alignment points and offsets."""
    starts = _blocks(file, blocks, rules)
    counts = 2 * file.gather(starts, ">u1").astype(np.int64)
    good = starts + 1 + counts <= len(file.data)
    file.check(good, "alignment points inside the file", lambda i: int(counts[i]) // 2, starts)
    at = _spread(starts + 1, counts)
    points = file.gather(at, ">i1").astype(np.int64)
    file.check(points >= 0, "a position up to 127", points.__getitem__, at)
    return points.reshape(-1, 2), _offsets(counts // 2)
