"""Native TER against sacrebleu's, in every statistic."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER

from smtplugins.core.metrics.statistics import MetricReferences

LISTS = ["moses/pb/nbest100.labeled.txt.gz", "moses/hiero/nbest100.labeled.txt.gz"]


def same(hypotheses: list[str], references: list[list[str]]) -> None:
    own = TER(case_sensitive=True)
    wanted = [
        own._extract_corpus_statistics([hyp], [[ref] for ref in refs])[0]
        for hyp, refs in zip(hypotheses, references, strict=True)
    ]
    assert MetricReferences.ter(references).stats(hypotheses).tolist() == wanted


def moved(rng: random.Random, words: list[str], vocabulary: int) -> list[str]:
    """The words with spans moved, some words lost and others replaced."""
    words = list(words)
    for _ in range(rng.randint(1, 5)):
        start, length = rng.randint(0, len(words)), rng.randint(1, 13)
        span = words[start : start + length]
        del words[start : start + length]
        target = rng.randint(0, len(words))
        words[target:target] = span
    kept = [word for word in words if rng.random() > 0.1]
    return [str(rng.randrange(vocabulary + 2)) if rng.random() < 0.1 else word for word in kept]


def random_pair(rng: random.Random, lengths: list[int]) -> tuple[str, str]:
    vocabulary = rng.choice([1, 2, 3, 5, 12, 60])
    reference = [str(rng.randrange(vocabulary)) for _ in range(rng.randint(0, rng.choice(lengths)))]
    if rng.random() < 0.6:
        hypothesis = moved(rng, reference, vocabulary)
    else:
        hypothesis = [str(rng.randrange(vocabulary + 1)) for _ in range(rng.randint(0, rng.choice(lengths)))]
    return " ".join(hypothesis), " ".join(reference)


@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abcd"), max_size=9))
@example([], [])
@example([], ["a", "b"])
@example(["a", "b"], [])
def test_short_sentences(own: list[str], other: list[str]) -> None:
    same([" ".join(own)], [[" ".join(other)]])


@given(st.integers(0, 1 << 30))
def test_words_that_repeat_and_move(seed: int) -> None:
    same(*_one_reference([random_pair(random.Random(seed + k), [4, 12, 30]) for k in range(4)]))


@settings(max_examples=20)
@given(st.integers(0, 1 << 30))
def test_lengths_at_which_beam_and_limits_matter(seed: int) -> None:
    same(*_one_reference([random_pair(random.Random(seed), [0, 3, 60, 90])]))


@pytest.mark.parametrize("seed", [0, 1])
def test_sentences_of_more_than_200_words(seed: int) -> None:
    rng = random.Random(seed)
    reference = [str(rng.randrange(400)) for _ in range(220)]
    hypothesis = " ".join(moved(rng, reference, 400))
    same([hypothesis, hypothesis[:40], " ".join(reference)], [[" ".join(reference)]] * 2 + [[hypothesis[:60]]])


def test_a_beam_that_widens_with_the_ratio_of_lengths() -> None:
    long = " ".join(str(k % 90) for k in range(260))
    same(["7 8", "3", "", "1 2 3 4"], [[long]] * 4)
    same([long] * 4, [["7 8"], ["3"], [""], ["1 2 3 4"]])


@pytest.mark.parametrize("distance", [24, 25])
def test_an_alignment_at_the_border_of_the_beam(distance: int) -> None:
    words = [f"w{k}" for k in range(56)]
    new = [f"n{k}" for k in range(distance)]
    same([" ".join(new + words[:-distance]), " ".join(words[distance:] + new)], [[" ".join(words)]] * 2)


@pytest.mark.parametrize("distance", [49, 50, 51])
def test_words_move_by_at_most_50_positions(distance: int) -> None:
    words = [str(k) for k in range(80)]
    later = [*words[1 : distance + 1], words[0], *words[distance + 1 :]]
    earlier = [words[distance], *words[:distance], *words[distance + 1 :]]
    same([" ".join(later), " ".join(earlier)], [[" ".join(words)]] * 2)


def test_shifts_stop_at_a_thousand_candidates() -> None:
    rng = random.Random(8)
    hypothesis, reference = (" ".join(rng.choice("abc") for _ in range(length)) for length in (40, 44))
    same([hypothesis], [[reference]])
    # 20 edits if one more is tried.
    hypothesis, reference = "ecbacddcfedddccabdfdabcfebffedfaaddeecfbec", "cabdbdcccabbcceeccdefaaceeffbeeeeefabeaf"
    same([" ".join(hypothesis)], [[" ".join(reference)]])


def test_the_fewest_edits_of_several_references_and_their_mean_length() -> None:
    same(["a b c d", "", "x", "b a"], [["c d a b", "a b c"], ["", "a b"], ["", "", "x y z"], ["a", "b c d e"]])
    assert MetricReferences.ter([["c d a b", "a b c"]]).stats(["a b c d"]).tolist() == [[1, 3.5]]


@pytest.mark.shared
@pytest.mark.parametrize("name", LISTS)
def test_hypotheses_of_moses(shared: Path, name: str) -> None:
    with gzip.open(shared / "gold" / name, "rt", encoding="utf-8") as lines:
        rows = [line.split(" ||| ")[:2] for line in lines]
    lists: dict[str, list[str]] = {}
    for key, text in rows:
        lists.setdefault(key, []).append(text)
    texts = [(text, group[-1]) for group in lists.values() for text in group[:: max(len(group) // 8, 1)]]
    # Lists against references of other sentences have more shifts to choose from.
    others = [group[0] for group in lists.values()]
    texts += list(zip(others, [*others[1:], others[0]], strict=True))
    same(*_one_reference(texts))


def test_matrix_threads_and_ids() -> None:
    rng = random.Random(2)
    pairs = [random_pair(rng, [12, 20]) for _ in range(40)]
    hypotheses, references = _one_reference(pairs)
    native = MetricReferences.ter(references)
    table = native.matrix(hypotheses, 2)
    assert table[np.arange(40), np.arange(40)].tolist() == native.stats(hypotheses, None, 3).tolist()
    assert table[:, 3].tolist() == MetricReferences.ter([references[3]] * 40).stats(hypotheses).tolist()
    ids = [native.numbers(text.split()) for text in hypotheses]
    offsets = np.cumsum([0, *map(len, ids)]).astype(np.int64)
    assert native.stats_of_ids(offsets, np.concatenate(ids)).tolist() == native.stats(hypotheses).tolist()


def _one_reference(pairs: list[tuple[str, str]]) -> tuple[list[str], list[list[str]]]:
    return [hypothesis for hypothesis, _ in pairs], [[reference] for _, reference in pairs]
