"""Labels of items (Zhang, Sun and Li 2008, section 3.2): S, and the reductions that follow it.

`S` shifts an item, `R+` reduces the two elements on top of the stack in order, `R-` in reverse order. Whatever can be
reduced is reduced at once, so that the fewest elements are on the stack; one without target words is reduced in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from smtplugins.plugins.searn.labels.items import Item, Span
from smtplugins.plugins.searn.labels.trees import Node, Tree, target_order

SHIFT = "S"
REDUCTIONS = {"R+": False, "R-": True}
"""Whether the target side is swapped."""


class BadLabels(ValueError):
    """Labels that are none, or that don't lead to one tree."""


def labels_of(items: Sequence[Item]) -> list[str]:
    """The label of each item."""
    return labels_of_spans([item.target for item in items])[0]


def labels_of_spans(targets: Sequence[Span]) -> tuple[list[str], int]:
    """Labels of whatever has these target words, in source order, and how many elements stay on the stack."""
    from smtplugins.plugins.searn._searn import label_spans

    labels, left = label_spans(targets)
    return labels, left


@lru_cache(1024)
def reductions(label: str) -> tuple[bool, ...]:
    """Of each reduction of a label, whether it is in reverse order."""
    shift, *rest = label.split(",")
    if shift != SHIFT or not all(one in REDUCTIONS for one in rest):
        raise BadLabels(f"expected a label as S,R+,R-, found {label!r}")
    return tuple(REDUCTIONS[one] for one in rest)


def tree_of(labels: Iterable[str], *, lenient: bool = False) -> Tree:
    """The tree that labels build, with numbers of items as its leaves.

    With ``lenient``, as decoders have it, reductions that find less than two elements are left out, and what stays on
    the stack is reduced in order from the top down; else both are refused.
    """
    stack: list[Tree] = []
    for number, label in enumerate(labels):
        stack.append(number)
        for swapped in reductions(label):
            if len(stack) < 2:
                if lenient:
                    break
                raise BadLabels(f"label {number}, {label}: expected two elements to reduce, found one")
            right = stack.pop()
            stack.append(Node(stack.pop(), right, swapped))
    if not stack:
        raise BadLabels("expected labels, found none")
    if len(stack) > 1 and not lenient:
        raise BadLabels(f"expected one element in the end, found {len(stack)}")
    while len(stack) > 1:
        right = stack.pop()
        stack.append(Node(stack.pop(), right))
    return stack[0]


def order_of(labels: Iterable[str], *, lenient: bool = False) -> list[int]:
    """Numbers of items in the order of the target side."""
    return target_order(tree_of(labels, lenient=lenient))
