"""Tiny systems for phrase decoders: tables, features, weights, and all derivations, enumerated.

The enumeration is plain Python and shares no code with decoders: it appends phrases in all orders that the distortion
limit allows until the sentence is covered.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.grammar.rules import Rule
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.offers import Offer
from smtplugins.testing.decoders import rule_systems as grammars
from smtplugins.testing.decoders.rule_systems import LABEL, MOST, EnumeratedDerivation

if TYPE_CHECKING:
    from smtplugins.core.grammar.rules import Edges
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.config.resources import Resources
    from smtplugins.host.features.scoring import Active
    from smtplugins.host.host import Host

OPTIONS = frozenset({"distortion_limit", "max_phrase_length"})
"""The options of a decoder whose derivations the kit knows."""
UNPRUNED: Mapping[str, Any] = {"search": "stack", "stack_size": 0, "beam_threshold": 0.0}
"""Options that turn pruning off; a decoder may lack some."""
JUMPS = "kit-jumps"


class Jumps:
    """A stateful feature that needs the segmentation: the span of a phrase, and the end of the previous phrase."""

    def start(self, sentence: Sentence) -> Jumps:
        """Ignore the sentence."""
        return self

    def combine(self, edges: Edges, tails: Sequence[Sequence[int]]) -> tuple[list[float], list[int]]:
        """Score the jumps; the state is the end of the last phrase."""
        assert edges.firsts is not None, "edges come without source words, which a feature needs `segmentation` for"
        assert edges.lasts is not None
        scores, ends = [], []
        for first, last, below in zip(edges.firsts.tolist(), edges.lasts.tolist(), tails, strict=True):
            before = below[0] if below else 0
            scores.append(jump(before, first, last))
            ends.append(before if first == last else last)
        return scores, ends

    def finish(self, states: Sequence[int]) -> list[float]:
        """Score the end of the last phrase."""
        return [0.25 * state for state in states]

    def estimate(self, edges: Edges) -> list[float]:
        """Return 0: a phrase out of context has no score."""
        return [0.0] * len(edges)


def jump(before: int, first: int, last: int) -> float:
    """Return a score of a jump, the same on every machine."""
    return 0.0 if first == last else ((7 * before + 11 * first + 5 * last) % 13 - 6) / 4


@dataclass(frozen=True, eq=False)
class PhraseSystem(grammars.TinySystem):
    """Phrases, sentences to decode, and options, which are those of ``phrase``."""

    def resources(self, folder: Path, host: Host) -> Resources:
        """Return the table, written to the folder, and the features."""
        made = super().resources(folder, host)
        return replace(made, features=(*made.features, jumps()))

    def options_of(self, words: Sequence[str]) -> dict[tuple[int, int], list[tuple[Rule, bool]]]:
        """Return the phrases of each span, and whether they were minted for an unknown word."""
        options: dict[tuple[int, int], list[tuple[Rule, bool]]] = {}
        for first, last in itertools.combinations(range(len(words) + 1), 2):
            some = [(rule, False) for rule in self.rules if rule.source == tuple(words[first:last])]
            if last - first == 1 and not some:
                some = [(Rule(LABEL, (words[first],), (words[first],)), True)]
            if some and last - first <= self.options["max_phrase_length"]:
                options[first, last] = some
        return options

    def derivations(self, words: tuple[str, ...]) -> tuple[EnumeratedDerivation, ...] | None:
        """Return all derivations of a sentence with all features, or None if there are too many."""
        return _derivations(self, words)

    def orders(self, words: tuple[str, ...]) -> Iterator[Sequence[Any]]:
        """Yield the steps of each derivation."""
        return _orders(self, words)

    def scored(self, steps: Sequence[Any]) -> EnumeratedDerivation:
        """Score the steps of a derivation by all features but that of finished texts."""
        return _score(steps)

    def assert_graph(self, graph: Hypergraph, sentence: Sentence, where: str) -> None:
        """Check that every edge appends a phrase of the sentence, and that the goal covers all words."""
        known = self.options_of(sentence.tokens)
        covered: dict[int, frozenset[int]] = {}
        goal = graph.nodes - 1
        for node in range(graph.nodes):
            edges = range(int(graph.edge_offsets[node]), int(graph.edge_offsets[node + 1]))
            if not edges:
                covered[node] = frozenset()
            for edge in edges:
                rule = graph.grammar.rule(int(graph.rules[edge]))
                source, target = (
                    tuple(symbol for symbol in side if isinstance(symbol, str)) for side in (rule.source, rule.target)
                )
                first, last = graph.spans[edge].tolist()
                shown = f"{where}: edge {edge}, [{first}, {last}) {' '.join(source)} ||| {' '.join(target)},"
                tails = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
                assert len(tails) == 1, f"{shown} has {len(tails)} tails"
                assert not isinstance(rule.target[0], str), f"{shown} has no gap in front"
                before = covered[tails[0]]
                if node == goal:
                    assert not target and first == last, f"{shown} leads to the goal with words of its own"
                    assert len(before) == len(sentence.tokens), f"{shown} leads to the goal with words left over"
                    continue
                some = [(pair.source, pair.target) for pair, _ in known.get((first, last), ())]
                assert (source, target) in some, f"{shown} is no phrase of the sentence"
                here = frozenset(range(first, last))
                assert not before & here, f"{shown} translates words again"
                assert covered.setdefault(node, before | here) == before | here, f"{shown} leads to other words' node"


def jumps() -> Active:
    """Return the jump feature, as in a run."""
    from smtplugins.host.features.scoring import Active

    needs = frozenset({"segmentation"})
    return Active(JUMPS, Offer(name=JUMPS, make=Jumps, summary="places, of the kit", needs=needs), Jumps())


@functools.lru_cache(200)
def _derivations(system: PhraseSystem, words: tuple[str, ...]) -> tuple[EnumeratedDerivation, ...] | None:
    orders = list(itertools.islice(system.orders(words), MOST + 1))
    return None if len(orders) > MOST else grammars.with_pairs([system.scored(steps) for steps in orders])


_Step = tuple[int, int, Rule, bool]


def _orders(system: PhraseSystem, words: tuple[str, ...]) -> Iterator[tuple[_Step, ...]]:
    """Yield phrases in all orders that the distortion limit allows."""
    spans, limit = system.options_of(words), system.options["distortion_limit"]

    def onwards(left: frozenset[int], end: int, steps: tuple[_Step, ...]) -> Iterator[tuple[_Step, ...]]:
        if not left:
            yield steps
            return
        gap = min(left)
        for (first, last), some in spans.items():
            here = frozenset(range(first, last))
            # After translating other words, a jump back to the first gap must still be within the limit.
            back = 0 if first == gap else abs(last - gap)
            if here <= left and (limit < 0 or max(abs(first - end), back) <= limit):
                for rule, minted in some:
                    yield from onwards(left - here, last, (*steps, (first, last, rule, minted)))

    return onwards(frozenset(range(len(words))), 0, ()) if words else iter(())


def _score(steps: Sequence[_Step]) -> EnumeratedDerivation:
    features = {"kit-origin[1]": 0.0, JUMPS: 0.25 * (steps[-1][1] if steps else 0)}
    words: list[str] = []
    before = 0
    for first, last, rule, minted in steps:
        words += [symbol for symbol in rule.target if isinstance(symbol, str)]
        own = {**rule.features(), "kit-words": float(len(rule.target)), "kit-origin[0]": float(minted)}
        own[JUMPS] = jump(before, first, last)
        for name, number in own.items():
            features[name] = features.get(name, 0.0) + number
        before = last
    return EnumeratedDerivation(tuple(words), features)


def systems(count: int = 6, seed: int = 11) -> list[PhraseSystem]:
    """Return random systems: several translations of most phrases, unknown words, distortion and length limits."""
    source = random.Random(seed)
    return [_random(source, number) for number in range(count)]


def _random(source: random.Random, number: int) -> PhraseSystem:
    rules = once(random_rules(source, ((1, 2), (2, 4), (3, 3))))
    options = {"distortion_limit": (-1, 6, 1, 2, 0, -1)[number % 6], "max_phrase_length": (3, 20, 2)[number % 3]}
    sentences = random_sentences(source, number)
    names = ("p", "q", "kit-words", "kit-origin[0]", "kit-pairs", JUMPS)
    weights = {name: round(source.uniform(-1, 1), 3) for name in names}
    return PhraseSystem(number, rules, sentences, weights, options)


def random_rules(source: random.Random, counts: Sequence[tuple[int, int]]) -> list[Rule]:
    """Return one or two translations of random phrases; ``counts`` are lengths and numbers of phrases."""
    rules = []
    for size, count in counts:
        for words in source.sample(list(itertools.product("abc", repeat=size)), count):
            for _ in range(source.randint(1, 2)):
                target = tuple(source.choice("ABC") for _ in range(source.randint(1, 3)))
                rules.append(Rule(LABEL, words, target, ("p", "q"), random_values(source)))
    return rules


def random_values(source: random.Random) -> tuple[float, float]:
    """Return values of a rule's two features."""
    return round(source.uniform(-1, 1), 2), round(source.uniform(-1, 1), 2)


def once(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Remove repeated phrase pairs, which are one derivation for some decoders and two for others."""
    return tuple({(rule.source, rule.target): rule for rule in rules}.values())


def random_sentences(source: random.Random, number: int) -> tuple[Sentence, ...]:
    """Return sentences of up to five words, one with an unknown word."""
    texts = [tuple(source.choice("abc") for _ in range(size)) for size in (1, 2, 3, 4, 4, 5)]
    texts.insert(2, ("z", "a"))
    return tuple(Sentence(f"{number}-{i}", words) for i, words in enumerate(texts))
