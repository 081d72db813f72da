"""Read a ProbingPT folder as records or columns. It imports numpy: import it in the function that reads."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtformats._scan import probing_keys, probing_logarithms, probing_rows, probing_sources
from smtformats.columns import GrammarColumns, StringTable, string_table
from smtformats.errors import FormatError, quote
from smtformats.format import shortest
from smtformats.grammar.moses_probing import NAME
from smtformats.grammar.rules import Rule
from smtformats.grammar.shared.gather import Numbering
from smtformats.grammar.shared.lookup import NotListed
from smtformats.grammar.shared.probing_files import (
    ProbingSettings,
    SourceKeys,
    SourceWords,
    read_alignments,
    read_bytes,
    read_cache,
    read_keys,
    read_target_words,
    text_sources,
)
from smtformats.tokens import vector

Ints = NDArray[Any]
_LABEL = re.compile(r"\[[^\[\]]+\]")
_PAIR = re.compile(r"\[([^\[\]]+)\]\[([^\[\]]+)\]")
_LONGEST = 64
_STEPS = 1 << 29
_LOST_SHOWN = 3


@dataclass(frozen=True)
class Ragged:
    """Lists of numbers: list i is ``values[offsets[i]:offsets[i+1]]``."""

    values: Ints
    offsets: NDArray[np.int64]

    def take(self, rows: Ints) -> Ragged:
        """The lists of these numbers."""
        sizes = np.diff(self.offsets)[rows]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
        return Ragged(self.values[np.repeat(self.offsets[:-1][rows], sizes) + within], offsets)

    @property
    def rows(self) -> Ints:
        """The list of each number."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @property
    def positions(self) -> Ints:
        """The position of each number in its list."""
        return np.arange(len(self.values)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))


def ragged(lists: list[list[Any]], dtype: Any, *shape: int) -> Ragged:
    """Lists as arrays; ``shape`` is that of an item."""
    flat = [item for part in lists for item in part]
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return Ragged(np.array(flat, dtype=dtype).reshape(-1, *shape), offsets)


class ProbingTable:
    """A table folder: the arrays of its rules, without those that Moses cannot find."""

    def __init__(
        self, path: str | os.PathLike[str], *, sources: str = "", only: str = "", lhs: str = "X", max_symbols: int
    ) -> None:
        self.folder = os.fspath(path)
        self.settings = ProbingSettings.read(self.folder)
        self.lhs = lhs
        self.longest = min(max_symbols, _LONGEST)
        self.source_words = SourceWords(self.folder)
        self.target_words = read_target_words(self.folder)
        self.alignments = read_alignments(self.folder)
        self.width = self.settings.scores + self.settings.lex_scores
        self.name = os.path.join(self.folder, "TargetColl.dat")
        rows = self._read_rows()
        keys = read_keys(self.folder, self.settings, rows["starts"])
        if only:
            keys = self._occurring(keys, only)
        self.sources = self._find_sources(keys, sources or only)
        sizes = np.diff(np.concatenate([[0], rows["ends"]]))
        kept = np.repeat(keys.seen, sizes)
        self.block = np.repeat(np.cumsum(keys.seen) - 1, sizes)[kept]
        chosen = np.flatnonzero(kept)
        self.places = rows["places"][chosen]
        self.points = rows["points"].reshape(-1, 2)[chosen]
        self.scores = rows["scores"].reshape(-1, self.width)[chosen]
        words = Ragged(rows["words"], np.concatenate([np.zeros(1, np.int64), rows["word_ends"]]))
        self.targets = words if kept.all() else words.take(chosen)

    def _read_rows(self) -> dict[str, Any]:
        data = np.frombuffer(read_bytes(self.folder, "TargetColl.dat"), dtype=np.uint8)
        rows: dict[str, Any] = probing_rows(data, self.width)
        if rows["fault"] >= 0:
            raise self._error(rows["expected"], "other data", rows["fault"])
        if not len(rows["places"]):
            raise self._error("a target phrase", "an empty file", 0)
        last = np.maximum(rows["word_ends"] - 1, 0)
        in_words = (rows["words"] > 0) & (rows["words"] < len(self.target_words))
        if not in_words.all():
            row = int(np.searchsorted(last, in_words.argmin()))
            expected = "numbers of words in TargetVocab.dat"
            raise self._error(expected, str(rows["words"][in_words.argmin()]), rows["places"][row])
        known = rows["points"] < len(self.alignments)
        if not known.all():
            at = int(known.argmin())
            expected = "numbers of alignments in Alignments.dat"
            raise self._error(expected, str(rows["points"][at]), rows["places"][at // 2])
        return rows

    def _error(self, expected: str, found: str, at: int) -> FormatError:
        return FormatError(expected, f"{found} at byte {at}", file=self.name, line=1)

    def _check(self, good: Ints, rows: Ints, expected: str, found: Callable[[int], str]) -> None:
        """Raise an error for the first item that is not good; ``rows`` are the rules of the items."""
        if not good.all():
            at = int(good.argmin())
            raise self._error(expected, found(at), int(self.places[rows[at]]))

    def _occurring(self, keys: SourceKeys, text: str) -> SourceKeys:
        """The keys without those of source sides that do not occur in a text."""
        gaps = [word for word in self.source_words.words if _PAIR.fullmatch(word)]
        if gaps:
            expected = "phrases, as the option only= looks up words of a text (sources= finds rules, too)"
            file = os.path.join(self.folder, "source_vocabids")
            raise FormatError(expected, f"the gap {gaps[0]}", file=file, line=1)
        places = {key: i for i, key in enumerate(keys.keys.tolist()) if keys.seen[i]}
        seen = np.zeros(len(keys.seen), dtype=np.bool_)
        seen[[place for place, _ in text_sources(text, self.source_words, places, self.longest)]] = True
        return replace(keys, seen=seen)

    def _find_sources(self, keys: SourceKeys, text: str) -> Ragged:
        """The source sides of the blocks that Moses finds, as numbers of words."""
        wanted = np.ascontiguousarray(keys.keys[keys.seen])
        places = {key: i for i, key in enumerate(wanted.tolist())}
        known = read_cache(self.folder, self.source_words, set(keys.keys.tolist()), places)
        if text:
            known.update(text_sources(text, self.source_words, places, self.longest))
        listed = ragged([known[place] for place in sorted(known)], np.int32)
        words, offsets = probing_sources(
            wanted,
            self.source_words.array,
            self.source_words.order(),
            np.array(sorted(known), dtype=np.int64),
            listed.values,
            listed.offsets,
            self.longest,
            _STEPS,
        )
        lost = np.flatnonzero(np.diff(offsets) == 0)
        if len(lost):
            shown = ", ".join(str(wanted[i]) for i in lost[:_LOST_SHOWN].tolist())
            raise NotListed(
                "source sides that their keys tell (the option sources= names a text that has them: the phrase table "
                "the folder was made from, or its training text; only= names sentences, of which alone phrases are "
                "read)",
                f"{len(lost)} of {len(wanted)} unknown, such as that of {shown}",
                file=keys.name,
                line=1,
            )
        return Ragged(words, offsets)

    def _hierarchical(self) -> bool:
        """Whether there are rules: all target sides end in a label, which must be so if a source side has a gap."""
        label = np.array([_LABEL.fullmatch(word) is not None for word in self.target_words])
        last = self.targets.values[self.targets.offsets[1:] - 1]
        if not any(map(_PAIR.fullmatch, self.source_words.words)) and not label[last].all():
            return False
        self._check(
            label[last],
            np.arange(len(last)),
            "a label at the end of the target side, [X], as on others",
            lambda at: quote(self.target_words[last[at]]),
        )
        return True

    def columns(self, table: str) -> GrammarColumns:
        """Build the columns of all rules; ``table`` names the scores."""
        scores, lhs, labels = self.logarithms(0, self.settings.scores), np.zeros(len(self.block), np.int32), Numbering()
        words = Numbering()
        source_ids = np.zeros(len(self.source_words.words), np.int32)
        target_ids = np.zeros(len(self.target_words), np.int32)
        targets = self.targets
        hierarchical = self._hierarchical()
        if hierarchical:
            last = targets.values[targets.offsets[1:] - 1]
            ids = np.zeros(len(self.target_words), np.int32)
            for i in np.unique(last).tolist():
                ids[i] = labels.add(join_labels(self.lhs, self.target_words[i][1:-1]))
            lhs = ids[last]
            kept = np.ones(len(targets.values), dtype=bool)
            kept[targets.offsets[1:] - 1] = False
            targets = Ragged(targets.values[kept], targets.offsets - np.arange(len(targets.offsets)))
        else:
            labels.add("X")
        for i in np.unique(self.sources.values).tolist():
            source_ids[i] = number(self.source_words.words[i], words, labels)
        for i in np.unique(targets.values).tolist():
            target_ids[i] = number(self.target_words[i], words, labels)
        source = Ragged(source_ids[self.sources.values], self.sources.offsets).take(self.block)
        target = Ragged(target_ids[targets.values], targets.offsets)
        if hierarchical:
            target = self._linked(source, target)
        else:
            good = source.values >= 0
            self._check(good, source.rows, "words without brackets in phrases", lambda at: "a gap")
        points = self._points(hierarchical)
        count = self.settings.scores
        return GrammarColumns(
            lhs=lhs,
            level=np.zeros(len(lhs), dtype=np.uint8),
            source=source.values,
            source_offsets=source.offsets,
            target=target.values,
            target_offsets=target.offsets,
            features=np.tile(np.arange(count, dtype=np.int32), len(lhs)),
            values=scores.ravel(),
            feature_offsets=np.arange(len(lhs) + 1, dtype=np.int64) * count,
            points=points.values,
            point_offsets=points.offsets,
            words=words.table(),
            labels=labels.table(),
            names=string_table(vector(table, count)),
        )

    def logarithms(self, first: int, count: int) -> NDArray[np.float32]:
        """The natural logarithms of ``count`` scores of each rule from the ``first`` on."""
        scores = np.array(self.scores[:, first : first + count], order="C")
        bad = probing_logarithms(scores.reshape(-1), self.settings.log_prob)
        if bad >= 0:
            row, column = divmod(bad, count)
            expected = "a logarithm from -100 on" if self.settings.log_prob else "a probability of 0 or more"
            raise self._error(expected, str(scores[row, column]), int(self.places[row]))
        return scores

    def _linked(self, source: Ragged, target: Ragged) -> Ragged:
        """The target sides with gaps numbered by the gaps of their source sides, which alignment points link."""
        links = ragged(self.alignments, np.int64, 2).take(self.points[:, 1])
        rows, left, right = links.rows, links.values[:, 0], links.values[:, 1]
        inside = (left < np.diff(source.offsets)[rows]) & (right < np.diff(target.offsets)[rows])
        self._check(inside, rows, "links of gaps inside the rule", lambda at: f"{left[at]}-{right[at]}")
        left, right = source.offsets[rows] + left, target.offsets[rows] + right
        linked = (source.values[left] < 0) & (source.values[left] == target.values[right])
        self._check(linked, rows, "links of gaps to gaps of the same labels", lambda at: "others")
        for side, ends in ((source, left), (target, right)):
            gaps = side.values < 0
            good = np.bincount(ends, minlength=len(gaps)) == gaps
            self._check(good, side.rows, "one link for each gap", lambda at: "none or several")
        gaps = source.values < 0
        before = np.concatenate([[0], np.cumsum(gaps)])
        order = before[:-1] - np.repeat(before[source.offsets[:-1]], np.diff(source.offsets))
        values = target.values.copy()
        values[right] = -1 - order[left]
        return Ragged(values, target.offsets)

    def _points(self, hierarchical: bool) -> Ragged:
        """The alignment points of words, and those of gaps among them."""
        if not hierarchical:
            return ragged(self.alignments, np.int16, 2).take(self.points[:, 0])
        size = len(self.alignments)
        both, kinds = np.unique(self.points @ np.array([size, 1], dtype=np.int64), return_inverse=True)
        pairs = [sorted(self.alignments[n // size] + self.alignments[n % size]) for n in both.tolist()]
        return ragged(pairs, np.int16, 2).take(kinds)

    def rules(self, table: str) -> Iterator[Rule]:
        """Yield one rule at a time."""
        columns = self.columns(table)
        count, lex = self.settings.scores, self.settings.lex_scores
        lexical = self.logarithms(count, lex) if lex else None
        for i in range(len(columns)):
            logs = columns.values[i * count : (i + 1) * count]
            values = [log for _, log in self._decimals(self.scores[i, :count], logs)]
            properties: tuple[tuple[str, str], ...] = ()
            if lexical is not None:
                shown = self._decimals(self.scores[i, count:], lexical[i])
                properties = (("LexRO", " ".join(shortest(probability) for probability, _ in shown)),)
            rule = columns.rule(i)
            yield replace(rule, values=tuple(values), properties=properties, origin=NAME, file=self.folder)

    def _decimals(self, stored: Ints, logs: Ints) -> Iterator[tuple[float, float]]:
        """The probabilities and logarithms of scores, as they were before they were rounded to 32 bits."""
        for score, log in zip(stored, logs.tolist(), strict=True):
            if self.settings.log_prob or log <= -100:
                yield decimal(log)
            else:
                yield float(str(score)), math.log(float(str(score)))

    def orientations(self, first: int, count: int) -> tuple[tuple[bytes, Ints], NDArray[np.float32]]:
        """The keys of all phrase pairs (bytes and offsets) and ``count`` reordering scores from the ``first`` on."""
        lex = self.settings.lex_scores
        if first + count > lex:
            expected = f"num_lex_scores of at least {first + count}, for {count} scores from {first} on"
            raise FormatError(expected, str(lex), file=os.path.join(self.folder, "config"), line=1)
        values = self.logarithms(self.settings.scores + first, count)
        columns = self.columns("TM")
        if (columns.source < 0).any() or (columns.target < 0).any() or len(columns.labels) > 1:
            raise FormatError("phrases, as reordering needs them", "rules with gaps", file=self.folder, line=1)
        words = columns.words
        blob, offsets = probing_keys(
            bytes(words.blob), words.offsets, columns.source, columns.source_offsets, columns.target,
            columns.target_offsets,
        )  # fmt: skip
        return (blob, offsets), values


def join_labels(source: str, target: str) -> str:
    """The label of a gap or a left-hand side whose sides have these labels, as in Moses' text tables."""
    return source if source == target else f"{source}][{target}"


def number(word: str, words: Numbering, labels: Numbering) -> int:
    """The number of a word, or -1 - label for a gap ``[X][Y]``."""
    pair = _PAIR.fullmatch(word)
    return words.add(word) if pair is None else -1 - labels.add(join_labels(pair[1], pair[2]))


def strings_of(parts: tuple[Any, Ints]) -> StringTable:
    """A string table of a scanner's bytes and offsets."""
    return StringTable(memoryview(parts[0]), parts[1])


def decimal(log: float) -> tuple[float, float]:
    """The decimal of fewest digits whose logarithm CreateProbingPT stores as ``log``, and its logarithm."""
    if log <= -100:
        return 0.0, -100.0
    number = math.exp(log)
    # Twice at 6 digits: logarithms of the C library may be off by the last bit.
    for digits, off in ((6, 0.0), (6, float(np.spacing(np.float32(abs(log))))), (7, 0.0), (8, 0.0), (9, 0.0)):
        shown = float(f"{number:.{digits}g}")
        rounded = float(np.float32(shown))
        if rounded > 0 and abs(float(np.float32(math.log(rounded))) - log) <= off:
            return shown, math.log(shown)
    return number, log
