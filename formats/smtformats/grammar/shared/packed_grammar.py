"""Read a packed Joshua grammar as records or columns. It imports numpy: import it in the function that reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from smtformats.columns import GrammarColumns, string_table
from smtformats.errors import FormatError, quote
from smtformats.grammar.joshua_packed import NAME
from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.grammar.shared.gather import Numbering
from smtformats.grammar.shared.packed_files import Encoding, PackedVocabulary
from smtformats.grammar.shared.packed_slices import Limits, Slice, read_slice

_VERSIONS = ("2", "3", "4")


class PackedGrammar:
    """A grammar folder: the data shared by all slices, and the slices."""

    def __init__(
        self, path: str | os.PathLike[str], owner: str, max_symbols: int, max_features: int, max_total: int
    ) -> None:
        self.folder = os.fspath(path)
        self.limits = Limits(max_symbols, max_features, max_total)
        self._check_version()
        self.vocabulary = PackedVocabulary(self.folder)
        self.encoding = Encoding(self.folder, self.vocabulary, owner)

    def slices(self) -> Iterator[Slice]:
        """Yield the slices; raise an error if there are no rules."""
        rules = 0
        for name in sorted(os.listdir(self.folder)):
            stem = name.removesuffix(".source")
            if name.startswith("slice_") and name != stem:
                part = read_slice(self.folder, stem, self.vocabulary, self.encoding, self.limits)
                rules += len(part.lhs)
                yield part
        if not rules:
            raise FormatError("a rule in a file slice_00000.source", "none", file=self.folder, line=1)

    def _check_version(self) -> None:
        name = os.path.join(self.folder, "config")
        if not os.path.exists(name):
            return
        with open(name, "rb") as stream:
            lines = stream.read().decode("utf-8", "replace").split("\n")
        for number, line in enumerate(lines, 1):
            key, _, value = line.partition("=")
            if key.strip() == "version" and value.strip() not in _VERSIONS:
                raise FormatError("version 2, 3 or 4", quote(value.strip()), file=name, line=number)

    def rules(self) -> Iterator[Rule]:
        """Yield one rule at a time, with one slice in memory."""
        for part in self.slices():
            yield from self._rules(part)

    def _rules(self, part: Slice) -> Iterator[Rule]:
        words, names, label = self.vocabulary.words, self.encoding.names, self.vocabulary.label
        source, target = part.source.tolist(), part.target.tolist()
        features, values = [names[i] for i in part.features.tolist()], part.values.tolist()
        points = [(s, t) for s, t in part.points.tolist()]
        ends = (part.source_offsets, part.target_offsets, part.feature_offsets, part.point_offsets)
        s = t = f = p = 0
        for lhs, *stops in zip(part.lhs.tolist(), *(offsets[1:].tolist() for offsets in ends), strict=True):
            symbols: list[Symbol] = []
            gaps: list[NonTerminal] = []
            for symbol in source[s : stops[0]]:
                if symbol < 0:
                    gaps.append(NonTerminal(label(symbol), len(gaps) + 1))
                symbols.append(words[symbol] if symbol >= 0 else gaps[-1])
            yield Rule(
                lhs=label(lhs),
                source=tuple(symbols),
                target=tuple(words[symbol] if symbol >= 0 else gaps[-1 - symbol] for symbol in target[t : stops[1]]),
                names=tuple(features[f : stops[2]]),
                values=tuple(values[f : stops[2]]),
                alignment=tuple(points[p : stops[3]]),
                origin=NAME,
                file=self.folder,
            )
            s, t, f, p = stops

    def columns(self) -> GrammarColumns:
        """Load all rules as columns."""
        slices = list(self.slices())

        def joined(name: str) -> Any:
            parts = [getattr(part, name) for part in slices]
            if not name.endswith("_offsets"):
                return np.concatenate(parts)
            starts = np.cumsum([0] + [part[-1] for part in parts[:-1]])
            return np.concatenate([[0], *(part[1:] + start for part, start in zip(parts, starts, strict=True))])

        vocabulary = self.vocabulary
        lhs, source, target = joined("lhs"), joined("source"), joined("target")
        labels = Numbering()
        label_of = np.zeros(len(vocabulary.words), dtype=np.int32)
        for symbol in np.unique(np.concatenate([lhs, source[source < 0]])).tolist():
            label_of[-symbol] = labels.add(vocabulary.label(symbol))
        used = np.zeros(len(vocabulary.words), dtype=bool)
        used[source[source >= 0]] = True
        used[target[target >= 0]] = True
        word_of = np.cumsum(used, dtype=np.int32) - 1
        gaps = -1 - label_of[np.maximum(-source, 0)]
        return GrammarColumns(
            lhs=label_of[-lhs],
            level=np.zeros(len(lhs), dtype=np.uint8),
            source=np.where(source < 0, gaps, word_of[np.maximum(source, 0)]).astype(np.int32),
            source_offsets=joined("source_offsets"),
            target=np.where(target < 0, target, word_of[np.maximum(target, 0)]).astype(np.int32),
            target_offsets=joined("target_offsets"),
            features=joined("features").astype(np.int32),
            values=joined("values"),
            feature_offsets=joined("feature_offsets"),
            points=joined("points").astype(np.int16),
            point_offsets=joined("point_offsets"),
            words=string_table(vocabulary.words[i] for i in np.flatnonzero(used).tolist()),
            labels=labels.table(),
            names=string_table(self.encoding.names),
        )
