"""The tables of Li, Wang, Khudanpur and Eisner (2010) for other data: 2 picking, 3 translations, 4 n-grams; theirs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from smtplugins.host.printing import render
from smtplugins.plugins.cdlm.picking.picking import NgramOverlap

FEATURES = ("blm", "wp", "tsrb")
SHOWN = {"blm": "BLM", "wp": "WP", "tsrb": "TsRB"}
PAPER_PICKING: Mapping[tuple[str, ...], float] = {
    ("blm",): 12.8,
    ("blm", "wp"): 14.2,
    ("blm", "wp", "tsrb"): 25.3,
}
"""IWSLT 2005, the 506 sentences of Set4, 16 references."""
PAPER_DECODER: Mapping[str, float] = {"without": 48.5, "with": 49.5}
PAPER_NGRAMS = ((36.5, 48.2), (10.1, 12.8), (3.7, 4.6), (2.0, 2.4))
"""Precision and recall in per cent, 1-grams first."""


@dataclass(frozen=True)
class Table:
    """Rows of plain values, and their titles by key; a key that begins with ``paper`` is the paper's."""

    key: str
    title: str
    columns: Mapping[str, str]
    rows: tuple[Mapping[str, Any], ...]

    def shown(self, style: str, paper: bool) -> str:
        """As text, TSV or LaTeX."""
        columns = {key: title for key, title in self.columns.items() if paper or not key.startswith("paper")}
        rows = [{title: _cell(key, row.get(key)) for key, title in columns.items()} for row in self.rows]
        text = render(rows, list(columns.values()), style)
        if style == "tsv":
            return text
        return f"{'% ' if style == 'latex' else ''}{self.title}\n{text}"


def _cell(key: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if key in ("p", "weight"):
        return f"{value:.3g}"
    if isinstance(value, float):
        return f"{value:.1f}" if key.startswith("paper") else f"{value:.2f}"
    return str(value)


def shown(tables: Sequence[Table], style: str, paper: bool, settings: Mapping[str, Any]) -> str:
    """All tables, one behind the other; in JSON with all digits, and with how they were made."""
    if style != "json":
        return "\n\n".join(one.shown(style, paper) for one in tables)
    record = {one.key: {"title": one.title, "rows": [dict(row) for row in one.rows]} for one in tables}
    return json.dumps({"settings": dict(settings), "tables": record}, indent=1, ensure_ascii=False)


def _interval(row: Mapping[str, Any]) -> str | None:
    return None if row.get("low") is None else f"{row['low']:.2f} - {row['high']:.2f}"


def picking(rows: Sequence[Mapping[str, Any]], metric: str, count: int, references: int) -> Table:
    """Table 2: each row has ``name``, ``features``, what was judged, and with ``same`` the score on the same sets."""
    made = []
    for row in rows:
        features = tuple(row["features"])
        marks = {one: "x" if one in features else "" for one in FEATURES}
        made.append({**row, **marks, "interval": _interval(row), "paper": PAPER_PICKING.get(features)})
    columns = {"name": "model", **SHOWN, "score": metric, "interval": "95 %", "p": "p"}
    if any(row.get("same") is not None for row in rows):
        columns["same"] = "same sets"
    plural = "" if references == 1 else "s"
    title = (
        f"Table 2: picking from the confusion sets of {count} sentences, {references} reference{plural}; "
        "p (bootstrap) against the first"
    )
    return Table("picking", title, {**columns, "words": "words", "own": "own", "paper": "paper: BLEU"}, tuple(made))


def decoder(rows: Sequence[Mapping[str, Any]], metric: str, count: int, seeds: int) -> Table:
    """Table 3: the rows ``without`` and ``with``, whose scores are means over seeds."""
    names = {"without": "the system", "with": "with cdlm (TsRB)"}
    made = [
        {**row, "name": names[row["key"]], "interval": _interval(row), "paper": PAPER_DECODER[row["key"]]}
        for row in rows
    ]
    columns = {"name": "model", "score": metric, "deviation": "s.d.", "interval": "95 %", "change": "change", "p": "p"}
    plural = "" if seeds == 1 else "s"
    title = f"Table 3: translations of {count} sentences, tuned with {seeds} seed{plural}; p (bootstrap) of the change"
    return Table("decoder", title, {**columns, "weight": "weight of cdlm", "paper": "paper: BLEU"}, tuple(made))


def ngrams(found: Sequence[NgramOverlap], nbest: int, count: int) -> Table:
    """Table 4."""
    rows = []
    for n, one in enumerate(found, 1):
        row: dict[str, Any] = {"n": f"{n}-gram", "precision": 100 * one.precision, "recall": 100 * one.recall}
        row["agreement"] = 100 * one.agreement
        row |= {"simulated": one.simulated, "real": one.real, "both": one.both}
        if n <= len(PAPER_NGRAMS):
            row["paper_precision"], row["paper_recall"] = PAPER_NGRAMS[n - 1]
        rows.append(row)
    columns = {"n": "", "precision": "precision %", "recall": "recall %", "agreement": "both of either %"}
    columns |= {"paper_precision": "paper: precision %", "paper_recall": "paper: recall %"}
    title = f"Table 4: n-grams of {nbest}-best strings, simulated against real confusion sets of {count} sentences"
    return Table("ngrams", title, columns, tuple(rows))
