"""Checks of feature functions, a module per contract, and scoring of forests that only these checks need.

`any_feature` holds for every feature; the other modules add what their contract promises.
"""

from __future__ import annotations
