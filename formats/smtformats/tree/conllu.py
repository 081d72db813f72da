r"""Dependency trees in CoNLL-U: a word on each line, an empty line after each sentence.

    # text = It's small.
    1-2	It's	_	_	_	_	_	_	_	SpaceAfter=No
    1	It	it	PRON	PRP	Case=Nom	3	nsubj	_	_
    2	's	be	AUX	VBZ	_	3	cop	_	_
    3	small	small	ADJ	JJ	Degree=Pos	0	root	_	SpaceAfter=No

Ten tab-separated columns: number, form, lemma, universal and language-specific part of speech, morphology, head,
relation, enhanced dependencies, miscellaneous; ``_`` means no value. Comments begin with ``#`` and come before the
first word. A multiword token (``1-2``) precedes its words, an empty node (``8.1``) follows the word whose number it
has. Columns are kept as they are; numbers and heads are checked, relations and morphology are not.

Accepted although the specification forbids it: several empty lines, no empty line at the end, ``\r\n``, sentences with
several roots or none, cyclic heads. Errors: an empty column, numbers out of order, a head that is not a word of the
sentence, overlapping tokens, more words than ``max_words``.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from typing import Any, TextIO

from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.tokens import BadField
from smtformats.tree.dependencies import Dependencies, Word
from smtformats.writing import own, refusal

NAME = "conllu-tree"
MAX_WORDS = 100000
_COLUMNS = 10
_ID = re.compile(r"(0|[1-9][0-9]{0,8})(?:([-.])([1-9][0-9]{0,8}))?")
_FIRST = re.compile(r"(1(-[0-9]+)?|0\.1)\t")


class _Sentence:
    """The sentence being parsed."""

    def __init__(self, lines: Lines, max_words: int) -> None:
        self.lines = lines
        self.max_words = max_words
        self.rows: list[Word] = []
        self.numbers: list[int] = []
        self.comments: list[str] = []
        self.raw: list[str] = []
        self.line = 0
        self.ended = False
        self.words = self.end = self.empty = 0

    def add(self, line: str) -> None:
        """Add a line that is not empty."""
        self.line = self.line or self.lines.number
        if line[0] == "#" and not self.rows:
            self.comments.append(line)
            return
        columns = line.split("\t")
        if len(columns) != _COLUMNS:
            field = min(len(columns), _COLUMNS) + (len(columns) < _COLUMNS)
            raise self.lines.error(f"{_COLUMNS} columns with tabs between them", str(len(columns)), field)
        if "" in columns:
            raise self.lines.error("a column that is not empty (_ means no value)", "''", columns.index("") + 1)
        if len(self.rows) == self.max_words:
            raise self.lines.error(f"at most {self.max_words} words in a sentence", "more", 1)
        self._number(columns[0])
        self.rows.append(Word(*columns))
        self.numbers.append(self.lines.number)

    def _number(self, text: str) -> None:
        match = _ID.fullmatch(text)
        first, mark, second = (int(match[1]), match[2], int(match[3] or 0)) if match else (-1, "", 0)
        if mark == ".":
            expected, good = (
                f"the number {self.words}.{self.empty + 1}",
                (first, second) == (self.words, self.empty + 1),
            )
            self.empty += 1
        elif mark == "-":
            start = max(self.words, self.end) + 1
            expected, good = (
                f"a token from {start} to a greater number",
                first == start == self.words + 1 and second > first,
            )
            self.end = second
        else:
            expected, good = f"the number {self.words + 1}", first == self.words + 1
            self.words, self.empty = first, 0
        if not good:
            raise self.lines.error(expected, quote(text), 1)

    def check(self) -> None:
        """Check the complete sentence."""
        self.ended = True
        if not self.rows:
            raise self.lines.error("a word after the comments", "the end of the sentence", 1)
        if self.end > self.words:
            raise self.lines.error(f"words up to {self.end}, the end of a multiword token", f"{self.words}", 1)
        for row, number in zip(self.rows, self.numbers, strict=True):
            if row.head == "_":
                continue
            if not row.id.isdecimal():
                raise self.lines.error("_ (only words have heads)", quote(row.head), 7, number)
            head = _ID.fullmatch(row.head)
            if head is None or head[2] or row.head == row.id or int(row.head) > self.words:
                raise self.lines.error(f"a head from 0 to {self.words}, another word", quote(row.head), 7, number)

    def done(self) -> Dependencies:
        """The sentence, with the empty lines after it in ``raw``."""
        rows, comments = tuple(self.rows), tuple(self.comments)
        return Dependencies(rows, comments, "".join(self.raw), NAME, self.lines.name, self.line)


def parse(lines: Lines, *, max_words: int = MAX_WORDS) -> Iterator[Dependencies]:
    """Parse one sentence at a time; extra empty lines belong to the sentence before them."""
    current = _Sentence(lines, max_words)
    for raw in lines:
        line = raw.rstrip("\r\n")
        if line and current.ended:
            yield current.done()
            current = _Sentence(lines, max_words)
        current.raw.append(raw)
        if line:
            current.add(line)
        elif current.line and not current.ended:
            current.check()
    if not current.line:
        raise lines.error("a sentence, a word on each line", "none in the file", 1, line=1)
    if not current.ended:
        current.check()
    yield current.done()


def write(records: Iterable[Any], out: TextIO, number: Number) -> int:
    """Write sentences, unchanged if read by this format; returns their count."""
    count = 0
    open_end = ""
    for record in records:
        if not isinstance(record, Dependencies):
            raise refusal(BadField("dependencies", type(record).__name__), record)
        text = own(record, NAME) or _compose(record)
        out.write(open_end + text)
        open_end = "" if text.endswith(("\n\n", "\n\r\n")) else "\n" if text[-1] == "\n" else "\n\n"
        count += 1
    return count


def _compose(sentence: Dependencies) -> str:
    """Compose the text of a sentence and verify that it reads back as the same sentence."""
    rows = ("\t".join(astuple(row)) for row in sentence.rows)
    text = "".join(line + "\n" for line in (*sentence.comments, *rows)) + "\n"
    try:
        reread = [(again.rows, again.comments) for again in parse(Lines(io.BytesIO(text.encode()), sentence.file))]
    except UnicodeEncodeError:
        reread = []
    if reread != [(sentence.rows, sentence.comments)]:
        expected = "a sentence whose columns have no tabs and line breaks, and whose comments begin with #"
        raise FormatError(expected, quote(text), file=sentence.file, line=sentence.line, field=1)
    return text


def matches(head: bytes) -> bool:
    """Match comments followed by a first word with ten columns."""
    for line in head.decode("utf-8", "ignore").split("\n"):
        if line.strip("\r") and line[0] != "#":
            return _FIRST.match(line) is not None and line.count("\t") == _COLUMNS - 1
    return False


_EXAMPLE = (
    ("1-2", "It's", "_", "_", "_", "_", "_", "_", "_", "_"),
    ("1", "It", "it", "PRON", "PRP", "Case=Nom", "3", "nsubj", "_", "_"),
    ("2", "'s", "be", "AUX", "VBZ", "_", "3", "cop", "_", "_"),
    ("3", "small", "small", "ADJ", "JJ", "Degree=Pos", "0", "root", "_", "_"),
)
FORMAT = Format(
    name=NAME,
    kind="tree",
    summary="CoNLL-U dependency trees: a word of ten columns on each line, an empty line after each sentence",
    matches=matches,
    parse=parse,
    write=write,
    example="# text = It's small\n" + "".join("\t".join(row) + "\n" for row in _EXAMPLE) + "\n",
)
