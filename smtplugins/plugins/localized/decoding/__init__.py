"""The decoder `swap`, and decoding with a block model in memory."""

from __future__ import annotations
