"""N-gram language models: load and query them, estimate them from text."""

from __future__ import annotations
