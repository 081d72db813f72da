"""Native statistics and scores against sacrebleu, and against plain dynamic programs where it has none."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from smtplugins.core.metrics.statistics import (
    MetricReferences,
    bleu_scores,
    chrf_scores,
    edit_rates,
    f_measures,
    segments_of,
)

SEEDS = st.integers(0, 1 << 30)
WORDS = ["a", "b", "cat", "the", "x.", "(hi)", "--", "é", "猫猫", "🙂", ",", "\ud800z", "\u200b"]
LETTERS = [*"ab cd,.'()-", "é", "ÿ", "猫", "🙂", "\u2003", "\xa0", "\x1c", "\u200b", "\ud800", "&", "\n"]


def random_text(rng: random.Random) -> str:
    length = rng.choice([0, 1, 2, 5, 12, 30])
    if rng.random() < 0.5:
        return " ".join(rng.choice(WORDS) for _ in range(length))
    return "".join(rng.choice(LETTERS) for _ in range(3 * length))


def random_corpus(rng: random.Random) -> tuple[list[str], list[list[str]]]:
    """Hypotheses, some of them copied from references, and for each its references."""
    references = [[random_text(rng) for _ in range(rng.choice([1, 1, 2, 3]))] for _ in range(4)]
    hypotheses = [
        random_text(rng) if rng.random() < 0.4 else rng.choice(texts)[rng.choice([0, 1, 3]) :] for texts in references
    ]
    return hypotheses, references


def of_sacrebleu(metric: Any, hypotheses: list[str], references: list[list[str]]) -> Any:
    rows = [metric._extract_corpus_statistics([hyp], [[ref] for ref in refs])[0]
            for hyp, refs in zip(hypotheses, references, strict=True)]  # fmt: skip
    return np.array(rows, dtype=np.float64)


def scores_of(metric: Any, rows: Any) -> list[float]:
    return [metric._compute_score_from_stats(row).score for row in rows.tolist()]


@given(SEEDS)
def test_bleu_is_sacrebleus(seed: int) -> None:
    rng = random.Random(seed)
    hypotheses, references = random_corpus(rng)
    order, method = rng.choice([1, 2, 4, 7]), rng.choice(["exp", "floor", "add-k", "none"])
    value, effective = rng.choice([None, 0.3, 2.0]), rng.random() < 0.5
    own = BLEU(
        tokenize="none",
        max_ngram_order=order,
        smooth_method=method,
        smooth_value=value,
        effective_order=effective,
    )
    actual = MetricReferences.bleu(references, order).stats(hypotheses, None, rng.choice([1, 3]))
    assert actual.tolist() == of_sacrebleu(own, hypotheses, references).tolist()
    rows = np.concatenate([actual, actual.sum(axis=0)[None], np.zeros((1, actual.shape[1]))])
    used = value if value is not None else {"floor": 0.1, "add-k": 1.0}.get(method, 0.0)
    # Python 3.12 on sums floats with a correction, so the last digit may differ.
    assert bleu_scores(rows, order, method, used, effective).tolist() == pytest.approx(scores_of(own, rows), rel=1e-13)


@given(SEEDS)
def test_chrf_is_sacrebleus(seed: int) -> None:
    rng = random.Random(seed)
    hypotheses, references = random_corpus(rng)
    characters, words, beta = rng.choice([1, 3, 6]), rng.choice([0, 0, 2, 3]), rng.choice([0, 1, 2, 3])
    whitespace, smoothing = rng.random() < 0.5, rng.random() < 0.3
    own = CHRF(char_order=characters, word_order=words, beta=beta, whitespace=whitespace, eps_smoothing=smoothing)
    native = MetricReferences.chrf(references, characters, words, beta, whitespace, smoothing)
    actual = native.stats(hypotheses)
    assert actual.tolist() == of_sacrebleu(own, hypotheses, references).tolist()
    rows = np.concatenate([actual, actual.sum(axis=0)[None], np.zeros((1, actual.shape[1]))])
    assert chrf_scores(rows, characters, words, beta, smoothing).tolist() == scores_of(own, rows)


def edits(first: Sequence[Any], second: Sequence[Any]) -> int:
    row = list(range(len(second) + 1))
    for i, symbol in enumerate(first, 1):
        before, row[0] = row[:], i
        for j, other in enumerate(second, 1):
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (symbol != other))
    return row[-1]


@given(SEEDS, st.booleans())
def test_error_rates_are_least_edits_of_the_best_reference(seed: int, characters: bool) -> None:
    hypotheses, references = random_corpus(random.Random(seed))
    actual = MetricReferences.error_rate(references, characters).stats(hypotheses)
    for row, hyp, refs in zip(actual.tolist(), hypotheses, references, strict=True):
        own, *others = ((" ".join(text.split()) if characters else text.split()) for text in (hyp, *refs))
        counts = [(edits(own, reference), len(reference)) for reference in others]
        assert tuple(row) == min(counts, key=lambda count: count[0] / count[1] if count[1] else float(count[0] > 0))


@given(st.text("ab ", max_size=200), st.text("ab ", max_size=200))
def test_long_texts_take_several_words_of_bits(first: str, second: str) -> None:
    first, second = first * 3, second * 2
    [row] = MetricReferences.error_rate([[second]], True).stats([first]).tolist()
    left, right = (" ".join(text.split()) for text in (first, second))
    assert row == [edits(left, right), len(right)]


def greedy_runs(own: Sequence[str], other: Sequence[str]) -> list[int]:
    """Lengths of the runs that GTM takes: the longest that is free, the first of equally long ones."""
    free, rest, runs = set(range(len(own))), set(range(len(other))), []
    while True:
        best = (0, 0, 0)
        for i, j in itertools.product(sorted(free), sorted(rest)):
            length = 0
            while i + length in free and j + length in rest and own[i + length] == other[j + length]:
                length += 1
            if length > best[0]:
                best = (length, i, j)
        length, i, j = best
        if not length:
            return runs
        runs.append(length)
        free -= set(range(i, i + length))
        rest -= set(range(j, j + length))


def largest_match(own: Sequence[str], other: Sequence[str], exponent: float) -> float:
    """By enumeration of all matches."""

    def sizes(i: int, used: tuple[int | None, ...]) -> float:
        if i == len(own):
            runs, before = [0], None
            for j in used:
                if j is not None and before is not None and j == before + 1:
                    runs[-1] += 1
                elif j is not None:
                    runs.append(1)
                before = j
            return sum(float(run) ** exponent for run in runs) ** (1 / exponent)
        taken = [j for j, word in enumerate(other) if word == own[i] and j not in used]
        return max(sizes(i + 1, (*used, j)) for j in [None, *taken])

    return sizes(0, ())


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12),
       st.sampled_from([1.0, 1.2, 2.0, 3.0]))  # fmt: skip
def test_gtm_takes_runs_greedily(own: list[str], other: list[str], exponent: float) -> None:
    [row] = MetricReferences.gtm([[" ".join(other)]], exponent).stats([" ".join(own)]).tolist()
    wanted = sum(float(run) ** exponent for run in greedy_runs(own, other)) ** (1 / exponent)
    assert row == pytest.approx([wanted, len(own), len(other)], rel=1e-12)


@given(st.lists(st.sampled_from("ab"), max_size=6), st.lists(st.sampled_from("ab"), max_size=6))
def test_gtm_match_is_the_largest_for_exponent_1_and_never_above_it(own: list[str], other: list[str]) -> None:
    for exponent in (1.0, 2.0):
        [row] = MetricReferences.gtm([[" ".join(other)]], exponent).stats([" ".join(own)]).tolist()
        largest = largest_match(own, other, exponent)
        assert row[0] == pytest.approx(largest) if exponent == 1 else row[0] <= largest + 1e-9


def test_gtm_counts_the_reference_with_the_best_f() -> None:
    rows = MetricReferences.gtm([["a b c d e f", "a b", "b a"]], 2.0).stats(["a b"])
    assert rows.tolist() == [[2, 2, 2]]
    assert f_measures(np.array([[2.0, 2, 4]]), "precision").tolist() == [100]
    assert f_measures(np.array([[2.0, 2, 4]]), "recall").tolist() == [50]
    assert f_measures(np.array([[2.0, 2, 4], [0, 0, 0]])).tolist() == pytest.approx([200 / 3, 0])
    assert edit_rates(np.array([[1.0, 4], [2, 0], [0, 0]])).tolist() == [25, 100, 0]


KINDS: list[Any] = [
    lambda references: MetricReferences.bleu(references, 4),
    lambda references: MetricReferences.chrf(references, 6, 2),
    lambda references: MetricReferences.error_rate(references),
    lambda references: MetricReferences.error_rate(references, True),
    lambda references: MetricReferences.gtm(references, 2.0),
    lambda references: MetricReferences.ter(references),
]


@pytest.mark.parametrize("kind", KINDS)
def test_matrix_threads_and_order_change_nothing(kind: Any) -> None:
    rng = random.Random(3)
    references = [[random_text(rng) for _ in range(rng.choice([1, 2]))] for _ in range(30)]
    hypotheses = [random_text(rng) for _ in range(2500)]
    segments = np.array([rng.randrange(30) for _ in hypotheses], dtype=np.int32)
    native = kind(references)
    assert len(native) == 30
    rows = native.stats(hypotheses, segments)
    assert rows.shape == (2500, native.width)
    assert native.stats(hypotheses, segments, 4).tolist() == rows.tolist()
    order = np.argsort(segments, kind="stable")
    assert native.stats([hypotheses[i] for i in order], segments[order]).tolist() == rows[order].tolist()
    table = native.matrix(hypotheses[:40], 3)
    assert table.shape == (40, 30, native.width)
    for i, j in itertools.product(range(0, 40, 7), range(30)):
        assert table[i, j].tolist() == native.stats([hypotheses[i]], np.array([j], dtype=np.int32))[0].tolist()
    with ThreadPoolExecutor(4) as pool:
        for again in pool.map(lambda _: native.stats(hypotheses, segments), range(8)):
            assert again.tolist() == rows.tolist()


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[2], KINDS[4], KINDS[5]])
def test_ids_of_words_count_like_texts(kind: Any) -> None:
    rng = random.Random(5)
    references = [[random_text(rng), random_text(rng)] for _ in range(9)]
    hypotheses = [random_text(rng) for _ in range(200)]
    segments = np.array([rng.randrange(9) for _ in hypotheses], dtype=np.int32)
    native = kind(references)
    ids = [native.numbers(text.split()) for text in hypotheses]
    offsets = np.cumsum([0, *map(len, ids)]).astype(np.int64)
    actual = native.stats_of_ids(offsets, np.concatenate(ids), segments, 2)
    assert actual.tolist() == native.stats(hypotheses, segments).tolist()


def test_words_are_parted_where_python_parts_them() -> None:
    texts = []
    for first in range(0, 0x110000, 256):
        few = [f"a{chr(code)}b" for code in range(first, first + 256)]
        # Together, if no character parts words: a text of one word tells this of all of them.
        texts += few if any(len(text.split()) > 1 for text in few) else ["".join(few)]
    rows = MetricReferences.error_rate([[text] for text in texts]).stats(["q"] * len(texts))
    assert [texts[i] for i in np.flatnonzero(rows[:, 1] > 1)] == [text for text in texts if len(text.split()) > 1]


def test_streams_become_segments() -> None:
    assert segments_of([["a", "b"], ["c", None]]) == [["a", "c"], ["b"]]  # type: ignore[list-item]
    with pytest.raises(ValueError):
        segments_of([["a"], ["b", "c"]])


def ints(*values: int) -> Any:
    return np.array(values, dtype=np.int32)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MetricReferences.bleu([[]]), "a segment has no reference"),
        (lambda: MetricReferences.bleu([["a"]], 0), "the order must be from 1 to 1000"),
        (lambda: MetricReferences.chrf([["a"]], 0), "orders must be from 1 to 1000"),
        (lambda: MetricReferences.chrf([["a"]], beta=float("inf")), "beta must be finite"),
        (lambda: MetricReferences.gtm([["a"]], 0.5), "the exponent must be 1 or more"),
        (lambda: MetricReferences.bleu([["a"]]).stats(["a", "b"]), "expected as many hypotheses as segments"),
        (lambda: MetricReferences.bleu([["a"]]).stats(["a"], ints(1)), "found one without a segment"),
        (lambda: MetricReferences.bleu([["a"]]).stats(["a"], ints(-1)), "found one without a segment"),
        (lambda: MetricReferences.bleu([["a"]]).stats(["a"], ints(0, 0)), "expected the number of a segment"),
        (lambda: MetricReferences.bleu([["a"]]).stats(["a"], None, 0), "threads must be 1 or more"),
        (lambda: MetricReferences.chrf([["a"]]).stats_of_ids(np.array([0]), ints()), "this metric needs texts"),
        (lambda: MetricReferences.bleu([["a"]]).stats_of_ids(np.array([0, 2]), ints(0)), "offsets must increase"),
        (lambda: MetricReferences.bleu([["a"]]).stats_of_ids(np.array([0, 2, 1]), ints(0)), "offsets must increase"),
        (lambda: bleu_scores(np.zeros((1, 9)), 4, "exp", 0.0, True), "of this metric's width"),
        (lambda: bleu_scores(np.zeros((1, 10)), 4, "exq", 0.0, True), "the smoothing method must be"),
    ],
)
def test_wrong_calls_are_told(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_texts_are_strings() -> None:
    native = MetricReferences.bleu([["a"]])
    with pytest.raises(TypeError, match="a text must be a str"):
        native.stats([b"a"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="must be a list of str"):
        MetricReferences.bleu(["a"])  # type: ignore[list-item]
