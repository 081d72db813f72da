"""Moses' batch MIRA (``kbmira``), written anew from what it does, as an oracle: C. Cherry and G. Foster (2012).

What the paper leaves open: the background starts with ones, and is scored together with a hypothesis as BLEU times the
length of the references; it grows and fades only where hope and fear differ; the average is over updates, and has the
start weights once more than it counts. The result is the average after the epoch with the best BLEU, and the start
weights are no candidate.

Two things are needed to get the very figures that Moses printed. Sentences are drawn by glibc's ``rand``, a new
permutation of the last one for each pass through the data, of which a score takes one. And ``kbmira`` compares a
hypothesis with itself when it looks for duplicates, so that all but the first in a bucket of its hash table are
dropped: it learns from at most 16 hypotheses of a list (``first_of_buckets``, with the hashes of Boost 1.67 to 1.79).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from smtformats import all_formats, open_lines

Array = Any
Orders = Callable[[int], Sequence[int]]
_WORD = (1 << 64) - 1


@dataclass(frozen=True)
class Epoch:
    """A line of Moses' log, and the averaged weights."""

    updates: int
    loss: float
    bleu: float
    weights: Array


def in_order(count: int) -> Sequence[int]:
    """``--no-shuffle``."""
    return range(count)


class Shuffled:
    """The passes through the data of a run with ``--random-seed``."""

    def __init__(self, seed: int) -> None:
        self._rand, self._order = _glibc_rand(seed), list[int]()

    def __call__(self, count: int) -> Sequence[int]:
        order = self._order = self._order or list(range(count))
        for i in range(1, count):
            j = next(self._rand) % (i + 1)
            order[i], order[j] = order[j], order[i]
        return list(order)


def _glibc_rand(seed: int) -> Iterator[int]:
    state = [seed]
    for _ in range(30):
        state.append(16807 * state[-1] % 2147483647)
    state += state[:3]
    for at in range(34, 1 << 40):
        state.append((state[-3] + state[-31]) & 0xFFFFFFFF)
        if at >= 344:
            yield state[-1] >> 1
        del state[:-34]


def bleu(counts: Array) -> Array:
    """BLEU of rows with matches and totals by turns, and the length of the references; 0 without a match."""
    matches, totals = counts[..., 0:8:2], counts[..., 1:8:2]
    with np.errstate(divide="ignore"):
        log = np.mean(np.log(matches) - np.log(totals), axis=-1)
    score: Array = np.exp(log + np.minimum(0, 1 - counts[..., 8] / totals[..., 0]))
    return score


def kbmira(
    features: Sequence[Array],
    counts: Sequence[Array],
    start: Array,
    epochs: int,
    passes: Orders = in_order,
    *,
    cap: float = 0.01,
    decay: float = 0.999,
    of_best: bool = False,
) -> list[Epoch]:
    """All epochs. ``of_best`` is ``--model-bg``. Each takes two ``passes``, and one comes before the first."""
    weights, total, steps = np.array(start), np.array(start), 0
    background = np.ones(9)
    passes(len(features))
    done = []
    for _ in range(epochs):
        updates, losses = 0, 0.0
        for k in passes(len(features)):
            scores, stats = features[k] @ weights, counts[k] + background
            gains = bleu(stats) * stats[:, 8]
            hope, fear, best = np.argmax(scores + gains), np.argmax(scores - gains), np.argmax(scores)
            if not gains[hope] > gains[fear]:
                continue
            apart = features[k][hope] - features[k][fear]
            loss = gains[hope] - gains[fear] - apart @ weights
            if loss > 0:
                weights = weights + min(cap, loss / max(apart @ apart, 1e-300)) * apart
                total, steps = total + weights, steps + 1
                updates, losses = updates + 1, losses + float(loss)
            background = decay * background + counts[k][best if of_best else hope]
        mean = total / steps if steps else weights
        passes(len(features))
        chosen = sum(rows[np.argmax(table @ mean)] for table, rows in zip(features, counts, strict=True))
        done.append(Epoch(updates, losses / len(features), float(bleu(chosen)), mean))
    return done


def best_of(epochs: Sequence[Epoch]) -> Epoch:
    """The first epoch with the best BLEU, whose weights are written."""
    return max(epochs, key=lambda epoch: epoch.bleu)


def counts_of(stats: Array) -> Array:
    """Statistics of our BLEU (lengths, matches, totals) as Moses has them."""
    width = (stats.shape[1] - 2) // 2
    by_turns = np.stack([stats[:, 2 : 2 + width], stats[:, 2 + width :]], axis=2)
    return np.column_stack([by_turns.reshape(len(stats), -1), stats[:, 1]])


def read_lists(features: Path, scores: Path) -> tuple[list[Array], list[Array]]:
    """What the extractor wrote, in single precision, as ``kbmira`` holds it."""
    known = {one.name: one for one in all_formats()}
    tables = []
    for kind, path in (("features", features), ("scores", scores)):
        with open_lines(path) as lines:
            blocks = known[f"moses-{kind}"].parse(lines)  # type: ignore[misc]
            tables.append([np.array(block.rows, dtype=np.float32) for block in blocks])
    return tables[0], tables[1]


def first_of_buckets(table: Array) -> list[int]:
    """The rows of a list that ``kbmira`` keeps."""
    first: dict[int, int] = {}
    for row, values in enumerate(np.asarray(table, dtype=np.float32)):
        first.setdefault(_bucket(values), row)
    return sorted(first.values())


def _bucket(values: Array) -> int:
    key = 0
    for value, bits in zip(values.tolist(), values.view(np.uint32).tolist(), strict=True):
        key = _combined(key, bits if value else 0)
    key = _combined(_combined(0, key), 0)  # dense features, and no sparse ones
    key = (~key + (key << 21)) & _WORD
    key = (key ^ key >> 24) * 265 & _WORD
    key = (key ^ key >> 14) * 21 & _WORD
    key ^= key >> 28
    return (key + (key << 31)) % 16


def _combined(seed: int, value: int) -> int:
    factor = 0xC6A4A7935BD1E995
    value = value * factor & _WORD
    value = (value ^ value >> 47) * factor & _WORD
    return ((seed ^ value) * factor + 0xE6546B64) & _WORD
