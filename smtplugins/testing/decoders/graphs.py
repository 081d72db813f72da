"""Checks of the search graphs that decoders return."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smtformats.grammar.rules import NonTerminal, Rule
from smtplugins.testing.checks import Check, DoesNotApply
from smtplugins.testing.decoders import rule_systems as grammars
from smtplugins.testing.decoders.phrase_systems import PhraseSystem
from smtplugins.testing.decoders.rule_systems import TOLERANCE, System, assert_among, total

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.decoders import Decoding
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.testing.decoders.any_decoder import DecoderSubject

_BEST = 50


def asking_for_graphs_changes_nothing(subject: DecoderSubject) -> None:
    """The best translation and its score are the same with and without graphs, except for ties."""
    from smtplugins.core.graph.inference import kbest

    _needs_graphs(subject)
    for (_, _, plain), (_, _, with_graph) in zip(subject.solved(), subject.solved(graphs=True), strict=True):
        assert plain.score == with_graph.score, (
            f"sentence {plain.id} has the score {plain.score}, and {with_graph.score} with a graph"
        )
        if plain.best != with_graph.best:
            derivations = kbest(with_graph.graph(), k=_BEST) if with_graph.graph is not None else None
            tied = [] if derivations is None else _find_ties(derivations.texts(), derivations.scores.tolist())
            assert plain.best in tied, f"sentence {plain.id} is {plain.best!r}, and {with_graph.best!r} with a graph"


def graphs_begin_with_the_best(subject: DecoderSubject) -> None:
    """A graph's best derivation is that of the decoding; all derivations have the score of their features."""
    from smtplugins.core.graph.inference import kbest

    for system, _, decoding, graph in _graphs(subject):
        derivations = kbest(graph, k=_BEST)
        assert len(derivations), (
            f"sentence {decoding.id}: the graph has no derivation, where {decoding.best!r} was found"
        )
        texts, rows = derivations.texts(), [_row(graph, values) for values in derivations.features()]
        assert derivations.scores.tolist() == sorted(derivations.scores.tolist(), reverse=True)
        assert math.isclose(derivations.scores[0], decoding.score or 0.0, rel_tol=TOLERANCE, abs_tol=TOLERANCE), (
            f"sentence {decoding.id}: the score is {decoding.score!r}, that of the graph's best derivation "
            f"{derivations.scores[0]!r}"
        )
        tied = _find_ties(texts, derivations.scores.tolist())
        assert decoding.best in tied, f"sentence {decoding.id}: the best is {decoding.best!r}, in the graph {tied[0]!r}"
        for text, score, row in zip(texts, derivations.scores.tolist(), rows, strict=True):
            summed = total(system.weights, row)
            assert math.isclose(summed, score, rel_tol=TOLERANCE, abs_tol=TOLERANCE), (
                f"sentence {decoding.id}: in the graph {text!r} has the score {score!r}, that of its features is "
                f"{summed!r}"
            )


def graphs_are_in_the_grammar(subject: DecoderSubject) -> None:
    """The derivations of a graph are in the grammar: sides, spans and labels are consistent, and none is repeated."""
    from smtplugins.core.graph.inference import kbest

    for system, sentence, decoding, graph in _graphs(subject):
        where = f"sentence {decoding.id} ({sentence.text})"
        if isinstance(system, PhraseSystem):
            system.assert_graph(graph, sentence, where)
        else:
            _assert_composed(graph, system, sentence, where)
        every = system.derivations(sentence.tokens)
        if every is None:
            continue
        derivations = kbest(graph, k=len(every) + 1)
        assert len(derivations) <= len(every), (
            f"{where}: the graph has more derivations than the grammar's {len(every)}"
        )
        for text, derivation in list(zip(derivations.texts(), derivations, strict=True))[:_BEST]:
            assert_among(text, _row(graph, derivation.features()), every, where)


def graphs_hold_all(subject: DecoderSubject) -> None:
    """Without pruning, the graph has all derivations of the grammar, each with its score."""
    from smtplugins.core.graph.inference import kbest

    if not subject.exact:
        raise DoesNotApply("the kit knows no options that turn the decoder's pruning off: name them as `exact`")
    for system, sentence, decoding, graph in _graphs(subject, subject.exact):
        every = system.derivations(sentence.tokens)
        if every is None:
            continue
        scores = kbest(graph, k=len(every) + 1).scores.tolist()
        wanted = sorted((total(system.weights, other.features) for other in every), reverse=True)
        where = f"sentence {decoding.id} ({sentence.text})"
        assert len(scores) == len(wanted), (
            f"{where}: the graph has {len(scores)} derivations, the grammar {len(wanted)}"
        )
        for rank, (first, second) in enumerate(zip(wanted, scores, strict=True)):
            assert math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE), (
                f"{where}: derivation {rank} of the graph has the score {second!r}, that of the grammar {first!r}"
            )


def _needs_graphs(subject: DecoderSubject) -> None:
    if not subject.has_graphs:
        raise DoesNotApply("`decode` has no `graphs`")


def _graphs(
    subject: DecoderSubject, more: Mapping[str, Any] | None = None
) -> Iterator[tuple[System | PhraseSystem, Sentence, Decoding, Hypergraph]]:
    """Yield the tiny systems' translated sentences and their graphs."""
    _needs_graphs(subject)
    some = False
    for system, sentence, decoding in subject.solved(more, graphs=True):
        if decoding.found and decoding.graph is not None:
            some = True
            yield system, sentence, decoding, decoding.graph()
    if not some:
        raise DoesNotApply("the decoder gives no graphs")


def _find_ties(texts: Sequence[str], scores: Sequence[float]) -> list[str]:
    """Return the texts of derivations tied with the first."""
    return [text for text, score in zip(texts, scores, strict=True) if score > scores[0] - TOLERANCE]


def _row(graph: Hypergraph, values: Any) -> dict[str, float]:
    return dict(zip(graph.names[:], values.tolist(), strict=True))


def _assert_composed(graph: Hypergraph, system: System, sentence: Sentence, where: str) -> None:
    """Every edge applies a rule of the sentence to its span, and its tails fill the rule's gaps."""
    from smtplugins.core.grammar.tables import own_label

    rules = {(rule.lhs, rule.source, rule.target): owner for rule, owner in system.every(sentence.tokens)}
    labels = [graph.labels[number] if number >= 0 else "" for number in graph.node_labels.tolist()]
    spans: dict[int, tuple[int, int]] = {}
    for node, edge in _edges(graph):
        rule: Rule = graph.grammar.rule(int(graph.rules[edge]))
        first, last = graph.spans[edge].tolist()
        shown = f"{where}: edge {edge}, [{first}, {last}) {rule.lhs} -> {rule.source} ||| {rule.target},"
        assert spans.setdefault(node, (first, last)) == (first, last), f"{shown} leads to a node of {spans[node]}"
        tails = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
        top = node == graph.nodes - 1
        if top and (rule.lhs, rule.source, rule.target) not in rules:
            # A rule above the goal is the decoder's own.
            gap = (NonTerminal(grammars.GOAL, 1),)
            assert (rule.source, rule.target) == (gap, gap), f"{shown} is no rule above the goal"
        else:
            owner = rules.get((rule.lhs, rule.source, rule.target))
            assert owner is not None, f"{shown} is no rule of the grammar"
            assert system.applies(owner, first, last), f"{shown} does not apply to that span"
            assert labels[node] in ("", own_label(rule.lhs)), f"{shown} leads to a node of the label {labels[node]!r}"
        gaps = [symbol.label for symbol in rule.source if isinstance(symbol, NonTerminal)]
        wanted = list(zip(gaps, (spans[tail] for tail in tails), strict=True))
        possible = [
            [(label, (a, b)) for a, b, label in nodes]
            for nodes in grammars.matches(rule.source, sentence.tokens, first, last)
        ]
        assert wanted in possible, f"{shown} does not lie over its span with the tails {wanted}"
        for label, tail in zip(gaps, tails, strict=True):
            assert labels[tail] in ("", label), f"{shown} has a tail of the label {labels[tail]!r}"
    goal = spans.get(graph.nodes - 1)
    assert goal == (0, len(sentence.tokens)), f"{where}: the goal of the graph spans {goal}"


def _edges(graph: Hypergraph) -> Iterator[tuple[int, int]]:
    """Yield nodes and their incoming edges, in order."""
    for node in range(graph.nodes):
        for edge in range(int(graph.edge_offsets[node]), int(graph.edge_offsets[node + 1])):
            yield node, edge


CHECKS: tuple[Check, ...] = (
    asking_for_graphs_changes_nothing,
    graphs_begin_with_the_best,
    graphs_are_in_the_grammar,
    graphs_hold_all,
)
