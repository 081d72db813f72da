"""Progress on long work: a bar on a terminal, nothing anywhere else."""

from __future__ import annotations

import contextlib
import contextvars
import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
_HUSHED = contextvars.ContextVar("hushed", default=False)


@contextlib.contextmanager
def hushed(quiet: bool = True) -> Iterator[None]:
    """No bars inside, if so asked for: for work of which others, who know nothing of the asking, show progress."""
    token = _HUSHED.set(_HUSHED.get() or quiet)
    try:
        yield
    finally:
        _HUSHED.reset(token)


def progress(items: Iterable[T], label: str, *, total: int | None = None, quiet: bool = False) -> Iterator[T]:
    """Pass items on, showing how many went by if standard error is a terminal."""
    if quiet or _HUSHED.get() or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        for item in items:
            yield item
            bar.advance(task)
