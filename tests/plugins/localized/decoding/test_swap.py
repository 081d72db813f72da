"""The decoder `swap` against all block sequences of small sentences; blocks that may not go left."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.models import Model
from smtplugins.contracts.offers import Offer
from smtplugins.core.grammar.rules import Edges, Rules
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.graph.inference import kbest, paths
from smtplugins.core.lm.ngram_model import read_lm
from smtplugins.host.config.resources import Resources
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.features.scoring import Active
from smtplugins.plugins.localized.decoding.block_system import BlockSystem, write_table
from smtplugins.plugins.localized.decoding.swap import Swap, SwapOptions
from smtplugins.plugins.localized.events.collecting import collect
from smtplugins.plugins.localized.learning.material import BlockMaterial
from smtplugins.plugins.localized.model.bigrams import BigramWeights
from smtplugins.plugins.localized.model.block_model import COLUMNS, RARE_LEFT, BlockModel
from smtplugins.testing.cases import DecoderChecks
from tests.plugins.localized.made import blocks_of, random_case, tiny_lm

NEEDS = frozenset({"target", "source", "segmentation"})
Steps = tuple[tuple[tuple[int, int], str], ...]


class TestSwap(DecoderChecks):
    offer = "swap"


def case(folder: Path, seed: int) -> tuple[BlockSystem, BlockModel, Model]:
    """A system with random weights for a random block set."""
    pairs, bitext = random_case(seed, sentences=40)
    # A word for each word, so that every sentence has a translation of known words.
    pairs += [one for one in (((a,), (b,)) for a, b in zip("abc", "xyz", strict=True)) if one not in pairs]
    listed = collect(blocks_of(pairs), [(" ".join(a), " ".join(b), None) for a, b in bitext], folder / "events")
    lm = read_lm(tiny_lm(folder))
    material = BlockMaterial(listed, lm, keep=3)
    write_table(listed.blocks, listed.counts.total, folder / "table", 3)
    draw = np.random.default_rng(seed)
    first, second, _ = listed.bigrams(0)
    learnt = BigramWeights(listed.blocks, first, second, draw.normal(size=len(first)).astype(np.float32))
    weights = {name: float(draw.uniform(0.1, 1)) for name in COLUMNS if name != "rare-left"}
    system = BlockSystem(material, folder / "table", min_left=2, stack_size=0)
    return system, BlockModel.of(listed, lm, learnt, min_left=2), Model(weights, {"block-bigram": learnt})


def swap_of(table: Path, feature: BlockModel, **options: Any) -> Swap:
    """The decoder with a table and the model's features."""
    offer = Offer(name="block-model", make=BlockModel, summary="the features of a test", needs=NEEDS)
    given = Resources((RuleTable(table, name="blocks"),), (Active("block-model", offer, feature),), cache="off")
    return Swap(resources=given, options=SwapOptions(max_options=0, **options))


def orders(width: int, swap: bool) -> Iterator[tuple[tuple[int, int], ...]]:
    """Spans in target order: from left to right, but that two neighbours may be exchanged, and then two others."""
    for cuts in itertools.product([False, True], repeat=width - 1):
        bounds = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), width]
        spans = list(itertools.pairwise(bounds))
        for flags in itertools.product([False, True], repeat=len(spans) - 1):
            if any(a and b for a, b in itertools.pairwise(flags)) or (any(flags) and not swap):
                continue
            order = spans[:]
            for i, flag in enumerate(flags):
                if flag:
                    order[i], order[i + 1] = order[i + 1], order[i]
            yield tuple(order)


def everything(tokens: tuple[str, ...], table: dict[str, list[str]], swap: bool) -> Iterator[Steps]:
    for order in orders(len(tokens), swap):
        choices = [table.get(" ".join(tokens[a:b]), []) for a, b in order]
        for targets in itertools.product(*choices):
            yield tuple(zip(order, targets, strict=True))


class Scores:
    """The scores of a sentence's block sequences by the feature's own scorer, which scores each beginning once."""

    def __init__(self, feature: BlockModel, tokens: tuple[str, ...], weights: dict[str, float]) -> None:
        self._scorer = feature.start(Sentence("0", tokens))
        self._weights = [weights.get(name, 0.0) for name in COLUMNS]
        self._begun: dict[Steps, tuple[Any, Any]] = {}

    def __call__(self, steps: Steps) -> float:
        values, state = self._begin((((0, 0), ""), *steps))
        total = values + self._scorer.finish([*state]).values
        if total[RARE_LEFT] < 0:
            return -math.inf
        return float(sum(value * weight for value, weight in zip(total, self._weights, strict=True)))

    def _begin(self, steps: Steps) -> tuple[Any, Any]:
        """The sum of the rows of these steps, and the state behind them."""
        if steps not in self._begun:
            before, state = self._begin(steps[:-1]) if len(steps) > 1 else (np.zeros(len(COLUMNS)), ())
            (first, last), target = steps[-1]
            symbols: list[str | int] = [*([0] if state else []), *target.split()]
            place = (np.array([one], dtype=np.int32) for one in (first, last))
            rows, states = self._scorer.combine(Edges(Rules.from_targets([symbols]), *place), [state])
            self._begun[steps] = before + rows.values, (states[0],)
        return self._begun[steps]


def table_of(path: Path) -> dict[str, list[str]]:
    """The target sides of each source side."""
    table: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        source, target, _ = line.split(" ||| ")
        table.setdefault(source, []).append(target)
    return table


def derivations(graph: Hypergraph) -> dict[Steps, float]:
    """All of a graph, as their phrases in target order, with their scores."""
    rules, offsets, targets = graph.targets
    found: dict[Steps, float] = {}
    for one in kbest(graph, k=int(paths(graph))):
        steps = []
        # From the goal back to the first phrase.
        for edge in reversed(one.edges.tolist()):
            first, last = graph.spans[edge].tolist()
            symbols = targets[offsets[rules[edge]] : offsets[rules[edge] + 1]].tolist()
            if first < last:
                steps.append(((first, last), " ".join(graph.words[symbol] for symbol in symbols if symbol >= 0)))
        assert tuple(steps) not in found
        found[tuple(steps)] = one.score
    return found


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_all_block_sequences_is_found(seed: int, swap: bool, tmp_path: Path) -> None:
    system, feature, model = case(tmp_path, seed)
    table = table_of(tmp_path / "table")
    draw = random.Random(seed)
    sentences = [Sentence(str(i), tuple(draw.choices("abc", k=draw.randint(1, 5)))) for i in range(8)]
    found = list(system.decode(model, sentences, "swap" if swap else "monotone"))
    swapped = 0
    for sentence, one in zip(sentences, found, strict=True):
        score = Scores(feature, sentence.tokens, dict(model.weights))
        scores = {steps: score(steps) for steps in everything(sentence.tokens, table, swap)}
        best = max(scores, key=scores.__getitem__)
        assert one.score == pytest.approx(scores[best], rel=1e-4)
        assert one.trace is not None
        places = [line.partition(")")[0] for line in one.trace() if line.startswith("[")]
        swapped += places != sorted(places, key=lambda text: int(text[1:].partition(",")[0]))
    assert swap or not swapped


@pytest.mark.parametrize("search", ["stack", "cube"])
@pytest.mark.parametrize("least", [1, 2, 100])
def test_graphs_hold_what_is_allowed_and_nothing_else(search: str, least: int, tmp_path: Path) -> None:
    system, _, model = case(tmp_path, 1)
    learnt: Any = model.artefacts["block-bigram"]
    feature = BlockModel.of(system.material.events, system.material.model, learnt, min_left=least)
    table = table_of(tmp_path / "table")
    draw = random.Random(2)
    sentences = [Sentence(str(i), tuple(draw.choices("abc", k=draw.randint(1, 5)))) for i in range(8)]
    decoder = swap_of(tmp_path / "table", feature, search=search, stack_size=0, pop_limit=1 << 40)
    pruned = kept = 0
    for sentence, one in zip(sentences, decoder.decode(sentences, model, graphs=True), strict=True):
        score = Scores(feature, sentence.tokens, dict(model.weights))
        scores = {steps: score(steps) for steps in everything(sentence.tokens, table, True)}
        allowed = {steps: value for steps, value in scores.items() if value > -math.inf}
        assert one.graph is not None
        assert derivations(one.graph()) == pytest.approx(allowed, rel=1e-4)
        pruned += len(scores) - len(allowed)
        kept += len(allowed) - sum(1 for _ in everything(sentence.tokens, table, False))
    assert bool(kept) == (least < 100)
    assert pruned


@pytest.mark.parametrize("search", ["stack", "cube"])
def test_no_small_stack_is_full_of_dead_ends(search: str, tmp_path: Path) -> None:
    system, _, _ = case(tmp_path, 3)
    feature = BlockModel.of(system.material.events, system.material.model, min_left=100)
    # What is neutral is worth much: searches want to leave gaps, and nothing may fill them.
    wanted = Model({name: (-9.0 if name.startswith("neutral") else 1.0) for name in COLUMNS if name != "rare-left"})
    decoder = swap_of(tmp_path / "table", feature, search=search, stack_size=1, pop_limit=1)
    draw = random.Random(2)
    sentences = [Sentence(str(i), tuple(draw.choices("abcd", k=draw.randint(1, 9)))) for i in range(20)]
    for one in decoder.decode(sentences, wanted):
        assert one.found
        assert one.trace is not None
        places = [int(line[1:].partition(",")[0]) for line in one.trace() if line.startswith("[")]
        assert places == sorted(places)


def test_a_weight_of_rare_left_is_a_price_and_forbids_nothing(tmp_path: Path) -> None:
    system, _, model = case(tmp_path, 1)
    feature = BlockModel.of(system.material.events, system.material.model, min_left=100)
    sentence = [Sentence("0", ("a", "b", "c"))]
    counts = []
    for weights in ({}, {"rare-left": 0.0}, {"rare-left": 2.0}):
        decoder = swap_of(tmp_path / "table", feature, search="stack", stack_size=0)
        (found,) = decoder.decode(sentence, Model({**model.weights, **weights}), graphs=True)
        assert found.graph is not None
        counts.append(len(derivations(found.graph())))
    assert counts[0] == counts[1] < counts[2]


def test_blocks_that_were_never_left_stay_where_they_are(tmp_path: Path) -> None:
    pairs = [(("a",), ("x",)), (("b",), ("y",))]
    # The events have b a and a b, each on the left and on the right; a was left of b once.
    texts = [("a b", "y x", None)] + [("a", "x", None), ("b", "y", None)] * 3
    listed = collect(blocks_of(pairs), texts, tmp_path / "events")
    assert sorted(listed.counts.left.tolist()) == [0, 1]
    material = BlockMaterial(listed, read_lm(tiny_lm(tmp_path)))
    write_table(listed.blocks, listed.counts.total, tmp_path / "table", 9)
    # What is neutral costs: "x y" is a neutral and a right block, "y x" a neutral and a left one.
    model = Model({"orientation": 1.0})
    sentence = [Sentence("0", ("a", "b"))]
    for least, wanted in ((1, "y x"), (2, "x y")):
        system = BlockSystem(material, tmp_path / "table", min_left=least, stack_size=0)
        (found,) = system.decode(model, sentence, "swap")
        assert found.best == wanted
        assert found.score is not None and found.score > -10
