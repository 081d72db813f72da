"""Render tables as text, JSON, TSV or LaTeX."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

_LATEX = str.maketrans({"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
                        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"})  # fmt: skip


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
