"""Mix n-gram models: linear interpolation as one back-off model, with weights tuned on a text by EM.

As SRILM's static mixing (`ngram -mix-lm -bayes 0`, `compute-best-mix`): the model has the n-grams of all models, each
with the weighted sum of their probabilities, and back-offs by which the probabilities of each context add up to 1. A
word that a model does not know has the probability 0 there; what that model gives to `<unk>` stays with `<unk>`. As any
back-off model, the result backs off for n-grams that no model has: there it differs from the sum, by which the weights
are tuned.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from smtformats.errors import FormatError
from smtformats.files import open_bytes, shown_name
from smtplugins.core.lm.ngram_model import lm_format, read_lm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core._core import LanguageModel

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"
Words: TypeAlias = "NDArray[np.int32]"

_UNKNOWN, _BEGIN, _END = 0, 1, 2
_MARKS = (b"<unk>", b"<s>", b"</s>")
_BLANKS, _BACKSLASH = b" \t\r\n", ord("\\")
_CHUNK = 1 << 15
_LOG_ZERO = -99.0
_GAP = 1e-9
_MAX_STEPS = 20_000


@dataclass
class WordNumbers:
    """The words of all models by number: `<unk>`, `<s>`, `</s>`, then in the order of the files."""

    numbers: dict[bytes, int] = field(
        default_factory=lambda: {word: number for number, word in enumerate(_MARKS)} | {b"<UNK>": _UNKNOWN}
    )

    @property
    def spellings(self) -> list[bytes]:
        """The words in the order of their numbers."""
        return [word for word in self.numbers if word != b"<UNK>"]

    @property
    def size(self) -> int:
        """The number of words but for `<unk>`, `<s>` and `</s>`."""
        return len(self.spellings) - len(_MARKS)

    def add(self, word: bytes) -> int:
        """The number of a word, a new one if it is not known."""
        return self.numbers.setdefault(word, len(self.numbers) - 1)


class ListedModel:
    """A model from an ARPA file, with its n-grams as rows of word numbers."""

    def __init__(self, path: str | os.PathLike[str], vocabulary: WordNumbers) -> None:
        """Read the file twice: a pipe or a KenLM file raises FormatError."""
        self.name = shown_name(path)
        if os.fspath(path) == "-" or not os.path.isfile(path):
            os.stat(path)
            raise FormatError("the name of an ARPA file, which is read twice", "a pipe or a device", file=self.name)
        if lm_format(path) == "kenlm":
            raise FormatError(
                "an ARPA file, as the n-grams of other models cannot be listed", "a KenLM file", file=self.name
            )
        self.model: LanguageModel = read_lm(path)
        self.ngrams = list(_ngrams(path, self.model.order, vocabulary))
        for mark in (_BEGIN, _END):
            if mark not in self.ngrams[0]:
                word = _MARKS[mark].decode()
                raise FormatError(f"a unigram {word}, as in models of sentences", "none", file=self.name)
        self._ids: Words = np.zeros(0, np.int32)
        self._knows = np.zeros(0, bool)

    @property
    def size(self) -> int:
        """The number of words but for `<unk>`, `<s>` and `</s>`."""
        return int(np.count_nonzero(self.ngrams[0] > _END))

    def bind(self, vocabulary: WordNumbers) -> None:
        """Look up the words of all models."""
        self._ids = self.model.ids([word.decode() for word in vocabulary.spellings])
        self._knows = np.zeros(len(self._ids), bool)
        self._knows[self.ngrams[0][:, 0]] = True

    def probabilities(self, rows: Words) -> Floats:
        """The probability of the last word of each row after the words before it."""
        ids = self._ids[rows]
        states = self.model.states(len(rows), bos=False)
        for at in range(rows.shape[1]):
            logs, states = self.model.step(states, np.ascontiguousarray(ids[:, at]))
        return np.where(self._knows[rows[:, -1]], 10.0 ** logs.astype(np.float64), 0.0)


def word_probabilities(model: LanguageModel, sentences: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
    """The probabilities of all words and sentence ends, 0 of unknown words; and which are known."""
    scores = [score for sentence in sentences for score in model.full_scores(sentence)]
    known = np.array([not unknown for _, _, unknown in scores], bool)
    return np.where(known, 10.0 ** np.array([score for score, _, _ in scores]), 0.0), known


def _ngrams(path: str | os.PathLike[str], orders: int, vocabulary: WordNumbers) -> Iterator[Words]:
    """The n-grams of each order. The reader of models has checked the file."""
    with open_bytes(path) as stream:
        lines = enumerate(stream, 1)
        while next(lines)[1].strip(_BLANKS) != b"\\data\\":
            pass
        while not next(lines)[1].strip(_BLANKS).startswith(b"\\"):
            pass
        numbers, plain = array("i"), True
        for number, line in lines:
            fields = _fields(line)
            if fields and fields[0].startswith(b"\\"):
                break
            if fields:
                try:
                    fields[1].decode()
                except UnicodeDecodeError:
                    raise FormatError("UTF-8 text", repr(fields[1]), file=shown_name(path), line=number) from None
                numbers.append(vocabulary.add(fields[1]))
                plain = plain and fields[1].split() == [fields[1]]
        yield np.array(numbers, np.int32).reshape(-1, 1)
        split = bytes.split if plain else _fields
        lookup = vocabulary.numbers.__getitem__
        for order in range(2, orders + 1):
            numbers = array("i")
            for _, line in lines:
                fields = split(line)
                if fields:
                    if fields[0][0] == _BACKSLASH:
                        break
                    numbers.extend(map(lookup, fields[1 : order + 1]))
            yield np.array(numbers, np.int32).reshape(-1, order)


def _fields(line: bytes) -> list[bytes]:
    """Fields of a line, which only spaces and tabs separate; words may have other blanks of ASCII."""
    return [text for text in line.strip(_BLANKS).replace(b"\t", b" ").split(b" ") if text]


@dataclass
class _Level:
    """The n-grams of one order, sorted by their words."""

    parent: Integers
    """The context, as its place among shorter n-grams."""
    word: Words
    suffix: Integers
    """The n-gram without its first word, as its place among shorter n-grams."""
    prob: Floats
    backoff: Floats


class MixedModel:
    """The weighted sum of models as one back-off model."""

    def __init__(self, models: Sequence[ListedModel], vocabulary: WordNumbers, weights: Sequence[float]) -> None:
        self._spellings = vocabulary.spellings
        self._levels: list[_Level] = []
        order = max(model.model.order for model in models)
        tables = [
            np.concatenate([model.ngrams[at] for model in models if at < len(model.ngrams)]) for at in range(order)
        ]
        while missing := self._build(tables):
            # Of pruned models: an n-gram without its suffix.
            for rows in missing:
                tables[rows.shape[1] - 1] = np.concatenate([tables[rows.shape[1] - 1], rows])
        for at, level in enumerate(self._levels):
            for begin in range(0, len(level.word), _CHUNK):
                rows = self._rows(at, begin, begin + _CHUNK)
                for model, weight in zip(models, weights, strict=True):
                    level.prob[begin : begin + _CHUNK] += weight * model.probabilities(rows)
        self._normalise()

    @property
    def counts(self) -> list[int]:
        """The number of n-grams of each order."""
        return [len(level.word) for level in self._levels]

    def _build(self, tables: Sequence[Words]) -> list[Words]:
        """Make the levels, contexts included; return suffixes that are missing, if any."""
        size = len(self._spellings)
        places = [np.zeros(len(table), np.int64) for table in tables]
        self._levels = []
        before = np.zeros(1, np.int64)  # sorted keys of the shorter n-grams: here the empty one
        missing: list[Words] = []
        for at in range(len(tables)):
            keys = [place * size + table[:, at] for place, table in zip(places, tables[at:], strict=True)]
            found = np.unique(np.concatenate(keys))
            parent, word = found // size, (found % size).astype(np.int32)
            suffix = np.zeros(len(found), np.int64)
            if at:
                wanted = self._levels[-1].suffix[parent] * size + word
                suffix = np.minimum(np.searchsorted(before, wanted), len(before) - 1)
                lost = np.flatnonzero(before[suffix] != wanted)
            self._levels.append(_Level(parent, word, suffix, np.zeros(len(found)), np.ones(len(found))))
            if at and len(lost):
                rows = self._rows(at, 0, len(found))[lost]
                missing += [np.unique(rows[:, begin:], axis=0) for begin in range(1, at + 1)]
            places = [np.searchsorted(found, key) for key in keys[1:]]
            before = found
        return missing

    def _rows(self, at: int, begin: int, end: int) -> Words:
        """The words of n-grams."""
        level = self._levels[at]
        place = np.arange(begin, min(end, len(level.word)))
        rows = np.empty((len(place), at + 1), np.int32)
        for column in range(at, -1, -1):
            rows[:, column] = self._levels[column].word[place]
            place = self._levels[column].parent[place]
        return rows

    def _normalise(self) -> None:
        """Set the back-offs: what a context leaves over what its shorter context leaves, to the same words."""
        unigrams = self._levels[0]
        drawn = unigrams.word != _BEGIN
        words, total = int(np.count_nonzero(drawn)), float(unigrams.prob[drawn].sum())
        for at in range(1, len(self._levels)):
            level, contexts = self._levels[at], self._levels[at - 1]
            drawn, size = level.word != _BEGIN, len(contexts.word)
            parent = level.parent[drawn]
            extensions = np.bincount(parent, minlength=size)
            own = np.bincount(parent, level.prob[drawn], size)
            shorter = np.bincount(parent, contexts.prob[level.suffix[drawn]], size)
            # All other contexts have a back-off by which they add up to 1.
            mass, rest = np.maximum(1.0 - own, 0.0), (total if at == 1 else 1.0) - shorter
            useful = (extensions > 0) & (extensions < words) & (rest > 0)
            contexts.backoff[useful] = mass[useful] / rest[useful]

    def arpa(self) -> Iterator[bytes]:
        """The ARPA file in pieces."""
        header = ["\\data\\", *(f"ngram {order}={count}" for order, count in enumerate(self.counts, 1)), "", ""]
        yield "\n".join(header).encode()
        for at, level in enumerate(self._levels):
            yield f"\\{at + 1}-grams:\n".encode()
            line = b"%.8g\t%s\n" if at + 1 == len(self._levels) else b"%.8g\t%s\t%.8g\n"
            for begin in range(0, len(level.word), _CHUNK):
                part = slice(begin, begin + _CHUNK)
                columns: list[list[object]] = [
                    _logs(level.prob[part], most=0.0),
                    [
                        b" ".join([self._spellings[word] for word in row])
                        for row in self._rows(at, begin, begin + _CHUNK).tolist()
                    ],
                ]
                if at + 1 < len(self._levels):
                    columns.append(_logs(level.backoff[part]))
                yield b"".join([line % fields for fields in zip(*columns, strict=True)])
            yield b"\n"
        yield b"\\end\\\n"


def _logs(numbers: Floats, most: float = np.inf) -> list[object]:
    logs = np.full(len(numbers), _LOG_ZERO)
    np.log10(numbers, out=logs, where=numbers > 0)
    return list(np.clip(logs, _LOG_ZERO, most).tolist())


def tune_weights(probs: Floats) -> Floats:
    """Find the weights of models, in rows, that maximise the likelihood of words, in columns, by EM.

    The likelihood is concave. EM ends when the mean log likelihood is at most 1e-9 from the best one, as the largest
    derivative says; of a word that no model knows nothing can be learnt.
    """
    probs = probs[:, probs.max(axis=0) > 0]
    weights = np.full(len(probs), 1 / len(probs))
    if not probs.shape[1]:
        return weights
    # Only ratios matter; this avoids underflow.
    scaled = probs / probs.max(axis=0)
    for _ in range(_MAX_STEPS):
        gains = (scaled / (weights @ scaled)).mean(axis=1)
        if gains.max() <= 1 + _GAP:
            break
        weights = weights * gains
        weights /= weights.sum()
    return weights
