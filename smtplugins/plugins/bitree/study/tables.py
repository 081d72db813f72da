"""Tables 7.2 to 7.5 of Wellington, Turian and Melamed (2009): rows, columns and the paper's figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from smtplugins.contracts.tools.study import SCORE, Form, StudyColumn, StudyTable, paper_column
from smtplugins.plugins.bitree.words.atoms import shown_configuration

TABLES = {
    "accuracy": "table 7.2",
    "sizes": "parameters in table 7.2",
    "dev-bags": "table 7.3",
    "test-bags": "table 7.4",
    "transducers": "table 7.5, with trees or --shape",
}
ROWS = {
    "l1": "boosted trees, always",
    "l2": "l2 and pruned l2",
    "svm": "the online SVM",
    "phrase": "phrases, with --lm",
}
SIZES = ("10k", "100k")
_COLUMNS = ("W", "WD", "WC", "WDC")
ACCURACY: dict[str, dict[str, tuple[float, ...]]] = {
    "10k": {
        "baseline": (47.54, 47.54, 47.54, 47.54),
        "l2": (54.09, 54.33, 52.36, 52.88),
        "l1": (53.96, 54.13, 53.29, 53.75),
        "svm": (53.38, 51.93, 49.13, 50.71),
        "pruned": (47.37, 46.01, 46.68, 45.01),
    },
    "100k": {"baseline": (51.94, 51.94, 51.94, 51.94), "l1": (62.00, 62.42, 61.98, 62.40)},
}
PARAMETERS: dict[str, dict[str, tuple[str, ...]]] = {
    "10k": {
        "l1": ("54.1K", "41.7K", "37.8K", "38.7K"),
        "l2": ("1.67M", "2.51M", "5.63M", "6.47M"),
        "pruned": ("54.1K", "41.7K", "37.8K", "38.7K"),
    },
    "100k": {"l1": ("736K", "703K", "316K", "322K")},
}
BAGS: dict[str, dict[str, tuple[float, float, float]]] = {
    "10k": {
        "baseline": (48.09, 41.26, 44.42),
        "W": (53.93, 42.81, 47.73),
        "WD": (53.97, 42.72, 47.69),
        "WC": (53.31, 42.45, 47.26),
        "WDC": (53.58, 42.67, 47.50),
        "mixture": (54.05, 42.95, 47.87),
    },
    "100k": {
        "baseline": (51.91, 40.79, 45.68),
        "W": (58.79, 44.26, 50.50),
        "WD": (59.12, 44.57, 50.82),
        "WC": (59.06, 44.36, 50.67),
        "WDC": (59.19, 44.60, 50.87),
        "mixture": (59.03, 44.55, 50.78),
        "phrase-without-lm": (32.20, 54.62, 40.51),
        "phrase-with-lm": (56.20, 57.49, 56.84),
        "bound": (100.00, 86.31, 92.65),
    },
}
TEST_BAGS: dict[str, dict[str, tuple[float, float, float]]] = {
    "10k": {"WD": (54.36, 42.75, 47.86), "mixture": (54.27, 42.81, 47.86)},
    "100k": {
        "WDC": (59.49, 44.19, 50.71),
        "mixture": (59.62, 44.38, 50.88),
        "phrase-without-lm": (32.55, 54.62, 40.80),
        "phrase-with-lm": (57.01, 57.84, 57.45),
    },
}
TRANSDUCERS: dict[str, tuple[float, ...]] = {
    "generative": (51.29, 38.30, 43.85, 22.62, 16.90, 19.35),
    "discriminative": (59.89, 39.53, 47.62, 26.94, 17.78, 21.42),
    "phrase-without-lm": (32.19, 54.62, 40.51, 12.37, 20.99, 15.57),
}
NAMES = {
    "baseline": "most frequent",
    "l2": "l2",
    "l1": "l1",
    "svm": "online SVM",
    "pruned": "pruned l2",
    "mixture": "mixture",
    "bound": "1-to-1 bound",
    "phrase-without-lm": "phrase without LM",
    "phrase-with-lm": "phrase with LM",
    "generative": "generative",
    "discriminative": "discriminative",
}


def title_of(key: str) -> str:
    """The name of a row."""
    return NAMES.get(key) or shown_configuration(key)


def short(size: float) -> str:
    """A number of parameters as the paper writes it."""
    if size < 1000:
        return f"{size:.0f}"
    scale, letter = (1e3, "K") if size < 999_500 else (1e6, "M")
    digits = 2 if size / scale < 9.995 else 1 if size / scale < 99.95 else 0
    return f"{size / scale:.{digits}f}{letter}"


def accuracy_table(records: Mapping[str, Mapping[str, Any]], letters: Sequence[str], size: str) -> StudyTable:
    """The accuracies of table 7.2 from the records of each kind of classifiers and configuration."""
    rows = [_named(kind, {name: own[name]["accuracy"]["dev"] for name in letters}) for kind, own in records.items()]
    columns = _columns(letters, SCORE, ACCURACY[size])
    return StudyTable("accuracy", "Table 7.2: accuracy in percent, development text", columns, rows)


def sizes_table(records: Mapping[str, Mapping[str, Any]], letters: Sequence[str], size: str) -> StudyTable:
    """The parameters of table 7.2."""
    kinds = [kind for kind in records if kind != "baseline"]
    rows = [_named(kind, {name: records[kind][name]["size"] for name in letters}) for kind in kinds]
    return StudyTable("sizes", "Table 7.2: parameters", _columns(letters, short, PARAMETERS[size]), rows)


def _columns(letters: Sequence[str], form: Form, paper: Mapping[str, Sequence[Any]]) -> list[StudyColumn]:
    """A column for each configuration."""
    figures = [paper_column(paper, _COLUMNS.index(name)) for name in letters]
    named = zip(letters, figures, strict=True)
    return [
        StudyColumn(name, shown_configuration(name), form, own, "{}" if form is short else form) for name, own in named
    ]


def bags_table(key: str, rows: Sequence[Mapping[str, Any]], size: str) -> StudyTable:
    """Table 7.3 (``dev-bags``) or 7.4 (``test-bags``): precision, recall and F."""
    number, what, paper = (3, "development", BAGS) if key == "dev-bags" else (4, "test", TEST_BAGS)
    columns = [StudyColumn(name, name, SCORE, paper_column(paper[size], at)) for at, name in enumerate("PRF")]
    named = [_named(row["key"], row) for row in rows]
    return StudyTable(key, f"Table 7.{number}: bags, {what} text", columns, named)


def transducers_table(rows: Sequence[Mapping[str, Any]], trees: str | None) -> StudyTable:
    """Table 7.5: precision, recall and F by exponent of GTM."""
    columns = []
    for exponent in (1, 2):
        for at, letter in enumerate("PRF"):
            key = f"{letter}{exponent}"
            figures = paper_column(TRANSDUCERS, 3 * exponent - 3 + at)
            columns.append(StudyColumn(key, key, SCORE, figures if letter == "F" else {}))
        columns.append(StudyColumn(f"p{exponent}", f"p{exponent}", "{:.2g}"))
    kind = "" if trees is None else f", trees: {trees}"
    title = f"Table 7.5: transducers, test text{kind}; p (Wilcoxon, F) of the difference from the first"
    return StudyTable("transducers", title, columns, [_named(row["key"], row) for row in rows])


def _named(key: str, figures: Mapping[str, Any]) -> dict[str, Any]:
    return {"key": key, "name": title_of(key), **figures}
