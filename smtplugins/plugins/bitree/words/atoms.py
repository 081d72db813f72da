"""Atoms of a source word in its sentence: window, co-occurrence and dependency (section 7.4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtplugins.plugins.bitree.trees.source_trees import SourceTree, View

WINDOW, DEPENDENCY, COOCCURRENCE = "W", "D", "C"
REACH = 2
_BEFORE, _BEHIND = "<s>", "</s>"


def configurations(trees: bool) -> tuple[str, ...]:
    """The paper's configurations, as the letters of their kinds of atoms; those with D need source trees."""
    return ("W", "WD", "WC", "WDC") if trees else ("W", "WC")


def shown_configuration(letters: str) -> str:
    """As the paper writes it."""
    return "+".join(letters)


def window_atoms(words: Sequence[str], at: int, tags: Sequence[str] | None = None) -> list[str]:
    """Words and parts of speech up to two words away, with their places.

    The word itself is not among them: within the classifiers of a word it is always true.
    """
    found = []
    for away in range(-REACH, REACH + 1):
        place = at + away
        inside = 0 <= place < len(words)
        beyond = _BEFORE if away < 0 else _BEHIND
        if away:
            found.append(f"w{away:+d}={words[place] if inside else beyond}")
        if tags is not None:
            found.append(f"t{away:+d}={tags[place] if inside else beyond}")
    return found


def cooccurrence_atoms(words: Sequence[str], tags: Sequence[str] | None = None) -> list[str]:
    """All words and parts of speech of the sentence, each once, without a place."""
    found = [f"w={word}" for word in dict.fromkeys(words)]
    return found if tags is None else found + [f"t={tag}" for tag in dict.fromkeys(tags)]


def dependency_atoms(view: View) -> list[str]:
    """Labels and heads around the word's maximal projection: above it, of its dependents, and on the way to the word.

    The label and the head of another node are two atoms; a tree that the learner grows puts them together.
    """
    found = [f"max={view.projection}"]
    if view.parent is not None:
        found += [f"parent={view.parent[0]}", f"parent-head={view.parent[1]}"]
    for label, head in view.dependents:
        found += [f"child={label}", f"child-head={head}"]
    found += [f"chain={label}" for label in view.chain[1:]]
    return list(dict.fromkeys(found))


def kind_of(atom: str) -> str:
    """The kind that an atom is of, by its spelling."""
    name = atom.partition("=")[0]
    if name in ("w", "t"):
        return COOCCURRENCE
    return WINDOW if name[1:2] in ("+", "-") else DEPENDENCY


def sentence_atoms(words: Sequence[str], tree: SourceTree | None = None) -> tuple[list[list[str]], list[str]]:
    """Each word's own atoms, and those that all words of the sentence have. Parts of speech are those of the tree."""
    tags = tree.tags if tree is not None and tree.has_tags else None
    own = [window_atoms(words, at, tags) for at in range(len(words))]
    if tree is not None and len(tree):
        for at, atoms in enumerate(own):
            atoms += dependency_atoms(tree.view(at))
    return own, cooccurrence_atoms(words, tags)
