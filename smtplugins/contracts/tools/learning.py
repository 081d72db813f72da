"""Building blocks of learners and of tuning: problems as matrices, search tasks, the loop around a decoder."""

from __future__ import annotations

from smtplugins.host.learn.loop import Ended, LoopPlan, tune_decoder
from smtplugins.host.learn.problems import Matrix, checked_weights, forest_scales, matrix_of
from smtplugins.host.learn.run_inputs import check_sentences
from smtplugins.host.learn.search_tasks import Path, Weights, follow, ranked
from smtplugins.host.learn.tuning import plan_of

__all__ = [
    "Ended",
    "LoopPlan",
    "Matrix",
    "Path",
    "Weights",
    "check_sentences",
    "checked_weights",
    "follow",
    "forest_scales",
    "matrix_of",
    "plan_of",
    "ranked",
    "tune_decoder",
]
