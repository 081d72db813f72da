"""Fields of lists from derivations of grammars: word alignment, input words, and Joshua's trees of the target side.

Positions of words do not count ``<s>``, but for Moses, which counts ``<s>`` and ``</s>`` on both sides and sorts the
points by source word; spans of trees do, as in Joshua. A rule that reorders its gaps has its subtrees
in target order, where the words of the translation are. Joshua itself swaps them (``joshua-trees`` of the formats).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from smtformats.records import dataclass
from smtplugins.contracts.errors import UsageError

if TYPE_CHECKING:
    from smtplugins.core.graph.derivations import Derivations
    from smtplugins.core.graph.hypergraph import Hypergraph

_MARKS = ("<s>", "</s>")


@dataclass(frozen=True)
class _Part:
    """A subderivation: span, source words with positions, tree, target words and the source positions of each one."""

    first: int
    last: int
    source: tuple[tuple[int, str], ...]
    tree: str
    target: tuple[str, ...]
    points: tuple[tuple[int, ...], ...]


def tree_fields(derivations: Derivations, names: Sequence[str], *, moses: bool = False) -> dict[str, list[str]]:
    """The fields ``alignment``, ``input`` and ``tree`` of derivations of a grammar; alignments may be as in Moses."""
    if "segmentation" in names:
        raise UsageError("segmentation: expected derivations made of phrases, found those of a grammar")
    columns: dict[str, list[str]] = {name: [] for name in names}
    graph = derivations.graph
    for start, end in itertools.pairwise(derivations.offsets.tolist()):
        top = _composed(graph, derivations.edges[start:end].tolist())
        for name in names:
            columns[name].append(_moses_links(top) if moses and name == "alignment" else _field(name, top))
    return columns


def _composed(graph: Hypergraph, edges: Sequence[int]) -> _Part:
    """The whole of a derivation: in reversed preorder, the children of an edge are the last parts made."""
    parts: list[_Part] = []
    offsets = graph.tail_offsets
    # The first edge is the rule above the goal.
    for edge in reversed(edges[1:]):
        children = [parts.pop() for _ in range(int(offsets[edge + 1] - offsets[edge]))]
        parts.append(_part(graph, edge, children))
    return parts.pop()


def _part(graph: Hypergraph, edge: int, children: Sequence[_Part]) -> _Part:
    grammar, rule = graph.grammar, int(graph.rules[edge])
    first, last = graph.spans[edge].tolist()
    words = graph.words
    places: list[int] = []  # where each source symbol begins
    source: list[tuple[int, str]] = []
    at, gap = first, 0
    for symbol in grammar.source[grammar.source_offsets[rule] : grammar.source_offsets[rule + 1]].tolist():
        places.append(at)
        if symbol < 0:
            source += children[gap].source
            at, gap = children[gap].last, gap + 1
        else:
            source.append((at, words[symbol]))
            at += 1
    links: dict[int, list[int]] = {}
    for one, other in grammar.points[grammar.point_offsets[rule] : grammar.point_offsets[rule + 1]].tolist():
        links.setdefault(other, []).append(places[one])
    pieces: list[str] = []
    target: list[str] = []
    points: list[tuple[int, ...]] = []
    symbols = grammar.target[grammar.target_offsets[rule] : grammar.target_offsets[rule + 1]].tolist()
    for i, symbol in enumerate(symbols):
        if symbol < 0:
            child = children[-1 - symbol]
            pieces.append(child.tree)
            target += child.target
            points += child.points
        else:
            pieces.append(words[symbol].replace('"', ""))
            target.append(words[symbol])
            points.append(tuple(links.get(i, ())))
    label = graph.labels[int(graph.node_labels[_head(graph, edge)])]
    tree = f"({label}{{{first}-{last}}} {' '.join(pieces)})"
    return _Part(first, last, tuple(source), tree, tuple(target), tuple(points))


def _head(graph: Hypergraph, edge: int) -> int:
    import numpy as np

    return int(np.searchsorted(graph.edge_offsets, edge, side="right")) - 1


def _field(name: str, top: _Part) -> str:
    if name == "tree":
        return top.tree
    if name == "input":
        # Steps of phrases in any order have their words in target order.
        return " ".join(word for _, word in sorted(top.source) if word not in _MARKS)
    return " ".join(_links(top))


def _moses_links(top: _Part) -> str:
    points = {(point, i) for i, own in enumerate(top.points) for point in own}
    return " ".join(f"{source}-{target}" for source, target in sorted(points))


def _links(top: _Part) -> Iterator[str]:
    """``0-0 2-1``, in target order, without the marks of sentences."""
    before = int(bool(top.source) and top.source[0][1] == _MARKS[0])
    words = (points for word, points in zip(top.target, top.points, strict=True) if word not in _MARKS)
    for i, points in enumerate(words):
        for point in points:
            yield f"{point - before}-{i}"
