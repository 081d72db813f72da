"""The modified training: the best block sequence of each list, its events, alternatives of the list's own blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.models import Model
from smtplugins.core.graph.inference import kbest
from smtplugins.core.lm.ngram_model import read_lm
from smtplugins.plugins.localized.decoding.block_system import BlockSystem, write_table
from smtplugins.plugins.localized.events.collecting import collect
from smtplugins.plugins.localized.events.devtest import Chosen, Modified, Numbers, choose, events_of
from smtplugins.plugins.localized.learning.material import BlockMaterial, PassSettings, learn_floats
from smtplugins.testing.samples import WordOverlap
from tests.plugins.localized.made import blocks_of, random_case, tiny_lm


@pytest.fixture(name="material")
def _material(tmp_path: Path) -> BlockMaterial:
    pairs, bitext = random_case(5, sentences=60)
    pairs += [one for one in (((a,), (b,)) for a, b in zip("abc", "xyz", strict=True)) if one not in pairs]
    listed = collect(blocks_of(pairs), [(" ".join(a), " ".join(b), None) for a, b in bitext], tmp_path / "events")
    return BlockMaterial(listed, read_lm(tiny_lm(tmp_path)), threshold=0)


def test_of_so_many_translations_the_best_one_is_taken(material: BlockMaterial, tmp_path: Path) -> None:
    write_table(material.events.blocks, material.events.counts.total, tmp_path / "table", 5)
    system = BlockSystem(material, tmp_path / "table", stack_size=0)
    model = learn_floats(material, "abcde", PassSettings(1, 0.01))
    sentences = [Sentence("0", ("a", "b", "c")), Sentence("1", ("b",)), Sentence("2", ("q", "a"))]
    references = [["z x y", "x y", "q z"]]
    metric = WordOverlap()
    decodings = list(system.decode(model, sentences, "swap", graphs=True))
    chosen = choose(iter(decodings), references, metric, Numbers(material), 30)
    for one, decoding, reference in zip(chosen, decodings, references[0], strict=True):
        assert decoding.graph is not None
        texts = kbest(decoding.graph(), k=30).texts()
        scores = metric.sentence(metric.stats(texts, [[reference] * len(texts)])).tolist()
        assert one.score == max(scores)
        assert " ".join(one.words) == texts[scores.index(max(scores))]
        assert sorted(at for span, _ in one.steps for at in range(*span)) == list(range(len(decoding.id) and len(
            sentences[int(decoding.id)].tokens)))  # fmt: skip
        used = {block for _, block in one.steps if block >= 0}
        assert used <= one.allowed
        # A word that no block has is copied.
        assert any(block < 0 for _, block in one.steps) == ("q" in sentences[int(decoding.id)].tokens)


def number(material: BlockMaterial, source: str, target: str) -> int:
    found = Numbers(material).number(source, target)
    assert found >= 0
    return found


def test_events_of_a_block_sequence(material: BlockMaterial) -> None:
    a, b, c = (number(material, *pair) for pair in (("a", "x"), ("b", "y"), ("c", "z")))
    other = next(i for i in range(len(material.events.blocks)) if i not in (a, b, c))
    # b c a, where c and b are exchanged, a copied word, and c again behind it.
    steps = (((2, 3), c), ((1, 2), b), ((3, 4), a), ((4, 5), -1), ((5, 6), c))
    chosen = Chosen(steps, ("z", "y", "x", "q", "z"), (1, 1, 1, 1, 1), frozenset({a, b, c, other}), 1.0)
    listed, rows = events_of([chosen, Chosen((), (), (), frozenset(), 0.0)], material)
    assert sorted(rows.tolist()) == sorted([a, b, c, other])
    events = [
        (None if before is None else int(rows[before]), side, int(rows[block]))
        for before, side, block in listed.sentence(0)
    ]
    # The block behind the copied word is its neighbour and no event; a stands behind the gap that b filled.
    assert events == [(c, "L", b), (None, "N", c), (None, "N", a)]
    words = {word: i for i, word in enumerate(material.events.blocks.words)}
    assert listed.before.reshape(-1, 2).tolist() == [[-2, -2], [words["z"], words["y"]]]
    assert [listed.blocks.block(i) for i in range(len(listed.blocks))] == [
        material.events.blocks.block(int(row)) for row in rows
    ]
    assert listed.sentence(1) == []


def test_alternatives_are_blocks_of_the_sentence_alone(material: BlockMaterial) -> None:
    blocks = material.events.blocks
    kin = [i for i in range(len(blocks)) if blocks.block(i)[0] == "a"]
    assert len(kin) >= 3
    before = number(material, "b", "y")
    one = Chosen((((0, 1), before), ((1, 2), kin[0])), ("y", "x"), (1, 1), frozenset({before, *kin[:2]}), 1.0)
    two = Chosen((((0, 1), before), ((1, 2), kin[2])), ("y", "x"), (1, 1), frozenset({before, *kin}), 1.0)
    modified = Modified.of([one, two], material)
    listed, rows = events_of([one, two], material)
    groups, right, _, ids, values, block, _ = modified.floats.training.rows(0, 2)
    found = [{int(rows[b]) for b in block[groups[e] : groups[e + 1]]} for e in range(2)]
    assert found == [set(kin[:2]), set(kin)]
    assert [int(rows[block[groups[e] + right[e]]]) for e in range(2)] == [kin[0], kin[2]]
    unigram = values[ids == 0]
    assert unigram == pytest.approx(material.columns.unigram[rows[block]])
    assert len(listed) == 2
    weights = learn_floats(modified, "abcde", PassSettings(3, 0.1)).weights
    assert np.isfinite(list(weights.values())).all() and weights["unigram"] != 0
    assert isinstance(Model(weights), Model)
