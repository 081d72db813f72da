"""Tiny systems for decoders that put phrases together two by two, in order or in reverse order: all derivations.

D. Wu, "Stochastic Inversion Transduction Grammars" (1997): the orders that this makes are the separable permutations,
each of which counts once, however it may be put together. The enumeration is plain Python: it tries all permutations.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.grammar.rules import NonTerminal, Rule
from smtplugins.contracts.contracts import Sentence
from smtplugins.testing.decoders import rule_systems as grammars
from smtplugins.testing.decoders.phrase_systems import PhraseSystem, once, random_rules, random_sentences, random_values
from smtplugins.testing.decoders.rule_systems import LABEL, MOST, Derivation

if TYPE_CHECKING:
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.config.resources import Resources
    from smtplugins.host.host import Host

OPTIONS = frozenset({"labels", "max_phrase_length"})
"""What such a decoder has, so that the kit knows its derivations."""
UNPRUNED: Mapping[str, Any] = {"labels": 0, "stack_size": 0, "beam_threshold": 0.0}
"""Options that let such a decoder prune nothing and try every order, as far as it has them."""


@dataclass(frozen=True, eq=False)
class ItgSystem(PhraseSystem):
    """Phrases, some of them without target words, and sentences to decode with them."""

    def resources(self, folder: Path, host: Host) -> Resources:
        """The table, in a file of this folder, and features that need no segmentation."""
        return grammars.System(self.number, self.rules, self.sentences, self.weights, {}).resources(folder, host)

    def derivations(self, words: tuple[str, ...]) -> tuple[Derivation, ...] | None:
        """All derivations of a sentence, with all features; none if there are too many."""
        return _derivations(self, words)

    def assert_graph(self, graph: Hypergraph, sentence: Sentence, where: str) -> None:
        """Edges are phrases of the sentence, or put two neighbours together; the goal's has one tail."""
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
                    some = [(one.source, one.target) for one, _ in known.get((first, last), ())]
                    assert (rule.source, rule.target) in some, f"{shown} is no phrase of the sentence"
                else:
                    (a, b), (c, d) = (spans[tail] for tail in tails)
                    assert (a, b, d) == (first, c, last), f"{shown} puts {(a, b)} and {(c, d)} together"
                    gaps = (first_gap, second_gap)
                    assert rule.source == gaps and rule.target in (gaps, gaps[::-1]), f"{shown} joins no two fragments"
        assert spans.get(goal) == (0, len(sentence.tokens)), f"{where}: the goal of the graph spans {spans.get(goal)}"


@functools.lru_cache(200)
def _derivations(system: ItgSystem, words: tuple[str, ...]) -> tuple[Derivation, ...] | None:
    found = list(itertools.islice(_orders(system, words), MOST + 1))
    if len(found) > MOST:
        return None
    made = [_scored(steps) for steps in found]
    pairs = grammars.rescored("kit-pairs", [" ".join(one.words) for one in made])
    return tuple(replace(one, features={**one.features, "kit-pairs": pairs[" ".join(one.words)]}) for one in made)


_Phrases = tuple[tuple[Rule, bool], ...]


def _orders(system: ItgSystem, words: tuple[str, ...]) -> Iterator[_Phrases]:
    """All phrases in all separable orders, in target order. Where one without words stands makes no difference."""
    for phrases in _segmented(system.options_of(words), 0, len(words)):
        silent = tuple(one for one in phrases if not one[0].target)
        spoken = [one for one in phrases if one[0].target]
        for order in separable(len(spoken)):
            yield (*(spoken[k] for k in order), *silent)


def _segmented(
    options: Mapping[tuple[int, int], Sequence[tuple[Rule, bool]]], first: int, end: int
) -> Iterator[_Phrases]:
    if first == end:
        # A sentence without words has no derivation.
        yield from [()] if end else ()
        return
    for last in range(first + 1, end + 1):
        for one in options.get((first, last), ()):
            for rest in _segmented(options, last, end):
                yield (one, *rest)


@functools.cache
def separable(size: int) -> tuple[tuple[int, ...], ...]:
    """The permutations that can be taken apart into two neighbours, each of which can, too."""
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


def _scored(phrases: _Phrases) -> Derivation:
    features: dict[str, float] = {"kit-origin[1]": 0.0}
    words: list[str] = []
    for rule, minted in phrases:
        words += [one for one in rule.target if isinstance(one, str)]
        own = {**rule.features(), "kit-words": float(len(rule.target)), "kit-origin[0]": float(minted)}
        for name, number in own.items():
            features[name] = features.get(name, 0.0) + number
    return Derivation(tuple(words), features)


def systems(count: int = 6, seed: int = 13) -> list[ItgSystem]:
    """Random systems: several translations of most phrases, some without words, words without any."""
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
