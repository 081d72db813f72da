"""The decoder `amasis`, and the feature `itg-history`."""

from __future__ import annotations
