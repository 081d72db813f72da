"""Minimum-risk training of the language model on confusion sets, and `smt cdlm train`."""

from __future__ import annotations
