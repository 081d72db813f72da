"""Class maps: which class each word belongs to, for features over pairs of classes (section 5.3 of the paper).

Z. Li, Z. Wang, S. Khudanpur and J. Eisner (COLING 2010) keep the 250 most frequent words, put all others into one
class, and put the dominant part of speech in the place of a word.

A file of classes has a word and its class on each line, a tab or blanks between them: a lexicon of parts of speech,
the output of mkcls. Brown clusters as P. Liang's program writes them (``bits word count``) are read, too. Files written
here begin with a line ``# smt cdlm classes: ...`` that says how they were made, and one with the class of all words
that have none.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    import os

    from smtformats.files import Lines

OTHER = "<other>"
TITLE = "# smt cdlm classes: "
FILE = "classes.txt"
_REST = re.compile(r"# other words: (\S+)(?: by the last (\d{1,3}) letters)?")
_BITS = re.compile("[01]+")
_SPECIAL = re.compile("<.*>")


def suffix_class(word: str, letters: int) -> str | None:
    """The class of all longer words that end so; a word that is no longer has none."""
    return f"<-{word[-letters:]}>" if len(word) > letters else None


def is_special(word: str) -> bool:
    """Whether a word is spelt like a class that is no word's own."""
    return _SPECIAL.fullmatch(word) is not None


@dataclass(frozen=True)
class ClassMap:
    """Words and their classes; ``other`` is that of all other words.

    With ``suffix`` another word is of the class of its last letters if that is one of the map's. ``made`` says how the
    map came to be. As an artefact of a model it is a folder with one file.
    """

    classes: Mapping[str, str]
    other: str = OTHER
    suffix: int = 0
    made: str = ""

    def __len__(self) -> int:
        """How many words have a class of their own right."""
        return len(self.classes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All classes, by name."""
        return tuple(sorted({*self.classes.values(), self.other}))

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names)

    def of(self, word: str) -> str:
        """The class of a word."""
        found = self.classes.get(word)
        if found is None and self.suffix:
            ending = suffix_class(word, self.suffix)
            return ending if ending is not None and ending in self._known else self.other
        return self.other if found is None else found

    def lines(self) -> Iterator[str]:
        """The file that says all of it, words by name."""
        yield f"{TITLE}{self.made or 'given'}\n"
        yield f"# other words: {self.other}" + (f" by the last {self.suffix} letters\n" if self.suffix else "\n")
        yield from (f"{word}\t{name}\n" for word, name in sorted(self.classes.items()))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file."""
        from smtformats.files import open_write

        with open_write(path) as out:
            out.writelines(self.lines())

    def save(self, folder: Path) -> None:
        """Write it into a folder, as a part of a model."""
        folder.mkdir(parents=True, exist_ok=True)
        self.write(folder / FILE)

    def digest(self) -> str:
        """The hash of the file."""
        return hashlib.sha256("".join(self.lines()).encode()).hexdigest()


def read_classes(path: str | os.PathLike[str]) -> ClassMap:
    """The class map in a file."""
    from smtformats.files import open_lines, shown_name

    with open_lines(path) as lines:
        return _Reader(lines).read(Path(shown_name(path)).name)


class _Reader:
    """A file while it is being read."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._classes: dict[str, str] = {}
        self._brown: bool | None = None
        self._made = ""
        self._rest = (OTHER, 0)

    def read(self, name: str) -> ClassMap:
        """All of it."""
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
        from smtformats.errors import quote

        match = _REST.fullmatch(body)
        if match is None:
            raise self._lines.error("`# other words: CLASS`", quote(body), 1)
        self._rest = match[1], int(match[2] or 0)

    def _entry(self, body: str) -> None:
        from smtformats.errors import quote
        from smtformats.tokens import blanks

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
            found = f"{quote(word)} in {self._classes[word]} and {name}"
            raise self._lines.error("one class for each word", found, 1)


def _is_brown(cells: list[str]) -> bool:
    return len(cells) == 3 and _BITS.fullmatch(cells[0]) is not None and cells[2].isdecimal()


def load_classes(folder: Path, digest: str) -> ClassMap:
    """The class map of a model, which has to be the one that was saved."""
    from smtplugins.host.errors import SmtError

    if not (folder / FILE).is_file():
        raise SmtError(f"{folder}: expected {FILE}, the classes of a model, found none")
    found = read_classes(folder / FILE)
    if digest and found.digest() != digest:
        raise SmtError(f"{folder / FILE}: expected the classes that the model was saved with, found others")
    return found


def check_class(name: str) -> str:
    """A class as it may be called, or an error."""
    if not name or any(char in name for char in " \t\r\n"):
        raise UsageError(f"expected a class without blanks, found {name!r}")
    return name
