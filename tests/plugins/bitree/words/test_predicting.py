"""Predictions, their accuracy, bags and mixtures, counted once more."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from smtplugins.plugins.bitree.boosting.boosting import boost
from smtplugins.plugins.bitree.words.material import NULL, Pair, TokenRows, count_links, rows_like, training_rows
from smtplugins.plugins.bitree.words.predicting import (
    BagOverlap,
    Mixture,
    accuracy,
    bags,
    choose_lambda,
    lambdas,
    predict_boosted,
    predict_each,
    predict_path,
    upper_bound,
)


def made(seed: int, count: int) -> list[Pair]:
    """`a` becomes `u` before `b` and `v` elsewhere; `b` becomes `w`, `c` mostly nothing."""
    draw = random.Random(seed)
    pairs = []
    for _ in range(count):
        source = tuple(draw.choice("abc") for _ in range(draw.randint(2, 6)))
        target: list[str] = []
        links: list[tuple[int, int]] = []
        for at, word in enumerate(source):
            after = source[at + 1 : at + 2]
            name = {"a": "u" if after == ("b",) else "v", "b": "w", "c": "x" if draw.random() < 0.2 else NULL}[word]
            if name:
                links.append((at, len(target)))
                target.append(name)
        pairs.append(Pair(source, tuple(target) or ("y",), tuple(links)))
    return pairs


@pytest.fixture(scope="module", name="texts")
def _texts() -> tuple[TokenRows, TokenRows, list[Pair]]:
    training = made(1, 150)
    counts = count_links(training)
    rows = training_rows(training, counts)
    more = [*made(2, 50), Pair(("q", "a"), ("v",), ((1, 0),))]
    return rows, rows_like(more, counts, rows), more


def test_boosted_trees_know_what_the_most_frequent_translation_does_not(
    texts: tuple[TokenRows, TokenRows, list[Pair]],
) -> None:
    rows, more, pairs = texts
    model = boost([rows.only("W").problem(word) for word in range(len(rows.words))], least=0.5)
    least, curve = choose_lambda(model, more)
    assert [one for one, _ in curve] == lambdas(0.5, float(model.trees.lambdas.max()))
    best = max(value for _, value in curve)
    assert least == max(one for one, value in curve if value == best)
    found = predict_boosted(model.cut(least), more)
    assert np.array_equal(found, predict_path(model, more, [least])[0])
    (whole,) = predict_each([lambda word, examples: model.scores(word, examples, least)], more, range(len(rows.words)))
    assert np.array_equal(found, whole)
    assert accuracy(more, found) == dict(curve)[least]
    frequent = np.zeros(len(more), dtype=int)
    # Those of `c` that have a link are too few.
    assert accuracy(more, found) > accuracy(more, frequent) + 5
    # An independent count.
    right = total = 0
    for word in range(len(more.words)):
        own = more.of(word)
        for row in range(own.start, own.stop):
            if more.linked[row]:
                total += 1
                right += int(found[row] == more.classes[row])
    assert accuracy(more, found) == pytest.approx(100 * right / total)
    words = bags(more, found, len(pairs))
    for sentence, pair in zip(words[:-1], pairs, strict=False):
        after = [*pair.source[1:], ""]
        wanted = [{"a": "u" if b == "b" else "v", "b": "w"}.get(a) for a, b in zip(pair.source, after, strict=True)]
        assert sentence == [one for one in wanted if one is not None]
    assert words[-1] == ["v"]


def test_of_equal_confidences_the_more_frequent_word_is_taken(texts: tuple[TokenRows, TokenRows, list[Pair]]) -> None:
    _, more, _ = texts
    (flat,) = predict_each(
        [lambda word, examples: np.zeros((len(examples), len(more.translations[word])))], more, range(len(more.words))
    )
    assert not flat.any()


def test_overlap_is_that_of_counters() -> None:
    draw = random.Random(1)
    one = [[draw.choice("abc") for _ in range(draw.randint(0, 5))] for _ in range(30)]
    other = [[draw.choice("abcd") for _ in range(draw.randint(0, 5))] for _ in range(30)]
    found = BagOverlap.of(one, other)
    matches = 0
    for a, b in zip(one, other, strict=True):
        rest = list(b)
        for word in a:
            if word in rest:
                rest.remove(word)
                matches += 1
    assert found == BagOverlap(matches, sum(map(len, one)), sum(map(len, other)))
    shown = found.shown()
    precision, recall = shown["P"], shown["R"]
    assert precision == pytest.approx(100 * matches / found.hypothesis_words)
    assert shown["F"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert BagOverlap(0, 0, 0).shown() == {"P": 0.0, "R": 0.0, "F": 0.0}
    bound = upper_bound([["a"] * 3, ["a"]], [["b"] * 2, ["b"] * 4])
    assert (bound.matches, bound.hypothesis_words, bound.reference_words) == (3, 3, 6)


def test_a_mixture_takes_the_best_of_each_word(texts: tuple[TokenRows, TokenRows, list[Pair]]) -> None:
    _, more, _ = texts
    draw = np.random.default_rng(3)
    predictions = {name: draw.integers(0, 2, len(more)) for name in ("W", "WC", "WD")}
    mixture = Mixture.of(more, predictions)
    scores = {name: accuracy(more, one) for name, one in predictions.items()}
    assert scores[mixture.best] == max(scores.values())
    chosen = mixture.choose(more, predictions)
    for word, name in enumerate(more.words):
        own = more.of(word)

        def right(classes: object, own: slice = own) -> int:
            return Counter(((classes == more.classes) & more.linked)[own].tolist())[True]

        used = predictions[mixture.words.get(name, mixture.best)]
        assert right(used) == max(map(right, predictions.values()))
        assert np.array_equal(chosen[own], used[own])
    assert accuracy(more, chosen) >= max(scores.values())
