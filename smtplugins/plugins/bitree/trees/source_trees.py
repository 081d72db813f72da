"""Lexicalised source trees: nodes with head children, and the view that dependency features have of a word.

The trees of B. Wellington, J. Turian, I. D. Melamed, "Toward Purely Discriminative Training for Tree-Structured
Translation Models" (2009), sections 7.4.2 and 7.4.4; ``tree_making`` builds them from parser output or without parser.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class SourceNode:
    """A node over the words from ``first`` up to ``last``; a word has no children.

    ``children`` are node numbers from left to right, ``head_child`` is the index of the head among them (-1 for a
    word), ``head`` the position of the lexical head.
    """

    label: str
    first: int
    last: int
    head: int
    children: tuple[int, ...] = ()
    head_child: int = -1


@dataclass(frozen=True, slots=True)
class TreeView:
    """A word's surroundings in the tree, for dependency features; independent of positions.

    ``projection`` is the label of its maximal projection, the highest node whose lexical head it is. ``parent`` is the
    label and lexical head of the node above that, ``None`` at the root. ``chain`` has the labels from the maximal
    projection down to the word itself; ``dependents`` are label and head of all children along the chain that are not
    head children, from left to right.
    """

    projection: str
    parent: tuple[str, str] | None
    dependents: tuple[tuple[str, str], ...]
    chain: tuple[str, ...]


@dataclass(frozen=True)
class SourceTree:
    """A sentence with its tree. Node i is word i; the others follow, children before parents, the root last.

    ``kind`` says where the tree comes from (``tree_making.KINDS``); a model is used with the kind it was trained on.
    """

    words: tuple[str, ...]
    nodes: tuple[SourceNode, ...]
    kind: str

    def __post_init__(self) -> None:
        for number, node in enumerate(self.nodes):
            word = number < len(self.words)
            if word != (not node.children) or (word and (node.first, node.last) != (number, number + 1)):
                raise ValueError(f"expected words as the first {len(self.words)} nodes, found {node} as node {number}")
            if any(child >= number for child in node.children):
                raise ValueError(f"expected children before node {number}, found {node.children}")
        if self.words and (self.nodes[-1].first, self.nodes[-1].last) != (0, len(self.words)):
            raise ValueError(f"expected the root as the last node, found {self.nodes[-1]}")

    def __len__(self) -> int:
        """The number of words."""
        return len(self.words)

    @property
    def tags(self) -> tuple[str, ...]:
        """The part of speech of each word, empty if unknown."""
        return tuple(node.label for node in self.nodes[: len(self.words)])

    @property
    def has_tags(self) -> bool:
        """Whether any word has a part of speech."""
        return any(self.tags)

    @property
    def root(self) -> int:
        """The number of the root; -1 without words."""
        return len(self.nodes) - 1

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """The parent of each node, -1 for the root."""
        parents = [-1] * len(self.nodes)
        for number, node in enumerate(self.nodes):
            for child in node.children:
                parents[child] = number
        return tuple(parents)

    @cached_property
    def projections(self) -> tuple[int, ...]:
        """The maximal projection of each word."""
        projections = list(range(len(self.words)))
        for number, node in enumerate(self.nodes):
            projections[node.head] = number
        return tuple(projections)

    def view(self, word: int) -> TreeView:
        """A word's surroundings, for dependency features."""
        top = self.projections[word]
        above = self.parents[top]
        parent = None if above < 0 else (self.nodes[above].label, self.words[self.nodes[above].head])
        chain = [top]
        while self.nodes[chain[-1]].children:
            node = self.nodes[chain[-1]]
            chain.append(node.children[node.head_child])
        others = [
            child
            for number in chain
            for place, child in enumerate(self.nodes[number].children)
            if place != self.nodes[number].head_child
        ]
        others.sort(key=lambda child: self.nodes[child].first)
        below = tuple((self.nodes[child].label, self.words[self.nodes[child].head]) for child in others)
        labels = tuple(self.nodes[number].label for number in chain)
        return TreeView(self.nodes[top].label, parent, below, labels)

    def bracketed(self, number: int | None = None) -> str:
        """The tree in brackets, with a star on head children: ``(NP (DT the) (NN* house))``."""
        pieces: list[str] = []
        todo: list[tuple[int, bool] | str] = [(self.root if number is None else number, False)] if self.nodes else []
        while todo:
            item = todo.pop()
            if isinstance(item, str):
                pieces.append(item)
                continue
            node = self.nodes[item[0]]
            label = (node.label or "X") + "*" * item[1]
            if not node.children:
                pieces.append(f" ({label} {self.words[node.head]})")
                continue
            pieces.append(f" ({label}")
            todo.append(")")
            pairs = [(child, place == node.head_child) for place, child in enumerate(node.children)]
            todo += reversed(pairs)
        return "".join(pieces)[1:]


class TreeMaker:
    """Builds a tree bottom-up: each node from children added before; words are there from the beginning."""

    def __init__(self, words: tuple[str, ...], tags: tuple[str, ...]) -> None:
        self._words = words
        self._nodes = [SourceNode(tag, place, place + 1, place) for place, tag in enumerate(tags)]

    def head(self, number: int) -> int:
        """The lexical head of a node."""
        return self._nodes[number].head

    def label(self, number: int) -> str:
        """The label of a node."""
        return self._nodes[number].label

    def add(self, label: str, children: tuple[int, ...], head_child: int) -> int:
        """Add a node over children from left to right; return its number."""
        below = [self._nodes[child] for child in children]
        head = below[head_child].head
        self._nodes.append(SourceNode(label, below[0].first, below[-1].last, head, children, head_child))
        return len(self._nodes) - 1

    def tree(self, kind: str) -> SourceTree:
        """The finished tree; the last node is the root."""
        return SourceTree(self._words, tuple(self._nodes), kind)
