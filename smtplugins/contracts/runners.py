"""What a runner implements: it spreads the items of a job over workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
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
