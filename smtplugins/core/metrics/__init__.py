"""Sufficient statistics of metrics, resampling and paired tests.

Metrics that users name are in the plugin `standard`.
"""

from __future__ import annotations
