"""Open the candidates of several systems as a pool, a stream of lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from smtplugins.host.files.lists import ListStream

if TYPE_CHECKING:
    from smtformats import Candidates, Format
    from smtplugins.host.files.joining import System
    from smtplugins.host.files.opening import Path
    from smtplugins.host.pooling.merging import Missing, Scores

FORMAT = "jsonl-nbest"
"""The format of pools: it has string ids and keeps the systems of each candidate."""


def merge(
    systems: Mapping[str, System] | Iterable[System],
    *,
    missing: Missing = "flag",
    scores: Scores = "all",
    ranks: bool = False,
    dedup: bool = True,
    source: Path | None = None,
    allow_partial: bool = False,
    format: str | Mapping[str, str] | None = None,
    derivations: int | None = None,
    unique: bool = False,
    weights: Mapping[str, Mapping[str, float] | Path] | None = None,
    missing_weight: float | None = None,
    formats: Iterable[Format] | None = None,
) -> ListStream:
    """Pool the candidates of several systems; see :meth:`smtplugins.host.host.Host.merge`."""
    from smtformats import all_formats
    from smtplugins.host.files.opening import find_format
    from smtplugins.host.files.sides import join_side
    from smtplugins.host.pooling.merging import PoolOptions, pooled
    from smtplugins.host.pooling.systems import ForestOptions, pooled_systems

    options = PoolOptions(missing, scores, ranks, dedup, allow_partial)
    known = list(all_formats() if formats is None else formats)
    opened = pooled_systems(systems, known, format, ForestOptions(derivations, unique, weights or {}, missing_weight))
    name = "+".join(system.name for system in opened)

    def start() -> Iterator[Candidates]:
        lists = pooled(opened, options, sourced=source is not None)
        return lists if source is None else join_side(lists, source, name, partial=allow_partial, formats=known)

    return ListStream(start, name, find_format(FORMAT, "nbest"))
