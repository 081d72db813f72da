"""What a runner implements: it spreads the items of a job over workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

from smtplugins.contracts.spec import Spec

Jobs = int | str | Mapping[str, Any] | Spec | None
"""How work is spread: a number of processes, or a runner: ``dask,address=tcp://HOST:PORT``."""


def close_state(state: Any) -> None:
    """Close the state of a worker, if it can be closed."""
    if hasattr(state, "close"):
        state.close()


@runtime_checkable
class Runner(Protocol):
    """Applies a function to items and returns results in input order; an error names its item.

    With ``setup``, each worker calls it once and ``function`` is called as ``function(state, item)``. A state that has
    ``close()`` is closed by its worker after the last item or when the job is aborted; errors in it count.
    """

    def map(
        self, function: Callable[..., Any], items: Iterable[Any], *, setup: Callable[[], Any] | None = None
    ) -> Iterator[Any]: ...


@runtime_checkable
class Kept(Protocol):
    """What workers made of items and keep between calls.

    ``map`` calls ``function(made, argument)`` for what was made of each item, where it is, and returns the results in
    the order of the items, as often as it is called. The first error in this order is raised. Neither results nor
    errors depend on the number of workers, so sums do not if they are added in this order.
    """

    def map(self, function: Callable[[Any, Any], Any], argument: Any) -> Iterator[Any]: ...


@runtime_checkable
class KeepingRunner(Protocol):
    """A runner whose workers can keep what they make.

    Each item is given to a worker, which calls ``make(item)`` before the first result is asked for, and keeps what it
    returns until the block ends. If what is kept is lost, it is made again or an error is raised. The host keeps things
    in its own process for a runner without ``keep``.
    """

    def keep(self, make: Callable[[Any], Any], items: Iterable[Any]) -> AbstractContextManager[Kept]: ...
