"""The decoder `swap` against all block sequences of small sentences; blocks that may not go left."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from smtplugins.core.lm import read_native_lm
from smtplugins.core.rules import Edges, Rules
from smtplugins.host.contracts import Sentence
from smtplugins.host.model import Model
from smtplugins.plugins.localized.bigrams import BigramWeights
from smtplugins.plugins.localized.block_model import COLUMNS, BlockModel
from smtplugins.plugins.localized.collecting import collect
from smtplugins.plugins.localized.material import Material
from smtplugins.plugins.localized.systems import System, write_table
from smtplugins.testing.cases import DecoderChecks

from .made import blocks_of, random_case, tiny_lm

Steps = tuple[tuple[tuple[int, int], str], ...]


class TestSwap(DecoderChecks):
    offer = "swap"


def case(folder: Path, seed: int) -> tuple[System, BlockModel, Model]:
    """A system with random weights for a random block set."""
    pairs, bitext = random_case(seed, sentences=40)
    # A word for each word, so that every sentence has a translation of known words.
    pairs += [one for one in (((a,), (b,)) for a, b in zip("abc", "xyz", strict=True)) if one not in pairs]
    listed = collect(blocks_of(pairs), [(" ".join(a), " ".join(b), None) for a, b in bitext], folder / "events")
    lm = read_native_lm(tiny_lm(folder))
    material = Material(listed, lm, keep=3)
    write_table(listed.blocks, listed.counts.total, folder / "table", 3)
    draw = np.random.default_rng(seed)
    first, second, _ = listed.bigrams(0)
    learnt = BigramWeights(listed.blocks, first, second, draw.normal(size=len(first)).astype(np.float32))
    weights = {name: float(draw.uniform(0.1, 1)) for name in COLUMNS if name != "rare-left"}
    system = System(material, folder / "table", min_left=2, stack_size=0)
    return system, BlockModel.of(listed, lm, learnt, min_left=2), Model(weights, {"block-bigram": learnt})


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


def score(feature: BlockModel, tokens: tuple[str, ...], steps: Steps, weights: dict[str, float]) -> float:
    """A block sequence's score by the feature's own scorer."""
    scorer = feature.start(Sentence("0", tokens))
    state: tuple[object, ...] = ()
    total = np.zeros(len(COLUMNS))
    for (first, last), target in (((0, 0), ""), *steps):
        symbols: list[str | int] = [*([0] if state else []), *target.split()]
        place = (np.array([one], dtype=np.int32) for one in (first, last))
        rows, states = scorer.combine(Edges(Rules.from_targets([symbols]), *place), [state])  # type: ignore[list-item]
        total += rows.values
        state = (states[0],)
    total += scorer.finish(list(state)).values  # type: ignore[arg-type]
    return float(sum(total[i] * weights.get(name, 1e4) for i, name in enumerate(COLUMNS)))


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_all_block_sequences_is_found(seed: int, swap: bool, tmp_path: Path) -> None:
    system, feature, model = case(tmp_path, seed)
    table: dict[str, list[str]] = {}
    for line in (tmp_path / "table").read_text().splitlines():
        source, target, _ = line.split(" ||| ")
        table.setdefault(source, []).append(target)
    draw = random.Random(seed)
    sentences = [Sentence(str(i), tuple(draw.choices("abc", k=draw.randint(1, 5)))) for i in range(8)]
    found = list(system.decode(model, sentences, "swap" if swap else "monotone"))
    swapped = 0
    for sentence, one in zip(sentences, found, strict=True):
        scores = {
            steps: score(feature, sentence.tokens, steps, dict(model.weights))
            for steps in everything(sentence.tokens, table, swap)
        }
        best = max(scores, key=scores.__getitem__)
        assert one.score == pytest.approx(scores[best], rel=1e-4)
        assert one.trace is not None
        places = [line.partition(")")[0] for line in one.trace() if line.startswith("[")]
        swapped += places != sorted(places, key=lambda text: int(text[1:].partition(",")[0]))
    assert swap or not swapped


def test_blocks_that_were_never_left_stay_where_they_are(tmp_path: Path) -> None:
    pairs = [(("a",), ("x",)), (("b",), ("y",))]
    # The events have b a and a b, each on the left and on the right; a was left of b once.
    texts = [("a b", "y x", None)] + [("a", "x", None), ("b", "y", None)] * 3
    listed = collect(blocks_of(pairs), texts, tmp_path / "events")
    assert sorted(listed.counts.left.tolist()) == [0, 1]
    material = Material(listed, read_native_lm(tiny_lm(tmp_path)))
    write_table(listed.blocks, listed.counts.total, tmp_path / "table", 9)
    # What is neutral costs: "x y" is a neutral and a right block, "y x" a neutral and a left one.
    model = Model({"orientation": 1.0})
    sentence = [Sentence("0", ("a", "b"))]
    for least, wanted in ((1, "y x"), (2, "x y")):
        system = System(material, tmp_path / "table", min_left=least, stack_size=0)
        (found,) = system.decode(model, sentence, "swap")
        assert found.best == wanted
        assert found.score is not None and found.score > -10
