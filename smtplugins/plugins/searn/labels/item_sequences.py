"""Training sequences from folders of ``smt searn label``, with the paper's features and a count cutoff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.contracts.errors import SmtError
from smtplugins.plugins.searn.labels.item_files import ItemFolder
from smtplugins.plugins.searn.labels.pair_columns import PairColumns
from smtplugins.plugins.searn.learning.policy import BEGIN, STATIC, static_names
from smtplugins.plugins.searn.learning.sequences import Loss, Sequences

Array = NDArray[Any]


@dataclass(frozen=True)
class _Joined:
    """Items of several folders; a dev set's label that training data lacks is -1."""

    offsets: Array
    gold: Array
    keys: Mapping[str, tuple[list[str], Array]]


def item_sequences(
    folders: Sequence[ItemFolder],
    templates: Sequence[str],
    *,
    min_count: int = 5,
    trained: int | None = None,
    columns: PairColumns | None = None,
    loss: Loss = "hamming",
) -> Sequences:
    """Concatenate the items of the folders; labels are those of the first folder.

    Word and fragment features that occur fewer than ``min_count`` times in the first ``trained`` sequences (by default
    the first folder) are dropped. ``columns`` are real-valued features, which are never dropped.
    """
    if not folders[0].items:
        raise SmtError("searn: expected labelled items to learn from, found none")
    joined = _join(folders)
    until = int(joined.offsets[len(folders[0]) if trained is None else trained])
    names: list[str] = []
    parts: list[Array] = []
    for template in (name for name in templates if name in STATIC):
        texts, keys = joined.keys[template]
        counts = np.bincount(keys[:until], minlength=len(texts))
        kept = [at for at in np.flatnonzero(counts >= min_count).tolist() if counts[at]]
        rows = np.full(len(texts), -1, dtype=np.int32)
        rows[kept] = len(names) + np.arange(len(kept))
        names += [_name(template, texts[at]) for at in kept]
        parts.append(rows[keys])
    ids = np.stack(parts, axis=1) if parts else np.empty((len(joined.gold), 0), dtype=np.int32)
    words, last = joined.keys["last"]
    counts = np.bincount(last[:until], minlength=len(words))
    starts, flat, values = _features(ids, names, joined, columns)
    # The first entry of words is the empty phrase.
    return Sequences.from_columns(
        labels=folders[0].label_names,
        templates=tuple(templates),
        names=tuple(names),
        offsets=joined.offsets,
        gold=joined.gold,
        starts=starts,
        ids=flat,
        values=values,
        last=last - 1,
        words=tuple(words[1:]),
        fragments=[words[at] for at in range(1, len(words)) if counts[at] >= max(min_count, 1)],
        loss=loss,
    )


def _name(template: str, text: str) -> str:
    (name,) = static_names((template,), text, text, text)
    return name


def _features(
    ids: Array, names: list[str], joined: _Joined, columns: PairColumns | None
) -> tuple[Array, Array, Array | None]:
    """Offsets, ids and values of each item's features; names of real-valued features are appended to ``names``."""
    there = ids >= 0
    widths = there.sum(axis=1)
    if columns is None:
        return np.concatenate([[0], np.cumsum(widths)]), ids[there], None
    (sources, own), (targets, other) = joined.keys["source"], joined.keys["target"]
    pairs, which = np.unique(np.stack([own, other], axis=1), axis=0, return_inverse=True)
    texts = [(sources[source], targets[target]) for source, target in pairs.tolist()]
    table = columns.table(texts)
    numbers: dict[str, int] = {}
    rows = [table[pair] for pair in texts]
    named = [[numbers.setdefault(name, len(names) + len(numbers)) for name in layout] for layout, _ in rows]
    names += numbers
    lists = []
    real = []
    for item, pair in enumerate(which.reshape(-1).tolist()):
        mine = ids[item][there[item]].tolist()
        lists.append(mine + named[pair])
        real.append([1.0] * len(mine) + rows[pair][1])
    starts = np.concatenate([[0], np.cumsum([len(row) for row in lists])])
    return starts, np.array([i for row in lists for i in row]), np.array([value for row in real for value in row])


def _join(folders: Sequence[ItemFolder]) -> _Joined:
    """Concatenate folders with shared numbers of words and phrases."""
    labels = {label: at for at, label in enumerate(folders[0].label_names)}
    tables: dict[str, dict[str, int]] = {table: {} for table in ("source", "previous", "target", "last")}
    tables["previous"][BEGIN] = tables["last"][""] = 0
    parts: dict[str, list[Array]] = {table: [] for table in tables}
    gold, lengths = [], []
    for folder in folders:
        known = np.array([labels.get(label, -1) for label in folder.label_names] or [0], dtype=np.int32)
        gold.append(known[folder.labels])
        lengths.append(np.diff(folder.offsets))
        for name, phrases, own in (
            ("source", folder.source_phrases, folder.sources),
            ("target", folder.target_phrases, folder.targets),
        ):
            table = tables[name]
            parts[name].append(np.array([table.setdefault(phrase, len(table)) for phrase in phrases])[own])
        for name, phrases, own in (
            ("previous", folder.source_phrases, folder.sources),
            ("last", folder.target_phrases, folder.targets),
        ):
            table = tables[name]
            words = np.array([table.setdefault(phrase.rpartition(" ")[2], len(table)) for phrase in phrases])[own]
            if name == "previous":
                # The word before an item is the last word of the previous item.
                words = np.concatenate([[0], words[:-1]])
                begins = folder.offsets[:-1]
                words[begins[begins < len(words)]] = 0
            parts[name].append(words)
    keys = {name: (list(tables[name]), np.concatenate(parts[name])) for name in tables}
    items = len(keys["source"][1])
    keys["bias"] = ["bias"], np.zeros(items, dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return _Joined(offsets, np.concatenate(gold), keys)
