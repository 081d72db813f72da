"""The folder `items/` written by `smt searn label`: items and labels of sentence pairs as memory-mapped arrays."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.tools.files import Growing, read_array, read_record

RECORD = "items.json"
_WHAT = "labelled items"
_VERSION = 1
_TEXTS = {"sources": "source-phrases.txt", "targets": "target-phrases.txt", "labels": "labels.txt"}
_ARRAYS = {"offsets": "<i8", "labels": "<i4", "sources": "<i4", "targets": "<i4", "spans": "<u2"}


@dataclass(frozen=True)
class ItemFolder:
    """Items of sentence pairs in source order; pair ``i`` has items ``offsets[i]`` to ``offsets[i + 1]``.

    ``labels``, ``sources`` and ``targets`` are indices into ``label_names``, ``source_phrases`` and ``target_phrases``.
    Labels look like `S,R+` and are sorted by frequency, most frequent first; phrases are words joined by blanks, the
    empty phrase first. ``spans`` has begin and end of the source words, then of the target words; ends are exclusive.
    A pair without labels has no items.
    """

    offsets: NDArray[np.int64]
    labels: NDArray[np.int32]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    spans: NDArray[np.uint16]
    label_names: tuple[str, ...]
    source_phrases: tuple[str, ...]
    target_phrases: tuple[str, ...]

    @classmethod
    def open(cls, folder: Path) -> ItemFolder:
        """Map the arrays of `items/`, given that folder or its parent."""
        folder = Path(folder)
        if not (folder / RECORD).is_file() and (folder / "items" / RECORD).is_file():
            folder = folder / "items"
        record = read_record(folder, RECORD, _WHAT, _VERSION)
        # Plain array views: slicing a memmap is slower.
        arrays = {name: np.asarray(read_array(folder, name, "iu")) for name in _ARRAYS}
        items = cls(
            **{**arrays, "spans": arrays["spans"].reshape(-1, 4)},
            label_names=_read_texts(folder / _TEXTS["labels"]),
            source_phrases=_read_texts(folder / _TEXTS["sources"]),
            target_phrases=_read_texts(folder / _TEXTS["targets"]),
        )
        items._check(folder, record)
        return items

    def _check(self, folder: Path, record: dict[str, Any]) -> None:
        lengths = {len(column) for column in (self.labels, self.sources, self.targets, self.spans)}
        if lengths != {record.get("items")} or len(self.offsets) != record.get("sentences", -1) + 1:
            raise SmtError(f"{folder}: expected arrays of the lengths that {RECORD} states, found other lengths")

    def __len__(self) -> int:
        """The number of sentence pairs."""
        return len(self.offsets) - 1

    @property
    def items(self) -> int:
        """The number of items in all sentence pairs."""
        return len(self.labels)

    def sentence(self, number: int) -> slice:
        """The range of items of a sentence pair; pairs are numbered from 0."""
        return slice(int(self.offsets[number]), int(self.offsets[number + 1]))

    def texts(self, number: int) -> list[tuple[str, str, str]]:
        """Source words, target words and label of each item of a sentence pair."""
        at = self.sentence(number)
        return [
            (self.source_phrases[source], self.target_phrases[target], self.label_names[label])
            for source, target, label in zip(
                self.sources[at].tolist(), self.targets[at].tolist(), self.labels[at].tolist(), strict=True
            )
        ]

    def __iter__(self) -> Iterator[list[tuple[str, str, str]]]:
        """:meth:`texts` of all sentence pairs."""
        return map(self.texts, range(len(self)))


class ItemWriter:
    """Write an `items/` folder, sentence pair by sentence pair; a context manager that completes it on success."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._columns = {name: Growing(folder / f"{name}.npy", dtype) for name, dtype in _ARRAYS.items()}
        self._ids = {"sources": _Ids({"": 0}), "targets": _Ids({"": 0}), "labels": _Ids()}
        self._items = 0
        self._sentences = 0
        self._append("offsets", [0])

    def _append(self, name: str, values: object) -> None:
        self._columns[name].append(np.asarray(values, dtype=_ARRAYS[name]).reshape(-1))

    def add(self, sentences: Sequence[Sequence[tuple[str, str, str]]], spans: object) -> None:
        """Append sentence pairs, each a list of (source words, target words, label), with the spans of all items."""
        ends = self._items + np.cumsum([len(items) for items in sentences], dtype=np.int64)
        flat = [item for items in sentences for item in items]
        for place, (name, ids) in enumerate(self._ids.items()):
            self._append(name, [ids[item[place]] for item in flat])
        self._append("spans", spans)
        self._append("offsets", ends)
        self._items += len(flat)
        self._sentences += len(sentences)

    def __enter__(self) -> ItemWriter:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        for column in self._columns.values():
            column.close()
        if kind is None:
            self._complete()

    def _complete(self) -> None:
        self._order_labels()
        for name, ids in self._ids.items():
            with open(self._folder / _TEXTS[name], "w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(f"{text}\n" for text in ids)
        record = {"version": _VERSION, "sentences": self._sentences, "items": self._items}
        (self._folder / RECORD).write_text(json.dumps(record) + "\n", encoding="utf-8")

    def _order_labels(self) -> None:
        """Renumber labels by decreasing frequency, then by name."""
        known = self._ids["labels"]
        places = np.load(self._folder / "labels.npy", mmap_mode="r+") if self._items else np.zeros(0, np.int32)
        counts = np.bincount(places, minlength=len(known))
        names = sorted(known, key=lambda name: (-counts[known[name]], name))
        order = np.zeros(len(names), np.int32)
        for place, name in enumerate(names):
            order[known[name]] = place
        places[:] = order[places]
        self._ids["labels"] = _Ids({name: place for place, name in enumerate(names)})


class _Ids(dict[str, int]):
    """Numbers in order of first use."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


def _read_texts(path: Path) -> tuple[str, ...]:
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise SmtError(f"{path.parent}: expected {path.name}, found none") from None
    return tuple(text.split("\n")[:-1])
