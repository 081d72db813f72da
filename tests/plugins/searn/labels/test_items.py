"""Items of word-aligned pairs: against the definitions, and what cases of the paper come to."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest

from smtplugins.plugins.searn.labels.items import KINDS, AlignedItem, find_items, items_of
from tests.plugins.searn.alignments import avoids, items_slowly, random_links


@pytest.mark.parametrize("seed", range(5))
def test_as_the_definitions_say(seed: int) -> None:
    rng = random.Random(seed)
    kinds: Counter[str] = Counter()
    for _ in range(200):
        sources = rng.randint(1, 10)
        targets = rng.choice((sources, rng.randint(1, 10)))
        links = random_links(rng, sources, targets)
        items = items_of(["a"] * sources, ["b"] * targets, links)
        assert items == items_slowly(sources, targets, links)
        kinds.update(item.kind for item in items)
    assert min(kinds[kind] for kind in KINDS) > 3


@pytest.mark.parametrize("length", [4, 5, 6])
def test_permutations_are_reduced_where_they_are_separable(length: int) -> None:
    for permutation in itertools.permutations(range(length)):
        items = items_of("a" * length, "b" * length, list(enumerate(permutation)))
        separable = avoids(permutation, [1, 3, 0, 2]) and avoids(permutation, [2, 0, 3, 1])
        assert (len(items) == length) == separable
        assert separable == all(item.kind == "linked" for item in items)
        if length == 4 and not separable:
            words = tuple(((i, i + 1), (place, place + 1)) for i, place in enumerate(permutation))
            assert items == [AlignedItem((0, 4), (0, 4), "simple", words)]


def test_larger_simple_permutations_are_items_with_their_words() -> None:
    order = [0, 5, 7, 2, 4, 1, 3, 6, 8]
    items = items_of("a" * 9, "b" * 9, list(enumerate(order)))
    assert items == items_slowly(9, 9, list(enumerate(order)))
    assert [(item.source, item.target, item.kind) for item in items] == [
        ((0, 1), (0, 1), "linked"),
        ((1, 8), (1, 8), "simple"),
        ((8, 9), (8, 9), "linked"),
    ]
    assert items[1].parts == tuple(((i, i + 1), (order[i], order[i] + 1)) for i in range(1, 8))


def test_words_inside_of_others() -> None:
    # "ne voit pas", "does not see": a group that reaches around a pair.
    items = items_of("il ne voit pas".split(), "he does not see".split(), [(0, 0), (1, 1), (1, 2), (3, 2), (2, 3)])
    assert items[0] == AlignedItem((0, 1), (0, 1), "linked")
    assert (items[1].source, items[1].target, items[1].kind) == ((1, 4), (1, 4), "crossing")
    assert items[1].parts == (((2, 3), (3, 4)),)


def test_words_without_links() -> None:
    # Source words alone are items, inside of a window part of it; target words go with what is before, or behind.
    items = items_of("abcdef", "uvwxyz", [(1, 1), (3, 1), (4, 4)])
    assert items == [
        AlignedItem((0, 1), (0, 0), "unaligned"),
        AlignedItem((1, 4), (0, 4), "linked"),
        AlignedItem((4, 5), (4, 6), "linked"),
        AlignedItem((5, 6), (0, 0), "unaligned"),
    ]
    assert items_of("ab", "c", []) == []


def test_several_pairs_at_once_and_links_twice() -> None:
    rng = random.Random(1)
    pairs = []
    for _ in range(50):
        sources, targets = rng.randint(0, 12), rng.randint(1, 12)
        links = random_links(rng, sources, targets) if sources else []
        pairs.append((sources, targets, links + links[:2]))
    found = find_items(pairs)
    for number, (sources, targets, links) in enumerate(pairs):
        assert found.of(number) == items_of("a" * sources, "b" * targets, links)
    assert found.offsets[-1] == len(found.spans) == len(found.labels) == len(found.kinds)


def test_long_sentences() -> None:
    rng = random.Random(2)
    order = list(range(3000))
    rng.shuffle(order)
    assert [item.kind for item in items_of("a" * 3000, "b" * 3000, list(enumerate(order)))].count("simple") == 1
    items = items_of("a" * 5000, "b" * 5000, [(i, 4999 - i) for i in range(5000)])
    assert len(items) == 5000
    # One group that reaches around all others.
    around = items_of("a" * 2000, "b" * 2000, [(0, 0), (0, 1999), *((i, i) for i in range(1, 1999))])
    assert len(around) == 1 + 1
    assert len(around[0].parts) == 1998


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="expected links inside the sentences"):
        items_of("ab", "c", [(0, 1)])
    from smtplugins.plugins.searn._searn import find_items as native

    one = np.ones(1, np.int32)
    with pytest.raises(ValueError, match="expected offsets that increase from 0 to the number of links"):
        native(one, one, np.array([0, 2]), np.zeros((1, 2), np.int32))
    with pytest.raises(ValueError, match="expected links of two numbers"):
        native(one, one, np.array([0, 1]), np.zeros((1, 3), np.int32))
