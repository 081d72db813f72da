"""The native scanner. Use the `load` of a format."""

from collections.abc import Sequence
from typing import Any


class CdecScanner:
    """
    Reads the text of a cdec grammar into columns, fed in pieces of any size.
    """

    def __init__(self, max_line: int, max_symbols: int, max_features: int) -> None: ...

    def feed(self, data: bytes) -> bool:
        """
        The next piece of the file. False at a line that cannot be read; `resume` goes on behind it.
        """

    def resume(self) -> bool:
        """
        Goes on behind a line that could not be read, as `feed` or `finish` would have.
        """

    def finish(self) -> bool:
        """The end of the file, as `feed`."""

    def columns(self) -> dict[str, Any]:
        """
        The arrays, and each string table as its bytes and offsets. The scanner is spent.
        """

    @property
    def fault(self) -> bytes:
        """The line that could not be read, with its end."""

    @property
    def lines(self) -> int:
        """How many lines were read, that one, too."""

    @property
    def levels(self) -> int:
        """
        How many leading blanks the line that could not be read might have at most.
        """

    @property
    def is_bad_refinement(self) -> bool:
        """Whether only that it does not refine the rule before is wrong with it."""

class MosesScanner:
    """The same for a phrase table of Moses, or a rule table."""

    def __init__(self, max_line: int, max_symbols: int, max_features: int, gaps: bool, prefix: str) -> None: ...

    def feed(self, data: bytes) -> bool:
        """
        The next piece of the file. False at a line that cannot be read; `resume` goes on behind it.
        """

    def resume(self) -> bool:
        """
        Goes on behind a line that could not be read, as `feed` or `finish` would have.
        """

    def finish(self) -> bool:
        """The end of the file, as `feed`."""

    def columns(self) -> dict[str, Any]:
        """
        The arrays, and each string table as its bytes and offsets. The scanner is spent.
        """

    @property
    def fault(self) -> bytes:
        """The line that could not be read, with its end."""

    @property
    def lines(self) -> int:
        """How many lines were read, that one, too."""

    def expect(self, names: Sequence[str]) -> None:
        """
        Tells the names of the scores of all lines. Before, no line can be read.
        """

    def add(self, lhs: str, source: Sequence[tuple[str, int]], target: Sequence[tuple[str, int]], features: Sequence[tuple[str, float]], points: Sequence[tuple[int, int]]) -> None:
        """
        Adds the rule of a line that Python read. A symbol is a word and 0, a label and the index of a gap.
        """

class ListScanner:
    """Reads n-best lists into columns, fed in pieces of any size."""

    def __init__(self, dialect: str, max_line: int) -> None: ...

    def feed(self, data: bytes) -> bool:
        """
        False at a line that is left to the parser of records; the scanner is then spent.
        """

    def finish(self) -> bool:
        """The same at the end of the file."""

    def columns(self) -> dict[str, Any]:
        """
        The arrays, and each string table as its bytes and offsets. The scanner is spent.
        """

    def fault(self) -> tuple[int, bytes]:
        """
        Where it stopped: the number of lines before, and what it was fed behind them.
        """

    @property
    def lines(self) -> int:
        """How many lines were read."""

class ReorderingScanner:
    """The same for a reordering table of Moses."""

    def __init__(self, max_line: int) -> None: ...

    def feed(self, data: bytes) -> bool:
        """
        The next piece of the file. False at a line that cannot be read; `resume` goes on behind it.
        """

    def resume(self) -> bool:
        """
        Goes on behind a line that could not be read, as `feed` or `finish` would have.
        """

    def finish(self) -> bool:
        """The end of the file, as `feed`."""

    def columns(self) -> dict[str, Any]:
        """
        The arrays, and each string table as its bytes and offsets. The scanner is spent.
        """

    @property
    def fault(self) -> bytes:
        """The line that could not be read, with its end."""

    @property
    def lines(self) -> int:
        """How many lines were read, that one, too."""

    def expect(self, fields: int, numbers: int) -> None:
        """Tells how many all lines have. Before, no line can be read."""

    def add(self, key: str, values: Sequence[float]) -> None:
        """Adds the row of a line that Python read."""
