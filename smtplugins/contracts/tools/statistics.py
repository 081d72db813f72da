"""Sufficient statistics of metrics and significance tests."""

from __future__ import annotations

from smtplugins.core.metrics.signed import wilcoxon_p
from smtplugins.core.metrics.statistics import (
    MetricReferences,
    bleu_scores,
    chrf_scores,
    edit_rates,
    f_measures,
    score_rows,
    segments_of,
    tokenize_13a,
    word_posteriors,
)

__all__ = [
    "MetricReferences",
    "bleu_scores",
    "chrf_scores",
    "edit_rates",
    "f_measures",
    "score_rows",
    "segments_of",
    "tokenize_13a",
    "wilcoxon_p",
    "word_posteriors",
]
