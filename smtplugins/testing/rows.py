"""Compare scores row by row, by column name, exactly or within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smtplugins.host.features.scoring import Block

Row = tuple[tuple[str, ...], tuple[float, ...]]
"""The names of a row's columns and their values."""


def rows_of(block: Block) -> list[Row]:
    """Return the rows of a block of scores."""
    layouts, values = block
    return [(layout, tuple(row)) for layout, row in zip(layouts, values, strict=True)]


def scored(result: Any, count: int) -> list[dict[str, float]]:
    """Return a feature's result for ``count`` edges or rules as rows by name; a wrong shape fails the check."""
    from smtplugins.host.features.scoring import as_block

    try:
        layouts, values = as_block(result, count, "score")
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}") from error
    return [dict(zip(layout, row, strict=True)) for layout, row in zip(layouts, values, strict=True)]


def difference(
    wanted: Row | Mapping[str, float], actual: Row | Mapping[str, float], tolerance: float = 0.0
) -> str | None:
    """Describe the first column in which two rows differ, or return None; in mappings an absent column counts 0."""
    if isinstance(wanted, tuple) and isinstance(actual, tuple):
        if wanted[0] != actual[0]:
            return f"columns {wanted[0]} and then {actual[0]}"
        wanted, actual = (dict(zip(*row, strict=True)) for row in (wanted, actual))
    assert isinstance(wanted, Mapping) and isinstance(actual, Mapping)
    for name in sorted({*wanted, *actual}):
        first, second = wanted.get(name, 0.0), actual.get(name, 0.0)
        if first != second and not math.isclose(first, second, rel_tol=tolerance, abs_tol=tolerance):
            return f"{name!r} is {first!r} and then {second!r}"
    return None


def summed(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the sum of rows."""
    total: dict[str, float] = {}
    for row in rows:
        for name, value in row.items():
            total[name] = total.get(name, 0.0) + value
    return total
