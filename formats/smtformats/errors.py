"""The error that every reader raises: file, line and field, what was expected and what was found."""

from __future__ import annotations

from collections.abc import Sequence


class FormatError(ValueError):
    """Bad data in a file. Prints as ``file:line: field N: expected ..., found ...``."""

    def __init__(
        self,
        expected: str,
        found: str,
        *,
        file: str = "",
        line: int | None = None,
        field: int | None = None,
    ) -> None:
        self.expected = expected
        self.found = found
        self.file = file
        self.line = line
        self.field = field
        super().__init__(expected, found)

    def __str__(self) -> str:
        place = self.file or "<data>"
        if self.line is not None:
            place += f":{self.line}"
        if self.field is not None:
            place += f": field {self.field}"
        return f"{place}: expected {self.expected}, found {self.found}"

    def __reduce__(self) -> tuple[object, ...]:
        # Pickled when a list is scored by several processes.
        return _rebuild, (self.expected, self.found, self.file, self.line, self.field)


def _rebuild(expected: str, found: str, file: str, line: int | None, field: int | None) -> FormatError:
    return FormatError(expected, found, file=file, line=line, field=field)


def quote(text: str, width: int = 60) -> str:
    """Quote data for an error message: control characters escaped, cut to a width."""
    shown = text if len(text) <= width else text[: width - 3] + "..."
    return repr(shown)


def first_of(names: Sequence[str], most: int) -> str:
    """List the first names for a message: ``a, b and 3 more``."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
