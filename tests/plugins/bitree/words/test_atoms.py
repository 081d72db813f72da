"""Atoms of a sentence by hand."""

from __future__ import annotations

from smtformats.tree.trees import tree_of
from smtplugins.plugins.bitree.trees.tree_making import from_brackets
from smtplugins.plugins.bitree.words.atoms import (
    configurations,
    cooccurrence_atoms,
    dependency_atoms,
    kind_of,
    sentence_atoms,
    shown_configuration,
    window_atoms,
)

WORDS = "the old man the boat".split()
TREE = from_brackets(
    tree_of("(S (NP (DT the) (NN man)) (VP (VBZ sees) (NP (DT a) (JJ red) (NN boat)) (PP (IN on) (NP (NN sea)))))", 99)
)


def test_a_window_has_places_and_ends() -> None:
    assert window_atoms(WORDS, 1) == ["w-2=<s>", "w-1=the", "w+1=man", "w+2=the"]
    assert window_atoms(WORDS, 4) == ["w-2=man", "w-1=the", "w+1=</s>", "w+2=</s>"]
    tags = "DT NN VBP DT NN".split()
    found = window_atoms(WORDS, 1, tags)
    assert found == ["w-2=<s>", "t-2=<s>", "w-1=the", "t-1=DT", "t+0=NN", "w+1=man", "t+1=VBP", "w+2=the", "t+2=DT"]


def test_cooccurrence_has_each_word_once() -> None:
    assert cooccurrence_atoms(WORDS) == ["w=the", "w=old", "w=man", "w=boat"]
    assert cooccurrence_atoms(["a", "a"], ["X", "X"]) == ["w=a", "t=X"]


def test_dependency_atoms_are_those_of_the_maximal_projection() -> None:
    # `boat` heads an NP below the VP of `sees`; `the` is no more than its part of speech; `sees` heads all.
    boat = dependency_atoms(TREE.view(5))
    assert boat == ["max=NP", "parent=VP", "parent-head=sees", "child=DT", "child-head=a", "child=JJ",
                    "child-head=red", "chain=NN"]  # fmt: skip
    assert dependency_atoms(TREE.view(0)) == ["max=DT", "parent=NP", "parent-head=man"]
    sees = dependency_atoms(TREE.view(2))
    assert sees == ["max=S", "child=NP", "child-head=man", "child-head=boat", "child=PP", "child-head=on",
                    "chain=VP", "chain=VBZ"]  # fmt: skip


def test_a_tree_brings_parts_of_speech_and_dependencies() -> None:
    own, shared = sentence_atoms(TREE.words, TREE)
    assert own[5] == [*window_atoms(TREE.words, 5, TREE.tags), *dependency_atoms(TREE.view(5))]
    assert shared == cooccurrence_atoms(TREE.words, TREE.tags)
    assert sentence_atoms(WORDS) == ([window_atoms(WORDS, at) for at in range(5)], cooccurrence_atoms(WORDS))


def test_kinds_are_told_by_spelling() -> None:
    own, shared = sentence_atoms(TREE.words, TREE)
    assert {kind_of(one) for one in shared} == {"C"}
    for at, atoms in enumerate(own):
        window = window_atoms(TREE.words, at, TREE.tags)
        assert [kind_of(one) for one in atoms] == ["W"] * len(window) + ["D"] * (len(atoms) - len(window))
    # A word may look like anything.
    assert kind_of("w==") == kind_of("w=w-1=x") == "C"
    assert kind_of("w-1==") == "W"


def test_configurations_are_those_of_the_paper() -> None:
    assert [shown_configuration(one) for one in configurations(True)] == ["W", "W+D", "W+C", "W+D+C"]
    assert configurations(False) == ("W", "WC")
