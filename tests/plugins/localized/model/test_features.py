"""The float features: relative frequencies, the lexical weight as printed and as Koehn has it, the language model."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from smtplugins.contracts.errors import UsageError
from smtplugins.core.lm.ngram_model import read_lm
from smtplugins.plugins.localized.events.collecting import collect
from smtplugins.plugins.localized.events.event_lists import EventList
from smtplugins.plugins.localized.model.features import BoundaryLm, Estimates, LexNorm, block_columns
from tests.plugins.localized.made import blocks_of, named, random_case, tiny_lm


@pytest.fixture(name="listed")
def _listed(tmp_path: Path) -> EventList:
    pairs, bitext = random_case(1, sentences=50)
    return collect(blocks_of(pairs), [(" ".join(a), " ".join(b), None) for a, b in bitext], tmp_path / "events")


def test_unigram_and_orientation_are_relative_frequencies(listed: EventList) -> None:
    counts = listed.counts
    found = block_columns(listed.blocks, counts, Estimates(smoothing=0.0, floor=1e-5))
    total = counts.total.sum()
    for i in range(len(listed.blocks)):
        assert found.unigram[i] == pytest.approx(math.log(max(counts.total[i], 0.5) / total), rel=1e-6)
        both = counts.left[i] + counts.right[i]
        for column, one in ((found.left, counts.left), (found.right, counts.right)):
            wanted = math.log(max(one[i] / both, 1e-5)) if both else math.log(0.5)
            assert column[i] == pytest.approx(wanted, rel=1e-6)
    smooth = block_columns(listed.blocks, counts, Estimates(smoothing=2.0))
    shares = np.exp(smooth.left) + np.exp(smooth.right)
    assert shares == pytest.approx(np.ones(len(shares)), rel=1e-6)


@pytest.mark.parametrize("norm", ["paper", "koehn"])
def test_lexical_weight_as_the_formula_says(listed: EventList, norm: LexNorm) -> None:
    blocks, counts = listed.blocks, listed.counts.total.tolist()
    single = {}
    for i in range(len(blocks)):
        source, target = named(blocks, i)
        if len(source) == len(target) == 1:
            single[source[0], target[0]] = counts[i]

    def given(s: str, t: str) -> float:
        kin = [n for (a, b), n in single.items() if (a == s if norm == "paper" else b == t)]
        return single.get((s, t), 0) / sum(kin) if sum(kin) else 0.0

    found = block_columns(blocks, listed.counts, Estimates(lex_norm=norm, floor=1e-4)).lexical
    floors = 0
    for i in range(len(blocks)):
        source, target = named(blocks, i)
        wanted = 1.0
        for s in source:
            each = [p for p in (given(s, t) for t in target) if p > 0]
            wanted *= sum(each) / len(each) if each else 1e-4
            floors += not each
        assert found[i] == pytest.approx(math.log(wanted), rel=1e-5, abs=1e-6)
    assert floors


def test_a_language_model_inside_and_between_blocks(listed: EventList, tmp_path: Path) -> None:
    model = read_lm(tiny_lm(tmp_path))
    blocks = listed.blocks
    lm = BoundaryLm(model, blocks)
    rest = lm.rest()

    def scores(words: tuple[str, ...], bos: bool = False) -> list[float]:
        return [math.log(10) * one for one, _, _ in model.full_scores(" ".join(words), bos=bos, eos=False)]

    for i in range(len(blocks)):
        assert rest[i] == pytest.approx(sum(scores(named(blocks, i)[1])[1:]), rel=1e-5, abs=1e-5)
    pairs = [(a, b) for a in range(len(blocks)) for b in range(len(blocks))]
    contexts = lm.context_of[[a for a, _ in pairs]]
    first = np.array([b for _, b in pairs])
    found = lm.first_words(contexts, first, np.ones(len(pairs), dtype=np.int64))
    for (a, b), value in zip(pairs, found.tolist(), strict=True):
        assert value == pytest.approx(scores((*named(blocks, a)[1][-2:], named(blocks, b)[1][0]))[-1], rel=1e-5)
    # In runs of blocks, and behind what stands before neutral ones.
    around, numbers = lm.contexts_before(listed.before)
    runs = around.first_words(numbers, np.zeros(len(numbers), dtype=np.int64), np.full(len(numbers), 3))
    words = [*blocks.words]
    for i, before in enumerate(listed.before.reshape(-1, 2).tolist()):
        known = tuple(words[one] if one >= 0 else "w" for one in before if one != -2)
        for k in range(3):
            wanted = scores((*known, named(blocks, k)[1][0]), bos=-2 in before)[-1]
            assert runs[3 * i + k] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("bad", [{"smoothing": -1.0}, {"floor": 0.0}, {"floor": 2.0}])
def test_settings_that_make_no_sense(bad: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="expected a smoothing of 0 or more and a floor above 0"):
        Estimates(**bad)
