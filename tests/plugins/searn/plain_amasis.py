"""The decoder `amasis`, slow and plain: lists of fragments, words and scores written out. What native code is held to.

A table is a dictionary of source words and their (target words, score). Scores of texts are made by functions of
neighbouring words; ends of a sentence count at the end alone, as in fragments. Labels follow ``Policy`` word by word.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from smtplugins.plugins.searn.labels.labels import tree_of
from smtplugins.plugins.searn.labels.trees import target_order
from smtplugins.plugins.searn.learning.policy import BEGIN, History, Policy, operations, static_names

Words = tuple[str, ...]
Table = Mapping[Words, Sequence[tuple[Words, float]]]
Pairs = Callable[[str, str], float]


@dataclass(frozen=True)
class Option:
    first: int
    last: int
    source: Words
    target: Words
    score: float


@dataclass(frozen=True)
class Fragment:
    """Words and the score inside; what `Pairs` can see of it are its ends. ``order`` is that of its last reduction."""

    words: Words
    score: float
    order: bool | None = None

    def beside(self, right: Fragment, in_order: bool, pairs: Pairs) -> Fragment:
        first, second = (self, right) if in_order else (right, self)
        meeting = pairs(first.words[-1], second.words[0]) if first.words and second.words else 0.0
        order: bool | None = in_order
        if not right.words or not self.words:
            order = self.order if not right.words else right.order
        return Fragment(first.words + second.words, first.score + second.score + meeting, order)


@dataclass(eq=False)
class Hypothesis:
    """A fragment on top of a stack; the hypotheses below are the same objects for all that share them."""

    top: Fragment
    last: int
    below: Hypothesis | None
    history: History
    items: tuple[tuple[Option, str], ...]
    total: float = 0.0

    def stack(self) -> list[Hypothesis]:
        """From the top down."""
        return [self, *(self.below.stack() if self.below else ())]


@dataclass
class Plain:
    """The search: for each option of the next words the label chosen, then recombination, then the best are kept."""

    table: Table
    pairs: Pairs
    policy: Policy
    decide: str = "vote"
    stack_size: int = 0
    labels: int = 1
    label_weights: tuple[float, float, float] = (0.0, 0.0, 0.0)
    longest: int = 20
    expanded: list[Hypothesis] = field(default_factory=list)

    def options(self, tokens: Words, first: int) -> Iterator[Option]:
        for last in range(first + 1, min(len(tokens), first + self.longest) + 1):
            source = tokens[first:last]
            known = self.table.get(source, [((*source,), 0.0)] if last - first == 1 else ())
            for target, score in known:
                yield Option(first, last, source, target, score)

    def chosen(self, tokens: Words, option: Option, history: History) -> Any:
        """What the policy says of an option: its decision, then all labels by probability, and the latter."""
        names = static_names(
            self.policy.templates,
            " ".join(option.source),
            " ".join(option.target),
            tokens[option.first - 1] if option.first else BEGIN,
        )
        scores = self.policy.scores(names + history.names(self.policy.templates))
        logs = self.policy.log_probabilities(scores)
        first = self.policy.choose(scores, self.decide)  # type: ignore[arg-type]
        rest = sorted((k for k in range(len(logs)) if k != first), key=lambda k: -logs[k])
        return [(self.policy.labels[k], float(logs[k])) for k in (first, *rest)]

    def search(self, tokens: Words) -> tuple[float, Words, list[tuple[Option, str]]]:
        """The score, the words and the items of the best hypothesis."""
        stacks: list[dict[Any, Hypothesis]] = [{} for _ in range(len(tokens) + 1)]
        kept: list[Hypothesis | None] = [None]
        for position in range(len(tokens)):
            if position:
                kept = [*self.best(stacks[position])]
            for one in kept:
                for option in self.options(tokens, position):
                    for made in self.followed(tokens, one, option):
                        stack = stacks[option.last]
                        key = self.key(made)
                        if key not in stack or made.total > stack[key].total:
                            stack[key] = made
        ends = [self.ended(one) for one in self.best(stacks[-1])]
        return max(ends, key=lambda end: end[0])

    def best(self, stack: Mapping[Any, Hypothesis]) -> list[Hypothesis]:
        order = sorted(stack.values(), key=lambda one: -one.total)
        return order[: self.stack_size] if self.stack_size else order

    def followed(self, tokens: Words, one: Hypothesis | None, option: Option) -> Iterator[Hypothesis]:
        history = one.history if one else History()
        tried: set[tuple[bool, ...]] = set()
        for label, log in self.chosen(tokens, option, history):
            if self.labels and len(tried) == self.labels:
                return
            depth = len(one.stack()) if one else 0
            made = operations(label)[:depth]
            whole = made if option.last < len(tokens) else (*made, *[True] * (depth - len(made)))
            if self.labels != 1 and (whole in tried or not self.eager(one, option, whole)):
                continue
            tried.add(whole)
            top, below = Fragment(option.target, option.score + self.inside(option.target)), one
            top = Fragment(top.words, top.score + self.label_weights[0] * log)
            for in_order in made:
                assert below is not None
                top = below.top.beside(top, in_order, self.pairs)
                top = Fragment(top.words, top.score + (0.0 if in_order else self.label_weights[1]), top.order)
                below = below.below
            total = top.score + (below.total if below else 0.0)
            after = history.after(label, " ".join(option.target))
            items = (*(one.items if one else ()), (option, label))
            yield Hypothesis(top, option.last, below, after, items, total)

    def eager(self, one: Hypothesis | None, option: Option, made: Sequence[bool]) -> bool:
        """Whether the labels so far and this one are those of eager reduction, by the positions of the target side.

        What is reduced later is not known: with what could stand next to each other in the end, nothing may be left.
        """
        if one is None:
            return True
        if not option.target:
            return tuple(made) == (True,)
        if not one.top.words and made[:1] != (True,):
            return False
        # Two neighbours that are reduced in the order of the fragment on the right could have been, before it grew.
        order: bool | None = None
        for fragment, in_order in zip(one.stack(), made, strict=False):
            if order is in_order:
                return False
            if fragment.top.words:
                order = in_order
        return True

    def inside(self, words: Words) -> float:
        return sum(self.pairs(a, b) for a, b in itertools.pairwise(words))

    def key(self, one: Hypothesis) -> Any:
        """What is to come depends on no more."""
        ends = (one.top.words[:1], one.top.words[-1:])
        history = self.policy.history
        seen = one.history
        looked = (
            seen.labels[1] if {"label", "label2"} & set(history) else None,
            seen.labels[0] if "label2" in history else None,
            self.row(seen.stack[-1]) if "fragment" in history else None,
            one.top.order if self.labels != 1 else None,
        )
        return id(one.below), ends, looked

    def row(self, word: str) -> Any:
        return self.policy.rows.get(f"fragment={word}", -1) if word else ""

    def ended(self, one: Hypothesis) -> tuple[float, Words, list[tuple[Option, str]]]:
        top, total = one.top, one.top.score
        for other in one.stack()[1:]:
            top = other.top.beside(top, True, self.pairs)
            total = top.score + self.label_weights[2]
            top = Fragment(top.words, total)
        words = top.words
        total += self.pairs(words[-1], "") + self.pairs("", words[0]) if words else self.pairs("", "")
        return total, words, list(one.items)

    def every(self, tokens: Words) -> Iterator[tuple[float, Words, list[tuple[Option, str]]]]:
        """All sequences of options with the labels that the policy gives them; their texts by ``tree_of`` alone."""
        for options in self.sequences(tokens, 0):
            history, items, total = History(), [], 0.0
            for option in options:
                label, log = self.chosen(tokens, option, history)[0]
                depth = len(history.stack)
                total += option.score + self.label_weights[0] * log
                total += self.label_weights[1] * sum(not one for one in operations(label)[:depth])
                history = history.after(label, " ".join(option.target))
                items.append((option, label))
            total += self.label_weights[2] * (len(history.stack) - 1)
            order = target_order(tree_of([label for _, label in items], lenient=True))
            words = tuple(word for k in order for word in items[k][0].target)
            total += self.inside(("", *words, ""))
            yield total, words, items

    def sequences(self, tokens: Words, first: int) -> Iterator[tuple[Option, ...]]:
        if first == len(tokens):
            yield ()
        for option in self.options(tokens, first) if first < len(tokens) else ():
            for rest in self.sequences(tokens, option.last):
                yield (option, *rest)
