"""Source trees: heads, what dependency features see, dependencies made projective, shapes without a parser."""

from __future__ import annotations

import io
import itertools
import random

import pytest

from smtformats.files import Lines
from smtformats.tree import conllu
from smtformats.tree.trees import tree_of
from smtplugins.contracts.errors import SmtError
from smtplugins.plugins.bitree.trees.heads import head_child
from smtplugins.plugins.bitree.trees.source_trees import SourceTree, TreeView
from smtplugins.plugins.bitree.trees.tree_making import SHAPES, branching, from_brackets, from_dependencies


def _brackets(text: str) -> SourceTree:
    return from_brackets(tree_of(text, 100))


def _dependencies(*rows: tuple[str, int, str], tag: str = "T") -> SourceTree:
    text = "".join(
        f"{k}\t{word}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n" for k, (word, head, relation) in enumerate(rows, 1)
    )
    return from_dependencies(next(iter(conllu.parse(Lines(io.BytesIO(text.encode()), "trees")))))


def test_heads_of_the_paper_s_kind_of_trees() -> None:
    tree = _brackets("( (S (NP-SBJ (DT the) (JJ small) (NN house)) (VP (VBZ is) (ADJP (RB very) (JJ old))) (. .)))")
    assert tree.bracketed() == (
        "(S (NP (DT the) (JJ small) (NN* house)) (VP* (VBZ* is) (ADJP (RB very) (JJ* old))) (. .))"
    )
    assert tree.tags == ("DT", "JJ", "NN", "VBZ", "RB", "JJ", ".")
    assert tree.words[tree.nodes[tree.root].head] == "is"


def test_what_dependency_features_see() -> None:
    tree = _brackets("(S (NP (DT the) (JJ small) (NN house)) (VP (VBZ is) (ADJP (RB very) (JJ old))))")
    assert tree.view(2) == TreeView("NP", ("S", "is"), (("DT", "the"), ("JJ", "small")), ("NP", "NN"))
    assert tree.view(3) == TreeView("S", None, (("NP", "house"), ("ADJP", "old")), ("S", "VP", "VBZ"))
    assert tree.view(0) == TreeView("DT", ("NP", "house"), (), ("DT",))


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        ("NP", ["DT", "NN", "POS"], 2),
        ("NP", ["NP", "PP"], 0),
        ("NP", ["DT", "CD"], 1),
        ("PP", ["IN", "NP"], 0),
        ("VP", ["MD", "VP"], 0),
        ("VP", ["TO", "VP"], 0),
        ("S", ["NP", "VP", "."], 1),
        ("S", ["."], 0),
        ("QQ", ["A", "B"], 1),
        ("SBAR", ["IN", "S"], 0),
    ],
)
def test_head_table(label: str, children: list[str], head: int) -> None:
    assert head_child(label, children) == head


def test_words_without_a_part_of_speech_and_unary_nodes() -> None:
    tree = _brackets("(S (X a man (Y (Z (T old)))) .)")
    assert tree.tags == ("", "", "T", "")
    assert [node.label for node in tree.nodes[4:]] == ["Z", "Y", "X", "S"]
    assert _brackets("(NN house)").nodes == branching(("house",), "balanced", ("NN",)).nodes
    with pytest.raises(ValueError, match="expected children before node 1"):
        SourceTree(("a",), (tree.nodes[0], tree.nodes[6]), "constituents")


def test_dependencies() -> None:
    tree = _dependencies(("the", 2, "det"), ("house", 4, "nsubj"), ("is", 4, "cop"), ("old", 0, "root"))
    assert tree.bracketed() == "(root (nsubj (T the) (T* house)) (T is) (T* old))"
    assert tree.view(1) == TreeView("nsubj", ("root", "old"), (("T", "the"),), ("nsubj", "T"))


def test_several_roots_and_crossing_arcs() -> None:
    assert _dependencies(("a", 0, "r"), ("b", 0, "r")).bracketed() == "(ROOT (T* a) (T b))"
    # c depends on a across b's arc to d: it goes to a's head.
    crossed = _dependencies(("a", 2, "x"), ("b", 0, "r"), ("c", 1, "y"), ("d", 2, "z"))
    assert crossed.bracketed() == "(r (T a) (T* b) (T c) (T d))"


def test_heads_in_a_ring_are_refused() -> None:
    with pytest.raises(SmtError, match="trees:1: expected a tree, found a cycle of heads above word 1"):
        _dependencies(("a", 2, "x"), ("b", 1, "y"))


def test_any_dependencies_become_a_tree() -> None:
    draw = random.Random(7)
    for _ in range(200):
        size = draw.randrange(1, 9)
        order = draw.sample(range(1, size + 1), size)
        heads = {word: draw.choice([0, *order[:place]]) for place, word in enumerate(order)}
        tree = _dependencies(*((f"w{k}", heads[k], "r") for k in range(1, size + 1)))
        assert [node.head for node in tree.nodes[:size]] == list(range(size))
        for node in tree.nodes[size:]:
            spans = [(tree.nodes[child].first, tree.nodes[child].last) for child in node.children]
            assert all(one[1] == two[0] for one, two in itertools.pairwise(spans))
            assert (spans[0][0], spans[-1][1]) == (node.first, node.last)
            assert tree.nodes[node.children[node.head_child]].head == node.head


def test_shapes_without_a_parser() -> None:
    words = ("a", "b", "c")
    shown = {shape: branching(words, shape).bracketed() for shape in SHAPES}
    assert shown == {
        "right-branching": "(X (X* a) (X (X* b) (X c)))",
        "left-branching": "(X (X (X a) (X* b)) (X* c))",
        "balanced": "(X (X* (X* a) (X b)) (X c))",
    }
    assert all(branching((), shape).root == -1 for shape in SHAPES)
