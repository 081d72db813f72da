"""Constituency trees in bracket notation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from smtformats.errors import quote
from smtformats.tokens import BadField

_TOKENS = {
    "(": re.compile(r"\(([^ \t()]*)|\)|[^ \t()]+"),
    "[": re.compile(r"\[([^ \t\[\]]*)|\]|[^ \t\[\]]+"),
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A label over words and subtrees. Methods are iterative, so that deep trees cannot overflow the stack."""

    label: str
    children: tuple[Tree | str, ...] = ()

    def walk(self) -> Iterator[Tree | str | None]:
        """Iterate over nodes and words in textual order, with ``None`` at the end of each node."""
        open_nodes: list[Iterator[Tree | str]] = [iter((self,))]
        while open_nodes:
            for item in open_nodes[-1]:
                yield item
                if isinstance(item, Tree):
                    open_nodes.append(iter(item.children))
                    break
            else:
                open_nodes.pop()
                if open_nodes:
                    yield None

    def words(self) -> list[str]:
        """The words from left to right."""
        return [item for item in self.walk() if isinstance(item, str)]

    def spans(self) -> list[tuple[str, int, int]]:
        """Label, first and last-plus-one word of each node, in preorder."""
        spans: list[tuple[str, int, int]] = []
        open_nodes: list[int] = []
        word = 0
        for item in self.walk():
            if isinstance(item, Tree):
                open_nodes.append(len(spans))
                spans.append((item.label, word, word))
            elif item is None:
                at = open_nodes.pop()
                spans[at] = (*spans[at][:2], word)
            else:
                word += 1
        return spans

    def __str__(self) -> str:
        parts = (
            f" ({item.label}" if isinstance(item, Tree) else ")" if item is None else f" {item}" for item in self.walk()
        )
        return "".join(parts)[1:]

    def __repr__(self) -> str:
        return f"<Tree {self}>"

    def _shape(self) -> list[tuple[str, int] | str]:
        return [
            (item.label, len(item.children)) if isinstance(item, Tree) else item
            for item in self.walk()
            if item is not None
        ]

    def __eq__(self, other: object) -> bool:
        return self._shape() == other._shape() if isinstance(other, Tree) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self._shape()))


@dataclass(frozen=True, slots=True)
class Parse:
    """The tree of a sentence, or ``None``. ``raw`` is the line as read by the format ``origin``."""

    tree: Tree | None
    raw: str | None = None
    origin: str = ""
    file: str = ""
    line: int = 1


def tree_of(text: str, max_nesting: int, opening: str = "(") -> Tree:
    """Parse a bracketed tree; only the outermost bracket may lack a label."""
    closing, shape = (")", "round") if opening == "(" else ("]", "square")
    open_nodes: list[tuple[str, list[Tree | str]]] = []
    root: Tree | None = None
    for match in _TOKENS[opening].finditer(text):
        token = match[0]
        if root is not None or (token[0] != opening and not open_nodes):
            raise BadField(f"one tree in {shape} brackets", quote(text[match.start() :]))
        if token[0] == opening:
            if not match[1] and open_nodes:
                raise BadField(f"a label after each inner {opening}", quote(text[match.start() :]))
            if len(open_nodes) == max_nesting:
                raise BadField(f"at most {max_nesting} nested brackets", "more")
            open_nodes.append((match[1], []))
            continue
        label, children = open_nodes[-1]
        if token != closing:
            if not label:
                raise BadField(f"a label after {opening}", quote(token))
            children.append(token)
            continue
        del open_nodes[-1]
        node = Tree(label, tuple(children))
        if open_nodes:
            open_nodes[-1][1].append(node)
        else:
            root = node
    if root is None:
        expected = f"{len(open_nodes)} more {closing}" if open_nodes else f"one tree in {shape} brackets"
        raise BadField(expected, "the end of the line")
    return root
