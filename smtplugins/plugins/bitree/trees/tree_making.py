"""Source trees from brackets, from dependencies, and without any parser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from smtplugins.host.errors import SmtError
from smtplugins.plugins.bitree.trees.heads import head_child
from smtplugins.plugins.bitree.trees.source_trees import SourceTree, TreeMaker

if TYPE_CHECKING:
    from smtformats.tree.dependencies import Dependencies
    from smtformats.tree.trees import Tree

Shape = Literal["right-branching", "left-branching", "balanced"]
SHAPES: tuple[Shape, ...] = ("right-branching", "left-branching", "balanced")
"""Binary trees that need no parser: they know nothing of the sentence but its length, at training as in decoding."""
KINDS = ("constituents", "dependencies", *SHAPES)


def from_brackets(tree: Tree) -> SourceTree:
    """A tree with head rules (``heads.head_child``). A bracket around one word alone is its part of speech.

    What follows ``-`` or ``=`` in a label is left out, as in ``NP-SBJ``; the tree's outermost bracket may lack one.
    """
    words: list[str] = []
    tags: list[str] = []
    # Brackets are numbered when they end; words are nodes already, and their numbers are known before.
    found: list[tuple[str, list[int | tuple[int]]]] = []
    done: list[tuple[str, list[int | tuple[int]]]] = []
    for one in tree.walk():
        if isinstance(one, str):
            found[-1][1].append(len(words))
            words.append(one)
            tags.append("")
        elif one is not None:
            found.append((_plain(one.label), []))
        else:
            _close(found, done, tags)
    maker = TreeMaker(tuple(words), tuple(tags))
    numbers: list[int] = []
    for label, children in done:
        below = tuple(child if isinstance(child, int) else numbers[child[0]] for child in children)
        head = head_child(label, [maker.label(child) for child in below])
        numbers.append(maker.add(label or "ROOT", below, head))
    return maker.tree("constituents")


def _close(
    found: list[tuple[str, list[int | tuple[int]]]], done: list[tuple[str, list[int | tuple[int]]]], tags: list[str]
) -> None:
    """A bracket ends: it is a part of speech, a node (its number in ``done`` as a tuple), or empty and gone."""
    label, children = found.pop()
    if len(children) == 1 and isinstance(children[0], int) and not tags[children[0]] and label:
        tags[children[0]] = label
        if found:
            found[-1][1].append(children[0])
    elif children and (label or len(children) > 1):
        done.append((label, children))
        if found:
            found[-1][1].append((len(done) - 1,))


def _plain(label: str) -> str:
    if label[:1] in ("-", "="):
        return label
    return label.partition("-")[0].partition("=")[0]


def from_dependencies(given: Dependencies) -> SourceTree:
    """A node for each word with dependents: these and the word itself, its head child, from left to right.

    Nodes are labelled by the relation of their word, words by their part of speech (the universal one, or the other
    where that is not given). An arc across others goes to the head's head until none crosses, the shortest first, as
    projective trees are made by J. Nivre and J. Nilsson, "Pseudo-Projective Dependency Parsing" (2005). Several roots,
    and words without a head, are children of a node ``ROOT``, whose head is the first of them.
    """
    words = given.nodes()
    heads = [max(head, 0) - 1 for head in given.heads()]
    _check_no_ring(heads, given)
    _lift(heads)
    tags = tuple(next((tag for tag in (row.upos, row.xpos) if tag != "_"), "") for row in words)
    maker = TreeMaker(tuple(row.form for row in words), tags)
    below: list[list[int]] = [[] for _ in words]
    for word, head in enumerate(heads):
        if head >= 0:
            below[head].append(word)
    numbers: dict[int, int] = {}
    for word in _upwards(heads, below):
        places = sorted([*below[word], word])
        if len(places) == 1:
            numbers[word] = word
            continue
        children = tuple(word if place == word else numbers[place] for place in places)
        numbers[word] = maker.add(words[word].deprel, children, places.index(word))
    roots = [word for word, head in enumerate(heads) if head < 0]
    if len(roots) > 1:
        maker.add("ROOT", tuple(numbers[word] for word in roots), 0)
    return maker.tree("dependencies")


def _check_no_ring(heads: Sequence[int], given: Dependencies) -> None:
    for word in range(len(heads)):
        one, steps = word, 0
        while one >= 0:
            one, steps = heads[one], steps + 1
            if steps > len(heads):
                at = f"{given.file}:{given.line}: " if given.file else ""
                raise SmtError(f"{at}expected a tree, found heads in a ring above word {word + 1}")


def _lift(heads: list[int]) -> None:
    """Make the arcs projective, and the roots' trees side by side."""
    while True:
        crossed = [word for word, head in enumerate(heads) if head >= 0 and not _projective(heads, word)]
        if not crossed:
            return
        word = min(crossed, key=lambda one: (abs(one - heads[one]), one))
        heads[word] = heads[heads[word]]


def _projective(heads: Sequence[int], word: int) -> bool:
    """Whether all words between a word and its head are below the head."""
    head = heads[word]
    for between in range(min(word, head) + 1, max(word, head)):
        one = between
        while one not in (head, -1):
            one = heads[one]
        if one != head:
            return False
    return True


def _upwards(heads: Sequence[int], below: Sequence[Sequence[int]]) -> list[int]:
    """Dependents before heads."""
    order = [word for word, head in enumerate(heads) if head < 0]
    for word in order:
        order.extend(below[word])
    return order[::-1]


def branching(words: Sequence[str], shape: Shape, tags: Sequence[str] | None = None) -> SourceTree:
    """A binary tree made without a parser, its nodes labelled ``X``.

    ``right-branching`` puts each word beside all that follow, and it is the head; ``left-branching`` beside all that
    precede, and it is the head; ``balanced`` halves, the first half the larger one and the head.
    """
    maker = TreeMaker(tuple(words), tuple(tags or [""] * len(words)))
    if words and shape == "balanced":
        _halved(maker, 0, len(words))
    elif shape == "left-branching":
        top = 0
        for word in range(1, len(words)):
            top = maker.add("X", (top, word), 1)
    elif words:
        top = len(words) - 1
        for word in range(len(words) - 2, -1, -1):
            top = maker.add("X", (word, top), 0)
    return maker.tree(shape)


def _halved(maker: TreeMaker, first: int, last: int) -> int:
    if last - first == 1:
        return first
    middle = (first + last + 1) // 2
    return maker.add("X", (_halved(maker, first, middle), _halved(maker, middle, last)), 0)
