"""Sufficient statistics of metrics, resampling and paired tests.

The metrics that users select by name are in the plugin `standard`.
"""

from __future__ import annotations
