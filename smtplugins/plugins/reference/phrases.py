"""The decoder ``reference-phrase``: the phrases of a sentence, their scores, and the result of the search."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from smtformats.grammar.rules import NonTerminal, Rule
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.options import option
from smtplugins.contracts.tools.decoding import PhraseTableOptions, SentenceParser, Times, added, check_phrases, nats
from smtplugins.contracts.tools.features import column_names
from smtplugins.contracts.tools.grammars import Edges, Rules, Vocabulary
from smtplugins.plugins.reference.stacks import Hypothesis, Option, PhraseStep, SpanPhrases, StackLimits, StackSearch

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.models import Model
    from smtplugins.contracts.tools.decoding import Resources, SentenceForest, WeightedParser
    from smtplugins.contracts.tools.graphs import Hypergraph

_LABEL = "X"


@dataclass(frozen=True, kw_only=True)
class ReferencePhraseOptions(PhraseTableOptions):
    """The options of ``reference-phrase``; their meaning is that of ``phrase``."""

    search: Literal["stack"] = option("stack", "each hypothesis is extended with all phrases that may come next")
    stack_size: int = option(200, "hypotheses kept in a stack, 0 for all", least=0)
    beam_threshold: float = option(
        1e-5, "drop hypotheses less probable than this times the best of their stack; 0 for none", probability=True
    )
    distortion_limit: int = option(6, "longest jump, also back to the first gap; -1 for any", least=-1)
    order: Literal["free", "window", "monotone", "swap"] = option("free", "phrases that may come next")
    exhaustive: bool = option(False, "keep all hypotheses")
    input: Literal["text", "lattice", "confusion-net"] = option("text", "what the input holds")

    def limits(self) -> StackLimits:
        """The pruning and reordering limits of the search."""
        if self.exhaustive:
            return StackLimits(0, math.inf, self.distortion_limit, self.order)
        return StackLimits(self.stack_size, nats(self.beam_threshold), self.distortion_limit, self.order)


class ReferencePhrase:
    """Stacks of hypotheses, in one thread. The options are those of ``phrase``."""

    usual_features = tuple(
        "lm lexical-reordering distortion word-penalty phrase-penalty oov,value=-100,tuneable=false".split()
    )

    def __init__(self, *, resources: Resources, options: ReferencePhraseOptions) -> None:
        self._limits = options.limits()
        self._parser = SentenceParser(resources, options.parsing(), options.input_options())
        self._stateful = self._parser.stateful
        for active in self._stateful:
            if not hasattr(active.feature, "start"):
                raise UsageError(f"feature {active.label!r} has no form in Python: it cannot be used here")
        widths = [getattr(active.feature, "components", 1) for active in self._stateful]
        pairs = zip(self._stateful, widths, strict=True)
        self._names = [name for active, width in pairs for name in column_names(active, width)[:width]]
        self._weights: Mapping[str, float] | None = None
        self._weighted: WeightedParser | None = None

    def table_names(self, own: Iterable[str] = ()) -> tuple[str, ...]:
        """The features of the tables and of ``own`` per-sentence files."""
        return self._parser.table_names(own)

    def decode(
        self, sentences: Iterable[Sentence], model: Model, *, threads: int = 1, graphs: bool = False
    ) -> Iterator[Decoding]:
        """Translate sentences; translations come in the order of the input."""
        if self._weighted is None or self._weights is not model.weights:
            self._weights = model.weights
            self._weighted = self._parser.weighted(model.weights)
            for owner, columns in self._parser.static_columns():
                check_phrases(owner, columns)
        weighted = self._weighted
        return (self._decode(sentence, weighted, graphs) for sentence in sentences)

    def _decode(self, sentence: Sentence, weighted: WeightedParser, graphs: bool) -> Decoding:
        times = Times()
        made = weighted.forest(sentence)
        weights = [weighted.weights.get(name, 0.0) for name in self._names]
        with times("search"):
            scorers = [active.start(sentence) for active in self._stateful]
            search = _prepare(made, scorers, weights, self._limits)
            goal = search.goal() if search.positions else None
        path = [] if goal is None else _path(goal)
        rules = [made.forest.rule(step.option.number) for step in path if step.option is not None]
        features = made.sums([step.option.number for step in path if step.option is not None])
        for step in path:
            for name, value in zip(self._names, step.values, strict=True):
                features[name] = features.get(name, 0.0) + value
        # The translation of an empty sentence is empty.
        found = goal is not None or not search.positions
        return Decoding(
            id=sentence.id,
            best=" ".join(word for rule in rules for word in rule.target if isinstance(word, str)),
            score=goal.total if goal is not None else 0.0 if found else None,
            features=features if goal is not None else {},
            graph=(lambda: _graph(goal, made, self._names)) if graphs else None,
            trace=lambda: (_show(step, made) for step in search.steps),
            stats=added(made.stats, {**times.sums, "steps": len(search.steps)}),
            found=found,
        )


def _prepare(
    made: SentenceForest, scorers: Sequence[Any], weights: Sequence[float], limits: StackLimits
) -> StackSearch:
    """Set up the search of a sentence: its phrases with scores and the estimates of stateful features."""
    words = Vocabulary()
    native = made.forest.native
    positions = 0
    groups: list[SpanPhrases] = []
    for node, (_, first, last) in enumerate(native.nodes.tolist()):
        positions = max(positions, last)
        numbers = [
            number
            for bundle in range(*native.node_bundles[node : node + 2].tolist())
            for number in native.rules[slice(*native.rule_offsets[bundle : bundle + 2])].tolist()
        ]
        targets: list[list[str | int]] = [[0, *_words(made.forest.rule(number).target)] for number in numbers]
        edges = _edges(targets, (first, last), words)
        guesses = np.zeros(len(numbers))
        names = iter(weights)
        for scorer in scorers:
            for column in np.reshape(scorer.estimate(edges), (len(numbers), -1)).T:
                guesses += next(names) * column
        options = [
            Option(number, float(made.scores[number]), guess)
            for number, guess in zip(numbers, guesses.tolist(), strict=True)
        ]
        groups.append(SpanPhrases(first, last, options, edges))
    distances = None
    if made.sentence.lattice is not None:
        from smtplugins.contracts.tools.grammars import distances as between

        distances = between(made.sentence.lattice)
    return StackSearch(positions, groups, _edges([[]], (0, 0), words), scorers, weights, limits, distances)


def _edges(targets: Sequence[Sequence[str | int]], span: tuple[int, int], words: Vocabulary) -> Edges:
    places = (np.full(len(targets), end, dtype=np.int32) for end in span)
    return Edges(Rules.from_targets(targets, words), *places)


def _words(side: Iterable[str | NonTerminal]) -> list[str]:
    return [symbol for symbol in side if isinstance(symbol, str)]


def _path(goal: Hypothesis) -> list[PhraseStep]:
    """Return the steps of the best derivation, in order."""
    steps = []
    at = goal
    while at.steps:
        steps.append(at.steps[0])
        at = at.steps[0].before
    return steps[::-1]


def _show(step: PhraseStep, made: SentenceForest) -> str:
    """Format a step as a line: span, phrase pair, score, total so far."""
    assert step.phrases is not None
    assert step.option is not None
    rule = made.forest.rule(step.option.number)
    pair = " ||| ".join(" ".join(_words(side)) for side in (rule.source, rule.target))
    return f"[{step.phrases.first}, {step.phrases.last}) {pair}  {step.score:.4f}  {step.total:.4f}"


def _graph(goal: Hypothesis | None, made: SentenceForest, names: Sequence[str]) -> Hypergraph:
    """Return the hypotheses below the goal as a graph: each step is an edge whose only tail is its predecessor."""
    from smtformats.hypergraph.graph import Edge
    from smtplugins.contracts.tools.graphs import HypergraphBuilder

    builder = HypergraphBuilder()
    numbers: dict[int, int] = {}
    rules: list[Rule] = []
    rule_of: dict[int, int] = {}
    gap = NonTerminal(_LABEL, 1)

    def number_of(option: Option | None) -> int:
        number = -1 if option is None else option.number
        if number not in rule_of:
            rule_of[number] = len(rules)
            own = Rule(_LABEL, (), ()) if option is None else made.forest.rule(number)
            rules.append(Rule(own.lhs, (gap, *own.source), (gap, *own.target)))
        return rule_of[number]

    def edge(step: PhraseStep) -> Edge:
        end = (goal.end, goal.end) if goal is not None else (0, 0)
        span = end if step.phrases is None else (step.phrases.first, step.phrases.last)
        features = {} if step.option is None else made.sums([step.option.number])
        features |= {name: features.get(name, 0.0) + v for name, v in zip(names, step.values, strict=True)}
        return Edge([numbers[id(step.before)]], number_of(step.option), features, span, step.score)

    for hypothesis in [] if goal is None else _below(goal):
        label = None if hypothesis.covered < 0 else _LABEL
        numbers[id(hypothesis)] = builder.add([edge(step) for step in hypothesis.steps], label)
    return builder.build(made.sentence.id, rules)


def _below(goal: Hypothesis) -> list[Hypothesis]:
    """Return all hypotheses that lead to the goal, by number of covered words."""
    reachable = {id(goal): goal}
    waiting = [goal]
    while waiting:
        for step in waiting.pop().steps:
            if id(step.before) not in reachable:
                reachable[id(step.before)] = step.before
                waiting.append(step.before)
    return sorted(reachable.values(), key=lambda other: math.inf if other is goal else other.covered.bit_count())
