"""Checks of the search tasks of decoders: the task fulfils its contract, and its policy decodes as the decoder does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import TaskDecoder
from smtplugins.contracts.models import Model
from smtplugins.contracts.tasks import GuidedTask, OptimalTask, TaskProblem
from smtplugins.host.learn.search_tasks import Path, Weights, follow, ranked
from smtplugins.testing import samples
from smtplugins.testing.checks import Check, DoesNotApply
from smtplugins.testing.decoders import rule_systems as grammars
from smtplugins.testing.decoders.rule_systems import TOLERANCE

if TYPE_CHECKING:
    from smtformats import Columns
    from smtplugins.contracts.tasks import SearchTask
    from smtplugins.testing.decoders.any_decoder import DecoderSubject

_SYSTEMS = 4
_TRIED = 3
"""The number of other actions tried from each state of a path."""


class _Plain:
    """A task without the optional methods of guided and optimal tasks."""

    def __init__(self, task: SearchTask) -> None:
        self._task = task

    def begin(self, example: Any) -> Any:
        return self._task.begin(example)

    def actions(self, state: Any) -> Sequence[Any]:
        return self._task.actions(state)

    def features(self, state: Any, actions: Sequence[Any]) -> Columns:
        return self._task.features(state, actions)

    def after(self, state: Any, action: Any) -> Any:
        return self._task.after(state, action)

    def reward(self, state: Any) -> float:
        return self._task.reward(state)


def assert_search_task(task: SearchTask, examples: Sequence[Any], weights: Mapping[str, float]) -> None:
    """Check the contract of a task on the paths of a policy.

    A guided task must follow the policy as the host does; with an optimal task no other action may earn more.
    """
    plain = _Plain(task)
    for example in examples:
        numbers = Weights.of(weights)
        path = follow(plain, plain.begin(example), numbers)
        assert not len(task.actions(path.end)), f"example {example!r}: the end of a path has actions"
        for i in range(len(path)):
            place = f"example {example!r}, action {i + 1} of {len(path)}"
            state = path.state(i)
            first, again = (ranked(plain, state, Weights.of(weights)) for _ in range(2))
            assert _same(first, again), f"{place}: the same state has other actions or scores when asked again"
            assert _equal(first[0][0], path.action(i)), f"{place}: a state was changed by what came after it"
            if isinstance(task, GuidedTask):
                _assert_guided(task, plain, state, first, _Rest(path, i, numbers), weights, place)
            if isinstance(task, OptimalTask):
                _assert_optimal(task, state, place)


class _Rest:
    """The path that the host has followed from a state to the end; ``weights`` number its features."""

    def __init__(self, path: Path, at: int, weights: Weights) -> None:
        self.weights = weights
        self.path = Path(
            path.states[at:], path.actions[at:], path.offsets[at:], path.ids, path.values, path.rewards[at:]
        )

    def is_of(self, own: Path, first: Any) -> bool:
        """Whether a task follows the same path, beginning with ``first`` if it is given."""
        if first is not None and not _equal(first, self.path.action(0)):
            return False
        return len(own) == len(self.path) and all(map(_equal, own.actions, self.path.actions))


def _assert_guided(
    task: GuidedTask,
    plain: SearchTask,
    state: Any,
    wanted: Any,
    rest: _Rest,
    weights: Mapping[str, float],
    place: str,
) -> None:
    """Check ``ranked`` and ``follow`` from a state of the host's path; other paths are replayed step by step."""
    assert _ranked_alike(wanted, task.ranked(state, Weights.of(weights))), (
        f"{place}: `ranked` gives others, or another order"
    )
    for first in (None, *wanted[0][:_TRIED]):
        numbers = Weights.of(weights)
        own = task.follow(state, numbers, first)
        how = place if first is None else f"{place}, beginning with {first!r}"
        if rest.is_of(own, first):
            _assert_followed(own, rest.path, numbers, rest.weights, how)
        else:
            _assert_followed(own, _replay(plain, state, own, numbers, first, how), numbers, numbers, how)
        # Every state of the path can be continued from; a forced first action is not the policy's.
        for i in range(first is not None, len(own)):
            again = task.follow(own.state(i), numbers).action(0)
            assert _equal(again, own.action(i)), f"{how}: `follow` from state {i} begins with {again!r}"


def _assert_optimal(task: Any, state: Any, place: str) -> None:
    actions, taken = task.actions(state), task.optimal(state)
    assert any(_equal(action, taken) for action in actions), (
        f"{place}: `optimal` is {taken!r}, which is none of the actions"
    )
    wanted = _complete(task, state, taken)
    for other in actions:
        earned = _complete(task, state, other)
        assert earned <= wanted + TOLERANCE * max(1.0, abs(wanted)), (
            f"{place}: `optimal` is {taken!r}, which earns {wanted!r}, and {other!r} would earn {earned!r}"
        )


def _complete(task: Any, state: Any, action: Any) -> float:
    """Return the reward of an action followed by optimal actions."""
    state = task.after(state, action)
    earned = [float(task.reward(state))]
    while len(task.actions(state)):
        state = task.after(state, task.optimal(state))
        earned.append(float(task.reward(state)))
    return math.fsum(earned)


def _replay(plain: SearchTask, state: Any, own: Path, weights: Weights, first: Any, how: str) -> Path:
    """Replay a path step by step; each action, except a forced first one, must score best or tie with the best."""
    states, rows, rewards = [state], [], []
    for i in range(len(own)):
        actions, scores = ranked(plain, states[-1], weights)
        at = [k for k, action in enumerate(actions) if _equal(action, own.action(i))]
        assert at, f"{how}: `follow` takes {own.action(i)!r} as action {i + 1}, which is none of the state's"
        if i == 0 and first is not None:
            assert _equal(own.action(0), first), f"{how}: `follow` begins with {own.action(0)!r}"
        else:
            best = float(scores[0])
            assert scores[at[0]] >= best - TOLERANCE * max(1.0, abs(best)), (
                f"{how}: action {i + 1} of `follow` is {own.action(i)!r}, which scores {scores[at[0]]!r}, not {best!r}"
            )
        rows.append(plain.features(states[-1], [own.action(i)]).row(0))
        states.append(plain.after(states[-1], own.action(i)))
        rewards.append(float(plain.reward(states[-1])))
    assert not len(plain.actions(states[-1])), f"{how}: `follow` takes {len(own)} actions, and there are more to take"
    from smtformats import Columns

    named = [tuple(row) for row in rows]
    features = Columns.from_rows(named, [list(row.values()) for row in rows])
    return Path.of(states, list(own.actions), features, weights, rewards)


def _assert_followed(own: Path, mine: Path, weights: Weights, weights_of_mine: Weights, how: str) -> None:
    for i in range(len(mine)):
        for name in ("features", "first"):
            pair = [_by_name(getattr(path, name)(i), by) for path, by in ((own, weights), (mine, weights_of_mine))]
            assert _close(*pair), f"{how}: `{name}({i})` of the path is {pair[0]}, expected {pair[1]}"
        values = own.value(i), mine.value(i)
        assert math.isclose(*values, rel_tol=TOLERANCE, abs_tol=TOLERANCE), f"{how}: value {values[0]}, not the sum"


def _ranked_alike(left: Any, right: Any) -> bool:
    """Whether actions and scores are the same, best first; rounding may reorder ties."""
    import numpy as np

    if len(left[0]) != len(right[0]) or not np.allclose(left[1], right[1], rtol=TOLERANCE, atol=TOLERANCE):
        return False
    for action, score in zip(left[0], left[1], strict=True):
        near = np.flatnonzero(np.isclose(right[1], score, rtol=TOLERANCE, atol=TOLERANCE))
        if not any(_equal(right[0][k], action) for k in near.tolist()):
            return False
    return True


def _equal(left: Any, right: Any) -> bool:
    import numpy as np

    return bool(np.all(left == right))


def _same(left: Any, right: Any) -> bool:
    import numpy as np

    actions = len(left[0]) == len(right[0]) and all(map(_equal, left[0], right[0]))
    return actions and bool(np.allclose(left[1], right[1], rtol=TOLERANCE, atol=TOLERANCE))


def _by_name(numbers: tuple[Any, Any], weights: Weights) -> dict[str, float]:
    return {weights.names[at]: value for at, value in zip(numbers[0].tolist(), numbers[1].tolist(), strict=True)}


def _close(left: Mapping[str, float], right: Mapping[str, float]) -> bool:
    pairs = ((left.get(name, 0.0), right.get(name, 0.0)) for name in left.keys() | right.keys())
    return all(math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for a, b in pairs)


def tasks_are_sound(subject: DecoderSubject) -> None:
    """A state always has the same actions; a guided task follows policies as the host does."""
    for task, _, model in _tasks(subject):
        assert_search_task(task.search, task.examples, {**task.start, **model.weights})
        opposite = {name: -value for name, value in {**task.start, **model.weights}.items()}
        assert_search_task(task.search, task.examples, opposite)


def policies_lead_to_what_is_decoded(subject: DecoderSubject) -> None:
    """With the decoder's own output as references, no other action earns more than the policy's."""
    for task, texts, model in _tasks(subject):
        assert len(task.examples) == len(texts), f"expected {len(texts)} examples, found {len(task.examples)}"
        weights, ends = {**task.start, **model.weights}, []
        for example, best in zip(task.examples, texts, strict=True):
            numbers = Weights.of(weights)
            path = follow(task.search, task.search.begin(example), numbers)
            if not len(path) or not best:
                continue
            ends.append(path.value(0))
            for i, other in _others(task.search, path, numbers):
                assert other.value(0) <= path.value(i) + TOLERANCE, (
                    f"example {example!r}: the decoder says {best!r}, but with that for a reference the policy earns "
                    f"{path.value(i)!r}, and {other.value(0)!r} with another action {i + 1}"
                )
        assert not ends or max(ends) - min(ends) <= TOLERANCE * max(1.0, max(ends)), (
            f"translations that are their own references earn {min(ends)!r} to {max(ends)!r}: the policy is another "
            "than the decoder's"
        )


def _others(task: SearchTask, path: Path, weights: Weights) -> Iterator[tuple[int, Path]]:
    for i in range(len(path)):
        for action in ranked(task, path.state(i), weights)[0][1 : 1 + _TRIED]:
            yield i, follow(task, path.state(i), weights, action)


def _tasks(subject: DecoderSubject) -> Iterator[tuple[TaskProblem, list[str], Model]]:
    """Yield tasks with the decoder's output as references, these texts, and the model."""
    if not isinstance(subject.make(), TaskDecoder):
        raise DoesNotApply("the decoder has no `task`")
    for decoder, sentences, model in _make(subject):
        asked = decoder.task(sentences, [[""] * len(sentences)], samples.WordOverlap(), model)
        weights = model.with_weights({**asked.start, **model.weights})
        texts = [decoding.best for decoding in decoder.decode(iter(sentences), weights)]
        yield decoder.task(sentences, [texts], samples.WordOverlap(), model), texts, weights


def _make(subject: DecoderSubject) -> Iterator[tuple[Any, Sequence[Sentence], Model]]:
    if not subject.with_resources:
        yield subject.make(), samples.sentences(), subject.model_for()
        return
    for system in grammars.systems(_SYSTEMS):
        yield subject.made(system), system.sentences, subject.model_for(system)


CHECKS: tuple[Check, ...] = (tasks_are_sound, policies_lead_to_what_is_decoded)
