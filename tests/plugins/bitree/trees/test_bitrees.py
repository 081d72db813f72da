"""Cohesive links, and sequences of correct joins against enumeration of all."""

from __future__ import annotations

import itertools
import random

from smtplugins.plugins.bitree.trees.bitrees import KEEP, SWAP, Bitree, Join, head_interval, joins_after
from smtplugins.plugins.bitree.trees.cohesion import cohesive
from smtplugins.plugins.bitree.trees.source_trees import SourceTree, TreeMaker
from smtplugins.plugins.bitree.trees.tree_making import branching


def flat(count: int, head: int) -> SourceTree:
    maker = TreeMaker(tuple(f"w{k}" for k in range(count)), ("T",) * count)
    if count > 1:
        maker.add("X", tuple(range(count)), head)
    return maker.tree("constituents")


def random_tree(draw: random.Random, size: int) -> SourceTree:
    """Any shape, any heads."""
    maker = TreeMaker(tuple(draw.choice("abc") for _ in range(size)), ("T",) * size)
    row = list(range(size))
    while len(row) > 1:
        first = draw.randrange(len(row) - 1)
        last = draw.randrange(first + 2, min(first + 4, len(row)) + 1)
        row[first:last] = [maker.add(draw.choice("XY"), tuple(row[first:last]), draw.randrange(last - first))]
    return maker.tree("constituents")


def _crossings(tree: SourceTree, links: tuple[tuple[int, int], ...]) -> int:
    """The slow way."""
    found = 0
    for node in tree.nodes:
        inside = [j for i, j in links if node.first <= i < node.last]
        found += sum(
            bool(inside) and min(inside) < j < max(inside) for i, j in links if not node.first <= i < node.last
        )
    return found


def test_cohesive_links() -> None:
    draw = random.Random(3)
    dropped = 0
    for _ in range(150):
        tree = random_tree(draw, draw.randrange(1, 7))
        links = tuple(sorted({(draw.randrange(len(tree)), draw.randrange(6)) for _ in range(draw.randrange(8))}))
        kept = cohesive(tree, links)
        assert _crossings(tree, kept) == 0
        assert set(kept) <= set(links)
        if _crossings(tree, links) == 0:
            assert kept == links
        elif any(_crossings(tree, rest) == 0 for rest in itertools.combinations(links, len(links) - 1)):
            assert len(kept) == len(links) - 1
        dropped += len(links) - len(kept)
    assert dropped > 40


def _made_by(tree: SourceTree, node: int, words: tuple[str, ...]) -> dict[tuple[str, ...], int]:
    """All orders of a flat node's children that joins can make, and in how many ways."""
    found: dict[tuple[str, ...], int] = {}

    def grow(state: tuple[int, int], made: tuple[str, ...]) -> None:
        joins = joins_after(tree, node, state)
        if not joins:
            found[made] = found.get(made, 0) + 1
        for join in joins:
            word = (words[join.sibling],)
            grow(join.after, word + made)
            grow(join.after, made + word)

    head = head_interval(tree, node)
    grow(head, words[head[0] : head[1]])
    return found


def test_correct_sequences_are_all_that_make_the_order() -> None:
    loose = 0
    for count in (2, 3, 4):
        words = tuple("abcd"[:count])
        for head in range(count):
            tree = flat(count, head)
            ways = _made_by(tree, count, words)
            for order in itertools.permutations(words):
                bitree = Bitree(tree, words, tuple(order.index(word) for word in words))
                if order not in ways:
                    assert bitree.loose in (1, 2)
                    loose += 1
                    continue
                paths = bitree.paths(count)
                assert bitree.loose == 0
                assert len(paths) == ways[order]
                for path in paths:
                    assert _followed(path, words, head) == order
    assert loose > 0


def _followed(path: list[tuple[Join, int]], words: tuple[str, ...], head: int) -> tuple[str, ...]:
    made: tuple[str, ...] = (words[head],)
    for join, order in path:
        before = join.left == (order == KEEP)
        made = (words[join.sibling], *made) if before else (*made, words[join.sibling])
    return made


def test_examples_are_the_candidates_of_each_state() -> None:
    # a c b: b is the head; a cannot come first, as c has to stand between.
    bitree = Bitree(flat(3, 1), ("A", "B", "C"), (0, 2, 1))
    found = list(bitree.sequence(random.Random(1)))
    assert [(one.join, one.correct) for one in found] == [
        (Join(3, 1, 2, 0), (False, False)),
        (Join(3, 1, 2, 2), (False, True)),
        (Join(3, 1, 3, 0), (True, False)),
    ]


def test_a_random_sequence_ends_with_everything_joined() -> None:
    draw = random.Random(5)
    for _ in range(100):
        tree = random_tree(draw, draw.randrange(2, 8))
        links = {i: j for i, j in enumerate(draw.sample(range(9), len(tree))) if draw.random() < 0.8}
        kept = dict(cohesive(tree, links.items()))
        bitree = Bitree.of(tree, tuple("abcdefghi"), kept)
        found = list(bitree.sequence(draw))
        right = sum(any(one.correct) for one in found)
        done = sum(bitree.sizes[child] > 0 for node in tree.nodes for child in node.children)
        parents = sum(bitree.sizes[k] > 0 for k, node in enumerate(tree.nodes) if node.children)
        # Each part that has words joins once, and the first of a node's parts needs no join.
        assert right >= done - parents - bitree.loose
        assert all(sum(one.correct) <= 1 for one in found)


def test_nothing_is_inferred_of_parts_without_words() -> None:
    tree = branching(("a", "b", "c"), "right-branching")
    bitree = Bitree.of(tree, ("x", "y"), {0: 1, 2: 0})
    found = list(bitree.sequence(random.Random(1)))
    assert [(one.join.node, one.correct[SWAP]) for one in found] == [(4, True)]
    assert bitree.translations == ("y", "", "x")
    assert list(Bitree.of(tree, (), {}).sequence(random.Random(1))) == []
