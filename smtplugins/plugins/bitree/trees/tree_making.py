"""Build source trees from brackets, from dependencies, and without any parser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from smtformats.tree.dependencies import Dependencies
from smtformats.tree.trees import Tree
from smtplugins.contracts.errors import SmtError
from smtplugins.plugins.bitree.trees.heads import head_child
from smtplugins.plugins.bitree.trees.source_trees import SourceTree, TreeMaker

Shape = Literal["right-branching", "left-branching", "balanced"]
SHAPES: tuple[Shape, ...] = ("right-branching", "left-branching", "balanced")
"""Binary trees that need no parser: they depend on the sentence length only, in training as in decoding."""
KINDS = ("constituents", "dependencies", *SHAPES)


def from_brackets(tree: Tree) -> SourceTree:
    """Build a source tree from brackets by head rules (``heads.head_child``).

    A bracket around a single word is its part of speech. Label suffixes after ``-`` or ``=`` are dropped, as in
    ``NP-SBJ``; the outermost bracket may lack a label.
    """
    words: list[str] = []
    tags: list[str] = []
    # Brackets get their number when they close; a word's number is its position.
    open_brackets: list[tuple[str, list[int | tuple[int]]]] = []
    done: list[tuple[str, list[int | tuple[int]]]] = []
    for item in tree.walk():
        if isinstance(item, str):
            open_brackets[-1][1].append(len(words))
            words.append(item)
            tags.append("")
        elif item is not None:
            open_brackets.append((_plain(item.label), []))
        else:
            _close(open_brackets, done, tags)
    maker = TreeMaker(tuple(words), tuple(tags))
    numbers: list[int] = []
    for label, children in done:
        below = tuple(child if isinstance(child, int) else numbers[child[0]] for child in children)
        head = head_child(label, [maker.label(child) for child in below])
        numbers.append(maker.add(label or "ROOT", below, head))
    return maker.tree("constituents")


def _close(
    open_brackets: list[tuple[str, list[int | tuple[int]]]],
    done: list[tuple[str, list[int | tuple[int]]]],
    tags: list[str],
) -> None:
    """Close a bracket: it is a part of speech, a node (its index in ``done`` as a tuple), or empty and dropped."""
    label, children = open_brackets.pop()
    if len(children) == 1 and isinstance(children[0], int) and not tags[children[0]] and label:
        tags[children[0]] = label
        if open_brackets:
            open_brackets[-1][1].append(children[0])
    elif children and (label or len(children) > 1):
        done.append((label, children))
        if open_brackets:
            open_brackets[-1][1].append((len(done) - 1,))


def _plain(label: str) -> str:
    if label[:1] in ("-", "="):
        return label
    return label.partition("-")[0].partition("=")[0]


def from_dependencies(dependencies: Dependencies) -> SourceTree:
    """Build a source tree with a node for each word that has dependents; the word itself is its head child.

    Nodes are labelled by the relation of their word, words by their part of speech (the universal tag, else the
    language's own). Non-projective arcs are lifted to the head's head, shortest first, until the tree is projective
    (J. Nivre and J. Nilsson, "Pseudo-Projective Dependency Parsing", 2005). Several roots, and words without a head,
    become children of a node ``ROOT``, headed by the first.
    """
    words = dependencies.nodes()
    heads = [max(head, 0) - 1 for head in dependencies.heads()]
    _check_no_ring(heads, dependencies)
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


def _check_no_ring(heads: Sequence[int], dependencies: Dependencies) -> None:
    for word in range(len(heads)):
        ancestor, steps = word, 0
        while ancestor >= 0:
            ancestor, steps = heads[ancestor], steps + 1
            if steps > len(heads):
                at = f"{dependencies.file}:{dependencies.line}: " if dependencies.file else ""
                raise SmtError(f"{at}expected a tree, found a cycle of heads above word {word + 1}")


def _lift(heads: list[int]) -> None:
    """Make the arcs projective, so that the trees of several roots do not interleave."""
    while True:
        crossed = [word for word, head in enumerate(heads) if head >= 0 and not _projective(heads, word)]
        if not crossed:
            return
        word = min(crossed, key=lambda crossing: (abs(crossing - heads[crossing]), crossing))
        heads[word] = heads[heads[word]]


def _projective(heads: Sequence[int], word: int) -> bool:
    """Whether all words between a word and its head are below the head."""
    head = heads[word]
    for between in range(min(word, head) + 1, max(word, head)):
        ancestor = between
        while ancestor not in (head, -1):
            ancestor = heads[ancestor]
        if ancestor != head:
            return False
    return True


def _upwards(heads: Sequence[int], below: Sequence[Sequence[int]]) -> list[int]:
    """All words below these, dependents before their heads."""
    order = [word for word, head in enumerate(heads) if head < 0]
    for word in order:
        order.extend(below[word])
    return order[::-1]


def branching(words: Sequence[str], shape: Shape, tags: Sequence[str] | None = None) -> SourceTree:
    """Build a binary tree without a parser, its nodes labelled ``X``.

    ``right-branching`` pairs each word, as the head, with all that follow; ``left-branching`` with all that precede;
    ``balanced`` splits in halves, the first half being the head, and larger if they differ.
    """
    maker = TreeMaker(tuple(words), tuple(tags or [""] * len(words)))
    if words and shape == "balanced":
        _add_halves(maker, 0, len(words))
    elif shape == "left-branching":
        top = 0
        for word in range(1, len(words)):
            top = maker.add("X", (top, word), 1)
    elif words:
        top = len(words) - 1
        for word in range(len(words) - 2, -1, -1):
            top = maker.add("X", (word, top), 0)
    return maker.tree(shape)


def _add_halves(maker: TreeMaker, first: int, last: int) -> int:
    if last - first == 1:
        return first
    middle = (first + last + 1) // 2
    return maker.add("X", (_add_halves(maker, first, middle), _add_halves(maker, middle, last)), 0)
