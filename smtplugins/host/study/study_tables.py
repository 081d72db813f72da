"""The tables of a study: our figures, then the paper's, as text, TSV, LaTeX or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from smtplugins.host.printing import cell, render

Form = str | Callable[[Any], str] | None
SCORE, P, CHANGE = "{:.2f}", "{:.3g}", "{:+.2f}"


@dataclass(frozen=True)
class StudyColumn:
    """A column: its key in the rows, its title, the format of its values or a function that writes them.

    ``paper`` has the paper's figures by row key, shown in a column of their own; ``ours`` is False if only it has any.
    """

    key: str
    title: str
    form: Form = None
    paper: Mapping[str, Any] = field(default_factory=dict)
    paper_form: Form = None
    ours: bool = True

    def cell(self, value: Any) -> str:
        """A value of ours for a person."""
        return _cell(value, self.form)

    def paper_cell(self, key: str) -> str:
        """The paper's figure for a person."""
        return _cell(self.paper.get(key), self.paper_form or self.form)


@dataclass(frozen=True)
class StudyTable:
    """A table. Each row has a ``key`` that is the same for any data, a ``name`` to show, and figures by column key.

    ``head`` is the title of the column of names.
    """

    key: str
    title: str
    columns: Sequence[StudyColumn]
    rows: Sequence[Mapping[str, Any]]
    head: str = "system"

    def record(self, *, paper: bool = True) -> dict[str, Any]:
        """Title and rows with all digits; the paper's figures have the column's key behind ``paper_``."""
        shown = [column for column in self.columns if paper and column.paper]
        figures = [{f"paper_{column.key}": column.paper.get(row["key"]) for column in shown} for row in self.rows]
        return {"title": self.title, "rows": [{**row, **own} for row, own in zip(self.rows, figures, strict=True)]}

    def shown(self, style: str, *, paper: bool = True) -> str:
        """The table as text, TSV or LaTeX: our columns first, then the paper's."""
        ours = [column for column in self.columns if column.ours]
        theirs = [column for column in self.columns if paper and column.paper]
        titles = [self.head, *(column.title for column in ours), *(f"paper: {column.title}" for column in theirs)]
        lines = []
        for row in self.rows:
            cells = [column.cell(row.get(column.key)) for column in ours]
            cells += [column.paper_cell(row["key"]) for column in theirs]
            lines.append(dict(zip(titles, [row["name"], *cells], strict=True)))
        text = render(lines, titles, style)
        return text if style == "tsv" else f"{'% ' if style == 'latex' else ''}{self.title}\n{text}"


def score_columns(
    metric: str,
    rows: Sequence[Mapping[str, Any]],
    paper: Mapping[str, float | None] = MappingProxyType({}),
    margins: Mapping[str, float | None] = MappingProxyType({}),
    paper_form: str = SCORE,
) -> list[StudyColumn]:
    """The columns of what ``judge_rows`` adds; ``paper`` has the paper's scores, ``margins`` their intervals."""
    several = any(row.get("deviation") is not None for row in rows)
    deviation = [StudyColumn("deviation", "s.d.", SCORE)] if several else []
    score = StudyColumn("score", metric, SCORE, paper, paper_form)
    margin = StudyColumn("interval", "95 %", "± {:.2f}", margins, "± {}")
    return [score, margin, *deviation, StudyColumn("p", "p", P)]


def tables_record(
    tables: Iterable[StudyTable], settings: Mapping[str, Any], extras: Mapping[str, Any], *, paper: bool = True
) -> dict[str, Any]:
    """All tables by their keys, with the settings and results of the study."""
    return {"settings": settings, **extras, "tables": {table.key: table.record(paper=paper) for table in tables}}


def render_tables(
    tables: Iterable[StudyTable],
    style: str,
    paper: bool,
    settings: Mapping[str, Any],
    extras: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """All tables one after the other; JSON has the settings, too."""
    if style == "json":
        return json.dumps(tables_record(tables, settings, extras, paper=paper), indent=1, ensure_ascii=False)
    return "\n\n".join(table.shown(style, paper=paper) for table in tables)


def paper_column(figures: Mapping[str, Sequence[Any]], at: int) -> dict[str, Any]:
    """Column ``at`` of the paper's figures by row key; ``figures`` has a row of them for each key."""
    return {key: values[at] for key, values in figures.items()}


def _cell(value: Any, form: Form) -> str:
    if value is None or form is None:
        return cell(value)
    return form.format(value) if isinstance(form, str) else form(value)
