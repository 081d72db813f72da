"""Objectives with gradients, minimisers, and upper envelopes for learners of linear weights."""

from __future__ import annotations

from smtplugins.core.learn.envelopes import ListSearch, Surfaces, graph_envelope, summed_surface, upper_envelope
from smtplugins.core.learn.minimising import Objective, Space, minimise
from smtplugins.core.learn.objectives import (
    FeatureRows,
    ListRisk,
    difference,
    mean_of_gains,
    pair_loss,
    score_of_sums,
    simplex_step,
)

__all__ = [
    "FeatureRows",
    "ListRisk",
    "ListSearch",
    "Objective",
    "Space",
    "Surfaces",
    "difference",
    "graph_envelope",
    "mean_of_gains",
    "minimise",
    "pair_loss",
    "score_of_sums",
    "simplex_step",
    "summed_surface",
    "upper_envelope",
]
