"""Python features of a tree that grows in any order: the kernel's callbacks to score and attach edges.

A. Gesmundo and J. Henderson, "Undirected Machine Translation with Discriminative Reinforcement Learning" (2014): their
carry, the context of an open place, is here the context that an edge passes to its neighbour over each of its links.
Attaching an edge updates its neighbour's contexts; updates propagate through the tree as long as contexts change.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from smtplugins.contracts.features import OUTSIDE
from smtplugins.contracts.tools.grammars import Edges, Rules, gathered

if TYPE_CHECKING:
    from smtplugins.contracts.features import Outside, Scorer, UndirectedScorer
    from smtplugins.contracts.tools.grammars import Vocabulary

    Array = NDArray[Any]

Place = tuple[int, int]
"""A step and a link of its edge: 0 is the head, k the k-th tail in bundle order."""


@dataclass(frozen=True)
class ScorerPart:
    """A scorer started on a sentence, and its number of values for each edge."""

    scorer: UndirectedScorer[Any]
    components: int = 1


@dataclass
class _Step:
    """An edge of the tree: its rule, whether it leads to the goal, and its neighbour at each link."""

    rule: int
    top: bool
    beside: list[Place | None]


class Carries:
    """Python features for ``python_part`` of ``growing/search.py``; target words are ids of ``vocabulary``.

    Call ``start`` with a sentence's scorers before the kernel begins the sentence. Values come in the order of the
    scorers. Links are numbered as in actions (see ``growing/search.py``); features see children in target order.
    """

    def __init__(self, vocabulary: Vocabulary, parts: Sequence[ScorerPart] = ()) -> None:
        self._vocabulary = vocabulary
        self.start(parts)

    @property
    def components(self) -> int:
        """The number of values for each edge."""
        return sum(part.components for part in self._parts)

    def start(self, parts: Sequence[ScorerPart]) -> None:
        """Set the next sentence's scorers."""
        self._parts = tuple(parts)
        self._forget()
        self.reset()

    def begin(self, targets: Array, offsets: Array) -> None:
        """Set the target sides of the sentence's rules: word ids, or -1 - k for the k-th tail."""
        self._targets = Rules(self._vocabulary, targets, offsets, ordered=False).target
        self._offsets = offsets
        # For each rule, the tail of each child.
        gaps = targets < 0
        self._children: list[int] = (-1 - targets[gaps]).tolist()
        self._child_offsets = np.concatenate([[0], np.cumsum(gaps)])[offsets].tolist()
        self._alone: dict[int, Edges] = {}
        self._forget()
        self.reset()

    def _forget(self) -> None:
        # For each part, what it returned for a single edge in a context: trees grown again are not scored again.
        self._attached: list[dict[tuple[Any, ...], tuple[Array, Sequence[Any]]]] = [{} for _ in self._parts]
        # The same for the contexts of an edge in the tree, by link.
        self._by_link: list[dict[tuple[Any, ...], list[Any]]] = [{} for _ in self._parts]

    def reset(self) -> None:
        """Clear the tree."""
        self._steps: list[_Step] = []
        # For each part, the context that each step shows at each of its links.
        self._shown: list[list[list[Any]]] = [[] for _ in self._parts]

    def score(
        self, step: int, link: int, edges: Array, rules: Array, widths: Array, slots: Array, tops: Array
    ) -> Array:
        """Score candidate edges at a place; returns their rows of values, concatenated.

        An edge is given by its number, its rule, its number of tails, the tail it would be attached by (-1: its head),
        and whether it leads to the goal.
        """
        if len(rules) == 1:
            rule, slot, top = int(rules[0]), int(slots[0]), int(tops[0])
            rows_of_parts = []
            for i, shown in enumerate(self._shown):
                known = shown[step][link] if step >= 0 else None
                rows_of_parts.append(self._attach_alone(i, rule, self._links(rule, slot, top, known))[0])
            return np.concatenate(rows_of_parts)
        # Edges at a place with equal keys have equal scores.
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
        """Attach an edge at a place; returns the other places whose context has changed."""
        new = len(self._steps)
        added = _Step(rule, top, [None] * (1 + width))
        self._steps.append(added)
        if step >= 0:
            added.beside[slot + 1] = (step, link)
            self._steps[step].beside[link] = (new, slot + 1)
        changed: set[Place] = set()
        for part, shown in enumerate(self._shown):
            shown.append([None] * (1 + width))
            shown[new] = [*self._contexts(part, new)]
            if step >= 0:
                self._spread(part, (step, link), changed)
        return sorted(changed)

    def _spread(self, part: int, place: Place, changed: set[Place]) -> None:
        """Propagate a changed context from a place through the tree, never back to where it came from."""
        waiting = [place]
        while waiting:
            step, came = waiting.pop()
            known = self._shown[part][step]
            edge = self._steps[step]
            for link, context in enumerate(self._contexts(part, step)):
                if link == came or known[link] == context:
                    continue
                known[link] = context
                beside = edge.beside[link]
                if beside is not None:
                    waiting.append(beside)
                elif link or not edge.top:
                    changed.add((step, link))

    def _contexts(self, part: int, step: int) -> Sequence[Any]:
        """Return the context that a step's edge shows at each link from the contexts of its neighbours; cached."""
        edge, shown = self._steps[step], self._shown[part]
        known = [None if beside is None else shown[beside[0]][beside[1]] for beside in edge.beside]
        if edge.top:
            known[0] = OUTSIDE
        by_link = self._by_link[part].get(key := (edge.rule, *known))
        if by_link is not None:
            return by_link
        children = self._children_of(edge.rule)
        _, contexts = self._attach_alone(part, edge.rule, [known[0], *(known[1 + child] for child in children)])
        if len(contexts) != 1 + len(children):
            raise ValueError(f"expected {1 + len(children)} contexts, one for each link, found {len(contexts)}")
        # A tail that is not on the target side has no context.
        by_link = self._by_link[part][key] = [None] * len(edge.beside)
        by_link[0] = contexts[0]
        for child, context in zip(children, contexts[1:], strict=True):
            by_link[1 + child] = context
        return by_link

    def _attach_alone(self, part: int, rule: int, links: list[Any]) -> tuple[Array, Sequence[Any]]:
        """Return the values and contexts of a single edge; cached."""
        attached, key = self._attached[part], (rule, *links)
        known = attached.get(key)
        if known is None:
            scores, results = self._parts[part].scorer.attach(self._edge(rule), [links])
            (contexts,) = results
            known = attached[key] = _values(scores, 1, self._parts[part].components)[0], contexts
        return known

    def _links(self, rule: int, slot: int, top: int, known: Any) -> list[Any]:
        """Return the contexts around a candidate edge with a single known neighbour."""
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
            known = self._alone[rule] = self._edges(np.array([rule]))
        return known

    def _edges(self, rules: Array) -> Edges:
        offsets, places = gathered(self._offsets, rules)
        return Edges(Rules(self._vocabulary, self._targets[places], offsets))


class _Done(NamedTuple):
    """The state of a complete subtree."""

    state: Any


class _Above(NamedTuple):
    """An edge that lacks a single child: its target side, and the states of the other children."""

    target: tuple[int, ...]
    before: tuple[Any, ...]
    after: tuple[Any, ...]


_UNDONE = ()


class Completed:
    """Adapt a stateful scorer to an undirected one: an edge is scored once its subtree is complete.

    An action's score is the sum over the edges whose subtrees it completes, plus the sentence-end score if it completes
    the tree. The context upwards is the state of a complete subtree. The context downwards lists the edges that the
    place would complete, lowest first, followed by ``OUTSIDE`` if it would complete the whole tree.
    """

    def __init__(self, scorer: Scorer[Any], components: int = 1) -> None:
        self._scorer = scorer
        self._components = components
        self._known: dict[tuple[tuple[int, ...], tuple[Any, ...]], tuple[Array, Any]] = {}
        self._ends: dict[Any, Array] = {}

    def attach(
        self, edges: Edges, links: Sequence[Sequence[Any | Outside | None]]
    ) -> tuple[Array, list[list[tuple[Any, ...]]]]:
        """Score the subtrees that these edges complete; returns scores and contexts."""
        symbols, offsets = edges.rules.target.tolist(), edges.rules.offsets.tolist()
        targets = [tuple(symbols[first:last]) for first, last in itertools.pairwise(offsets)]
        scores = np.zeros((len(targets), self._components))
        tops = [_chain(contexts[0]) for contexts in links]
        # Edges with complete children, each with the chain of edges that it completes above.
        ready = [
            _Rise(i, targets[i], _states(contexts[1:]), tops[i])
            for i, contexts in enumerate(links)
            if _all_done(contexts[1:])
        ]
        results: list[tuple[Any, ...]] = [_UNDONE] * len(targets)
        for rise, (own, state) in zip(ready, self._combine(edges, ready), strict=True):
            scores[rise.row] += own
            results[rise.row] = _Done(state)
            rise.state = state
        while ready := self._climb(ready, scores):
            for rise, (own, state) in zip(ready, self._combine(edges, ready), strict=True):
                scores[rise.row] += own
                rise.state = state
        shown = [
            [result, *(_below(target, contexts[1:], k, top) for k in range(len(contexts) - 1))]
            for target, contexts, result, top in zip(targets, links, results, tops, strict=True)
        ]
        return scores, shown

    def _climb(self, ready: Sequence[_Rise], scores: Array) -> list[_Rise]:
        """Move each edge up its chain; returns those with another complete edge above."""
        complete = []
        for rise in ready:
            if rise.at == len(rise.chain):
                continue
            above = rise.chain[rise.at]
            rise.at += 1
            if above is OUTSIDE:
                scores[rise.row] += self._end(rise.state)
            else:
                rise.target = above.target
                rise.states = (*above.before, rise.state, *above.after)
                complete.append(rise)
        return complete

    def _combine(self, edges: Edges, ready: Sequence[_Rise]) -> list[tuple[Array, Any]]:
        """Return scores and states of complete edges; equal edges are scored once and cached."""
        keys = [(rise.target, rise.states) for rise in ready]
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
    """A complete edge of a batch, moving up the chain of edges that it completes."""

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
    """Return the context that an edge shows its child k."""
    before, after = children[:k], children[k + 1 :]
    if not (_all_done(before) and _all_done(after)):
        return _UNDONE
    return (_Above(target, _states(before), _states(after)), *above)


def _values(scores: Any, rows: int, components: int) -> Array:
    values = np.asarray(scores, dtype=np.float64)
    if values.size != rows * components:
        raise ValueError(f"expected {components} scores for each of {rows} edges, found {values.size}")
    if not np.isfinite(values).all():
        raise ValueError("expected finite scores")
    return values.reshape(rows, components)
