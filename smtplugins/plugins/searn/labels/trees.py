"""Binary trees over items; the children of a node are in order or in reverse order on the target side.

These are trees of a bracketing transduction grammar, in the notation of D. Wu, "Stochastic Inversion Transduction
Grammars and Bilingual Parsing of Parallel Corpora" (1997): [a b] in order, <a b> in reverse order, both by source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class ReorderingNode:
    """Two neighbours in source order; ``swapped`` on the target side."""

    left: Tree
    right: Tree
    swapped: bool = False


Tree: TypeAlias = "ReorderingNode | int"
"""A node, or the number of an item."""


def target_order(tree: Tree) -> list[int]:
    """Item numbers in target order."""
    order: list[int] = []
    todo = [tree]
    while todo:
        subtree = todo.pop()
        if isinstance(subtree, int):
            order.append(subtree)
        else:
            todo += [subtree.left, subtree.right] if subtree.swapped else [subtree.right, subtree.left]
    return order


def bracketed(tree: Tree, texts: Sequence[str]) -> str:
    """Write the tree as text, with [a b] and <a b>."""
    pieces: list[str] = []
    todo: list[Tree | str] = [tree]
    while todo:
        subtree = todo.pop()
        if isinstance(subtree, ReorderingNode):
            begin, end = "<>" if subtree.swapped else "[]"
            todo += [end, subtree.right, " ", subtree.left, begin]
        else:
            pieces.append(subtree if isinstance(subtree, str) else texts[subtree])
    return "".join(pieces)
