"""The decoder ``reference``: the rules of a sentence, their scores, and the result of the search."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtformats.grammar.rules import NonTerminal, Rule
from smtplugins.contracts.decoders import BuiltStep, Decoding
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.options import option
from smtplugins.contracts.tools.decoding import (
    MARKS,
    NO_LIMIT,
    GrammarOptions,
    Resources,
    RuleTable,
    Times,
    rule_text,
)
from smtplugins.contracts.tools.features import blocks_of, column_names
from smtplugins.contracts.tools.grammars import GLUE, MINTED, Edges, Origins, Rules, Vocabulary, own_label
from smtplugins.plugins.reference.chart import Applied, ChartItem, ChartSearch, parse

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.models import Model
    from smtplugins.contracts.tools.graphs import Hypergraph

MINTED_SPAN = 3


@dataclass(frozen=True, kw_only=True)
class ReferenceOptions(GrammarOptions):
    """The options of the decoder ``reference``; their meaning is that of ``hiero``."""

    search: Literal["cube_pruning", "full"] = option("cube_pruning", "`full` looks at all derivations")
    pop_limit: int = option(30, "edges that cube pruning pops for each node", least=1)


class Reference:
    """Charts with cube pruning, in one thread. The options are those of ``hiero``."""

    usual_features = ("lm", "word-penalty", "phrase-penalty", "glue", "oov,value=-100,tuneable=false")

    def __init__(self, *, resources: Resources, options: ReferenceOptions) -> None:
        self._options = options
        self._pop_limit = math.inf if options.search == "full" else options.pop_limit
        self._resources = resources
        self._local = [active for active in resources.features if hasattr(active.feature, "score_rules")]
        self._stateful = [active for active in resources.features if hasattr(active.feature, "start")]
        for active in resources.features:
            if active not in self._local and active not in self._stateful:
                raise UsageError(f"feature {active.label!r} has neither score_rules nor start: it cannot be used here")
        widths = [getattr(active.feature, "components", 1) for active in self._stateful]
        pairs = zip(self._stateful, widths, strict=True)
        self._names = [name for active, width in pairs for name in column_names(active, width)[:width]]
        self._tables: list[Applied] | None = None

    def table_names(self, own: Iterable[str] = ()) -> tuple[str, ...]:
        """The features of the tables and of ``own`` per-sentence files."""
        tables = (*self._resources.tables, *(RuleTable(Path(path)) for path in own))
        given = self._resources
        return tuple(dict.fromkeys(name for table in tables for name in table.load(given.formats, given.cache).names))

    def decode(
        self, sentences: Iterable[Sentence], model: Model, *, threads: int = 1, graphs: bool = False
    ) -> Iterator[Decoding]:
        """Translate sentences; translations come in the order of the input."""
        for sentence in sentences:
            if sentence.lattice is not None:
                raise UsageError(f"sentence {sentence.id}: the decoder `reference` takes sentences, not lattices")
            yield self._decode(sentence, model.weights, graphs)

    def _decode(self, sentence: Sentence, weights: Mapping[str, float], graphs: bool) -> Decoding:
        times = Times()
        with times("loading"):
            if self._tables is None:
                self._tables = [applied for table in self._resources.tables for applied in self._load_rules(table)]
        scorers = [active.feature.start(sentence) for active in self._stateful]
        words = (MARKS[0], *sentence.tokens, MARKS[1]) if self._options.markers else sentence.tokens
        with times("parsing"):
            rules = self._score_rules(self._rules(sentence, words), scorers, weights)
            chart = parse(words, rules)
        with times("search"):
            search = ChartSearch(chart, scorers, [weights.get(name, 0.0) for name in self._names], self._pop_limit)
            top = search.goal((0, len(words), self._options.goal))
        cubes = [len(rules) for some in chart.values() for rules, _ in some]
        counts = {"nodes": len(chart), "bundles": len(cubes), "edges": sum(cubes), "pops": len(search.steps)}
        edges = [] if top is None else list(_derivation(top))
        text = [] if top is None else _text(top)
        return Decoding(
            id=sentence.id,
            best=self._show(" ".join(text)),
            score=None if top is None else top.edges[0].total,
            features=_sum(
                row
                for edge in edges
                for row in (edge.applied.features, dict(zip(self._names, edge.values, strict=True)))
            ),
            graph=(lambda: _graph(top, rules, self._names, sentence.id)) if graphs else None,
            shown=self._show,
            trace=lambda: map(_step, search.steps),
            built=lambda: _build_steps(top),
            stats={**times.sums, **counts},
            found=top is not None,
        )

    def _show(self, text: str) -> str:
        """Output words without the marks of sentences."""
        return " ".join(word for word in text.split(" ") if not (self._options.markers and word in MARKS))

    def _load_rules(self, table: RuleTable) -> Iterator[Applied]:
        """The rules of a table that can apply."""
        if table.limit:
            raise UsageError(f"{table.path}: the decoder `reference` does not support `limit`")
        columns = table.load(self._resources.formats, self._resources.cache)
        span = self._options.max_span if table.max_span is None else table.max_span
        limit = math.inf if span is None or span == NO_LIMIT else span
        for i in range(len(columns)):
            rule = columns.rule(i)
            first = rule.source[0] if rule.source else ""
            # No rule consumes the goal alone, and a rule of a level above 0 refines an earlier one.
            of_goal = (
                len(rule.source) == 1
                and isinstance(first, NonTerminal)
                and own_label(first.label) == self._options.goal
            )
            if rule.source and rule.level == 0 and not of_goal:
                yield Applied(rule, table.owner or table.name or str(table.path), limit, span == NO_LIMIT)

    def _rules(self, sentence: Sentence, words: Sequence[str]) -> list[Applied]:
        """The rules whose words are in the sentence, glue rules, and rules that copy input words."""
        own = [applied for path in sentence.grammars for applied in self._load_rules(RuleTable(Path(path)))]
        given = set(words)
        rules = [applied for applied in (*(self._tables or ()), *own) if given.issuperset(_words(applied.rule.source))]
        known = {applied.rule.source for applied in rules if not applied.from_start}
        if self._options.glue:
            goal, first, second = (
                NonTerminal(self._options.goal, 1),
                *(NonTerminal(self._options.nonterminal, k) for k in (1, 2)),
            )
            sides: list[tuple[str | NonTerminal, ...]] = [(goal, second)]
            sides += [MARKS[:1], (goal, MARKS[1])] if self._options.markers else [(first,)]
            rules += [Applied(Rule(self._options.goal, side, side), GLUE, from_start=True) for side in sides]
        for word in dict.fromkeys(words):
            unknown = self._options.pass_through == "unknown" and (word,) not in known
            if (unknown or self._options.pass_through == "all") and not (self._options.markers and word in MARKS):
                rule = Rule(self._options.nonterminal, (word,), (word,), alignment=((0, 0),))
                rules.append(Applied(rule, MINTED, MINTED_SPAN))
        return rules

    def _score_rules(self, rules: list[Applied], scorers: Sequence[Any], weights: Mapping[str, float]) -> list[Applied]:
        """Score the rules by their features."""
        import numpy as np

        from smtformats.grammar.shared.gather import grammar_columns

        words = Vocabulary()
        owners = tuple(dict.fromkeys(applied.owner for applied in rules))
        numbers = np.array([owners.index(applied.owner) for applied in rules], dtype=np.int32)
        origins = Origins(
            owners, range(len(owners)), numbers, lambda: grammar_columns(applied.rule for applied in rules)
        )
        every = replace(Rules.from_targets([_target(applied.rule) for applied in rules], words), origins=origins)
        blocks = list(blocks_of(self._local, every))
        guesses = np.zeros(len(rules))
        names = iter(self._names)
        for scorer in scorers if rules else ():
            for column in np.asarray(scorer.estimate(Edges(every))).reshape(len(rules), -1).T:
                guesses += weights.get(next(names), 0.0) * column
        made = []
        for i, applied in enumerate(rules):
            told = (
                dict(zip(block.names, (float(column[i]) for column in block.columns), strict=True)) for block in blocks
            )
            features = _sum([applied.rule.features(), *told])
            score = sum(weights.get(name, 0.0) * value for name, value in features.items())
            edges = Edges(Rules.from_targets([_target(applied.rule)], words))
            guess = float(guesses[i])
            made.append(replace(applied, number=i, features=features, score=score, guess=guess, edges=edges))
        return made


def _words(symbols: Iterable[str | NonTerminal]) -> Iterator[str]:
    """The words of a rule's side."""
    return (symbol for symbol in symbols if not isinstance(symbol, NonTerminal))


def _target(rule: Rule) -> list[str | int]:
    """A target side as features see it, its gaps numbered in the order of that side."""
    gaps = itertools.count()
    return [next(gaps) if isinstance(symbol, NonTerminal) else symbol for symbol in rule.target]


def _derivation(item: ChartItem) -> Iterator[Any]:
    """The edges of the best derivation, parents before children."""
    edge = item.edges[0]
    yield edge
    for tail in edge.tails:
        yield from _derivation(tail)


def _text(item: ChartItem) -> Iterator[str]:
    """The words of the best derivation."""
    edge = item.edges[0]
    for symbol in edge.applied.rule.target:
        if isinstance(symbol, NonTerminal):
            yield from _text(edge.tails[symbol.index - 1])
        else:
            yield symbol


def _build_steps(top: ChartItem | None) -> list[BuiltStep]:
    """The steps of the best derivation, from left to right, children before parents."""
    steps: list[BuiltStep] = []

    def add(item: ChartItem) -> int:
        edge = item.edges[0]
        first, *rest = [*map(add, edge.tails)] or [-1]
        more = tuple((other, child) for child, other in enumerate(rest, 1))
        rule = rule_text(edge.applied.rule)
        steps.append(BuiltStep(rule, *item.node[:2], first, bool(edge.tails), 0, edge.score, more))
        return len(steps) - 1

    if top is not None:
        add(top)
    return steps


def _step(step: tuple[Any, ...]) -> str:
    """A popped edge as a line: span, rule, total, states."""
    (first, last, _), edge, states = step
    rule = edge.applied.rule
    sides = (
        " ".join(f"[{symbol.label},{symbol.index}]" if isinstance(symbol, NonTerminal) else symbol for symbol in side)
        for side in (rule.source, rule.target)
    )
    return f"[{first}, {last}) {rule.lhs} -> {' ||| '.join(sides)}  {edge.total:.4f}  {states}"


def _graph(top: ChartItem | None, rules: Sequence[Applied], names: Sequence[str], id: str) -> Hypergraph:
    """The items below the goal, as a hypergraph."""
    from smtformats.hypergraph.graph import Edge
    from smtplugins.contracts.tools.graphs import HypergraphBuilder

    builder = HypergraphBuilder()
    numbers: dict[Any, int] = {}

    def add(item: ChartItem) -> int:
        key = (item.node, item.states)
        if key not in numbers:
            edges = []
            for edge in item.edges:
                tails = [add(tail) for tail in edge.tails]
                rule = len(rules) if item is top else edge.applied.number
                features = _sum([edge.applied.features, dict(zip(names, edge.values, strict=True))])
                edges.append(Edge(tails, rule, features, item.node[:2], edge.score))
            numbers[key] = builder.add(edges, item.node[2])
        return numbers[key]

    if top is None:
        return builder.build(id, ())
    add(top)
    return builder.build(id, [applied.rule for applied in (*rules, top.edges[0].applied)])


def _sum(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for row in rows:
        for name, value in row.items():
            total[name] = total.get(name, 0.0) + value
    return total
