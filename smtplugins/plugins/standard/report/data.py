"""The data of a page: an overview in plain JSON, and a packed block for each list, unpacked when it is viewed.

A block is deflated JSON in base64. In it features are columns: a single number if all hypotheses have the same value, a
list of numbers, or rows and values if most are 0. Numbers keep six digits; ``null`` is not a finite number.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np

from smtformats import Candidates
from smtformats.tree.trees import Tree
from smtplugins.contracts.tools.judging import JudgedLists, Report, systems_of
from smtplugins.plugins.standard.report.trees import Shown

_DIGITS = 6
_HARMLESS = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def page_data(report: Report, candidates: int, trees: Shown | None = None) -> str:
    """Return the data as JSON that is safe in a script element: it cannot end the element or begin another."""
    data = {} if report.judged is None else _list_overview(report.judged, candidates)
    if trees is not None:
        data["trees"] = trees.data()
    return _json(data or None).translate(_HARMLESS)


def _list_overview(judged: JudgedLists, candidates: int) -> dict[str, Any]:
    lists = judged.lists
    names = lists.features.names
    weights = None if judged.weights is None else rounded([judged.weights.get(name, 0.0) for name in names])
    firsts = lists.offsets[:-1]
    return {
        "metric": judged.metric,
        "sign": 1 if judged.higher_is_better else -1,
        "baseline": judged.baseline_name,
        "features": packed({"names": names, "weights": weights}),
        "ids": lists.ids,
        "sizes": (lists.offsets[1:] - firsts).tolist(),
        "chosen": rounded(judged.scores[firsts]),
        "oracle": rounded(judged.scores[judged.oracles]),
        "base": rounded(judged.baseline_scores),
        "blocks": [packed(_block(judged, k, candidates)) for k in range(len(lists))],
    }


def _block(judged: JudgedLists, k: int, candidates: int) -> dict[str, Any]:
    """Return the data of a list: its first hypotheses, and the oracle if it is not among them."""
    lists = judged.lists
    first, last = int(lists.offsets[k]), int(lists.offsets[k + 1])
    oracle = int(judged.oracles[k]) - first
    rows = list(range(min(last - first, candidates)))
    if oracle >= len(rows):
        rows.append(oracle)
    shown = lists[k].select(rows)
    block: dict[str, Any] = {
        "source": lists.sources[k],
        "references": judged.references[k],
        "baseline": judged.baseline[k],
        "texts": shown.texts,
        "oracle": rows.index(oracle),
        "last": rows[-1],
        "totals": None if shown.totals is None else rounded(shown.totals),
        "scores": rounded(judged.scores[first:last][rows]),
        **_features(judged, first, rows),
    }
    systems = [systems_of(shown, i) for i in range(len(shown))]
    if any(systems):
        block["systems"] = systems
    trees = _trees(shown)
    if any(trees):
        block["trees"] = trees
    return block


def _features(judged: JudgedLists, first: int, rows: list[int]) -> dict[str, Any]:
    columns = judged.lists.features
    places = [slice(columns.offsets[first + row], columns.offsets[first + row + 1]) for row in rows]
    all_ids = np.concatenate([columns.ids[place] for place in places])
    ids, at = np.unique(all_ids, return_inverse=True)
    table = np.zeros((len(ids), len(rows)))
    row_of = np.repeat(np.arange(len(rows)), [place.stop - place.start for place in places])
    table[at, row_of] = np.concatenate([columns.values[place] for place in places])
    # Rounded all at once, as sparse lists have thousands of columns.
    flat, n = rounded(table.ravel()), len(rows)
    equal = (table == table[:, :1]).all(axis=1).tolist()
    sparse = ((table != 0).sum(axis=1) * 3 < n).tolist()
    shown = [_column(flat[c * n : (c + 1) * n], equal[c], sparse[c]) for c in range(len(ids))]
    return {"features": ids.tolist(), "columns": shown}


def _column(values: list[float | None], equal: bool, sparse: bool) -> Any:
    if equal:
        return values[0]
    if sparse:
        there = [row for row, value in enumerate(values) if value != 0]
        return {"rows": there, "values": [values[row] for row in there]}
    return values


def _trees(shown: Candidates) -> list[Any]:
    """Return each tree in depth-first order: [label] at the start of a node, 0 at its end, and words."""
    return [_walk(tree) if tree.label or tree.children else None for tree in shown.derivations or ()]


def _walk(tree: Tree) -> list[Any]:
    return [0 if item is None else item if isinstance(item, str) else [item.label] for item in tree.walk()]


def rounded(values: Any) -> list[float | None]:
    """Round numbers to six significant digits; infinity and NaN become ``None``."""
    table = np.asarray(values, dtype=np.float64)
    good = np.isfinite(table)
    sizes = np.where(good & (table != 0), np.abs(table), 1.0)
    power = _DIGITS - 1 - np.floor(np.log10(sizes)).astype(np.int64)
    # Negative powers of ten are not exact; dividing by positive powers is.
    up, down = 10.0 ** np.clip(power, 0, 300), 10.0 ** np.clip(-power, 0, 300)
    short = np.round(np.where(good, table, 0.0) * up / down) * down / up
    return [value if fine else None for value, fine in zip((short + 0.0).tolist(), good.tolist(), strict=True)]


def packed(record: Any) -> str:
    """Return a record as deflated JSON in base64."""
    return base64.b64encode(zlib.compress(_json(record).encode(), 9)).decode()


def _json(record: Any) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
