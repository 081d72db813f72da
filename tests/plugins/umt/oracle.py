"""Undirected decoding, slow and plain: every value is worked out anew from whole partial derivations.

What the native kernel is compared with. A tree is a list of edges with their neighbours. Its text is written out from
its top edge with a mark at each open place, and features are functions of that text or of the tree: an action's value
is the difference of two of them (or, in the mode ``rescored``, a sum over words of the new text).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

Target = tuple[str | int, ...]
Action = tuple[int, int, int, int]
"""Edge, place (a step), link there (0 its head, k its k-th tail), slot of the edge (-1 its head)."""
NEVER = float("-inf")


@dataclass(frozen=True)
class Edge:
    number: int
    head: int
    tails: tuple[int, ...]
    rule: int
    target: Target
    score: float
    bound: float


@dataclass
class Plain:
    """A forest: for each node its bundles (tails, rules), the goal last; target sides and scores of rules.

    A target side has words, and k for the k-th tail. Edges are numbered as their rules stand in the bundles.
    """

    nodes: list[list[tuple[tuple[int, ...], list[int]]]]
    targets: list[Target]
    scores: list[float]
    bounds: list[float]

    @cached_property
    def edges(self) -> list[Edge]:
        made: list[Edge] = []
        for head, bundles in enumerate(self.nodes):
            for tails, rules in bundles:
                for rule in rules:
                    made.append(
                        Edge(len(made), head, tails, rule, self.targets[rule], self.scores[rule], self.bounds[rule])
                    )
        return made

    @property
    def goal(self) -> int:
        return len(self.nodes) - 1

    @cached_property
    def inside(self) -> list[float]:
        found = [NEVER] * len(self.nodes)
        for edge in self.edges:
            found[edge.head] = max(found[edge.head], edge.bound + sum(found[tail] for tail in edge.tails))
        return found

    @cached_property
    def outside(self) -> list[float]:
        found = [NEVER] * len(self.nodes)
        found[self.goal] = 0.0
        for edge in reversed(self.edges):
            for k, tail in enumerate(edge.tails):
                others = sum(self.inside[other] for i, other in enumerate(edge.tails) if i != k)
                found[tail] = max(found[tail], found[edge.head] + edge.bound + others)
        return found

    @cached_property
    def alive(self) -> list[Edge]:
        """The edges that are in some derivation."""
        dead = {v for v in range(len(self.nodes)) if NEVER in (self.inside[v], self.outside[v])}
        return [edge for edge in self.edges if not dead & {edge.head, *edge.tails}]

    @cached_property
    def leaves(self) -> list[Edge]:
        return [edge for edge in self.alive if not edge.tails]

    @cached_property
    def into(self) -> dict[int, list[Edge]]:
        """The edges with this head."""
        found: dict[int, list[Edge]] = {}
        for edge in self.alive:
            found.setdefault(edge.head, []).append(edge)
        return found

    @cached_property
    def uses(self) -> dict[int, list[tuple[Edge, int]]]:
        """The edges above a node, and which tail it is there."""
        found: dict[int, list[tuple[Edge, int]]] = {}
        for edge in self.alive:
            for slot, tail in enumerate(edge.tails):
                found.setdefault(tail, []).append((edge, slot))
        return found

    @cached_property
    def words(self) -> list[str]:
        return sorted({symbol for target in self.targets for symbol in target if isinstance(symbol, str)} | {"<unk>"})

    def target_columns(self) -> tuple[Any, Any]:
        """The target sides as decoders hold them: numbers of ``words``, -1 - k for the k-th tail."""
        numbers = {word: i for i, word in enumerate(self.words)}
        rows = [[numbers[one] if isinstance(one, str) else -1 - one for one in target] for target in self.targets]
        return np.array(list(itertools.chain.from_iterable(rows)), dtype=np.int32), _ends(rows)

    def native(self) -> Any:
        """A ``SearchForest``; words are numbered as in ``words``."""
        # Rules shared by bundles, two bundles of the same tails: no public way keeps them as they are.
        from smtplugins.core._core import SearchForest  # noqa: TID251

        bundles = [bundle for node in self.nodes for bundle in node]
        tails, rules = [tails for tails, _ in bundles], [rules for _, rules in bundles]
        targets, target_offsets = self.target_columns()
        blank = np.zeros(len(self.nodes), dtype=np.int32)
        return SearchForest.of(
            labels=blank,
            firsts=blank,
            lasts=blank,
            node_bundles=_ends(self.nodes),
            tails=np.array(list(itertools.chain.from_iterable(tails)), dtype=np.int32),
            tail_offsets=_ends(tails),
            rules=np.array(list(itertools.chain.from_iterable(rules)), dtype=np.int32),
            rule_offsets=_ends(rules),
            targets=targets,
            target_offsets=target_offsets,
            scores=np.array(self.scores, dtype=np.float32),
        )

    @classmethod
    def of_parsed(cls, forest: Any, bounds: Sequence[float] | None = None) -> Plain:
        """What ``core.parsing.parse`` gave; local scores are those it was parsed with, bounds are the same."""
        native, words = forest.native, forest.tables.words
        rows = _parts(native.targets, native.target_offsets)
        targets = [tuple(words.word(one) if one >= 0 else -1 - one for one in row) for row in rows]
        tails = [tuple(one) for one in _parts(native.tails, native.tail_offsets)]
        bundles = list(zip(tails, _parts(native.rules, native.rule_offsets), strict=True))
        scores = native.scores.tolist()
        firsts = native.node_bundles.tolist()
        nodes = [bundles[first:last] for first, last in itertools.pairwise(firsts)]
        return cls(nodes, targets, scores, scores if bounds is None else list(bounds))


def _ends(parts: Sequence[Sequence[Any]]) -> Any:
    return np.cumsum([0, *map(len, parts)]).astype(np.int64)


def _parts(values: Any, offsets: Any) -> list[list[int]]:
    flat = values.tolist()
    return [flat[first:last] for first, last in itertools.pairwise(offsets.tolist())]


class Token(NamedTuple):
    """A word of a tree's text, or an open place (``None``), and the step whose edge has it."""

    word: str | None
    step: int


_token = functools.cache(Token)


@dataclass(frozen=True)
class Tree:
    """A partial derivation: the edge of each step, and for each of its links the step and link it is joined to."""

    goal: int
    edges: tuple[Edge, ...] = ()
    links: tuple[tuple[tuple[int, int] | None, ...], ...] = ()

    def open(self) -> list[tuple[int, int]]:
        """Places where an edge can be put."""
        return [
            (step, link)
            for step, links in enumerate(self.links)
            for link, beside in enumerate(links)
            if beside is None and not (link == 0 and self.edges[step].head == self.goal)
        ]

    def node(self, step: int, link: int) -> int:
        edge = self.edges[step]
        return edge.tails[link - 1] if link else edge.head

    def put(self, edge: Edge, place: int, link: int, slot: int) -> Tree:
        links = [list(one) for one in self.links]
        new: list[tuple[int, int] | None] = [None] * (1 + len(edge.tails))
        if place >= 0:
            assert links[place][link] is None
            links[place][link] = (len(self.edges), slot + 1)
            new[slot + 1] = (place, link)
        return Tree(self.goal, (*self.edges, edge), (*map(tuple, links), tuple(new)))

    @property
    def top(self) -> int:
        return next(step for step, links in enumerate(self.links) if links[0] is None)

    def child(self, step: int, k: int) -> int | None:
        """The step that the k-th tail of a step's edge is, or ``None``."""
        beside = self.links[step][k + 1]
        return None if beside is None else beside[0]

    @cached_property
    def complete(self) -> list[bool]:
        """Whether all is known below each step."""
        found: dict[int, bool] = {}

        def visit(step: int) -> bool:
            # Each child is visited, whatever the others are.
            below = [self.child(step, k) for k in range(len(self.edges[step].tails))]
            known = [child is not None and visit(child) for child in below]
            found[step] = all(known)
            return found[step]

        if self.edges:
            visit(self.top)
        return [found[step] for step in range(len(self.edges))]

    @cached_property
    def text(self) -> tuple[list[Token], dict[int, tuple[int, int]]]:
        """All tokens, the outside included; and from where to where each step's own and those below it stand."""
        tokens: list[Token] = []
        spans: dict[int, tuple[int, int]] = {}

        def write(step: int) -> None:
            first, links = len(tokens), self.links[step]
            for symbol in self.edges[step].target:
                if isinstance(symbol, str):
                    tokens.append(_token(symbol, step))
                elif beside := links[symbol + 1]:
                    write(beside[0])
                else:
                    tokens.append(_token(None, step))
            spans[step] = (first, len(tokens))

        if not self.edges:
            return tokens, spans
        top = self.top
        whole = self.edges[top].head == self.goal
        tokens.append(Token("<s>" if whole else None, top))
        write(top)
        tokens.append(Token("</s>" if whole else None, top))
        return tokens, spans

    @property
    def words(self) -> list[str]:
        """The words that are known, without the marks of the sentence's ends."""
        return [token.word for token in self.text[0] if token.word not in (None, "<s>", "</s>")]  # type: ignore[misc]


def pieces(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """From where to where known text goes without an open place."""
    found = []
    first = 0
    for i, token in enumerate([*tokens, Token(None, -1)]):
        if token.word is None:
            if i > first:
                found.append((first, i))
            first = i + 1
    return found


def word_scores(model: Any, tokens: Sequence[Token]) -> list[float]:
    """The log10 probability of each word behind what is known to its left; 0 for ``<s>`` and open places."""
    found = [0.0] * len(tokens)
    for first, last in pieces(tokens):
        words = [token.word for token in tokens[first:last]]
        bos, eos = words[0] == "<s>", words[-1] == "</s>"
        inner = words[bos : len(words) - eos]
        scores = model.full_scores(" ".join(map(str, inner)), bos=bos, eos=eos)
        assert len(scores) == len(inner) + eos
        for i, (score, _, _) in enumerate(scores, first + bos):
            found[i] = score
    return found


@dataclass(frozen=True)
class Move:
    """An action at work: the tree before and after it."""

    before: Tree
    after: Tree
    place: int
    link: int
    slot: int


class OfTrees:
    """A function of trees that is computed once for each: every action on a tree asks about it again."""

    def __init__(self, function: Callable[[Tree], Any]) -> None:
        self._function = function
        self._known: dict[int, tuple[Tree, Any]] = {}

    def __call__(self, tree: Tree) -> Any:
        # What is known holds the tree, so that no other gets its id.
        if id(tree) not in self._known:
            self._known[id(tree)] = tree, self._function(tree)
        return self._known[id(tree)][1]


class Lm:
    """The language model in one of its modes.

    LM(tree) is the sum over maximal known pieces of text of the log10 probabilities of their words, the first of them
    without context; ``<s>`` stands before the text and ``</s>`` behind it once the goal's edge is in. ``delta``: by how
    much the action changes that.

    ``rescored``: the probabilities of all words that the new edge brings (``</s>`` with the goal's edge), each behind
    what is known to its left, and once more those of the first order - 1 words (``</s>`` is one) of the established
    text that stands behind the edge: of the text right of the place, up to the next open place, if the edge is put
    there by its head; if it is put above, of the established tree from its beginning, up to its first open place.
    These words are scored whatever stands before them now, be it nothing. Words further right keep what they had.

    ``split``: the same by how many words of context are known, ``<s>`` included: sums for 0 to order - 1 words, then
    how many words they are of, then means.
    """

    def __init__(self, model: Any, mode: str = "delta") -> None:
        self.model = model
        self.mode = mode
        self.components = 3 * model.order if mode == "split" else 1
        self.total = OfTrees(lambda tree: sum(word_scores(model, tree.text[0])))

    def values(self, move: Move) -> list[float]:
        if self.mode == "delta":
            return [self.total(move.after) - self.total(move.before)]
        scored = self.scored(move)
        if self.mode == "rescored":
            return [sum(score for score, _ in scored)]
        lengths = range(self.model.order)
        sums = [sum(score for score, known in scored if known == n) for n in lengths]
        counts = [float(sum(known == n for _, known in scored)) for n in lengths]
        return [*sums, *counts, *(one / count if count else 0.0 for one, count in zip(sums, counts, strict=True))]

    def scored(self, move: Move) -> list[tuple[float, int]]:
        """The words that ``rescored`` looks at: probability, and how many words of context are known."""
        tokens, spans = move.after.text
        new = len(move.before.edges)
        chosen = [i for i, token in enumerate(tokens) if token.step == new and token.word not in (None, "<s>")]
        if move.place >= 0:
            first, last = (spans[new][1], len(tokens)) if move.slot < 0 else spans[move.place]
            for i in range(first, min(last, first + self.model.order - 1)):
                if tokens[i].word is None:
                    break
                chosen.append(i)
        scores = word_scores(self.model, tokens)
        starts = {i: first for first, last in pieces(tokens) for i in range(first, last)}
        return [(scores[i], min(i - starts[i], self.model.order - 1)) for i in chosen]

    def estimate(self, target: Target) -> float:
        """What a rule is worth alone."""
        return sum(word_scores(self.model, [Token(one if isinstance(one, str) else None, 0) for one in target]))


class Cff:
    """Context-free bounds of the branches that are missing at the new edge's open links: their sum, or by link.

    ``difference``: less the bound of the branch that the edge fills.
    """

    def __init__(self, plain: Plain, components: int = 1, scale: float = 1.0, difference: bool = False) -> None:
        self.plain = plain
        self.components = components
        self.scale = scale
        self.difference = difference

    def bound(self, tree: Tree, step: int, link: int) -> float:
        node = tree.node(step, link)
        return (self.plain.inside[node] if link else self.plain.outside[node]) / self.scale

    def filled(self, tree: Tree, step: int, link: int) -> list[float]:
        """The bound of what fills a place, where it was counted when the place opened."""
        found = [0.0] * self.components
        if step >= 0:
            found[min(link, self.components - 1)] = self.bound(tree, step, link)
        return found

    def values(self, move: Move) -> list[float]:
        found = [0.0] * self.components
        new = len(move.before.edges)
        edge = move.after.edges[new]
        for link, beside in enumerate(move.after.links[new]):
            if beside is not None or (link == 0 and edge.head == self.plain.goal):
                continue
            # The last component stands for all further links.
            found[min(link, self.components - 1)] += self.bound(move.after, new, link)
        if self.difference:
            found[0] -= self.filled(move.before, move.place, move.link)[0]
        return found


class Totals:
    """Any feature that is the difference of what a function gives for the trees after and before."""

    def __init__(self, function: Callable[[Tree], Sequence[float]], components: int = 1) -> None:
        self.function = OfTrees(function)
        self.components = components

    def values(self, move: Move) -> list[float]:
        after, before = self.function(move.after), self.function(move.before)
        return [float(a) - float(b) for a, b in zip(after, before, strict=True)]


@dataclass
class Found:
    actions: list[Action] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    values: list[list[float]] = field(default_factory=list)
    tree: Tree = field(default_factory=lambda: Tree(-1))


class Oracle:
    """Decodes a plain forest; ``features`` (with ``values(move)`` and ``components``) have a weight per component."""

    def __init__(self, plain: Plain, features: Sequence[Any] = (), weights: Sequence[float] = ()) -> None:
        assert sum(feature.components for feature in features) == len(weights)
        self.plain = plain
        self.features = features
        self.weights = weights
        # Trees are made once, and so is what an action on one is worth: prefixes are asked about again and again.
        self._root = Tree(plain.goal)
        self._moves: dict[tuple[int, Action], Move] = {}
        self._values: dict[tuple[int, Action], list[float]] = {}

    def actions(self, tree: Tree) -> list[Action]:
        """All that can be done now."""
        if not tree.edges:
            return [(edge.number, -1, 0, -1) for edge in self.plain.leaves]
        found: list[Action] = []
        for step, link in tree.open():
            node = tree.node(step, link)
            if link:
                found += [(edge.number, step, link, -1) for edge in self.plain.into[node]]
            else:
                found += [(edge.number, step, link, slot) for edge, slot in self.plain.uses[node]]
        return found

    def move(self, tree: Tree, action: Action) -> Move:
        # It holds the tree, so that no other gets its id.
        key = id(tree), action
        if key not in self._moves:
            edge, *where = action
            self._moves[key] = Move(tree, tree.put(self.plain.edges[edge], *where), *where)
        return self._moves[key]

    def after(self, tree: Tree, action: Action) -> Tree:
        return self.move(tree, action).after

    def value(self, tree: Tree, action: Action) -> tuple[float, list[float]]:
        """Score and values of one action."""
        key, move = (id(tree), action), self.move(tree, action)
        if key not in self._values:
            self._values[key] = [value for feature in self.features for value in feature.values(move)]
        values = self._values[key]
        score = self.plain.edges[action[0]].score
        score += sum(weight * value for weight, value in zip(self.weights, values, strict=True))
        return score, values

    def begin(self) -> Tree:
        return self._root

    def replay(self, prefix: Sequence[Action]) -> Found:
        """What the actions of a prefix are worth, and the tree they make."""
        found = Found(tree=self.begin())
        for action in prefix:
            assert action in self.actions(found.tree)
            self._take(found, action)
        return found

    def _take(self, found: Found, action: Action) -> None:
        score, values = self.value(found.tree, action)
        found.actions.append(action)
        found.scores.append(score)
        found.values.append(values)
        found.tree = self.after(found.tree, action)

    def ranked(self, prefix: Sequence[Action] = ()) -> list[tuple[float, Action]]:
        """All actions after the prefix with their scores, the best first; ties by edge, slot, place, link."""
        return self._ranked(self.replay(prefix).tree)

    def _ranked(self, tree: Tree) -> list[tuple[float, Action]]:
        scored = [(self.value(tree, action)[0], action) for action in self.actions(tree)]

        def key(one: tuple[float, Action]) -> tuple[float, ...]:
            score, (edge, place, link, slot) = one
            return (-score, edge, slot, place, link)

        return sorted(scored, key=key)

    def follow(self, prefix: Sequence[Action] = ()) -> Found:
        """The prefix, then the best action again and again until no place is open."""
        found = self.replay(prefix)
        while ranked := self._ranked(found.tree):
            self._take(found, ranked[0][1])
        return found
