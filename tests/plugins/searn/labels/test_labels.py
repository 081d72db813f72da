"""Labels: the paper's example, separable permutations there and back, and what labels are refused."""

from __future__ import annotations

import random

import pytest

from smtplugins.plugins.searn.labels.items import items_of
from smtplugins.plugins.searn.labels.labels import BadLabels, labels_of, labels_of_spans, order_of, reductions, tree_of
from smtplugins.plugins.searn.labels.trees import ReorderingNode, bracketed, target_order
from tests.plugins.searn.alignments import items_slowly, labels_slowly, random_links, random_separable

# Appendix A of the paper, with its items, labels and result.
SOURCE = "一个 了解 中国 音乐 的 很好 的 方式".split()
TARGET = "a great way to learn about Chinese music".split()
LINKS = [(0, 0), (1, 3), (1, 4), (1, 5), (2, 6), (3, 7), (5, 1), (7, 2)]
LABELS = ["S", "S", "S,R+", "S,R+", "S,R+", "S", "S,R+", "S,R+,R-,R+"]


def test_the_example_of_the_paper() -> None:
    items = items_of(SOURCE, TARGET, LINKS)
    sides = [" ".join(TARGET[slice(*item.target)]) for item in items]
    assert sides == ["a", "to learn about", "Chinese", "music", "", "great", "", "way"]
    assert labels_of(items) == LABELS
    assert " ".join(sides[i] for i in order_of(LABELS) if sides[i]) == " ".join(TARGET)
    assert bracketed(tree_of(LABELS), SOURCE) == "[一个 <[[[了解 中国] 音乐] 的] [[很好 的] 方式]>]"


def test_separable_permutations_there_and_back() -> None:
    rng = random.Random(1)
    for _ in range(200):
        order = random_separable(rng, rng.randint(1, 40))
        labels, left = labels_of_spans([(place, place + 1) for place in order])
        assert left == 1
        assert [order[item] for item in order_of(labels)] == list(range(len(order)))


def test_labels_of_any_alignment_give_the_target_back() -> None:
    rng = random.Random(2)
    for _ in range(200):
        sources, targets = rng.randint(1, 15), rng.randint(1, 15)
        links = [*random_links(rng, sources, targets), (0, 0)]
        items = items_of("a" * sources, "b" * targets, links)
        labels = labels_of(items)
        words = [word for item in order_of(labels) for word in range(*items[item].target)]
        assert words == list(range(targets))
        assert (labels, 1) == labels_slowly([item.target for item in items])


def test_eager_reductions_of_any_spans() -> None:
    rng = random.Random(3)
    for _ in range(200):
        cuts = sorted(rng.sample(range(1, 20), rng.randint(0, 8)))
        spans = list(zip([0, *cuts], [*cuts, 20], strict=True)) + [(0, 0)] * rng.randint(0, 3)
        rng.shuffle(spans)
        assert labels_of_spans(spans) == labels_slowly(spans)


def test_what_cannot_be_reduced_stays() -> None:
    assert labels_of_spans([(1, 2), (3, 4), (0, 1), (2, 3)]) == (["S"] * 4, 4)
    assert labels_of_spans([]) == ([], 0)
    assert items_slowly(4, 4, [(0, 1), (1, 3), (2, 0), (3, 2)])[0].kind == "simple"


def test_labels_of_decoders() -> None:
    assert tree_of(["S", "S,R-", "S"], lenient=True) == ReorderingNode(ReorderingNode(0, 1, True), 2)
    assert order_of(["S,R+", "S", "S,R-,R-,R+"], lenient=True) == [2, 1, 0]
    assert order_of(["S", "S", "S"], lenient=True) == [0, 1, 2]
    assert target_order(0) == [0]
    deep = order_of(["S", *["S,R-"] * 20_000])
    assert deep == list(range(20_000, -1, -1))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["S", "R+"], "expected a label as S,R\\+,R-, found 'R\\+'"),
        (["S", "S,R"], "found 'S,R'"),
        (["S", "S,R+,R+"], "label 1, S,R\\+,R\\+: expected two elements to reduce, found one"),
        (["S", "S"], "expected one element in the end, found 2"),
        ([], "expected labels, found none"),
    ],
)
def test_labels_that_are_refused(labels: list[str], message: str) -> None:
    with pytest.raises(BadLabels, match=message):
        tree_of(labels)


def test_reductions() -> None:
    assert reductions("S,R+,R-") == (False, True)
    with pytest.raises(ValueError, match="expected spans that do not end before they begin"):
        labels_of_spans([(2, 1)])
