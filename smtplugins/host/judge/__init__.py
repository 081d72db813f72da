"""Judge translations and lists: scores, significance, oracles, consensus, and the data of reports.

Metrics are plugins; their kernels are in `smtplugins.core.metrics`.
"""

from __future__ import annotations
