"""The tables of Gesmundo and Henderson (2014) and its figures: 1 decoding, 2 training, 3 translations.

Tables 1 to 3 are those of section 5; the ablation measures context-free-factor features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from smtplugins.contracts.tools.study import CHANGE, SCORE, P, StudyColumn, StudyTable

TABLES = {
    "decoding": "the paper's table 1, times",
    "training": "table 2, times",
    "passes": "table 2 without times, if named",
    "quality": "table 3",
    "cff": "without context-free-factor features",
}
ROWS = {
    "umt": "the paper's system, always",
    "hiero-1": "cube pruning with K=1",
    "hiero-30": "cube pruning with K=30, always in the table quality",
}
PAPER: Mapping[str, Mapping[str, float]] = {
    "umt": {"decoding": 135.2, "search": 38.9, "training": 267.4, "score": 30.14, "loss": 6.33, "sign": 0.18},
    "hiero-1": {"decoding": 232.0, "search": 141.3, "training": 765.2, "score": 30.87, "loss": 4.07, "sign": 0.21},
    "hiero-30": {"decoding": 312.8, "search": 226.9, "training": 1153.5, "score": 32.18},
}
"""NIST Chinese to English, 919 test sentences: milliseconds of a sentence, BLEU, per cent, one-tailed sign test."""
PAPER_CHANGE = {"umt-without-cff": -2.3}
REFERENCE = "hiero-30"
_TENTHS, _VARIATION, _LOSS = "{:.1f}", "{:+.2f} %", "{:.2f} %"


@dataclass(frozen=True)
class Learnt:
    """Weights, the CPU seconds of the run that learnt them, and its passes over the sentences."""

    weights: Mapping[str, float]
    seconds: float
    sentences: int
    passes: int
    unit: str
    score: float

    @property
    def made(self) -> str:
        """The number of passes in words."""
        return f"{self.passes} {self.unit if self.passes != 1 else self.unit[:-1]}"


@dataclass(frozen=True)
class DecodedTest:
    """Translations of the test set; CPU seconds of parsing and search, and of search alone, in the fastest round."""

    texts: tuple[str, ...]
    decoding: float
    search: float
    counts: Mapping[str, float]

    def record(self) -> dict[str, Any]:
        """Times and counts."""
        return {**asdict(self), "texts": len(self.texts)}


@dataclass(frozen=True)
class Verdict:
    """A system's score, and p-values against another; the one-tailed sign test: the other is better."""

    score: float
    signature: str
    tests: Mapping[str, float]


def speed_table(names: Mapping[str, str], runs: Mapping[str, DecodedTest], rounds: int) -> StudyTable:
    """Table 1: CPU milliseconds of a sentence for parsing and search, and for search alone (rescoring)."""
    count = len(next(iter(runs.values())).texts)
    rows = []
    for key, name in names.items():
        seconds = {"decoding": runs[key].decoding, "search": runs[key].search}
        rows.append({"key": key, "name": name, **{what: 1000 * value / count for what, value in seconds.items()}})
    columns = [
        *_time_columns(rows, "decoding", "decoding ms", SCORE),
        *_time_columns(rows, "search", "rescoring ms", SCORE),
    ]
    best = f", the best of {rounds} rounds" if rounds > 1 else ""
    title = f"Table 1: decoding, CPU time of a sentence of {count}{best}; rescoring is decoding without parsing"
    return StudyTable("decoding", title, columns, rows, "model")


def training_table(names: Mapping[str, str], learnt: Mapping[str, Learnt]) -> StudyTable:
    """Table 2: CPU milliseconds per sentence, of the whole run of learning and of a single pass."""
    rows: list[dict[str, Any]] = []
    for key, name in names.items():
        own = learnt[key]
        whole = 1000 * own.seconds / own.sentences
        row = {"key": key, "name": name, "training": whole, "passes": own.passes, "unit": own.unit, "made": own.made}
        rows.append({**row, "a_pass": whole / own.passes if own.passes else None})
    columns = [*_time_columns(rows, "training", "training ms", _TENTHS), StudyColumn("made", "passes")]
    columns += _time_columns(rows, "a_pass", "ms a pass", SCORE)
    count = next(iter(learnt.values())).sentences
    title = f"Table 2: training, CPU time of the whole run for each sentence of {count}; K=1 learns with K=2"
    return StudyTable("training", title, columns, rows, "model")


def passes_table(table: StudyTable) -> StudyTable:
    """Table 2 without times."""
    title = table.title.partition(",")[0] + ", passes over the sentences"
    rows = [{key: row[key] for key in ("key", "name", "passes", "unit", "made")} for row in table.rows]
    return replace(table, key="passes", title=title, columns=[StudyColumn("made", "passes")], rows=rows)


def quality_table(
    names: Mapping[str, str], verdicts: Mapping[str, Verdict], metric: str, higher: bool, count: int
) -> StudyTable:
    """Table 3: scores, relative losses against cube pruning with K=30, and tests of them."""
    reference = verdicts[REFERENCE].score
    rows = [_verdict_row(key, name, verdicts[key]) for key, name in names.items()]
    for row in rows:
        loss = 100 * (reference - row["score"]) / abs(reference) * (1 if higher else -1) if reference else None
        row["loss"] = None if row["key"] == REFERENCE else loss
    columns = [
        StudyColumn("score", metric, SCORE, _paper("score")),
        StudyColumn("loss", "relative loss", _LOSS, _paper("loss")),
        StudyColumn("p_sign", "p (sign)", P, _paper("sign"), SCORE),
        StudyColumn("p_bootstrap", "p (bootstrap)", P),
    ]
    title = f"Table 3: translations of {count} sentences; {_meaning(names[REFERENCE])}"
    return StudyTable("quality", title, columns, rows, "model")


def ablation_table(names: Mapping[str, str], verdicts: Mapping[str, Verdict], metric: str, count: int) -> StudyTable:
    """The decoder and learner with context-free-factor features and without them."""
    rows = [_verdict_row(key, name, verdicts[key]) for key, name in names.items()]
    rows[1]["change"] = rows[1]["score"] - rows[0]["score"]
    columns = [
        StudyColumn("score", metric, SCORE),
        StudyColumn("change", "change", CHANGE, PAPER_CHANGE, "{:+.1f}"),
        StudyColumn("p_sign", "p (sign)", P),
        StudyColumn("p_bootstrap", "p (bootstrap)", P),
    ]
    title = f"Context-free-factor features: {count} sentences; {_meaning(rows[0]['name'])}"
    return StudyTable("cff", title, columns, rows, "model")


def _time_columns(rows: list[dict[str, Any]], key: str, title: str, form: str) -> list[StudyColumn]:
    """A column of times, and one of their change from the first row, which is added to the rows."""
    for row in rows:
        row[f"{key}_variation"] = None if row is rows[0] else _variation(row[key], rows[0][key])
    paper = _paper(key)
    changes = {name: _variation(value, paper["umt"]) for name, value in paper.items() if name != "umt"}
    what = "var. of a pass" if key == "a_pass" else f"{title[:-3]} var."
    return [
        StudyColumn(key, title, form, paper, _TENTHS),
        StudyColumn(f"{key}_variation", what, _VARIATION, changes),
    ]


def _paper(what: str) -> dict[str, float]:
    return {key: figures[what] for key, figures in PAPER.items() if what in figures}


def _meaning(name: str) -> str:
    return f"p (sign) that {name} is better, p (bootstrap) that they differ"


def _verdict_row(key: str, name: str, verdict: Verdict) -> dict[str, Any]:
    tests = {f"p_{test}": verdict.tests.get(test) for test in ("sign", "bootstrap")}
    return {"key": key, "name": name, "score": verdict.score, **tests}


def _variation(value: float | None, first: float | None) -> float | None:
    return None if value is None or not first else 100 * (value / first - 1)
