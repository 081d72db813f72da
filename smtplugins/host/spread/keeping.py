"""What is made of items stays where it was made, for functions that are called on all of it again and again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from smtformats.records import dataclass
from smtplugins.contracts.errors import SmtError
from smtplugins.host.spread.workers import portable

if TYPE_CHECKING:
    from smtplugins.contracts.runners import Kept, Runner


@dataclass(frozen=True)
class Part:
    """The results of a worker, up to its first error."""

    results: list[Any]
    error: Exception | None = None
    trace: str = ""


class Share:
    """Some of the items, and what was made of them in this process."""

    def __init__(self, make: Callable[[Any], Any], items: Iterable[Any]) -> None:
        self._make = make
        self._things = list(items)
        self._made = 0

    def map(self, function: Callable[[Any, Any], Any], argument: Any) -> Iterator[Any]:
        """Call a function on what was made of each item, which is made first if it was not."""
        for at, thing in enumerate(self._things):
            if at == self._made:
                thing = self._things[at] = self._make(thing)
                self._made += 1
            yield function(thing, argument)

    def part(self, function: Callable[[Any, Any], Any], argument: Any) -> Part:
        """The same for another process."""
        results: list[Any] = []
        try:
            results.extend(self.map(function, argument))
        except (Exception, SystemExit) as error:
            import traceback

            return Part(results, portable(error), traceback.format_exc())
        return Part(results)


def in_order(parts: Sequence[Part], count: int) -> Iterator[Any]:
    """The results for all items, of which part p has those from the p-th on in steps of the number of parts."""
    for at in range(count):
        place, part = at // len(parts), parts[at % len(parts)]
        if place == len(part.results):
            assert part.error is not None
            raise part.error from SmtError(f"in a worker process:\n{part.trace}")
        yield part.results[place]


@contextlib.contextmanager
def keep(runner: Runner | None, make: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Kept]:
    """Keep what is made of the items on the runner's workers, or here if they keep nothing or there is one item."""
    from smtplugins.contracts.runners import KeepingRunner

    given = list(items)
    if isinstance(runner, KeepingRunner) and len(given) > 1:
        with runner.keep(make, given) as kept:
            yield kept
    else:
        yield Share(make, given)
