"""Sufficient statistics of hypotheses against references, and scores from statistics: the native functions.

``MetricReferences`` holds the references of segments for one metric and compares any number of hypotheses with them,
as texts or as word ids; words are split as by ``str.split``. ``bleu_scores`` and ``chrf_scores`` are sacrebleu's
formulas, ``tokenize_13a`` is its default tokenizer for BLEU. ``word_posteriors`` aligns the texts of a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.core._core import MetricReferences as MetricReferences
from smtplugins.core._core import bleu_scores as bleu_scores
from smtplugins.core._core import chrf_scores as chrf_scores
from smtplugins.core._core import tokenize_13a as tokenize_13a
from smtplugins.core._core import word_posteriors as word_posteriors


def score_rows(stats: Any, score: Any) -> NDArray[Any]:
    """Apply ``score``, a function of a table of rows, to statistics with any leading axes."""
    rows = np.asarray(stats, dtype=np.float64)
    flat = np.ascontiguousarray(rows.reshape(-1, rows.shape[-1]))
    scores: NDArray[Any] = np.asarray(score(flat)).reshape(rows.shape[:-1])
    return scores


def edit_rates(stats: NDArray[Any]) -> NDArray[Any]:
    """Edits per reference word in percent; as in TER, edits against an empty reference are 100."""
    edits, length = stats[:, 0], stats[:, 1]
    rates: NDArray[Any] = 100 * np.where(length > 0, edits / np.where(length > 0, length, 1.0), edits > 0)
    return rates


def f_measures(stats: NDArray[Any], part: str = "f") -> NDArray[Any]:
    """``precision``, ``recall`` or ``f`` in percent, of rows of match size, hypothesis length, reference length."""
    size, length, reference = stats[:, 0], stats[:, 1], stats[:, 2]
    above = 2 * size if part == "f" else size
    below = {"precision": length, "recall": reference, "f": length + reference}[part]
    scores: NDArray[Any] = 100 * above / np.where(below > 0, below, 1.0)
    return scores


def segments_of(references: Sequence[Sequence[str]]) -> list[list[str]]:
    """Turn streams of references into a list for each segment; None is a missing reference, as in sacrebleu."""
    return [[text for text in texts if text is not None] for texts in zip(*references, strict=True)]
