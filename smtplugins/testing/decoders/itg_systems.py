"""Tiny systems for ITG decoders, which combine two phrases in order or inverted, with all derivations.

D. Wu, "Stochastic Inversion Transduction Grammars" (1997): the possible orders are the separable permutations. Each
counts once, whatever its trees. The enumeration is plain Python and tries all permutations.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.grammar.rules import NonTerminal, Rule
from smtplugins.contracts.data import Sentence
from smtplugins.testing.decoders.phrase_systems import PhraseSystem, once, random_rules, random_sentences, random_values
from smtplugins.testing.decoders.rule_systems import LABEL, EnumeratedDerivation, TinySystem

if TYPE_CHECKING:
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.config.resources import Resources
    from smtplugins.host.host import Host

OPTIONS = frozenset({"labels", "max_phrase_length"})
"""The options of a decoder whose derivations the kit knows."""
UNPRUNED: Mapping[str, Any] = {"labels": 0, "stack_size": 0, "beam_threshold": 0.0}
"""Options that turn pruning off and allow every order; a decoder may lack some."""


@dataclass(frozen=True, eq=False)
class ItgSystem(PhraseSystem):
    """Phrases, some without target words, and sentences to decode with them."""

    def resources(self, folder: Path, host: Host) -> Resources:
        """Return the table, written to the folder, and features that need no segmentation."""
        return TinySystem.resources(self, folder, host)

    def orders(self, words: tuple[str, ...]) -> Iterator[Sequence[Any]]:
        """Yield phrases in all separable target orders; the position of phrases without words does not matter."""
        for phrases in _segment(self.options_of(words), 0, len(words)):
            silent = tuple(phrase for phrase in phrases if not phrase[0].target)
            spoken = [phrase for phrase in phrases if phrase[0].target]
            for order in separable(len(spoken)):
                yield (*(spoken[k] for k in order), *silent)

    def scored(self, steps: Sequence[Any]) -> EnumeratedDerivation:
        """Score the phrases of a derivation by all features but that of finished texts."""
        features: dict[str, float] = {"kit-origin[1]": 0.0}
        words: list[str] = []
        for rule, minted in steps:
            words += rule.target
            own = {**rule.features(), "kit-words": float(len(rule.target)), "kit-origin[0]": float(minted)}
            for name, number in own.items():
                features[name] = features.get(name, 0.0) + number
        return EnumeratedDerivation(tuple(words), features)

    def assert_graph(self, graph: Hypergraph, sentence: Sentence, where: str) -> None:
        """Check that edges are phrases of the sentence or combine two neighbours; the goal's have one tail."""
        known = self.options_of(sentence.tokens)
        spans: dict[int, tuple[int, int]] = {}
        goal = graph.nodes - 1
        first_gap, second_gap = NonTerminal(LABEL, 1), NonTerminal(LABEL, 2)
        for node in range(graph.nodes):
            for edge in range(int(graph.edge_offsets[node]), int(graph.edge_offsets[node + 1])):
                rule = graph.grammar.rule(int(graph.rules[edge]))
                first, last = graph.spans[edge].tolist()
                shown = f"{where}: edge {edge}, [{first}, {last}) {rule.source} ||| {rule.target},"
                tails = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
                assert spans.setdefault(node, (first, last)) == (first, last), f"{shown} leads to a node elsewhere"
                assert (node == goal) == (len(tails) == 1), f"{shown} has {len(tails)} tails"
                if len(tails) == 1:
                    assert spans[tails[0]] == (first, last), f"{shown} stands above {spans[tails[0]]}"
                elif not tails:
                    some = [(phrase.source, phrase.target) for phrase, _ in known.get((first, last), ())]
                    assert (rule.source, rule.target) in some, f"{shown} is no phrase of the sentence"
                else:
                    (a, b), (c, d) = (spans[tail] for tail in tails)
                    assert (a, b, d) == (first, c, last), f"{shown} puts {(a, b)} and {(c, d)} together"
                    gaps = (first_gap, second_gap)
                    assert rule.source == gaps and rule.target in (gaps, gaps[::-1]), f"{shown} joins no two fragments"
        assert spans.get(goal) == (0, len(sentence.tokens)), f"{where}: the goal of the graph spans {spans.get(goal)}"


_Phrases = tuple[tuple[Rule, bool], ...]


def _segment(
    options: Mapping[tuple[int, int], Sequence[tuple[Rule, bool]]], first: int, end: int
) -> Iterator[_Phrases]:
    if first == end:
        # A sentence without words has no derivation.
        yield from [()] if end else ()
        return
    for last in range(first + 1, end + 1):
        for phrase in options.get((first, last), ()):
            for rest in _segment(options, last, end):
                yield (phrase, *rest)


@functools.cache
def separable(size: int) -> tuple[tuple[int, ...], ...]:
    """Return the permutations that split recursively into two adjacent blocks."""
    return tuple(order for order in itertools.permutations(range(size)) if _comes_apart(order))


@functools.cache
def _comes_apart(order: tuple[int, ...]) -> bool:
    if len(order) < 2:
        return True
    halves = ((order[:cut], order[cut:]) for cut in range(1, len(order)))
    return any(
        (max(left) < min(right) or max(right) < min(left)) and _comes_apart(left) and _comes_apart(right)
        for left, right in halves
    )


def systems(count: int = 6, seed: int = 13) -> list[ItgSystem]:
    """Return random systems: several translations of most phrases, some empty, and unknown words."""
    source = random.Random(seed)
    return [_random(source, number) for number in range(count)]


def _random(source: random.Random, number: int) -> ItgSystem:
    rules = random_rules(source, ((1, 2), (2, 3), (3, 2)))
    if number % 2:
        rules += [Rule(LABEL, (source.choice("abc"),), (), ("p", "q"), random_values(source))]
    options = {"max_phrase_length": (3, 20, 2)[number % 3]}
    sentences = random_sentences(source, number)
    names = ("p", "q", "kit-words", "kit-origin[0]", "kit-pairs")
    weights = {name: round(source.uniform(-1, 1), 3) for name in names}
    return ItgSystem(number, once(rules), sentences, weights, options)
