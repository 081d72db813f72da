"""Compute feature functions on n-best lists and on rules: needs, columns, segmentations, states.

Feature functions themselves are plugins.
"""

from __future__ import annotations
