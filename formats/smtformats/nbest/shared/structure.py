"""Parse the alignments, segmentations and trees of n-best lists; malformed ones give ``None``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtformats.tree.trees import Tree

Point = tuple[int, int]
Segment = tuple[Point, Point]

MAX_DEPTH = 1000
_POINT = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)
_SEGMENT = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?=(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


def points_of(text: str) -> tuple[Point, ...] | None:
    """Parse ``0-0 1-2``: alignment points (source position, target position)."""
    matches = [_POINT.fullmatch(token) for token in text.split(" ") if token]
    return tuple([(int(match[1]), int(match[2])) for match in matches if match]) if all(matches) else None


def segments_of(text: str) -> tuple[Segment, ...] | None:
    """Parse ``0-3=0-2 4=3``: for each phrase its first and last position in the source and in the target."""
    matches = [_SEGMENT.fullmatch(token) for token in text.split(" ") if token]
    if not all(matches):
        return None
    ends = [match.groups() for match in matches if match]
    return tuple([((int(a), int(b or a)), (int(c), int(d or c))) for a, b, c, d in ends])


def tree_of(text: str) -> Tree | None:
    """Parse ``[S [X a] b]`` or ``(S (X a) b)``; an empty tree has no label."""
    from smtformats.tokens import BadField
    from smtformats.tree import trees

    if text in ("", "()"):
        return trees.Tree("")
    try:
        return trees.tree_of(text, MAX_DEPTH, "[" if text[0] == "[" else "(")
    except BadField:
        return None
