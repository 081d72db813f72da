"""The tables of Gesmundo and Henderson (2014) for other data: 1 decoding, 2 training, 3 translations; their figures.

Tables 1 to 3 are those of section 5; what they say of context-free-factor features is the ablation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from smtplugins.host.printing import render
from smtplugins.plugins.umt.study.runs import Judged, Learnt, Trial

PAPER: Mapping[str, Mapping[str, float]] = {
    "umt": {"decoding": 135.2, "search": 38.9, "training": 267.4, "score": 30.14, "loss": 6.33, "sign": 0.18},
    "hiero-1": {"decoding": 232.0, "search": 141.3, "training": 765.2, "score": 30.87, "loss": 4.07, "sign": 0.21},
    "hiero-30": {"decoding": 312.8, "search": 226.9, "training": 1153.5, "score": 32.18},
}
"""NIST Chinese to English, 919 test sentences: milliseconds of a sentence, BLEU, per cent, one-tailed sign test."""
PAPER_WITHOUT_CFF = -2.3
REFERENCE = "hiero-30"


@dataclass(frozen=True)
class Column:
    """A column: its key in the rows, its title, how a value is written; ``paper`` if it is the paper's."""

    key: str
    title: str
    form: str = "{}"
    paper: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of plain values, and how they are shown."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]

    def kept(self, paper: bool) -> Table:
        """With the paper's columns or without."""
        columns = tuple(one for one in self.columns if paper or not one.paper)
        hidden = {one.key for one in self.columns} - {one.key for one in columns}
        rows = [{key: value for key, value in row.items() if key not in hidden} for row in self.rows]
        return replace(self, columns=columns, rows=tuple(rows))

    def shown(self, style: str) -> str:
        """As text, TSV or LaTeX."""
        rows = [{one.title: _cell(one, row.get(one.key)) for one in self.columns} for row in self.rows]
        text = render(rows, [one.title for one in self.columns], style)
        if style == "tsv":
            return text
        return f"% {self.title}\n{text}" if style == "latex" else f"{self.title}\n{text}"


def _cell(column: Column, value: Any) -> str:
    return "" if value is None else column.form.format(value)


def shown(tables: Sequence[Table], style: str, paper: bool, settings: Mapping[str, Any]) -> str:
    """All tables, one behind the other; in JSON with all digits and what was compared how."""
    kept = [one.kept(paper) for one in tables]
    if style != "json":
        return "\n\n".join(one.shown(style) for one in kept)
    record = {one.key: {"title": one.title, "rows": [dict(row) for row in one.rows]} for one in kept}
    return json.dumps({"settings": settings, "tables": record}, indent=1, ensure_ascii=False)


_MS, _PER_CENT, _P = "{:.2f}", "{:+.2f} %", "{:.3g}"


def speed(names: Mapping[str, str], trials: Mapping[str, Trial], rounds: int) -> Table:
    """Table 1: CPU milliseconds of a sentence for parsing and search, and for search, the paper's rescoring."""
    count = len(next(iter(trials.values())).texts)
    rows: list[dict[str, Any]] = []
    for key, name in names.items():
        row: dict[str, Any] = {"model": name}
        for what, seconds in (("decoding", trials[key].decoding), ("search", trials[key].search)):
            row[what] = 1000 * seconds / count
            row[f"{what}_variation"] = _variation(row[what], rows[0][what] if rows else None)
            row[f"paper_{what}"], row[f"paper_{what}_variation"] = _paper(key, what)
        rows.append(row)
    columns = [Column("model", "model")]
    for what, title in (("decoding", "decoding ms"), ("search", "rescoring ms")):
        columns += [Column(what, title, _MS), Column(f"{what}_variation", f"{title[:-3]} var.", _PER_CENT)]
        columns += [
            Column(f"paper_{what}", f"paper: {title}", "{:.1f}", True),
            Column(f"paper_{what}_variation", f"paper: {title[:-3]} var.", _PER_CENT, True),
        ]
    best = f", the best of {rounds} rounds" if rounds > 1 else ""
    title = f"Table 1: decoding, CPU time of a sentence of {count}{best}; rescoring is decoding without parsing"
    return Table("decoding", title, _ours_first(columns), tuple(rows))


def training(names: Mapping[str, str], found: Mapping[str, Learnt]) -> Table:
    """Table 2: CPU milliseconds of the whole of learning for each sentence, and of one pass over the sentences."""
    rows: list[dict[str, Any]] = []
    for key, name in names.items():
        one = found[key]
        whole = 1000 * one.seconds / one.sentences
        row: dict[str, Any] = {"model": name, "training": whole, "passes": one.passes, "unit": one.unit}
        row["a_pass"] = whole / one.passes if one.passes else None
        for what in ("training", "a_pass"):
            row[f"{what}_variation"] = _variation(row[what], rows[0][what] if rows else None)
        row["paper_training"], row["paper_training_variation"] = _paper(key, "training")
        row["made"] = one.made
        rows.append(row)
    columns = (
        Column("model", "model"),
        Column("training", "training ms", "{:.1f}"),
        Column("training_variation", "training var.", _PER_CENT),
        Column("made", "passes"),
        Column("a_pass", "ms a pass", _MS),
        Column("a_pass_variation", "var. of a pass", _PER_CENT),
        Column("paper_training", "paper: training ms", "{:.1f}", True),
        Column("paper_training_variation", "paper: training var.", _PER_CENT, True),
    )
    count = next(iter(found.values())).sentences
    title = f"Table 2: training, CPU time of the whole run for each sentence of {count}; K=1 learns with K=2"
    return Table("training", title, columns, tuple(rows))


def passes(table: Table) -> Table:
    """Table 2 without what a clock says."""
    return replace(
        table,
        key="passes",
        title=table.title.partition(",")[0] + ", passes over the sentences",
        columns=tuple(one for one in table.columns if one.key in ("model", "made")),
        rows=tuple({key: row[key] for key in ("model", "passes", "unit", "made")} for row in table.rows),
    )


def quality(names: Mapping[str, str], found: Mapping[str, Judged], metric: str, higher: bool, count: int) -> Table:
    """Table 3: scores, what lacks against cube pruning with K=30, and tests of that."""
    rows = []
    for key, name in names.items():
        loss = None if key == REFERENCE else _loss(found[key].score, found[REFERENCE].score, higher)
        row = {"model": name, "score": found[key].score, "loss": loss, **_tests(found[key])}
        rows.append(row | {f"paper_{one}": PAPER[key].get(one) for one in ("score", "loss", "sign")})
    columns = (
        Column("model", "model"),
        Column("score", metric, "{:.2f}"),
        Column("loss", "relative loss", "{:.2f} %"),
        Column("p_sign", "p (sign)", _P),
        Column("p_bootstrap", "p (bootstrap)", _P),
        Column("paper_score", "paper: BLEU", "{:.2f}", True),
        Column("paper_loss", "paper: relative loss", "{:.2f} %", True),
        Column("paper_sign", "paper: p (sign)", "{:.2f}", True),
    )
    title = f"Table 3: translations of {count} sentences; {_meaning(names[REFERENCE])}"
    return Table("quality", title, columns, tuple(rows))


def ablation(names: Mapping[str, str], found: Mapping[str, Judged], metric: str, count: int) -> Table:
    """The decoder and learner with context-free-factor features and without them."""
    (with_cff, _), (without, _) = names.items()
    rows = []
    for key, name in names.items():
        own = key == without
        change = found[key].score - found[with_cff].score if own else None
        row = {"model": name, "score": found[key].score, "change": change, **_tests(found[key])}
        rows.append(row | {"paper_change": PAPER_WITHOUT_CFF if own else None})
    columns = (
        Column("model", "model"),
        Column("score", metric, "{:.2f}"),
        Column("change", "change", "{:+.2f}"),
        Column("p_sign", "p (sign)", _P),
        Column("p_bootstrap", "p (bootstrap)", _P),
        Column("paper_change", "paper: change", "{:+.1f}", True),
    )
    title = f"Context-free-factor features: {count} sentences; {_meaning(names[with_cff])}"
    return Table("cff", title, columns, tuple(rows))


def _ours_first(columns: Sequence[Column]) -> tuple[Column, ...]:
    return tuple(sorted(columns, key=lambda one: one.paper))


def _meaning(name: str) -> str:
    return f"p (sign) that {name} is better, p (bootstrap) that they differ"


def _tests(found: Judged) -> dict[str, float | None]:
    return {f"p_{name}": found.tests.get(name) for name in ("sign", "bootstrap")}


def _variation(value: float | None, first: float | None) -> float | None:
    return None if value is None or not first else 100 * (value / first - 1)


def _loss(score: float, reference: float, higher: bool) -> float | None:
    if not reference:
        return None
    return 100 * (reference - score) / abs(reference) * (1 if higher else -1)


def _paper(key: str, what: str) -> tuple[float | None, float | None]:
    value = PAPER[key][what]
    return value, None if key == "umt" else _variation(value, PAPER["umt"][what])
