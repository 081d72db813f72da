"""The folder `items/` that `smt searn label` writes: items and labels of sentence pairs as mapped arrays."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.array_folders import Growing, read_array, read_record
from smtplugins.host.errors import SmtError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RECORD = "items.json"
_WHAT = "labelled items"
_VERSION = 1
_ARRAYS = {"offsets": "<i8", "labels": "<i4", "sources": "<i4", "targets": "<i4", "spans": "<u2"}


@dataclass(frozen=True)
class ItemFolder:
    """Items of sentence pairs, in source order; those of sentence ``i`` are ``offsets[i]`` to ``offsets[i + 1]``.

    ``labels``, ``sources`` and ``targets`` are places in ``label_names``, ``source_phrases`` and ``target_phrases``:
    a label as `S,R+`, the most frequent one first, a phrase as its words with blanks between them, the empty one
    first. ``spans`` has first and last (not included) source word, then target word. A pair that has no labels has no
    items.
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
        """Map a folder: `items/` itself, or the one that it is in."""
        folder = Path(folder)
        if not (folder / RECORD).is_file() and (folder / "items" / RECORD).is_file():
            folder = folder / "items"
        record = read_record(folder, RECORD, _WHAT, _VERSION)
        arrays = {name: read_array(folder, name, "iu") for name in _ARRAYS}
        found = cls(
            **{**arrays, "spans": arrays["spans"].reshape(-1, 4)},
            label_names=_read_texts(folder / "labels.txt"),
            source_phrases=_read_texts(folder / "source-phrases.txt"),
            target_phrases=_read_texts(folder / "target-phrases.txt"),
        )
        found._check(folder, record)
        return found

    def _check(self, folder: Path, record: dict[str, Any]) -> None:
        lengths = {len(one) for one in (self.labels, self.sources, self.targets, self.spans)}
        if lengths != {record.get("items")} or len(self.offsets) != record.get("sentences", -1) + 1:
            raise SmtError(f"{folder}: expected arrays as long as {RECORD} has it, found others")

    def __len__(self) -> int:
        """Sentence pairs."""
        return len(self.offsets) - 1

    @property
    def items(self) -> int:
        """Items of all sentence pairs."""
        return len(self.labels)

    def sentence(self, number: int) -> slice:
        """The items of a sentence pair, from 0."""
        return slice(int(self.offsets[number]), int(self.offsets[number + 1]))

    def texts(self, number: int) -> list[tuple[str, str, str]]:
        """Source words, target words and label of each item of a sentence pair."""
        at = self.sentence(number)
        return [
            (self.source_phrases[source], self.target_phrases[target], self.label_names[label])
            for source, target, label in zip(self.sources[at], self.targets[at], self.labels[at], strict=True)
        ]

    def __iter__(self) -> Iterator[list[tuple[str, str, str]]]:
        """:meth:`texts` of all sentence pairs."""
        return map(self.texts, range(len(self)))


class ItemWriter:
    """Writes an `items/` folder, sentence pair by sentence pair."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._columns = {name: Growing(folder / f"{name}.npy", dtype) for name, dtype in _ARRAYS.items()}
        self._label_ids: dict[str, int] = {}
        self._source_ids: dict[str, int] = {"": 0}
        self._target_ids: dict[str, int] = {"": 0}
        self._items = 0
        self._sentences = 0
        self._append("offsets", [0])

    def _append(self, name: str, values: object) -> None:
        import numpy as np

        self._columns[name].append(np.asarray(values, dtype=_ARRAYS[name]).reshape(-1))

    def add(self, sentences: Sequence[Sequence[tuple[str, str, str]]], spans: object) -> None:
        """Sentence pairs, each a list of (source words, target words, label), and the spans of all of their items."""
        columns: tuple[list[int], list[int], list[int]] = ([], [], [])
        ends = []
        for items in sentences:
            for source, target, label in items:
                columns[0].append(self._source_ids.setdefault(source, len(self._source_ids)))
                columns[1].append(self._target_ids.setdefault(target, len(self._target_ids)))
                columns[2].append(self._label_ids.setdefault(label, len(self._label_ids)))
            self._items += len(items)
            ends.append(self._items)
        for name, values in zip(("sources", "targets", "labels"), columns, strict=True):
            self._append(name, values)
        self._append("spans", spans)
        self._append("offsets", ends)
        self._sentences += len(sentences)

    def close(self) -> None:
        """Complete the folder."""
        for column in self._columns.values():
            column.close()
        self._order_labels()
        texts = {"labels": self._label_ids, "source-phrases": self._source_ids, "target-phrases": self._target_ids}
        for name, ids in texts.items():
            with open(self._folder / f"{name}.txt", "w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(f"{text}\n" for text in ids)
        record = {"version": _VERSION, "sentences": self._sentences, "items": self._items}
        (self._folder / RECORD).write_text(json.dumps(record) + "\n", encoding="utf-8")

    def _order_labels(self) -> None:
        """The most frequent label first; equally frequent ones by name."""
        import numpy as np

        places = np.load(self._folder / "labels.npy", mmap_mode="r+") if self._items else np.zeros(0, np.int32)
        counts = np.bincount(places, minlength=len(self._label_ids))
        names = sorted(self._label_ids, key=lambda name: (-counts[self._label_ids[name]], name))
        order = np.zeros(len(names), np.int32)
        for place, name in enumerate(names):
            order[self._label_ids[name]] = place
        places[:] = order[places]
        self._label_ids = {name: place for place, name in enumerate(names)}


def _read_texts(path: Path) -> tuple[str, ...]:
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise SmtError(f"{path.parent}: expected {path.name}, found none") from None
    return tuple(text.split("\n")[:-1])
