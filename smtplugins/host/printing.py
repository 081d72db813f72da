"""Render tables as text, JSON, TSV or LaTeX."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

_LATEX = str.maketrans({"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
                        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"})  # fmt: skip

_CHART = 8
"""The number of lines of a chart, without its axis."""
_BRAILLE = 0x2800
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bits of the dots of a braille character, by row and column."""


def render(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], style: str) -> str:
    """Render rows as a table; JSON keeps all keys of a row, other styles only the named columns."""
    if style == "json":
        return json.dumps([dict(row) for row in rows], indent=1, ensure_ascii=False, default=str)
    cells = [[cell(row.get(name)) for name in columns] for row in rows]
    if style == "tsv":
        flat = [[text.replace("\t", " ").replace("\n", " ") for text in row] for row in cells]
        return "\n".join("\t".join(row) for row in [list(columns), *flat])
    if style == "latex":
        lines = [r"\begin{tabular}{" + "l" * len(columns) + "}"]
        for row in [list(columns), *cells]:
            lines.append(" & ".join(text.translate(_LATEX) for text in row) + r" \\")
        return "\n".join([*lines, r"\end{tabular}"])
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
             for row in [list(columns), *cells]]  # fmt: skip
    return "\n".join(lines)


def cell(value: Any) -> str:
    """Format a value for people."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1 else f"{value:.2f}"
    if isinstance(value, (list, tuple, set, frozenset)):
        return ", ".join(map(str, sorted(value) if isinstance(value, (set, frozenset)) else value))
    return str(value)


def prints_dots(encoding: str | None) -> bool:
    """Whether text in this encoding may have the braille dots of a chart."""
    try:
        chr(_BRAILLE).encode(encoding or "ascii")
    except (LookupError, UnicodeError):
        return False
    return True


def chart(lines: Sequence[Sequence[float]], width: int, *, plain: bool = False) -> str:
    """Draw sequences of numbers against their positions, in at most 10 lines of ``width``; ``plain`` for ASCII.

    A number is a horizontal stroke. The labels are the largest and smallest number, the first and last position.
    """
    values = [value for line in lines for value in line]
    low, high, count = min(values), max(values), max(map(len, lines))
    labels = [f"{high:.6g}", *[""] * (_CHART - 2), f"{low:.6g}"]
    margin = max(map(len, labels))
    across, up = (1, 1) if plain else (2, 4)
    columns, rows = max(width - margin - 3, 8) * across, _CHART * up
    stroke = max(1, min(6 * across, columns // count))
    drawn = min(columns, stroke * count)
    cells = [[0] * -(-drawn // across) for _ in range(_CHART)]
    for line in lines:
        for i, value in enumerate(line):
            y = round((high - value) / (high - low) * (rows - 1)) if high > low else rows - 1
            first = i * stroke if stroke * count <= columns else i * columns // count
            for x in range(first, min(first + stroke, drawn)):
                cells[y // up][x // across] |= 1 if plain else _DOTS[y % up][x % across]
    marks = [[" " if not cell else "*" if plain else chr(_BRAILLE + cell) for cell in row] for row in cells]
    drawing = [f"{label:>{margin}} |{''.join(row).rstrip()}" for label, row in zip(labels, marks, strict=True)]
    last = str(count) if count > 1 else ""
    return "\n".join([*drawing, " " * (margin + 2) + f"1{last:>{max(len(cells[0]) - 1, len(last) + 1)}}".rstrip()])
