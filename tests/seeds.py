"""How many random cases a test tries."""

from __future__ import annotations

from hypothesis import settings


def seeds(count: int) -> range:
    """The seeds of a test: ``count`` in the deep profile, else its share of them, as of the examples of properties."""
    share = count * settings().max_examples // 100
    return range(max(share, min(count, 10)))
