"""Language model states: words behind a state, and pieces of text joined in any order."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtplugins.core._core import LanguageModel, LmChartState
from smtplugins.core.lm.ngram_model import read_lm
from tests.core.kenlm_files import LAYOUTS, with_rests, written_trie
from tests.core.ngrams import Ngram, Oracle, Table, native, random_table

SEEDS = st.integers(0, 2**32)
# Of each of the three sizes of state.
ORDERS = st.sampled_from([1, 2, 3, 4, 5, 7])
READ, RESTS = "", "rest costs"
ANY = st.sampled_from([READ, READ, RESTS, *LAYOUTS])


def pruned_model(rng: random.Random, order: int, layout: str = READ) -> tuple[Table, LanguageModel]:
    table = random_table(rng, min(order, 4), as_kenlm_wants=True)
    listed = [ngram for ngram in table if len(ngram) == 4]
    for _ in range(5, order + 1):
        listed = [(*ngram, rng.choice("abc")) for ngram in listed if ngram[-1] != "</s>"][:40]
        listed = [ngram for ngram in listed if ngram[-1:] in table]
        table |= {ngram: (-2 * rng.random(), -rng.random() * (rng.random() < 0.8)) for ngram in listed}
    lm = native(table, order)
    if layout == READ or order == 1:
        return table, lm
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lm.klm"
        if layout == RESTS:
            lm.write_binary(str(file))
            file.write_bytes(with_rests(file.read_bytes()))
        else:
            file.write_bytes(written_trie(table, order, layout))
        return table, read_lm(file)


def random_ids(rng: random.Random, lm: LanguageModel, most: int) -> list[int]:
    return [rng.choice([0, *range(lm.vocabulary_size)]) for _ in range(rng.randint(0, most))]


def score(lm: LanguageModel, ids: list[int], bos: bool, eos: bool = False) -> float:
    column, offsets = np.array(ids, np.int32), np.array([0, len(ids)], np.int64)
    return float(lm.score_ids(column, offsets, bos, eos)[0][0])


def bracketed(rng: random.Random, lm: LanguageModel, ids: list[int], bos: bool) -> tuple[float, LmChartState]:
    """The score of words put together by rules with up to three gaps, the gaps in any order."""
    symbols: list[int] = []
    gaps: list[LmChartState] = []
    total = 0.0
    parts: list[list[int]] = []
    at = 0
    while at < len(ids):
        if rng.random() < 0.4:
            symbols.append(ids[at])
            at += 1
        else:
            size = rng.randint(0, len(ids) - at) if len(ids) > 2 else 0
            if size == len(ids):
                size -= 1
            symbols.append(-1 - len(parts))
            parts.append(ids[at : at + size])
            at += size
    for i, part in enumerate(parts):
        # Only what begins the sentence may hold its beginning.
        first = bos and not symbols.index(-1 - i) and rng.random() < 0.5
        bos = bos and not first
        inside, state = bracketed(rng, lm, part, first)
        total += inside
        gaps.append(state)
    here, state = lm.score_rule(symbols, gaps, bos)
    return total + here, state


@given(SEEDS, ORDERS, st.booleans(), ANY)
@settings(deadline=None, max_examples=200)
def test_joined_pieces_score_as_the_whole(seed: int, order: int, bos: bool, layout: str) -> None:
    rng = random.Random(seed)
    lm = pruned_model(rng, order, layout)[1]
    for _ in range(30):
        ids = random_ids(rng, lm, 12)
        total, state = bracketed(rng, lm, ids, bos)
        expected, whole = lm.score_rule(ids, bos=bos)
        assert total == pytest.approx(expected, rel=1e-7, abs=1e-5)
        if bos or layout != RESTS:
            assert total == pytest.approx(score(lm, ids, bos), rel=1e-7, abs=1e-5)
        assert state == whole
        assert hash(state) == hash(whole)


@given(SEEDS, ORDERS, ANY)
@settings(deadline=None, max_examples=120)
def test_equal_states_score_alike_everywhere(seed: int, order: int, layout: str) -> None:
    rng = random.Random(seed)
    lm = pruned_model(rng, order, layout)[1]
    pieces: dict[LmChartState, list[int]] = {}
    for _ in range(60):
        ids = random_ids(rng, lm, 5)
        state = lm.score_rule(ids)[1]
        other = pieces.setdefault(state, ids)
        before, after = random_ids(rng, lm, 4), random_ids(rng, lm, 4)
        added = [score(lm, before + piece + after, False) - score(lm, piece, False) for piece in (ids, other)]
        assert added[0] == pytest.approx(added[1], abs=1e-4)


@given(SEEDS, ORDERS, ANY)
@settings(deadline=None, max_examples=120)
def test_states_hold_no_more_than_they_must(seed: int, order: int, layout: str) -> None:
    """What KenLM's rules leave: words that a longer n-gram of the model begins or ends with."""
    rng = random.Random(seed)
    table, lm = pruned_model(rng, order, layout)
    oracle = Oracle(table, order)
    stones = oracle.stones
    begun = {stone[:-1] for stone in stones}
    for ngram in (ngram for ngram in table if len(ngram) < order and np.float32(table[ngram][1]) != 0):
        begun |= {ngram[i:] for i in range(len(ngram))}
    ended = {stone[1:] for stone in stones}
    for _ in range(20):
        ids = random_ids(rng, lm, 6)
        words: Ngram = tuple(lm.word(i) for i in ids)
        right = max((n for n in range(1, min(len(ids), order - 1) + 1) if words[-n:] in begun), default=0)
        opened = 0
        while opened < len(ids) and words[: opened + 1] in ended and (opened == 0 or words[:opened] in begun):
            opened += 1
        state = lm.score_rule(ids)[1]
        assert state.open == opened
        assert state.full == (opened < len(ids) or opened == order - 1 or (len(ids) > 0 and words not in begun))
        # A word may be kept only where all words behind it are there, too.
        assert state.words == ids[::-1][: len(state.words)]
        assert len(state.words) == right


@given(SEEDS, ORDERS, st.booleans(), ANY)
@settings(deadline=None, max_examples=70)
def test_word_by_word(seed: int, order: int, bos: bool, layout: str) -> None:
    rng = random.Random(seed)
    lm = pruned_model(rng, order, layout)[1]
    sentences = [random_ids(rng, lm, 9) for _ in range(40)]
    expected = [score(lm, ids, bos) for ids in sentences]
    ends = []
    for ids, total in zip(sentences, expected, strict=True):
        state, summed = lm.begin_state() if bos else lm.null_state(), 0.0
        for i in ids:
            prob, state = lm.score_word(state, i)
            summed += prob
        assert summed == total
        ends.append(state)

    rows, totals = lm.states(len(sentences), bos), np.zeros(len(sentences))
    for at in range(9):
        live = np.array([i for i, ids in enumerate(sentences) if at < len(ids)], np.int64)
        words = np.array([sentences[i][at] for i in live], np.int32)
        probs, rows[live] = lm.step(rows[live], words)
        totals[live] += probs
    assert totals.tolist() == expected
    for row, end in zip(rows, ends, strict=True):
        assert row[1 : 1 + row[0]].tolist() == end.words
    for i, j in np.ndindex(len(ends), len(ends)):
        assert (ends[i] == ends[j]) == (rows[i, :order].tolist() == rows[j, :order].tolist())
        assert ends[i] != ends[j] or hash(ends[i]) == hash(ends[j])


def test_what_is_not_of_the_model_is_refused() -> None:
    words = {(word,): (-1.0, -0.5) for word in ("<s>", "</s>", "a")}
    short, long = native(words, 1), native(words | {("a", "a"): (-0.5, 0.0)}, 2)
    state = long.score_word(long.null_state(), 3)[1]
    with pytest.raises(ValueError, match="of higher order"):
        short.score_word(state, 1)
    with pytest.raises(ValueError, match="vocabulary"):
        long.score_word(state, 4)
    with pytest.raises(ValueError, match="not of this model"):
        short.score_rule([-1], [long.score_rule([3])[1]])
    with pytest.raises(ValueError, match="a gap that has no state"):
        long.score_rule([3, -1])
    with pytest.raises(ValueError, match="vocabulary"):
        long.score_rule([4])
    rows, ids = long.states(2), np.array([1, 3], np.int32)
    with pytest.raises(ValueError, match="a row for each word"):
        long.step(rows[:1], ids)
    with pytest.raises(ValueError, match="a row for each word"):
        short.step(rows, ids)
    with pytest.raises(ValueError, match="vocabulary"):
        long.step(rows, np.array([1, 4], np.int32))
    for length in (-1, 2, 256):
        rows[0, 0] = length
        with pytest.raises(ValueError, match="not a state of this model"):
            long.step(rows, ids)
    unmarked = native({("a",): (-1.0, 0.0)}, 1)
    for call in (unmarked.begin_state, lambda: unmarked.states(1), lambda: unmarked.score_rule([], bos=True)):
        with pytest.raises(ValueError, match="has no <s>"):
            call()
