r"""Joshua's packed grammars: folders of binary files, which ``tm = thrax -path FOLDER`` reads.

    config  encoding  vocabulary  slice_00000.features  slice_00000.source  slice_00000.target ...

``vocabulary`` has the words and non-terminals, ``encoding`` the features and the encoders of their values. A slice has
a trie of source sides, a trie of target sides from the leaves up, a feature block per rule, and optionally a block of
alignment points in ``.alignments``. All versions (2, without ``config``, 3 and 4) and all encoders are read: ``byte``,
``boolean``, ``char``, ``short``, ``int``, ``float`` and ``8bit``.

Features that had no name in the text grammar are numbers here. As in Joshua, they are named ``tm_pt_0`` .. and their
signs are flipped; the option ``owner`` replaces ``pt``. Named features are unchanged, even ``tm_pt_0``. Zero values are
not stored, and ``8bit`` values are quantised to 256. Phrase tables of version 3 have ``[X,1]`` before both sides. The
rules of a slice are sorted by the length of their source sides.

Accepted although Joshua rejects it: a folder without ``.target.lookup`` files, which are redundant. Empty words on
target sides are dropped. Errors name the file and the byte: addresses out of range, a trie node with two parents, a gap
that is not exactly once on the target side, values that are not finite, words with blanks, repeated words or feature
names. The options ``max_symbols`` (per side), ``max_features`` (per rule) and ``max_total`` (of either, per slice) set
limits.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from smtformats.errors import FormatError, quote
from smtformats.format import Format
from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.grammar.shared.gather import Numbering
from smtformats.grammar.shared.packed_files import Encoding, PackedVocabulary
from smtformats.grammar.shared.packed_slices import Limits, Slice, read_slice

if TYPE_CHECKING:
    from smtformats.columns import GrammarColumns

NAME = "joshua-packed"
OWNER = "pt"
MAX_SYMBOLS = 1000
MAX_FEATURES = 10000
MAX_TOTAL = 1 << 27
_VERSIONS = ("2", "3", "4")


class _Grammar:
    """A grammar folder: the data shared by all slices, and the slices."""

    def __init__(self, path: str | os.PathLike[str], owner: str, limits: Limits) -> None:
        self.folder = os.fspath(path)
        self.limits = limits
        self._check_version()
        self.vocabulary = PackedVocabulary(self.folder)
        self.encoding = Encoding(self.folder, self.vocabulary, owner)

    def slices(self) -> Iterator[Slice]:
        """Yield the slices; raise an error if there are no rules."""
        rules = 0
        for name in sorted(os.listdir(self.folder)):
            if name.startswith("slice_") and name.endswith(".source"):
                part = read_slice(
                    self.folder, name.removesuffix(".source"), self.vocabulary, self.encoding, self.limits
                )
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


def parse(
    path: str | os.PathLike[str],
    *,
    owner: str = OWNER,
    max_symbols: int = MAX_SYMBOLS,
    max_features: int = MAX_FEATURES,
    max_total: int = MAX_TOTAL,
) -> Iterator[Rule]:
    """Yield one rule at a time, with one slice in memory."""
    grammar = _Grammar(path, owner, Limits(max_symbols, max_features, max_total))
    for part in grammar.slices():
        yield from _rules(grammar, part)


def _rules(grammar: _Grammar, part: Slice) -> Iterator[Rule]:
    words, names, label = grammar.vocabulary.words, grammar.encoding.names, grammar.vocabulary.label
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
            file=grammar.folder,
        )
        s, t, f, p = stops


def load(
    path: str | os.PathLike[str],
    *,
    owner: str = OWNER,
    max_symbols: int = MAX_SYMBOLS,
    max_features: int = MAX_FEATURES,
    max_total: int = MAX_TOTAL,
) -> GrammarColumns:
    """Load all rules as columns."""
    import numpy as np

    from smtformats.columns import GrammarColumns

    grammar = _Grammar(path, owner, Limits(max_symbols, max_features, max_total))
    slices = list(grammar.slices())

    def joined(name: str) -> Any:
        parts = [getattr(part, name) for part in slices]
        if not name.endswith("_offsets"):
            return np.concatenate(parts)
        starts = np.cumsum([0] + [part[-1] for part in parts[:-1]])
        return np.concatenate([[0], *(part[1:] + start for part, start in zip(parts, starts, strict=True))])

    vocabulary = grammar.vocabulary
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
        words=_table(vocabulary.words[i] for i in np.flatnonzero(used).tolist()),
        labels=labels.table(),
        names=_table(grammar.encoding.names),
    )


def _table(strings: Iterable[str]) -> Any:
    return Numbering(strings).table()


def matches(head: bytes) -> bool:
    """Match a folder with a vocabulary, an encoding and a slice."""
    names = head.decode("utf-8", "replace").split("\n")
    sliced = any(name.startswith("slice_") and name.endswith(".source") for name in names)
    return sliced and {"vocabulary", "encoding"} <= set(names)


FORMAT = Format(
    name=NAME,
    kind="grammar",
    summary="Joshua packed grammar: a folder with vocabulary, encoding and slice_00000.source",
    matches=matches,
    parse=parse,
    load=load,
    folder=True,
)
