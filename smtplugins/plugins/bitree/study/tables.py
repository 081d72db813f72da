"""Tables 7.2 to 7.5 of Wellington, Turian and Melamed (2009) for other data, beside theirs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from smtplugins.host.printing import render
from smtplugins.plugins.bitree.words.atoms import shown_configuration

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


def shown(record: Mapping[str, Any], style: str) -> str:
    """The tables that there are, as text, TSV or LaTeX, or all that is known of them as JSON."""
    if style == "json":
        return json.dumps(record, indent=1, ensure_ascii=False)
    size = str(record["settings"]["paper"])
    parts = [
        ("Table 7.2: accuracy in percent and parameters, development text", _classifiers(record, size)),
        ("Table 7.3: bags, development text", _bags(record["dev bags"], BAGS[size])),
        ("Table 7.4: bags, test text", _bags(record["test bags"], TEST_BAGS[size])),
    ]
    if record["transducers"]:
        what = "" if record["settings"]["trees"] is None else f", trees: {record['settings']['trees']}"
        title = f"Table 7.5: transducers, test text{what}; p (Wilcoxon, F) of the difference from the first"
        parts.append((title, _transducers(record["transducers"])))
    mark = {"latex": "% "}.get(style, "")
    texts = [(title, render(table, list(table[0]), style)) for title, table in parts if table]
    return "\n\n".join(text if style == "tsv" else f"{mark}{title}\n{text}" for title, text in texts)


def short(size: float) -> str:
    """A number of parameters as the paper writes it."""
    if size < 1000:
        return f"{size:.0f}"
    scale, letter = (1e3, "K") if size < 999_500 else (1e6, "M")
    digits = 2 if size / scale < 9.995 else 1 if size / scale < 99.95 else 0
    return f"{size / scale:.{digits}f}{letter}"


def _classifiers(record: Mapping[str, Any], size: str) -> list[dict[str, str]]:
    found = []
    letters = record["settings"]["configurations"]
    for name, row in record["classifiers"].items():
        cells = {"": NAMES[name]}
        for one in letters:
            cells[shown_configuration(one)] = f"{row[one]['accuracy']['dev']:.2f}"
            theirs = ACCURACY[size].get(name)
            cells[f"paper, {shown_configuration(one)}"] = "" if theirs is None else f"{theirs[_COLUMNS.index(one)]:.2f}"
        found.append(cells)
    for name, row in record["classifiers"].items():
        if name == "baseline":
            continue
        cells = {"": f"{NAMES[name]}, size"}
        for one in letters:
            cells[shown_configuration(one)] = short(row[one]["size"])
            sizes = PARAMETERS[size].get(name)
            cells[f"paper, {shown_configuration(one)}"] = "" if sizes is None else sizes[_COLUMNS.index(one)]
        found.append(cells)
    return found


def title_of(name: str) -> str:
    """What a row is called."""
    return NAMES.get(name) or shown_configuration(name)


def _bags(rows: Sequence[Mapping[str, Any]], paper: Mapping[str, Sequence[float]]) -> list[dict[str, str]]:
    found = []
    for row in rows:
        cells = {"": title_of(str(row["system"])), **{one: f"{row[one]:.2f}" for one in "PRF"}}
        theirs = paper.get(str(row["system"]))
        for place, one in enumerate("PRF"):
            cells[f"paper {one}"] = "" if theirs is None else f"{theirs[place]:.2f}"
        found.append(cells)
    return found


def _transducers(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    found = []
    for row in rows:
        cells = {"": title_of(str(row["system"]))}
        theirs = TRANSDUCERS.get(str(row["system"]))
        for exponent in (1, 2):
            for letter in "PRF":
                cells[f"{letter}{exponent}"] = f"{row[f'{letter}{exponent}']:.2f}"
            cells[f"paper F{exponent}"] = "" if theirs is None else f"{theirs[3 * exponent - 1]:.2f}"
            p = row.get(f"p{exponent}")
            cells[f"p{exponent}"] = "" if p is None else f"{p:.2g}"
        found.append(cells)
    return found
