"""Feature functions as the host applies them: columns, segmentations, search states."""

from __future__ import annotations

from smtplugins.host.features.rule_columns import blocks_of, column_names
from smtplugins.host.features.scoring import Active, activate
from smtplugins.host.features.segmentations import Phrase, phrases_of
from smtplugins.host.features.stateful import SearchScorers

__all__ = [
    "Active",
    "Phrase",
    "SearchScorers",
    "activate",
    "blocks_of",
    "column_names",
    "phrases_of",
]
