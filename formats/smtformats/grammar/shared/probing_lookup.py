"""Look up phrases and their reordering scores in a ProbingPT folder, whose source sides need not be known.

It imports numpy: import it in the function that reads.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from smtformats._scan import ProbingPhrases
from smtformats.errors import FormatError
from smtformats.files import mapped
from smtformats.grammar.shared.lookup import NotListed, columns_of, encodable
from smtformats.grammar.shared.probing_files import (
    ProbingSettings,
    SourceWords,
    read_alignments,
    read_target_words,
)
from smtformats.tokens import vector

if TYPE_CHECKING:
    from smtformats.columns import GrammarColumns

_READERS: dict[str, Callable[[str], Any]] = {
    "source_vocabids": SourceWords,
    "TargetVocab.dat": read_target_words,
    "Alignments.dat": read_alignments,
}
_FILES = (*_READERS, "probing_hash.dat", "TargetColl.dat")
_OPENED: WeakValueDictionary[tuple[Any, ...], ProbingFolder] = WeakValueDictionary()
_LOCK = threading.Lock()


class ProbingFolder:
    """An opened folder; the files of its phrases stay mapped."""

    def __init__(self, folder: str) -> None:
        self.name = folder
        self.settings = ProbingSettings.read(folder)
        files = [_mapped(folder, name) for name in _FILES]
        settings = self.settings
        self.native: ProbingPhrases = self._named(
            ProbingPhrases, *files, settings.scores, settings.lex_scores, settings.log_prob
        )

    @property
    def has_rules(self) -> bool:
        """Whether there are gaps or labels, as in tables of rules."""
        return bool(self.native.has_rules)

    def columns(self, phrases: Sequence[str], names: Sequence[str]) -> GrammarColumns:
        """Return the rules of source phrases, words separated by single blanks."""
        return columns_of(self._named(self.native.find, encodable(phrases)), names)

    def scores(self, sources: Sequence[str], targets: Sequence[str], first: int, count: int) -> NDArray[np.float32]:
        """``count`` reordering scores of phrase pairs, from the ``first`` on; NaN for pairs not in the table."""
        sides = [
            ["" if any("\ud800" <= c <= "\udfff" for c in text) else text for text in side]
            for side in (sources, targets)
        ]
        found: NDArray[np.float32] = self._named(self.native.scores_of, *sides, self._place(first), count)
        return found.reshape(-1, count)

    def scores_of_rules(
        self, columns: GrammarColumns, chosen: NDArray[Any], first: int, count: int
    ) -> NDArray[np.float32]:
        """The same of the ``chosen`` rules of a phrase table, by rule number."""
        found: NDArray[np.float32] = self._named(
            self.native.scores_of_rules,
            *columns.native_sides(chosen),
            self._place(first),
            count,
        )
        return found.reshape(-1, count)

    def check_scores(self, first: int, count: int) -> None:
        """Raise FormatError if the folder does not have these reordering scores."""
        lex = self.settings.lex_scores
        if first + count > lex:
            expected = f"num_lex_scores of at least {first + count}, for {count} scores from {first} on"
            raise FormatError(expected, str(lex), file=os.path.join(self.name, "config"), line=1)

    def facts(self) -> dict[str, Any]:
        """Describe the table."""
        settings, native = self.settings, self.native
        return {
            "source phrases": settings.entries,
            "scores": settings.scores,
            "reordering scores": settings.lex_scores or None,
            "stored as": "logarithms" if settings.log_prob else "probabilities",
            "source words": native.source_words,
            "target words": native.target_words,
        }

    def _place(self, first: int) -> int:
        return self.settings.scores + first

    def _named(self, function: Any, *arguments: Any) -> Any:
        """Call native code; name the file in its errors."""
        try:
            return function(*arguments)
        except FormatError as error:
            if error.file in _READERS and function is ProbingPhrases:
                # It says what is wrong, and where.
                _READERS[error.file](self.name)
            file = os.path.join(self.name, error.file)
            raise FormatError(error.expected, error.found, file=file, line=1) from None


def open_folder(path: str | os.PathLike[str]) -> ProbingFolder:
    """Open a folder, or return it if it is open and its files have not changed."""
    folder = os.fspath(path)
    # `config` is missing from no folder that can be opened.
    names = [name for name in (*_FILES, "config") if os.path.isfile(os.path.join(folder, name))]
    states = [os.stat(os.path.join(folder, name)) for name in names]
    key = (os.path.abspath(folder), *((s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino, s.st_dev) for s in states))
    with _LOCK:
        opened = _OPENED.get(key)
        if opened is None:
            opened = _OPENED[key] = ProbingFolder(folder)
        return opened


class ProbingPhraseTable:
    """A folder as a table of phrases; see :class:`smtformats.grammar.shared.lookup.PhraseLookup`."""

    def __init__(self, folder: ProbingFolder, table: str, longest: int, text: str = "") -> None:
        """``text`` is a file in which source sides occur, to list them."""
        self._folder = folder
        self._names = vector(table, folder.settings.scores)
        self._text = text
        self.longest = longest

    @functools.cached_property
    def _sources(self) -> list[str] | None:
        from smtformats.grammar.shared.probing_table import ProbingTable

        try:
            table = ProbingTable(self._folder.name, sources=self._text, max_symbols=self.longest)
        except NotListed:
            return None
        words, sides = table.source_words.words, table.sources
        numbers, ends = sides.values.tolist(), sides.offsets.tolist()
        return [" ".join([words[n] for n in numbers[i:j]]) for i, j in itertools.pairwise(ends)]

    def sources(self) -> list[str] | None:
        """Return all source phrases, ``None`` if nothing tells some of them."""
        return self._sources

    def columns(self, phrases: Sequence[str]) -> GrammarColumns:
        """Return the rules of source phrases, words separated by single blanks."""
        return self._folder.columns(phrases, self._names)

    def facts(self) -> dict[str, Any]:
        """Describe the table."""
        return self._folder.facts()


def _mapped(folder: str, name: str) -> NDArray[np.uint8]:
    path = os.path.join(folder, name)
    try:
        return mapped(path)
    except FileNotFoundError:
        raise FormatError("a file of this name", "none", file=path, line=1) from None
