"""Scores with significance tests, consensus, and the data of reports."""

from __future__ import annotations

from smtplugins.host.judge.consensus import prepare_references
from smtplugins.host.judge.evaluation import Texts
from smtplugins.host.judge.histories import OBJECTIVE, RunHistory
from smtplugins.host.judge.judging import JudgedLists
from smtplugins.host.judge.reporting import Report
from smtplugins.host.pooling.origins import systems_of

__all__ = [
    "OBJECTIVE",
    "JudgedLists",
    "Report",
    "RunHistory",
    "Texts",
    "prepare_references",
    "systems_of",
]
