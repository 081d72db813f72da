"""Confusion sets as hypergraphs, and `smt cdlm confuse`."""

from __future__ import annotations
