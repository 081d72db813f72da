"""How records are shown: short texts, and tables in HTML for notebooks, in which all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from smtformats.candidates import Candidates
    from smtformats.columns import Columns, ListColumns

_ROWS, _NAMES = 10, 12


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


def show_candidates(nbest: Candidates) -> str:
    """The first hypotheses and features of a list."""
    names = nbest.names()
    rows = []
    for i in range(min(len(nbest), _ROWS)):
        text, features, total = nbest[i]
        rows.append([i, text, total, *map(features.get, names[:_NAMES])])
    parts = [f"{len(nbest)} hypotheses, {len(names)} features"] * (len(nbest) > _ROWS or len(names) > _NAMES)
    caption = ": ".join([f"list {nbest.id}", *([nbest.source] if nbest.source else []), *parts])
    return html_table(["", "text", "total", *names[:_NAMES]], rows, caption=caption)


class DisplayedColumns:
    """How columns are shown: short as text, as a table of the first rows and names in a notebook."""

    def __repr__(self) -> str:
        columns = cast("Columns", self)
        more = f" and {len(columns.names) - 5} more" if len(columns.names) > 5 else ""
        return f"<Columns: {len(columns)} rows of {', '.join(columns.names[:5]) or 'no names'}{more}>"

    def _repr_html_(self) -> str:
        columns = cast("Columns", self)
        names = columns.names
        rows = [[i, *map(columns[i].get, names[:_NAMES])] for i in range(min(len(columns), _ROWS))]
        more = len(columns) > _ROWS or len(names) > _NAMES
        return html_table(["", *names[:_NAMES]], rows, caption=repr(self)[1:-1] if more else "")


class DisplayedLists:
    """How a file of lists is shown: short as text, as a table of the first hypothesis of each in a notebook."""

    def __repr__(self) -> str:
        lists = cast("ListColumns", self)
        counts = f"{len(lists)} lists, {len(lists.texts)} hypotheses, {len(lists.features.names)} features"
        return f"<ListColumns of {lists.file or '<data>'}: {counts}>"

    def _repr_html_(self) -> str:
        lists = cast("ListColumns", self)
        rows = []
        for k in range(min(len(lists), _ROWS)):
            first, last = int(lists.offsets[k]), int(lists.offsets[k + 1])
            total = None if lists.totals is None or first == last else float(lists.totals[first])
            text = lists.texts[first] if first < last else None
            rows.append([lists.ids[k], lists.sources[k], last - first, text, total])
        return html_table(["id", "source", "hypotheses", "first", "total"], rows, caption=repr(self)[1:-1])
