"""What workers of dask keep: portions of the items, each on a worker; dask makes a lost one again on another."""

from __future__ import annotations

import itertools
import pickle
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.tools.running import Part, Share, in_order, item_name, portable
from smtplugins.plugins.cluster.worker import Assignment, working

if TYPE_CHECKING:
    from distributed import Future

    from smtplugins.plugins.cluster.connection import Connection

_EACH = 2
"""Portions for each worker, so that faster ones have more of them and some move to those that join."""
_GROWTH = 16
"""About how much larger what is made is than its item, as dask weighs moving it against waiting."""
_LARGE = 1 << 16
"""Calls of more bytes go to the workers once, not with each portion."""


class Portion:
    """Some items and what was made of them on this worker; on another one, it is made again."""

    def __init__(self, token: str, data: bytes) -> None:
        self._token, self._data = token, data
        self._share: Share | None = None

    def call(self, call: bytes) -> Part:
        """Call a pickled function with its argument on all that was made, which is made first if it was not."""
        try:
            with working(self._token) as make:
                if self._share is None:
                    self._share = Share(make, pickle.loads(self._data))
                return self._share.part(*pickle.loads(call))
        except (Exception, SystemExit) as error:
            import traceback

            return Part([], portable(error), traceback.format_exc())

    def __reduce__(self) -> tuple[Any, ...]:
        return Portion, (self._token, self._data)

    def __sizeof__(self) -> int:
        return _GROWTH * len(self._data)


def make_portion(token: str, data: bytes) -> Portion:
    """Make something of each item; errors come with the first call."""
    portion = Portion(token, data)
    portion.call(pickle.dumps((_nothing, None)))
    return portion


def call_portion(portion: Portion, call: bytes) -> bytes:
    """The pickled results of a portion."""
    return pickle.dumps(portion.call(call), pickle.HIGHEST_PROTOCOL)


def _nothing(made: Any, argument: Any) -> None:
    """Look at what was made."""


def _same(data: bytes) -> bytes:
    return data


class KeptThere:
    """What the workers of a cluster keep."""

    def __init__(self, connection: Connection, recipe: bytes, items: Sequence[Any]) -> None:
        self._connection = connection
        self._token = f"smt-{uuid.uuid4().hex}"
        self._number = itertools.count()
        self._recipe = recipe
        self._count = len(items)
        portions = min(len(items), _EACH * max(1, connection.workers()))
        self._items = [items[at::portions] for at in range(portions)]
        self._portions: list[Future] = []

    def begin(self) -> None:
        """Send the items."""
        self._connection.register(Assignment(self._token, self._recipe))
        self._portions.extend(map(self._sent, self._items))

    def map(self, function: Callable[[Any, Any], Any], argument: Any) -> Iterator[Any]:
        """Call a function on all that is kept."""
        import cloudpickle

        call: Any = cloudpickle.dumps((function, argument), pickle.HIGHEST_PROTOCOL)
        if len(call) > _LARGE:
            call = self._connection.submit(self._key("call"), _same, call)
        futures = self._asked(self._portions, call)
        parts = []
        for at, result in enumerate(self._connection.results(futures)):
            parts.append(self._alone(at, call) if result is None else pickle.loads(result))
        yield from in_order(parts, self._count)

    def end(self) -> None:
        """Forget what is kept."""
        self._portions.clear()
        self._connection.end(self._token)

    def cancel(self) -> None:
        """Give up."""
        self._connection.cancel(self._portions, self._token)

    def _key(self, kind: str) -> str:
        return f"smt-{kind}-{self._token.removeprefix('smt-')}-{next(self._number)}"

    def _sent(self, items: Sequence[Any]) -> Future:
        data = pickle.dumps(list(items), pickle.HIGHEST_PROTOCOL)
        return self._connection.submit(self._key("portion"), make_portion, self._token, data)

    def _asked(self, portions: Sequence[Future], call: Any) -> list[Future]:
        # A group of tasks for each round: dask lets tasks of larger groups run where their portion is not.
        group = self._key("round")
        keys = [(group, at) for at in range(len(portions))]
        return self._connection.submit_each(keys, call_portion, portions, call)

    def _alone(self, at: int, call: Any) -> Part:
        """The results of a portion that was on several workers that died: item by item, with nothing beside it."""
        results: list[Any] = []
        for item in self._items[at]:
            (result,) = self._connection.results(self._asked([self._sent([item])], call))
            if result is None:
                raise SmtError(
                    f"item {item_name(item)}: several workers died of it, one after the other (out of memory?)"
                )
            part = pickle.loads(result)
            results += part.results
            if part.error is not None:
                return Part(results, part.error, part.trace)
        self._portions[at] = self._sent(self._items[at])
        return Part(results)
