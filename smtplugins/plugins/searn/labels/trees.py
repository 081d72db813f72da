"""Binary trees over items, whose nodes have their two parts in order or in reverse order on the target side.

These are trees of a bracketing transduction grammar, written as D. Wu, "Stochastic Inversion Transduction Grammars and
Bilingual Parsing of Parallel Corpora" (1997) does: [a b] in order, <a b> in reverse order, both by source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Node:
    """Two neighbours, by source."""

    left: Tree
    right: Tree
    swapped: bool = False


Tree: TypeAlias = "Node | int"
"""A node, or the number of an item."""


def target_order(tree: Tree) -> list[int]:
    """The items as they follow each other on the target side."""
    found: list[int] = []
    todo = [tree]
    while todo:
        one = todo.pop()
        if isinstance(one, int):
            found.append(one)
        else:
            todo += [one.left, one.right] if one.swapped else [one.right, one.left]
    return found


def bracketed(tree: Tree, texts: Sequence[str]) -> str:
    """The tree as text: [a b] and <a b>."""
    pieces: list[str] = []
    todo: list[Tree | str] = [tree]
    while todo:
        one = todo.pop()
        if isinstance(one, Node):
            begin, end = "<>" if one.swapped else "[]"
            todo += [end, one.right, " ", one.left, begin]
        else:
            pieces.append(one if isinstance(one, str) else texts[one])
    return "".join(pieces)
