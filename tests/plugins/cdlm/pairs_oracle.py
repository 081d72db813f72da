"""Confusion grammars by the definition, in plain Python: what the native counting is compared with."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import GraphColumns
from smtplugins.plugins.cdlm.grammar.choices import Choices

Side = tuple[str | int, ...]  # words, and gaps by their places on the source side, from 0
Pairs = Counter[tuple[Side, Side]]


def side(symbols: Iterable[str | NonTerminal]) -> Side:
    return tuple(one.index - 1 if isinstance(one, NonTerminal) else one for one in symbols)


def gaps(one: Side) -> list[int]:
    return [symbol for symbol in one if isinstance(symbol, int)]


def renumbered(first: Side, second: Side) -> tuple[Side, Side]:
    """Gaps by their places on the first side."""
    place = {gap: i for i, gap in enumerate(gaps(first))}

    def with_places(one: Side) -> Side:
        return tuple(place[symbol] if isinstance(symbol, int) else symbol for symbol in one)

    return with_places(first), with_places(second)


def possible(one: Side, choices: Choices) -> bool:
    """Whether a rule can have the side as its input."""
    words = len(one) - len(gaps(one))
    return words > 0 or (choices.wordless and len(one) > 1)


def is_glue(source: Sequence[str | NonTerminal], target: Side) -> bool:
    if source:
        return not any(isinstance(one, str) for one in source)
    return bool(target) and list(target) == list(range(len(target)))


def taken(source: Sequence[str | NonTerminal], target: Side, choices: Choices) -> bool:
    return (choices.glue or not is_glue(source, target)) and (choices.gaps is None or len(gaps(target)) <= choices.gaps)


def of_grammar(rules: Sequence[Rule], choices: Choices) -> tuple[Pairs, int]:
    """The pairs, each with the number of source sides it was found in; and how many there are without the cap."""
    found: dict[Any, dict[Side, list[float]]] = defaultdict(lambda: defaultdict(list))
    best = choices.best
    for place, rule in enumerate(rules):
        target = side(rule.target)
        if rule.level or not taken(rule.source, target, choices):
            continue
        key = (rule.source, rule.lhs if choices.same_lhs else None)
        weights = best if isinstance(best, Mapping) else {}
        score = sum(weights.get(name, 0.0) * value for name, value in rule.features().items())
        here = found[key][target]
        here[:] = [max(score, *here[:1]) if here else score, here[1] if here else place, here[2] + 1 if here else 1]
    pairs: Pairs = Counter()
    uncapped = 0
    for targets in found.values():
        order = sorted(
            targets, key=lambda one: (-targets[one][2] if best == "count" else 0.0, -targets[one][0], targets[one][1])
        )
        uncapped += len(order) ** 2 - (0 if choices.identity else len(order))
        kept = order[: choices.cap] if choices.cap else order
        pairs.update(pair for pair in (renumbered(a, b) for a in kept for b in kept))
    return chosen(pairs, choices), uncapped


def of_graph(graph: GraphColumns, scope: str, choices: Choices, minted: Iterable[int] = ()) -> Pairs:
    """The pairs of rules on edges into one node or over one span, counted by pairs of edges."""
    cells: dict[Any, list[int]] = defaultdict(list)
    left_out = set(minted)
    rules = [graph.grammar.rule(i) for i in range(len(graph.grammar))]
    for node in range(graph.nodes):
        for edge in range(int(graph.edge_offsets[node]), int(graph.edge_offsets[node + 1])):
            if graph.rules[edge] >= 0 and edge not in left_out:
                cells[node if scope == "item" else tuple(graph.spans[edge].tolist())].append(edge)
    targets = [side(rule.target) for rule in rules]
    usable = [taken(rule.source, target, choices) for rule, target in zip(rules, targets, strict=True)]
    pairs: Pairs = Counter()
    for edges in cells.values():
        # Pairs are of rules that are taken.
        numbers = [i for i in graph.rules[edges].tolist() if usable[i]]
        for one in numbers:
            for other in numbers:
                first, second = rules[one], rules[other]
                sides = targets[one], targets[other]
                if len(gaps(sides[0])) != len(gaps(sides[1])) or (choices.same_lhs and first.lhs != second.lhs):
                    continue
                # A rule is its two sides, whatever its number.
                if not choices.same_rule and (first.source, sides[0]) == (second.source, sides[1]):
                    continue
                pairs[renumbered(*sides)] += 1
    return chosen(pairs, choices)


def chosen(pairs: Pairs, choices: Choices) -> Pairs:
    return Counter(
        {
            (first, second): times
            for (first, second), times in pairs.items()
            if possible(first, choices) and (choices.identity or first != second)
        }
    )


def costs(pairs: Pairs) -> dict[tuple[Side, Side], float]:
    """Minus the logarithms of relative frequencies among the pairs of an input."""
    totals: Counter[Side] = Counter()
    for (first, _), times in pairs.items():
        totals[first] += times
    return {pair: -math.log(times / totals[pair[0]]) for pair, times in pairs.items()}
