"""Class maps from words to classes, for features over pairs of classes (section 5.3 of the paper).

Z. Li, Z. Wang, S. Khudanpur and J. Eisner (COLING 2010) keep the 250 most frequent words, merge all others into a
single class, and replace words by their dominant part of speech.

A class file has a word and its class on each line, separated by a tab or blanks, such as a part-of-speech lexicon or
the output of mkcls. Brown clusters as written by P. Liang's program (``bits word count``) are read, too. Files written
here begin with a line ``# smt cdlm classes: ...``, which says how they were made, and a line with the class of other
words.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from smtformats.errors import quote
from smtformats.files import Lines, open_lines, open_write, shown_name
from smtformats.tokens import blanks
from smtplugins.contracts.errors import SmtError, UsageError

OTHER = "<other>"
TITLE = "# smt cdlm classes: "
FILE = "classes.txt"
_REST = re.compile(r"# other words: (\S+)(?: by the last (\d{1,3}) letters)?")
_BITS = re.compile("[01]+")
_SPECIAL = re.compile("<.*>")


def suffix_class(word: str, letters: int) -> str | None:
    """Return the class of a word's last letters; None for words of at most that many letters."""
    return f"<-{word[-letters:]}>" if len(word) > letters else None


def is_special(word: str) -> bool:
    """Return whether a word is spelt like a reserved class, ``<...>``."""
    return _SPECIAL.fullmatch(word) is not None


@dataclass(frozen=True)
class ClassMap:
    """A map from words to classes; ``other`` is the class of all other words.

    With ``suffix`` above 0 the class of another word is that of its last ``suffix`` letters, if the map has it.
    ``made`` says how the map was made. As an artefact of a model it is a folder with a single file.
    """

    classes: Mapping[str, str]
    other: str = OTHER
    suffix: int = 0
    made: str = ""

    def __len__(self) -> int:
        """The number of words in the map."""
        return len(self.classes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All classes, sorted by name."""
        return tuple(sorted({*self.classes.values(), self.other}))

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names)

    def of(self, word: str) -> str:
        """Return the class of a word."""
        name = self.classes.get(word)
        if name is None and self.suffix:
            ending = suffix_class(word, self.suffix)
            return ending if ending is not None and ending in self._known else self.other
        return self.other if name is None else name

    def lines(self) -> Iterator[str]:
        """Yield the lines of the class file, sorted by word."""
        yield f"{TITLE}{self.made or 'given'}\n"
        yield f"# other words: {self.other}" + (f" by the last {self.suffix} letters\n" if self.suffix else "\n")
        yield from (f"{word}\t{name}\n" for word, name in sorted(self.classes.items()))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the class file."""
        with open_write(path) as out:
            out.writelines(self.lines())

    def save(self, folder: Path) -> None:
        """Save the map into a folder, as an artefact of a model."""
        folder.mkdir(parents=True, exist_ok=True)
        self.write(folder / FILE)

    def digest(self) -> str:
        """Return the hash of the class file."""
        return hashlib.sha256("".join(self.lines()).encode()).hexdigest()


def read_classes(path: str | os.PathLike[str]) -> ClassMap:
    """Read a class map from a file."""
    with open_lines(path) as lines:
        return _Reader(lines).read(Path(shown_name(path)).name)


class _Reader:
    """The state of reading a class file."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._classes: dict[str, str] = {}
        self._brown: bool | None = None
        self._made = ""
        self._rest = (OTHER, 0)

    def read(self, name: str) -> ClassMap:
        """Read the whole file; ``name`` is for ``ClassMap.made``."""
        notes = False
        for line in self._lines:
            body = line.rstrip("\r\n")
            if self._lines.number == 1 and body.startswith(TITLE):
                notes, self._made = True, body[len(TITLE) :]
            elif notes and self._lines.number == 2:
                self._other(body)
            elif body.strip(" \t"):
                self._entry(body)
        if not self._classes and not notes:
            raise self._lines.error("a word and its class on each line", "none in the file", 1, line=1)
        return ClassMap(self._classes, *self._rest, self._made or f"the file {name}")

    def _other(self, body: str) -> None:
        match = _REST.fullmatch(body)
        if match is None:
            raise self._lines.error("`# other words: CLASS`", quote(body), 1)
        self._rest = match[1], int(match[2] or 0)

    def _entry(self, body: str) -> None:
        cells = [cell.strip(" ") for cell in body.split("\t")] if "\t" in body else blanks(body)
        if self._brown is None:
            self._brown = _is_brown(cells)
        if self._brown:
            if not _is_brown(cells):
                raise self._lines.error("bits, a word and a count, as on the first line", quote(body), 1)
            cells = [cells[1], cells[0]]
        if len(cells) != 2 or not all(cells) or any(" " in cell for cell in cells):
            raise self._lines.error(
                "a word and its class", quote(body), 1 if not cells[0] or " " in cells[0] else min(len(cells) + 1, 3)
            )
        word, name = cells
        if self._classes.setdefault(word, name) != name:
            clash = f"{quote(word)} in {self._classes[word]} and {name}"
            raise self._lines.error("one class for each word", clash, 1)


def _is_brown(cells: list[str]) -> bool:
    return len(cells) == 3 and _BITS.fullmatch(cells[0]) is not None and cells[2].isdecimal()


def load_classes(folder: Path, digest: str) -> ClassMap:
    """Load the class map of a model; raises SmtError if its hash is not ``digest`` (empty: any)."""
    if not (folder / FILE).is_file():
        raise SmtError(f"{folder}: expected {FILE}, the classes of a model, found none")
    classes = read_classes(folder / FILE)
    if digest and classes.digest() != digest:
        raise SmtError(f"{folder / FILE}: expected the classes that the model was saved with, found others")
    return classes


def check_class(name: str) -> str:
    """Return a class name; raises UsageError if it is empty or has blanks."""
    if not name or any(char in name for char in " \t\r\n"):
        raise UsageError(f"expected a nonempty class name without blanks, found {name!r}")
    return name
