"""Turn word-aligned text into a folder of labels, training items and a translation table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from smtformats.errors import FormatError, quote
from smtformats.files import open_binary_write, shown_name
from smtformats.tokens import blanks
from smtplugins.contracts.tools.extraction import Bitext, read_pairs, spill_folder
from smtplugins.contracts.tools.files import new_folder
from smtplugins.contracts.tools.running import progress
from smtplugins.plugins.searn.labels.item_files import ItemWriter
from smtplugins.plugins.searn.labels.items import KINDS, ItemArrays, find_items
from smtplugins.plugins.searn.labels.table import LeafTable, shares

if TYPE_CHECKING:
    from smtplugins.contracts.tools.extraction import Pair
    from smtplugins.contracts.tools.running import Host

STATISTICS = "statistics.json"
LABELS = "labels.gz"
TABLE = "phrase-table.gz"
NULLS = "nulls.gz"
ITEMS = "items"
_BATCH = 1000

Links = tuple[tuple[int, int], ...]
AlignedWords = tuple[list[str], list[str], Links]


@dataclass(frozen=True)
class AlignedFiles:
    """Files of source sentences, target sentences and word alignments."""

    source: str
    target: str
    alignment: str
    format: str | None = None

    def pairs(self, host: Host, skip_bad: bool, statistics: LabelStatistics) -> Iterator[AlignedWords]:
        """Yield words and links of each pair; one with links outside is an error, or empty with ``skip_bad``."""
        read = read_pairs(self.source, self.target, self.alignment, format=self.format, formats=host.formats())
        for number, pair in enumerate(read, 1):
            source, target, links = self._split(pair, number)
            if links is None and not skip_bad:
                self._raise_bad_link(pair, source, target)
            if links is None:
                statistics.skipped += 1
                source, target, links = [], [], ()
            yield source, target, links

    def _split(self, pair: Pair, number: int) -> tuple[list[str], list[str], Links | None]:
        source_text, target_text, alignment = pair
        assert alignment is not None
        # The extractor that counts words treats NUL as a blank.
        source, target = (blanks(text.replace("\0", " ")) for text in (source_text, target_text))
        for words, there, path in ((source, alignment.source, self.source), (target, alignment.target, self.target)):
            if there is not None and len(there) != len(words):
                raise FormatError(
                    f"{len(words)} words, as line {number} of {path}",
                    f"{len(there)}: {quote(' '.join(there))}",
                    file=shown_name(self.alignment),
                    line=alignment.line,
                )
        # Empty sentences yield no items: skip the check.
        if not source or not target or not alignment.points:
            return source, target, ()
        last, last_target = map(max, zip(*alignment.points, strict=True))
        inside = last < len(source) and last_target < len(target)
        return source, target, alignment.points if inside else None

    def _raise_bad_link(self, pair: Pair, source: list[str], target: list[str]) -> None:
        assert pair[2] is not None
        bad = next(f"{i}-{j}" for i, j in pair[2].points if i >= len(source) or j >= len(target))
        expected = f"links inside the sentences of {len(source)} and {len(target)} words"
        raise FormatError(expected, quote(bad), file=shown_name(self.alignment), line=pair[2].line)


@dataclass
class LabelStatistics:
    """Counts of items and labels in a text."""

    sentences: int = 0
    skipped: int = 0
    empty: int = 0
    """Pairs with an empty side."""
    unlinked: int = 0
    """Pairs without links."""
    items: Counter[str] = field(default_factory=Counter)
    """Counts by kind."""
    phrases: int = 0
    """Items with several source words."""
    holding: Counter[str] = field(default_factory=Counter)
    """Sentences with an item of this kind, or of either indecomposable kind."""
    labels: Counter[str] = field(default_factory=Counter)

    def count(self, pairs: list[AlignedWords], items: ItemArrays) -> None:
        """Add the counts of a batch."""
        self.sentences += len(pairs)
        for source, target, links in pairs:
            if not source or not target:
                self.empty += 1
            elif not links:
                self.unlinked += 1
        for place, count in enumerate(np.bincount(items.labels, minlength=len(items.label_names)).tolist()):
            self.labels[items.label_names[place]] += count
        self.phrases += int(np.sum(items.spans[:, 1] - items.spans[:, 0] > 1))
        numbers = np.repeat(np.arange(len(pairs)), np.diff(items.offsets))
        for place, kind in enumerate(KINDS):
            self.items[kind] += int(np.sum(items.kinds == place))
            self.holding[kind] += len(np.unique(numbers[items.kinds == place]))
        self.holding["indecomposable"] += len(np.unique(numbers[items.kinds >= KINDS.index("crossing")]))

    def record(self) -> dict[str, Any]:
        """The statistics for JSON."""
        return {
            "sentences": self.sentences,
            "skipped": self.skipped,
            "empty": self.empty - self.skipped,
            "unlinked": self.unlinked,
            "labelled": self.sentences - self.empty - self.unlinked,
            "items": self.items.total(),
            "items_of_kind": dict(self.items),
            "items_of_several_words": self.phrases,
            "sentences_with": dict(self.holding),
            "labels": dict(sorted(self.labels.items(), key=lambda item: (-item[1], item[0]))),
        }


@dataclass
class _Nulls:
    """Counts of source words, overall and as items without target words."""

    seen: Counter[str] = field(default_factory=Counter)
    alone: Counter[str] = field(default_factory=Counter)

    def write(self, stream: BinaryIO) -> None:
        for word in sorted(self.alone, key=str.encode):
            share = self.alone[word] / self.seen[word]
            stream.write(f"{word} ||| {share:.6g} {self.alone[word]}\n".encode())


def label_text(
    host: Host,
    files: AlignedFiles,
    folder: Path,
    *,
    max_length: int | None = None,
    parts: bool = True,
    skip_bad: bool = False,
    force: bool = False,
    quiet: bool = True,
) -> dict[str, Any]:
    """Write the folder of a text's labels, replacing an old one with ``force``; return its statistics."""
    naming = Bitext(files.source, files.target, files.alignment).naming
    statistics = LabelStatistics()
    nulls = _Nulls()
    with new_folder(folder, STATISTICS, force=force) as aside:
        with spill_folder(aside) as spilled, naming():
            table = LeafTable(spilled, max_length=max_length, parts=parts)
            with open_binary_write(aside / LABELS) as labels, ItemWriter(aside / ITEMS) as writer:
                pairs = progress(files.pairs(host, skip_bad, statistics), "labelling", quiet=quiet)
                for batch in _batches(pairs):
                    _take(batch, table, writer, nulls, statistics, labels)
            with open_binary_write(aside / TABLE) as stream:
                lengths = table.write(stream)
            with open_binary_write(aside / NULLS) as stream:
                nulls.write(stream)
        record = statistics.record()
        record["table"] = shares(lengths) | {"entries_of_source_words": dict(sorted(lengths.items()))}
        record["null_words"] = len(nulls.alone)
        (aside / STATISTICS).write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return record


def _batches(pairs: Iterable[AlignedWords]) -> Iterator[list[AlignedWords]]:
    stream = iter(pairs)
    while batch := list(islice(stream, _BATCH)):
        yield batch


def _take(
    batch: list[AlignedWords],
    table: LeafTable,
    writer: ItemWriter,
    nulls: _Nulls,
    statistics: LabelStatistics,
    labels: BinaryIO,
) -> None:
    items = find_items([(len(source), len(target), points) for source, target, points in batch])
    statistics.count(batch, items)
    table.add(batch, items)
    pair_items = list(_texts(batch, items))
    writer.add(pair_items, items.spans)
    for (source, _, _), own in zip(batch, pair_items, strict=True):
        nulls.seen.update(source)
        nulls.alone.update(item[0] for item in own if not item[1])
    lines = (" ||| ".join(map(" ### ".join, own)) + "\n" for own in pair_items)
    labels.write("".join(lines).encode())


def _texts(batch: list[AlignedWords], items: ItemArrays) -> Iterator[list[tuple[str, str, str]]]:
    """Yield source words, target words and label of each item, per pair."""
    spans, labels, offsets = items.spans.tolist(), items.labels.tolist(), items.offsets.tolist()
    names = items.label_names
    for (source, target, _), begin, end in zip(batch, offsets, offsets[1:], strict=False):
        yield [
            (" ".join(source[a:b]), " ".join(target[c:d]), names[label])
            for (a, b, c, d), label in zip(spans[begin:end], labels[begin:end], strict=True)
        ]
