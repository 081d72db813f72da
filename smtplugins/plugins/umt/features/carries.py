"""Features in Python while a tree grows in any order: what the kernel calls for each place and its candidates.

A. Gesmundo and J. Henderson, "Undirected Machine Translation with Discriminative Reinforcement Learning" (2014): what
a carry is there, the context of an open place, is here what an edge shows to its neighbour on each of its links. An
edge that comes makes its neighbour show something else to its other neighbours, and so on as far as contexts change.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from smtplugins.contracts.contracts import OUTSIDE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.contracts import Outside, Scorer, UndirectedScorer
    from smtplugins.core.grammar.rules import Edges
    from smtplugins.core.vocabulary import Vocabulary

    Array = NDArray[Any]

Place = tuple[int, int]
"""A step, and a link of its edge: 0 is its head, k its k-th tail in the order of the bundle."""


@dataclass(frozen=True)
class Part:
    """A scorer at work on the sentence, and how many values it gives an edge."""

    scorer: UndirectedScorer[Any]
    components: int = 1


@dataclass
class _Step:
    """An edge of the tree: whether the goal is above it, and what is beside it at each of its links."""

    rule: int
    top: bool
    beside: list[Place | None]


class Carries:
    """Features in Python for ``python_part`` of ``growing/search.py``; words of target sides are ids of ``vocabulary``.

    ``start`` has to be called with the scorers of a sentence before the kernel begins it. Values of several parts are
    in their order. Links are counted as in actions (see ``growing/search.py``); features see children in target order.
    """

    def __init__(self, vocabulary: Vocabulary, parts: Sequence[Part] = ()) -> None:
        self._vocabulary = vocabulary
        self.start(parts)

    @property
    def components(self) -> int:
        """How many values an edge gets."""
        return sum(part.components for part in self._parts)

    def start(self, parts: Sequence[Part]) -> None:
        """The next sentence's scorers."""
        self._parts = tuple(parts)
        self.reset()

    def begin(self, targets: Array, offsets: Array) -> None:
        """The target sides of the sentence's rules: words, or -1 - k for the k-th tail."""
        import numpy as np

        from smtplugins.core.grammar.rules import Rules

        self._targets = Rules(self._vocabulary, targets, offsets, ordered=False).target
        self._offsets = offsets
        # Of each rule: which tail each child is.
        gaps = targets < 0
        self._children: list[int] = (-1 - targets[gaps]).tolist()
        self._child_offsets = np.concatenate([[0], np.cumsum(gaps)])[offsets].tolist()
        self._alone: dict[int, Edges] = {}
        self.reset()

    def reset(self) -> None:
        """No edge is there."""
        self._steps: list[_Step] = []
        # Of each part: what each step shows at each of its links.
        self._shown: list[list[list[Any]]] = [[] for _ in self._parts]

    def score(
        self, step: int, link: int, edges: Array, rules: Array, widths: Array, slots: Array, tops: Array
    ) -> Array:
        """What each of these edges would add at a place, one row of values behind the other.

        An edge is told by its number, its rule, how many tails it has, by which of them it would be put there (-1: by
        its head), and whether the goal is above it.
        """
        import numpy as np

        # Nothing else than this tells edges at one place apart.
        keys = (rules.astype(np.int64) * (int(slots.max(initial=0)) + 2) + slots + 1) * 2 + tops
        _, firsts, rows = np.unique(keys, return_index=True, return_inverse=True)
        chosen = rules[firsts].tolist()
        batch = self._edges(rules[firsts])
        slotted = list(zip(chosen, slots[firsts].tolist(), tops[firsts].tolist(), strict=True))
        blocks = []
        for part, shown in zip(self._parts, self._shown, strict=True):
            known = shown[step][link] if step >= 0 else None
            links = [self._links(rule, slot, top, known) for rule, slot, top in slotted]
            scores, _ = part.scorer.attach(batch, links)
            blocks.append(_values(scores, len(chosen), part.components))
        return np.ascontiguousarray(np.concatenate(blocks, axis=1)[rows.reshape(-1)]).reshape(-1)

    def attach(self, step: int, link: int, edge: int, rule: int, width: int, slot: int, top: bool) -> list[Place]:
        """Puts an edge at a place; gives the other places that are shown something else now."""
        new = len(self._steps)
        made = _Step(rule, top, [None] * (1 + width))
        self._steps.append(made)
        if step >= 0:
            made.beside[slot + 1] = (step, link)
            self._steps[step].beside[link] = (new, slot + 1)
        changed: set[Place] = set()
        for part, shown in zip(self._parts, self._shown, strict=True):
            shown.append([None] * (1 + width))
            shown[new] = self._contexts(part, shown, new)
            if step >= 0:
                self._spread(part, shown, (step, link), changed)
        return sorted(changed)

    def _spread(self, part: Part, shown: list[list[Any]], place: Place, changed: set[Place]) -> None:
        """Something else is shown to a place: its edge tells its other neighbours, never the one it is told by."""
        waiting = [place]
        while waiting:
            step, came = waiting.pop()
            known = shown[step]
            one = self._steps[step]
            for link, context in enumerate(self._contexts(part, shown, step)):
                if link == came or known[link] == context:
                    continue
                known[link] = context
                beside = one.beside[link]
                if beside is not None:
                    waiting.append(beside)
                elif link or not one.top:
                    changed.add((step, link))

    def _contexts(self, part: Part, shown: list[list[Any]], step: int) -> list[Any]:
        """What a step's edge shows at each of its links, by what its neighbours show it."""
        one = self._steps[step]
        known = [None if beside is None else shown[beside[0]][beside[1]] for beside in one.beside]
        if one.top:
            known[0] = OUTSIDE
        children = self._children_of(one.rule)
        _, results = part.scorer.attach(self._edge(one.rule), [[known[0], *(known[1 + child] for child in children)]])
        (contexts,) = results
        if len(contexts) != 1 + len(children):
            raise ValueError(f"expected {1 + len(children)} contexts, one for each link, found {len(contexts)}")
        # Beside a tail that the target side does not have nothing is known.
        made: list[Any] = [None] * len(one.beside)
        made[0] = contexts[0]
        for child, context in zip(children, contexts[1:], strict=True):
            made[1 + child] = context
        return made

    def _links(self, rule: int, slot: int, top: int, known: Any) -> list[Any]:
        """The contexts around a candidate of which one neighbour is there."""
        children = self._children_of(rule)
        if slot < 0 and known is not None:
            return [known, *[None] * len(children)]
        above = OUTSIDE if top else None
        return [above, *(known if child == slot else None for child in children)]

    def _children_of(self, rule: int) -> list[int]:
        return self._children[self._child_offsets[rule] : self._child_offsets[rule + 1]]

    def _edge(self, rule: int) -> Edges:
        known = self._alone.get(rule)
        if known is None:
            import numpy as np

            known = self._alone[rule] = self._edges(np.array([rule]))
        return known

    def _edges(self, rules: Array) -> Edges:
        from smtplugins.core.grammar.rules import Edges, Rules
        from smtplugins.core.grammar.tables import gathered

        offsets, places = gathered(self._offsets, rules)
        return Edges(Rules(self._vocabulary, self._targets[places], offsets))


class _Done(NamedTuple):
    """The state of a subtree of which all is known."""

    state: Any


class _Above(NamedTuple):
    """An edge that is complete when one of its children is: its target side, and the states of the others."""

    target: tuple[int, ...]
    before: tuple[Any, ...]
    after: tuple[Any, ...]


_UNDONE = ()


class Completed:
    """A scorer of a feature with states as an undirected one: an edge counts when all below it is known.

    An action is worth what the edges are whose subtrees it completes, and what the whole sentence adds if that is
    complete. Upwards is shown the state of a complete subtree; downwards the edges that are complete as soon as the
    place is, from the lowest one on, with ``OUTSIDE`` behind them if the whole tree is.
    """

    def __init__(self, scorer: Scorer[Any], components: int = 1) -> None:
        self._scorer = scorer
        self._components = components
        self._known: dict[tuple[tuple[int, ...], tuple[Any, ...]], tuple[Array, Any]] = {}
        self._ends: dict[Any, Array] = {}

    def attach(
        self, edges: Edges, links: Sequence[Sequence[Any | Outside | None]]
    ) -> tuple[Array, list[list[tuple[Any, ...]]]]:
        """What these edges complete, and what they show."""
        import numpy as np

        symbols, offsets = edges.rules.target.tolist(), edges.rules.offsets.tolist()
        targets = [tuple(symbols[first:last]) for first, last in itertools.pairwise(offsets)]
        scores = np.zeros((len(targets), self._components))
        tops = [_chain(one[0]) for one in links]
        # Edges whose children are complete, and what is complete above each when it is.
        ready = [_Rise(i, targets[i], _states(one[1:]), tops[i]) for i, one in enumerate(links) if _all_done(one[1:])]
        results: list[tuple[Any, ...]] = [_UNDONE] * len(targets)
        for one, (own, state) in zip(ready, self._combined(edges, ready), strict=True):
            scores[one.row] += own
            results[one.row] = _Done(state)
            one.state = state
        while ready := self._risen(ready, scores):
            for one, (own, state) in zip(ready, self._combined(edges, ready), strict=True):
                scores[one.row] += own
                one.state = state
        shown = [
            [result, *(_below(target, one[1:], k, top) for k in range(len(one) - 1))]
            for target, one, result, top in zip(targets, links, results, tops, strict=True)
        ]
        return scores, shown

    def _risen(self, ready: Sequence[_Rise], scores: Array) -> list[_Rise]:
        """The next edges above, where the ones above are complete."""
        found = []
        for one in ready:
            if one.at == len(one.chain):
                continue
            above = one.chain[one.at]
            one.at += 1
            if above is OUTSIDE:
                scores[one.row] += self._end(one.state)
            else:
                one.target = above.target
                one.states = (*above.before, one.state, *above.after)
                found.append(one)
        return found

    def _combined(self, edges: Edges, ready: Sequence[_Rise]) -> list[tuple[Array, Any]]:
        """Scores and states of complete edges; equal ones are asked for once."""
        import numpy as np

        from smtplugins.core.grammar.rules import Edges, Rules

        keys = [(one.target, one.states) for one in ready]
        new = list(dict.fromkeys(key for key in keys if key not in self._known))
        if new:
            flat = np.array([symbol for target, _ in new for symbol in target], dtype=np.int32)
            offsets = np.array([0, *itertools.accumulate(len(target) for target, _ in new)], dtype=np.int64)
            batch = Edges(Rules(edges.rules.vocabulary, flat, offsets))
            scores, states = self._scorer.combine(batch, [below for _, below in new])
            values = _values(scores, len(new), self._components)
            self._known.update(zip(new, zip(values, states, strict=True), strict=True))
        return [self._known[key] for key in keys]

    def _end(self, state: Any) -> Array:
        known = self._ends.get(state)
        if known is None:
            known = self._ends[state] = _values(self._scorer.finish([state]), 1, self._components)[0]
        return known


@dataclass
class _Rise:
    """A complete edge of a batch, on its way up through those that it completes."""

    row: int
    target: tuple[int, ...]
    states: tuple[Any, ...]
    chain: tuple[Any, ...]
    state: Any = field(default=None)
    at: int = 0


def _chain(above: Any) -> tuple[Any, ...]:
    if above is None:
        return _UNDONE
    return (OUTSIDE,) if above is OUTSIDE else above


def _all_done(children: Sequence[Any]) -> bool:
    return all(isinstance(child, _Done) for child in children)


def _states(children: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(child.state for child in children)


def _below(target: tuple[int, ...], children: Sequence[Any], k: int, above: tuple[Any, ...]) -> tuple[Any, ...]:
    """What an edge shows its child k."""
    before, after = children[:k], children[k + 1 :]
    if not (_all_done(before) and _all_done(after)):
        return _UNDONE
    return (_Above(target, _states(before), _states(after)), *above)


def _values(scores: Any, rows: int, components: int) -> Array:
    import numpy as np

    values = np.asarray(scores, dtype=np.float64)
    if values.size != rows * components:
        raise ValueError(f"expected {components} scores for each of {rows} edges, found {values.size}")
    if not np.isfinite(values).all():
        raise ValueError("expected finite scores")
    return values.reshape(rows, components)
