"""The native scanner. Use the `load` of a format."""

from typing import Any


class GrammarScanner:
    """
    Reads the text of a cdec grammar into columns, fed in pieces of any size.
    """

    def __init__(self, max_line: int, max_symbols: int, max_features: int) -> None: ...

    def feed(self, data: bytes) -> bool:
        """False at a line that cannot be read; the scanner is then spent."""

    def finish(self) -> bool:
        """The same at the end of the file."""

    def columns(self) -> dict[str, Any]:
        """
        The arrays, and each string table as its bytes and offsets. The scanner is spent.
        """

    def fault(self) -> tuple[int, bytes, int, bool]:
        """
        The bad line: its number, its bytes, how many leading blanks it might have, whether only that it does not refine the rule before is wrong with it.
        """

    @property
    def lines(self) -> int:
        """How many lines were read."""
