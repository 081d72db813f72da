"""Search tasks: decisions of a decoder as a policy that can be learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Columns
    from smtplugins.host.learn import search_tasks


class SearchTask(Protocol):
    """A sequence of decisions that builds something.

    States are values: ``after`` returns the next state and leaves the old one unchanged, and equal states lead to
    equal states under the same action. A state without actions is final. ``features`` has a row for each action.
    ``reward`` is earned on arrival in a state, higher is better; for many tasks it is 0 except in final states.
    """

    def begin(self, example: Any) -> Any: ...

    def actions(self, state: Any) -> Sequence[Any]: ...

    def features(self, state: Any, actions: Sequence[Any]) -> Columns: ...

    def after(self, state: Any, action: Any) -> Any: ...

    def reward(self, state: Any) -> float: ...


@runtime_checkable
class GuidedTask(Protocol):
    """A search task that follows linear policies itself, usually in native code.

    ``follow`` returns the path from a state to a final one, with ``first`` as its first action if given; ``ranked``
    the actions with their scores, best first (the first is the policy's choice). ``host/learn/search_tasks.py`` does
    the same for all other tasks.
    """

    def follow(self, state: Any, weights: search_tasks.Weights, first: Any = None) -> search_tasks.Path: ...

    def ranked(self, state: Any, weights: search_tasks.Weights) -> tuple[Sequence[Any], NDArray[Any]]: ...


@runtime_checkable
class OptimalTask(Protocol):
    """A search task with an oracle: ``optimal`` returns an action that no other action's return exceeds.

    The return of an action is its reward plus all rewards of following ``optimal`` from there on.
    """

    def optimal(self, state: Any) -> Any: ...


@dataclass(frozen=True)
class TaskProblem:
    """A learning problem: examples of a search task, for which a policy is learnt.

    ``start`` are initial weights of features for which the run has none.
    """

    search: SearchTask
    examples: Sequence[Any]
    start: Mapping[str, float] = field(default_factory=dict)
