"""Block orientation events of a bitext, and `smt localized events`."""

from __future__ import annotations
