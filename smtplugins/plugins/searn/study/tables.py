"""Table 1 and figures 4 and 5 of Zhang, Sun and Li (2008) for other data, beside theirs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from smtplugins.host.printing import render
from smtplugins.plugins.searn.study.rows import PAPER, RATIOS


def shown(
    rows: Sequence[Mapping[str, Any]],
    sizes: Sequence[Mapping[str, Any]],
    settings: Mapping[str, Any],
    style: str,
) -> str:
    """Both tables as text, TSV or LaTeX, or all that is known of them as JSON."""
    if style == "json":
        record = {"settings": dict(settings), "rows": list(map(dict, rows)), "tables": list(map(dict, sizes))}
        return json.dumps(record, indent=1, ensure_ascii=False)
    pair = settings["pair"]
    parts = []
    for title, table in (
        (_title(settings), _systems(rows, str(settings["metric"]), pair)),
        ("Figures 4 and 5: tables", _tables(sizes, pair)),
    ):
        text = render(table, list(table[0]), style)
        parts.append(text if style == "tsv" else f"{'% ' if style == 'latex' else ''}{title}\n{text}")
    return "\n\n".join(parts)


def _title(settings: Mapping[str, Any]) -> str:
    runs = len(settings["seeds"])
    seeds = "" if runs == 1 else f"; means of {runs} optimiser runs"
    return f"Table 1: 95 % intervals, p (bootstrap) that a row differs from the first{seeds}"


def _systems(rows: Sequence[Mapping[str, Any]], metric: str, pair: str | None) -> list[dict[str, str]]:
    found = []
    for row in rows:
        cells = {"": str(row["name"]), "table": str(row["table"])}
        cells[metric] = f"{row['score']:.2f} ± {(row['high'] - row['low']) / 2:.2f}"
        if row["deviation"] is not None:
            cells["s.d."] = f"{row['deviation']:.2f}"
        cells["p"] = "" if row["p"] is None else f"{row['p']:.3g}"
        cells["labels right"] = "" if row["labels"] is None else f"{100 * row['labels']:.1f} %"
        if pair is not None:
            theirs = PAPER[pair].get(str(row["paper"]))
            for place, where in enumerate(("in", "out")):
                cells[f"paper, {pair} {where}"] = "" if theirs is None else f"{theirs[place]:.2f}"
        found.append(cells)
    return found


def _tables(sizes: Sequence[Mapping[str, Any]], pair: str | None) -> list[dict[str, str]]:
    leaves = next((one["entries"] for one in sizes if not one["length"]), None)
    longest = max(one["length"] for one in sizes)
    found = []
    for one in sizes:
        cells = {"table": str(one["table"]), "entries": str(one["entries"])}
        if leaves is not None and longest:
            ratio = f"{100 * leaves / one['entries']:.2f} %" if one["length"] and one["entries"] else ""
            cells["leaves are"] = ratio
            if pair is not None:
                cells[f"paper, {pair}"] = f"{RATIOS[pair]:.2f} %" if one["length"] == longest else ""
        cells["one source word"] = f"{100 * one['single_word_share']:.1f} %"
        cells["longest"] = str(one["longest"])
        found.append(cells)
    return found
