"""Progress bars for long work, on a terminal only."""

from __future__ import annotations

import contextlib
import contextvars
import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")
_HUSHED = contextvars.ContextVar("hushed", default=False)
_shown: _Bar | None = None


class _Bar:
    """The bar that is shown, with what is said beside its label."""

    def __init__(self, bar: Progress, label: str, total: int | None) -> None:
        self._bar, self._label = bar, label
        self._task = bar.add_task(label, total=total)

    def advance(self) -> None:
        self._bar.advance(self._task)

    def say(self, text: str) -> None:
        self._bar.update(self._task, description=f"{self._label}, {text}" if text else self._label)


def say_beside(text: str) -> None:
    """Show a text, such as the number of workers, beside the label of the bar, if one is shown."""
    if _shown is not None:
        _shown.say(text)


@contextlib.contextmanager
def hushed(quiet: bool = True) -> Iterator[None]:
    """Suppress progress bars inside the block if ``quiet``, also those of code that has no such option."""
    token = _HUSHED.set(_HUSHED.get() or quiet)
    try:
        yield
    finally:
        _HUSHED.reset(token)


def progress(
    items: Iterable[T], label: str, *, total: int | Callable[[], int] | None = None, quiet: bool = False
) -> Iterator[T]:
    """Pass items on, with a progress bar if standard error is a terminal and shows no other.

    A sequence has its length as ``total``. A function is called for it if there is a bar.
    """
    global _shown
    if quiet or _shown is not None or _HUSHED.get() or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    if callable(total):
        total = total()
    elif total is None and isinstance(items, Sized):
        total = len(items)
    columns: list[ProgressColumn] = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
    columns += [TimeElapsedColumn()]
    if total is not None:
        columns += [TextColumn("left"), TimeRemainingColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        _shown = _Bar(bar, label, total)
        try:
            for item in items:
                yield item
                _shown.advance()
        finally:
            _shown = None
