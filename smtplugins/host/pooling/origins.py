"""Which systems of a pool were chosen, and how often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from smtformats import Candidates

SYSTEM = "system"
"""The extra field that names the systems of a candidate."""
BETWEEN = ","
COLUMNS = ("pool", "chosen", "sentences", "share", "alone")


def systems_of(nbest: Candidates, i: int) -> str | None:
    """The systems that have a candidate, or None if the list is not a pool."""
    column = nbest.extras.get(SYSTEM)
    return None if column is None else column[i]


def count_chosen(origins: Iterable[str | None]) -> dict[str, tuple[int, int]]:
    """For each system, the number of chosen candidates that it has, and of those that no other system has.

    ``origins`` names the systems of each chosen candidate; the result is empty if no candidate has any.
    """
    counts: dict[str, tuple[int, int]] = {}
    for origin in origins:
        names = list(filter(None, (origin or "").split(BETWEEN)))
        for name in names:
            chosen, alone = counts.get(name, (0, 0))
            counts[name] = chosen + 1, alone + (len(names) == 1)
    return dict(sorted(counts.items(), key=lambda item: (-item[1][0], item[0])))


def chosen_rows(pool: str, counts: Mapping[str, tuple[int, int]], sentences: int) -> list[dict[str, Any]]:
    """A row for each system of a pool: how often it was chosen, in per cent of the sentences, and how often alone."""
    return [
        {"pool": pool, "chosen": name, "sentences": count, "share": 100.0 * count / sentences, "alone": alone}
        for name, (count, alone) in counts.items()
    ]


def shown_counts(counts: Mapping[str, tuple[int, int]], sentences: int) -> str:
    """The counts as text: ``moses 30 of 50 (20 alone), cdec 30 of 50 (20 alone)``."""
    return ", ".join(f"{name} {count} of {sentences} ({alone} alone)" for name, (count, alone) in counts.items())
