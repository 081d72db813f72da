"""Atoms (binary features) of a source word in its sentence: window, co-occurrence and dependency (section 7.4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtplugins.plugins.bitree.trees.source_trees import SourceTree, TreeView

WINDOW, DEPENDENCY, COOCCURRENCE = "W", "D", "C"
REACH = 2
_BEFORE, _BEHIND = "<s>", "</s>"


def configurations(trees: bool) -> tuple[str, ...]:
    """The paper's configurations, as letters of their kinds of atoms; D needs source trees."""
    return ("W", "WD", "WC", "WDC") if trees else ("W", "WC")


def shown_configuration(letters: str) -> str:
    """The configuration in the paper's notation."""
    return "+".join(letters)


def window_atoms(words: Sequence[str], at: int, tags: Sequence[str] | None = None) -> list[str]:
    """Words and parts of speech up to two words away, with their relative positions.

    The word itself is left out: it is constant within the word's classifiers.
    """
    atoms = []
    for away in range(-REACH, REACH + 1):
        place = at + away
        inside = 0 <= place < len(words)
        beyond = _BEFORE if away < 0 else _BEHIND
        if away:
            atoms.append(f"w{away:+d}={words[place] if inside else beyond}")
        if tags is not None:
            atoms.append(f"t{away:+d}={tags[place] if inside else beyond}")
    return atoms


def cooccurrence_atoms(words: Sequence[str], tags: Sequence[str] | None = None) -> list[str]:
    """All distinct words and parts of speech of the sentence, without positions."""
    atoms = [f"w={word}" for word in dict.fromkeys(words)]
    return atoms if tags is None else atoms + [f"t={tag}" for tag in dict.fromkeys(tags)]


def dependency_atoms(view: TreeView) -> list[str]:
    """Labels and heads around the word's maximal projection: its parent, its dependents, the chain down to the word.

    Label and head of a node are separate atoms; the learner's trees can conjoin them.
    """
    atoms = [f"max={view.projection}"]
    if view.parent is not None:
        atoms += [f"parent={view.parent[0]}", f"parent-head={view.parent[1]}"]
    for label, head in view.dependents:
        atoms += [f"child={label}", f"child-head={head}"]
    atoms += [f"chain={label}" for label in view.chain[1:]]
    return list(dict.fromkeys(atoms))


def kind_of(atom: str) -> str:
    """The kind of an atom, by its spelling."""
    name = atom.partition("=")[0]
    if name in ("w", "t"):
        return COOCCURRENCE
    return WINDOW if name[1:2] in ("+", "-") else DEPENDENCY


def sentence_atoms(words: Sequence[str], tree: SourceTree | None = None) -> tuple[list[list[str]], list[str]]:
    """The atoms of each word, and those shared by all words of the sentence. Parts of speech come from the tree."""
    tags = tree.tags if tree is not None and tree.has_tags else None
    own = [window_atoms(words, at, tags) for at in range(len(words))]
    if tree is not None and len(tree):
        for at, atoms in enumerate(own):
            atoms += dependency_atoms(tree.view(at))
    return own, cooccurrence_atoms(words, tags)
