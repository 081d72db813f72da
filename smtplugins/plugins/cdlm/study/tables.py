"""The tables of Li, Wang, Khudanpur and Eisner (2010) and its figures: 2 picking, 3 translations, 4 n-grams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from smtplugins.contracts.tools.study import CHANGE, SCORE, P, StudyColumn, StudyTable, score_columns
from smtplugins.plugins.cdlm.picking.picking import NgramOverlap

TABLES = {
    "picking": "the paper's table 2",
    "decoder": "table 3, with -c and --source",
    "ngrams": "table 4, with -c and --source",
}
PICKERS = {
    "blm": "the baseline language model (table 2)",
    "blm+wp": "a model with its score and a word penalty (table 2)",
    "blm+wp+tsrb": "a model with rule bigrams as well (table 2)",
}
SYSTEMS = {"without": "the system (table 3)", "with": "the system with the model of all features (table 3)"}
FEATURES = {"blm": "BLM", "wp": "WP", "tsrb": "TsRB"}
PAPER_PICKING: Mapping[str, float] = {"blm": 12.8, "blm+wp": 14.2, "blm+wp+tsrb": 25.3}
"""IWSLT 2005, the 506 sentences of Set4, 16 references."""
PAPER_DECODER: Mapping[str, float] = {"without": 48.5, "with": 49.5}
PAPER_PRECISION: Mapping[str, float] = {"1-gram": 36.5, "2-gram": 10.1, "3-gram": 3.7, "4-gram": 2.0}
PAPER_RECALL: Mapping[str, float] = {"1-gram": 48.2, "2-gram": 12.8, "3-gram": 4.6, "4-gram": 2.4}
_TENTHS = "{:.1f}"


def picking_table(rows: Sequence[Mapping[str, Any]], metric: str, count: int, references: int) -> StudyTable:
    """Table 2 from rows with ``name``, ``features`` and a score, and with ``same`` the score on the same sets."""
    keyed = [
        {"key": "+".join(row["features"]), **row, **{name: "x" for name in FEATURES if name in row["features"]}}
        for row in rows
    ]
    columns = [StudyColumn(name, title) for name, title in FEATURES.items()]
    columns += score_columns(metric, keyed, PAPER_PICKING, paper_form=_TENTHS)
    if any(row.get("same") is not None for row in rows):
        columns.append(StudyColumn("same", "same sets", SCORE))
    columns += [StudyColumn("words", "words", SCORE), StudyColumn("own", "own")]
    plural = "" if references == 1 else "s"
    title = (
        f"Table 2: picking from the confusion sets of {count} sentences, {references} reference{plural}; "
        "p (bootstrap) against the first"
    )
    return StudyTable("picking", title, columns, keyed, "model")


def decoder_table(rows: Sequence[Mapping[str, Any]], metric: str, count: int, seeds: int) -> StudyTable:
    """Table 3 from the rows ``without`` and ``with``, whose scores are means over seeds."""
    columns = score_columns(metric, rows, PAPER_DECODER, paper_form=_TENTHS)
    columns[-1:-1] = [StudyColumn("change", "change", CHANGE)]
    columns.append(StudyColumn("weight", "weight of cdlm", P))
    plural = "" if seeds == 1 else "s"
    title = f"Table 3: translations of {count} sentences, tuned with {seeds} seed{plural}; p (bootstrap) of the change"
    return StudyTable("decoder", title, columns, rows, "model")


def ngrams_table(overlaps: Sequence[NgramOverlap], nbest: int, count: int) -> StudyTable:
    """Table 4."""
    rows = [
        {
            "key": f"{n}-gram",
            "name": f"{n}-gram",
            "precision": 100 * overlap.precision,
            "recall": 100 * overlap.recall,
            "agreement": 100 * overlap.agreement,
            "simulated": overlap.simulated,
            "real": overlap.real,
            "both": overlap.both,
        }
        for n, overlap in enumerate(overlaps, 1)
    ]
    columns = [
        StudyColumn("precision", "precision %", SCORE, PAPER_PRECISION, _TENTHS),
        StudyColumn("recall", "recall %", SCORE, PAPER_RECALL, _TENTHS),
        StudyColumn("agreement", "both of either %", SCORE),
    ]
    title = f"Table 4: n-grams of {nbest}-best strings, simulated against real confusion sets of {count} sentences"
    return StudyTable("ngrams", title, columns, rows, "n")
