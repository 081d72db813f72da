"""Results of a search of ``amasis``: the hypergraph, features and steps of the best derivation, a trace for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.gather import Numbering
from smtplugins.contracts.decoders import BuiltStep
from smtplugins.contracts.tools.decoding import BestFeatures, rule_text
from smtplugins.contracts.tools.search import hypergraph_of_spans

if TYPE_CHECKING:
    from smtformats.columns import GrammarColumns
    from smtplugins.contracts.tools.decoding import SentenceForest
    from smtplugins.contracts.tools.grammars import Forest
    from smtplugins.contracts.tools.graphs import Hypergraph
    from smtplugins.plugins.searn._searn import AmasisGraph

    RuleFeatures = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

_LABEL = "X"
_FIRST, _SECOND = NonTerminal(_LABEL, 1), NonTerminal(_LABEL, 2)
REDUCTIONS = (Rule(_LABEL, (_FIRST, _SECOND), (_FIRST, _SECOND)), Rule(_LABEL, (_FIRST, _SECOND), (_SECOND, _FIRST)))
"""R+ and R- as rules."""


def hypergraph_of_fragments(
    forest: Forest, graph: AmasisGraph, rule_features: RuleFeatures, names: Sequence[str], id: str = ""
) -> Hypergraph:
    """The search graph as a hypergraph: nodes are fragments; edges are phrases, reductions and final hypotheses.

    ``rule_features`` are the features of the forest's rules: offsets, ids in ``forest.tables.names``, values. ``names``
    name the search's own columns in order; without names the label columns are left out.
    """
    offsets, ids, values = rule_features
    offsets = np.append(offsets, [offsets[-1]] * len(REDUCTIONS)).astype(np.int64)
    rules = with_reductions(forest.rule_columns)
    return hypergraph_of_spans(forest, graph, (offsets, ids, values), names, graph.tail_offsets, rules, id)


def with_reductions(rules: GrammarColumns) -> GrammarColumns:
    """Append R+ and R- to the rules."""
    table = Numbering(rules.labels[:])
    label = table.add(_LABEL)
    gap = -1 - label

    def ends(offsets: NDArray[Any], *more: int) -> NDArray[Any]:
        return np.append(offsets, offsets[-1] + np.array(more)).astype(offsets.dtype)

    return replace(
        rules,
        lhs=np.append(rules.lhs, [label, label]).astype(rules.lhs.dtype),
        level=np.append(rules.level, [0, 0]).astype(rules.level.dtype),
        source=np.append(rules.source, [gap] * 4).astype(rules.source.dtype),
        source_offsets=ends(rules.source_offsets, 2, 4),
        target=np.append(rules.target, [-1, -2, -2, -1]).astype(rules.target.dtype),
        target_offsets=ends(rules.target_offsets, 2, 4),
        feature_offsets=ends(rules.feature_offsets, 0, 0),
        point_offsets=ends(rules.point_offsets, 0, 0),
        labels=table.table(),
    )


def _rule(parsed: SentenceForest, number: int) -> Rule:
    """A rule of the graph: a rule of the forest, or a reduction."""
    behind = number - len(parsed.forest.native.origins)
    return parsed.forest.rule(number) if behind < 0 else REDUCTIONS[behind]


def built(parsed: SentenceForest, graph: AmasisGraph) -> list[BuiltStep]:
    """The steps that build the best derivation: shifts, each followed by the reductions of its label."""
    rules, firsts, lasts, scores = (
        column[graph.path].tolist() for column in (graph.rules, graph.firsts, graph.lasts, graph.scores)
    )
    widths = (graph.tail_offsets[graph.path + 1] - graph.tail_offsets[graph.path]).tolist()
    # The path lists each edge before its children: read backwards, the children are known first, the left one last.
    children: dict[int, list[int]] = {}
    done: list[int] = []
    for place in range(len(rules) - 1, -1, -1):
        children[place] = [done.pop() for _ in range(widths[place])]
        done.append(place)
    steps: list[BuiltStep] = []
    numbers: dict[int, int] = {}
    for place in _upwards(children):
        below = [numbers[child] for child in children[place]]
        beside = below[0] if below else -1
        rule = rule_text(_rule(parsed, rules[place]))
        further = tuple((step, k + 1) for k, step in enumerate(below[1:]))
        numbers[place] = len(steps)
        steps.append(BuiltStep(rule, firsts[place], lasts[place], beside, bool(below), 0, scores[place], further))
    return steps


def _upwards(children: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """Yield children before parents, from left to right, in the order of shifts and reductions."""
    pending = [(0, False)] if children else []
    while pending:
        place, entered = pending.pop()
        if entered or not children[place]:
            yield place
        else:
            pending.append((place, True))
            pending += [(child, False) for child in reversed(children[place])]


def traced(parsed: SentenceForest, graph: AmasisGraph, labels: Sequence[str]) -> Iterator[str]:
    """Yield ``[first, last) source ||| target  label`` for each item, then the final reductions and the score.

    If the stack was too low for all reductions of a label, the number of reductions made follows it.
    """
    if not graph.nodes:
        yield "no derivation"
        return
    depth = 0
    items = zip(
        *(column.tolist() for column in (graph.item_rules, graph.item_firsts, graph.item_lasts)),
        *(column.tolist() for column in (graph.item_labels, graph.item_reductions)),
        strict=True,
    )
    for number, first, last, label, reduced in items:
        rule = parsed.forest.rule(number)
        depth += 1 - reduced
        name = labels[label]
        short = "" if reduced == name.count("R") else f" ({reduced} of {name.count('R')})"
        sides = " ||| ".join(" ".join(map(str, side)) for side in (rule.source, rule.target))
        yield f"[{first}, {last}) {sides}  {name}{short}"
    yield f"end  {','.join(['R+'] * (depth - 1)) or '-'}  {graph.score:.4f}"


def path_features(forest: SentenceForest, graph: AmasisGraph, names: Sequence[str]) -> Mapping[str, float]:
    """The features of the best derivation, summed on first access."""

    def steps() -> tuple[NDArray[Any], NDArray[Any]] | None:
        if not graph.nodes:
            return None
        rules = graph.rules[graph.path]
        values = graph.values.reshape(len(graph.rules), -1)[graph.path, : len(names)]
        return rules[rules < len(forest.forest.native.origins)], values

    return BestFeatures(forest, names, steps)
