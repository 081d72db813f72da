"""Trees: words, spans, equality and depth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats.tokens import BadField
from smtformats.tree.trees import Tree, tree_of

NP = Tree("NP", (Tree("DT", ("the",)), "old", Tree("NN", ("house",))))
S = Tree("", (Tree("S", (NP, Tree("VP", ()), Tree("X", ("is",)))),))
PLAIN = st.text("ab{}-,é\u2028\u00a0'|[]", min_size=1, max_size=3)


def trees() -> st.SearchStrategy[Tree]:
    leaves = st.builds(lambda label, words: Tree(label, tuple(words)), PLAIN, st.lists(PLAIN, max_size=3))
    return st.recursive(
        leaves,
        lambda below: st.builds(
            lambda label, some: Tree(label, tuple(some)), PLAIN, st.lists(below | PLAIN, max_size=3)
        ),
        max_leaves=12,
    )


def test_words_and_spans() -> None:
    assert S.words() == ["the", "old", "house", "is"]
    assert S.spans() == [
        ("", 0, 4),
        ("S", 0, 4),
        ("NP", 0, 3),
        ("DT", 0, 1),
        ("NN", 2, 3),
        ("VP", 3, 3),
        ("X", 3, 4),
    ]
    assert str(S) == "( (S (NP (DT the) old (NN house)) (VP) (X is)))"
    assert repr(NP) == "<Tree (NP (DT the) old (NN house))>"


def test_equality() -> None:
    assert Tree("A", ("b",)) == Tree("A", ("b",)) != Tree("A", (Tree("b"),))
    assert Tree("A", (Tree("B"), "c")) != Tree("A", (Tree("B", ("c",)),))
    assert Tree("A") != "A"
    assert len({Tree("A", ("b",)), Tree("A", ("b",)), Tree("A")}) == 2


def test_deep_trees() -> None:
    def deep() -> Tree:
        tree = Tree("X", ("w",))
        for i in range(5000):
            tree = Tree("Y", (tree, str(i)))
        return tree

    first, other = deep(), deep()
    assert first == other
    assert hash(first) == hash(other)
    assert len(first.words()) == 5001
    assert first.spans()[0] == ("Y", 0, 5001)
    assert first.spans()[-1] == ("X", 0, 1)
    assert tree_of(str(first), 5001) == first
    with pytest.raises(BadField):
        tree_of(str(first), 5000)


@given(trees())
def test_text_and_back(tree: Tree) -> None:
    assert tree_of(str(tree), 100) == tree
    assert [span[0] for span in tree.spans()] == [node.label for node in tree.walk() if isinstance(node, Tree)]
    assert tree.spans()[0][1:] == (0, len(tree.words()))
