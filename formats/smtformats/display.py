"""Tables in HTML for notebooks, in which all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

ROWS, NAMES = 10, 12
"""The rows and feature names that a table in a notebook shows."""


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, caption: str = "") -> str:
    """An HTML table with right-aligned numbers of six significant digits; None is an empty cell."""
    import html

    head = "".join(f"<th>{html.escape(str(column))}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    import html

    if value is None:
        return "<td></td>"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        shown = f"{value:.6g}" if isinstance(value, float) else str(value)
        return f'<td style="text-align: right">{shown}</td>'
    return f'<td style="text-align: left">{html.escape(str(value))}</td>'
