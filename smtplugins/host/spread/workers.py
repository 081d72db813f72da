"""What runners of every kind do with the errors and items of their workers."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from smtplugins.contracts.errors import SmtError

if TYPE_CHECKING:
    from smtplugins.contracts.runners import Runner

_Result = TypeVar("_Result")


def spread(
    function: Callable[[Any, Any], _Result], items: Sequence[Any], setup: Callable[[], Any], runner: Runner | None
) -> Iterator[_Result]:
    """The results of ``function(setup(), item)``, by a runner if there is one."""
    return (
        map(functools.partial(function, setup()), items) if runner is None else runner.map(function, items, setup=setup)
    )


def portable(error: Exception | SystemExit) -> Exception:
    """The error if it can be pickled, else an SmtError with its message; SystemExit becomes an error, too."""
    if isinstance(error, SystemExit):
        from smtplugins.host.errors import exit_error

        return exit_error(error)
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return SmtError(f"{type(error).__name__}: {error}")
    return error


def item_name(item: Any) -> str:
    """What messages call an item: its id, that of the first of several parts, or itself."""
    first = item[0] if isinstance(item, tuple) and item else item
    return str(getattr(first, "id", first))


def cost_of(item: Any) -> int:
    """About how much work an item is: the words of a sentence, the hypotheses of a list, or 1."""
    first = item[0] if isinstance(item, tuple) and item else item
    if hasattr(first, "tokens"):
        return len(first.tokens) + 1
    if hasattr(first, "texts"):
        return len(first.texts) + 1
    return 1
