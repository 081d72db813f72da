"""The decoder ``reference``: which rules a sentence has, what they are worth, and what is told of a search."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtformats.grammar.rules import NonTerminal, Rule
from smtplugins.contracts.contracts import Built, Decoding
from smtplugins.core.grammar.rules import GLUE, MINTED, Edges, Origins, Rules
from smtplugins.core.grammar.tables import own_label
from smtplugins.core.vocabulary import Vocabulary
from smtplugins.host.config.resources import Resources, Table
from smtplugins.host.decode.built_steps import rule_text
from smtplugins.host.decode.forests import MARKS, NO_LIMIT, Times
from smtplugins.host.errors import UsageError
from smtplugins.host.features.rule_columns import blocks_of, column_names
from smtplugins.plugins.reference.chart import Applied, ChartItem, ChartSearch, parse

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.model import Model

MINTED_SPAN = 3


class Reference:
    """Charts with cube pruning, in one thread. The options are those of ``hiero``.

    ``search``: ``cube_pruning`` looks at ``pop_limit`` edges of a node, ``full`` at all. ``goal`` and ``nonterminal``
    are labels; ``max_span`` is the longest span of a rule; ``glue`` makes glue rules; ``markers`` puts ``<s>`` and
    ``</s>`` around sentences and into glue rules; ``pass_through`` makes rules for ``all`` words of the input, for the
    ``unknown`` ones or for ``none``.
    """

    def __init__(
        self,
        *,
        resources: Resources,
        search: Literal["cube_pruning", "full"] = "cube_pruning",
        pop_limit: int = 30,
        goal: str = "S",
        nonterminal: str = "X",
        max_span: int | None = None,
        glue: bool = True,
        markers: bool = False,
        pass_through: Literal["all", "unknown", "none"] = "all",
    ) -> None:
        if pop_limit < 1:
            raise UsageError(f"pop_limit: expected 1 or more, found {pop_limit}")
        self._pop_limit = math.inf if search == "full" else pop_limit
        self._goal, self._nonterminal, self._max_span = goal, nonterminal, max_span
        self._glue, self._markers, self._pass_through = glue, markers, pass_through
        self._resources = resources
        self._local = [one for one in resources.features if hasattr(one.feature, "score_rules")]
        self._stateful = [one for one in resources.features if hasattr(one.feature, "start")]
        for one in resources.features:
            if one not in self._local and one not in self._stateful:
                raise UsageError(f"feature {one.label!r} has neither score_rules nor start: it cannot be used here")
        widths = [getattr(one.feature, "components", 1) for one in self._stateful]
        pairs = zip(self._stateful, widths, strict=True)
        self._names = [name for one, width in pairs for name in column_names(one, width)[:width]]
        self._tables: list[Applied] | None = None

    def decode(
        self, sentences: Iterable[Sentence], model: Model, *, threads: int = 1, graphs: bool = False
    ) -> Iterator[Decoding]:
        """Translations in the order of the input."""
        for sentence in sentences:
            if sentence.lattice is not None:
                raise UsageError(f"sentence {sentence.id}: the decoder `reference` takes sentences, not lattices")
            yield self._decoded(sentence, model.weights, graphs)

    def _decoded(self, sentence: Sentence, weights: Mapping[str, float], graphs: bool) -> Decoding:
        times = Times()
        with times("loading"):
            if self._tables is None:
                self._tables = [one for table in self._resources.tables for one in self._loaded(table)]
        scorers = [one.feature.start(sentence) for one in self._stateful]
        words = (MARKS[0], *sentence.tokens, MARKS[1]) if self._markers else sentence.tokens
        with times("parsing"):
            rules = self._weighed(self._rules(sentence, words), scorers, weights)
            chart = parse(words, rules)
        with times("search"):
            search = ChartSearch(chart, scorers, [weights.get(name, 0.0) for name in self._names], self._pop_limit)
            top = search.goal((0, len(words), self._goal))
        cubes = [len(rules) for some in chart.values() for rules, _ in some]
        counts = {"nodes": len(chart), "bundles": len(cubes), "edges": sum(cubes), "pops": len(search.steps)}
        edges = [] if top is None else list(_derivation(top))
        text = [] if top is None else _text(top)
        return Decoding(
            id=sentence.id,
            best=self._shown(" ".join(text)),
            score=None if top is None else top.edges[0].total,
            features=_sum(
                row for one in edges for row in (one.applied.features, dict(zip(self._names, one.values, strict=True)))
            ),
            graph=(lambda: _graph(top, rules, self._names, sentence.id)) if graphs else None,
            shown=self._shown,
            trace=lambda: map(_step, search.steps),
            built=lambda: _built(top),
            stats={**times.sums, **counts},
            found=top is not None,
        )

    def _shown(self, text: str) -> str:
        """Words without the marks of sentences."""
        return " ".join(word for word in text.split(" ") if not (self._markers and word in MARKS))

    def _loaded(self, table: Table) -> Iterator[Applied]:
        """The rules of a table that can be applied at all."""
        if table.limit:
            raise UsageError(f"{table.path}: the decoder `reference` has no limit of target sides")
        columns = table.load(self._resources.formats, self._resources.cache)
        span = self._max_span if table.max_span is None else table.max_span
        limit = math.inf if span is None or span == NO_LIMIT else span
        for i in range(len(columns)):
            rule = columns.rule(i)
            first = rule.source[0] if rule.source else ""
            # Nothing is made of the goal alone, and a rule of a level above 0 refines one before it.
            of_goal = len(rule.source) == 1 and isinstance(first, NonTerminal) and own_label(first.label) == self._goal
            if rule.source and rule.level == 0 and not of_goal:
                yield Applied(rule, table.owner or table.name or str(table.path), limit, span == NO_LIMIT)

    def _rules(self, sentence: Sentence, words: Sequence[str]) -> list[Applied]:
        """The rules whose words are in the sentence, glue, and rules for words of the input."""
        own = [one for path in sentence.grammars for one in self._loaded(Table(Path(path)))]
        given = set(words)
        rules = [one for one in (*(self._tables or ()), *own) if given.issuperset(_words(one.rule.source))]
        known = {one.rule.source for one in rules if not one.from_start}
        if self._glue:
            goal, first, second = (NonTerminal(self._goal, 1), *(NonTerminal(self._nonterminal, k) for k in (1, 2)))
            sides: list[tuple[str | NonTerminal, ...]] = [(goal, second)]
            sides += [MARKS[:1], (goal, MARKS[1])] if self._markers else [(first,)]
            rules += [Applied(Rule(self._goal, side, side), GLUE, from_start=True) for side in sides]
        for word in dict.fromkeys(words):
            unknown = self._pass_through == "unknown" and (word,) not in known
            if (unknown or self._pass_through == "all") and not (self._markers and word in MARKS):
                rule = Rule(self._nonterminal, (word,), (word,), alignment=((0, 0),))
                rules.append(Applied(rule, MINTED, MINTED_SPAN))
        return rules

    def _weighed(self, rules: list[Applied], scorers: Sequence[Any], weights: Mapping[str, float]) -> list[Applied]:
        """The rules with their features and scores."""
        import numpy as np

        from smtformats.grammar.shared.gather import grammar_columns

        words = Vocabulary()
        owners = tuple(dict.fromkeys(one.owner for one in rules))
        numbers = np.array([owners.index(one.owner) for one in rules], dtype=np.int32)
        origins = Origins(owners, range(len(owners)), numbers, lambda: grammar_columns(one.rule for one in rules))
        every = replace(Rules.from_targets([_target(one.rule) for one in rules], words), origins=origins)
        blocks = list(blocks_of(self._local, every))
        guesses = np.zeros(len(rules))
        names = iter(self._names)
        for scorer in scorers if rules else ():
            for column in np.asarray(scorer.estimate(Edges(every))).reshape(len(rules), -1).T:
                guesses += weights.get(next(names), 0.0) * column
        made = []
        for i, one in enumerate(rules):
            told = (
                dict(zip(block.names, (float(column[i]) for column in block.columns), strict=True)) for block in blocks
            )
            features = _sum([one.rule.features(), *told])
            score = sum(weights.get(name, 0.0) * value for name, value in features.items())
            edges = Edges(Rules.from_targets([_target(one.rule)], words))
            guess = float(guesses[i])
            made.append(replace(one, number=i, features=features, score=score, guess=guess, edges=edges))
        return made


def _words(symbols: Iterable[str | NonTerminal]) -> Iterator[str]:
    """The words of a side."""
    return (one for one in symbols if not isinstance(one, NonTerminal))


def _target(rule: Rule) -> list[str | int]:
    """A target side as features see it: gaps have their numbers in the order of that side."""
    gaps = itertools.count()
    return [next(gaps) if isinstance(one, NonTerminal) else one for one in rule.target]


def _derivation(item: ChartItem) -> Iterator[Any]:
    """The edges of the best derivation, each before those below it."""
    edge = item.edges[0]
    yield edge
    for tail in edge.tails:
        yield from _derivation(tail)


def _text(item: ChartItem) -> Iterator[str]:
    """The words of the best derivation."""
    edge = item.edges[0]
    for one in edge.applied.rule.target:
        if isinstance(one, NonTerminal):
            yield from _text(edge.tails[one.index - 1])
        else:
            yield one


def _built(top: ChartItem | None) -> list[Built]:
    """The steps of the best derivation: from left to right, what is below before what is above."""
    steps: list[Built] = []

    def add(item: ChartItem) -> int:
        edge = item.edges[0]
        first, *rest = [*map(add, edge.tails)] or [-1]
        more = tuple((other, child) for child, other in enumerate(rest, 1))
        rule = rule_text(edge.applied.rule)
        steps.append(Built(rule, *item.node[:2], first, bool(edge.tails), 0, edge.score, more))
        return len(steps) - 1

    if top is not None:
        add(top)
    return steps


def _step(step: tuple[Any, ...]) -> str:
    """What was popped, as a line: span, rule, total, states."""
    (first, last, _), edge, states = step
    rule = edge.applied.rule
    sides = (
        " ".join(f"[{one.label},{one.index}]" if isinstance(one, NonTerminal) else one for one in side)
        for side in (rule.source, rule.target)
    )
    return f"[{first}, {last}) {rule.lhs} -> {' ||| '.join(sides)}  {edge.total:.4f}  {states}"


def _graph(top: ChartItem | None, rules: Sequence[Applied], names: Sequence[str], id: str) -> Hypergraph:
    """The items that the goal was made of."""
    from smtformats.hypergraph.graph import Edge
    from smtplugins.core.graph.hypergraph import HypergraphBuilder

    builder = HypergraphBuilder()
    numbers: dict[Any, int] = {}

    def add(item: ChartItem) -> int:
        key = (item.node, item.states)
        if key not in numbers:
            edges = []
            for one in item.edges:
                tails = [add(tail) for tail in one.tails]
                rule = len(rules) if item is top else one.applied.number
                features = _sum([one.applied.features, dict(zip(names, one.values, strict=True))])
                edges.append(Edge(tails, rule, features, item.node[:2], one.score))
            numbers[key] = builder.add(edges, item.node[2])
        return numbers[key]

    if top is None:
        return builder.build(id, ())
    add(top)
    return builder.build(id, [one.rule for one in (*rules, top.edges[0].applied)])


def _sum(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for row in rows:
        for name, value in row.items():
            total[name] = total.get(name, 0.0) + value
    return total
