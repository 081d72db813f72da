"""Labels of items: a shift S and the reductions that follow it (Zhang, Sun and Li 2008, section 3.2).

`S` shifts an item, `R+` reduces the two elements on top of the stack in order, `R-` in reverse order. Reduction is
eager, which keeps the stack smallest; an element without target words is reduced in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from smtplugins.plugins.searn._searn import label_spans
from smtplugins.plugins.searn.labels.items import AlignedItem, Span
from smtplugins.plugins.searn.labels.trees import ReorderingNode, Tree, target_order

SHIFT = "S"
REDUCTIONS = {"R+": False, "R-": True}
"""Whether the target side is swapped."""


class BadLabels(ValueError):
    """Malformed labels, or labels that do not build a single tree."""


def labels_of(items: Sequence[AlignedItem]) -> list[str]:
    """The label of each item."""
    return labels_of_spans([item.target for item in items])[0]


def labels_of_spans(targets: Sequence[Span]) -> tuple[list[str], int]:
    """Labels of items in source order, given their target spans, and how many elements remain on the stack."""
    labels, left = label_spans(targets)
    return labels, left


@lru_cache(1024)
def reductions(label: str) -> tuple[bool, ...]:
    """For each reduction of a label, whether it is in reverse order."""
    shift, *rest = label.split(",")
    if shift != SHIFT or not all(operation in REDUCTIONS for operation in rest):
        raise BadLabels(f"expected a label as S,R+,R-, found {label!r}")
    return tuple(REDUCTIONS[operation] for operation in rest)


def tree_of(labels: Iterable[str], *, lenient: bool = False) -> Tree:
    """Build the tree of the labels; its leaves are item numbers.

    ``lenient``, the decoders' mode, skips reductions of fewer than two elements and reduces what remains on the stack
    in order from the top down; otherwise both raise BadLabels.
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
            stack.append(ReorderingNode(stack.pop(), right, swapped))
    if not stack:
        raise BadLabels("expected labels, found none")
    if len(stack) > 1 and not lenient:
        raise BadLabels(f"expected one element in the end, found {len(stack)}")
    while len(stack) > 1:
        right = stack.pop()
        stack.append(ReorderingNode(stack.pop(), right))
    return stack[0]


def order_of(labels: Iterable[str], *, lenient: bool = False) -> list[int]:
    """Item numbers in target order."""
    return target_order(tree_of(labels, lenient=lenient))
