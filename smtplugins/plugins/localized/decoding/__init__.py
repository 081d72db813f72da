"""The decoder `swap`."""

from __future__ import annotations
