"""Coarse-to-fine parsing: a forest of coarse rules is pruned, and its rules are replaced by their refinements.

S. Petrov and D. Klein, "Improved Inference for Unlexicalized Parsing" (2007), as in cdec: rules of level n + 1 in a
grammar refine the rule of level n before them. A refinement applies where the labels of its gaps are those of
refinements below. Rules that the decoder makes itself refine to themselves.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from smtformats.records import dataclass
from smtplugins.core.search.phrase_options import EditedForest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtplugins.core._core import ParsedForest
    from smtplugins.core.grammar.parsed_forest import Forest

_SLACK = 1e-9


class NoRefinement(ValueError):
    """A rule of a coarse forest has no refinement."""


@dataclass(frozen=True)
class CoarseToFine:
    """How far below the best derivation a derivation may be whose edges are refined.

    If there is no fine derivation, the beam is multiplied by ``widening``, up to ``widenings`` times; at last all edges
    are refined if it is ``exhaustive``. Besides tables, ``features`` alone score coarse rules.
    """

    beam: float
    widening: float = 2.0
    widenings: int = 2
    exhaustive: bool = True
    features: frozenset[str] = frozenset()

    def refined(
        self,
        forest: Forest,
        levels: int,
        same: NDArray[Any],
        of_tables: Callable[[Forest], Any],
        scored: Callable[[Forest], Any],
    ) -> Forest:
        """The forest after ``levels`` refinements, without nodes if it has no derivation then.

        ``same`` are flags for ``native.origins``: rules that refine to themselves. ``of_tables`` returns the scores of
        a forest's rules by their own features, ``scored`` those that count in pruning.
        """
        if not levels or not forest.nodes:
            return forest
        known = _Refinements(forest, set(forest.native.origins[same].tolist()))
        beams = [self.beam * self.widening**k for k in range(self.widenings + 1)]
        for beam in (*beams, *([None] if self.exhaustive else [])):
            fine = forest
            for _ in range(levels):
                kept = None if beam is None else _kept(fine, scored(fine), beam)
                fine = known.refined(fine, kept, of_tables)
                if not fine.nodes:
                    break
            if fine.nodes:
                return fine
        return fine


def _kept(forest: Forest, scores: Any, beam: float) -> NDArray[Any]:
    """A flag for each edge: whether its best derivation is within the beam of the best of all."""
    import numpy as np

    native = forest.native
    edge_scores = np.asarray(scores, dtype=np.float64)[native.rules]
    best = [float(edge_scores[a:b].max()) for a, b in _ranges(native.rule_offsets)]
    tails = [native.tails[a:b].tolist() for a, b in _ranges(native.tail_offsets)]
    bundles = _ranges(native.node_bundles)
    inside = [0.0] * len(bundles)
    for v, (first, last) in enumerate(bundles):
        inside[v] = max(best[b] + sum(inside[tail] for tail in tails[b]) for b in range(first, last))
    outside = [-np.inf] * len(bundles)
    outside[-1] = 0.0
    through = np.empty(len(best))
    for v in range(len(bundles) - 1, -1, -1):
        for b in range(*bundles[v]):
            below = sum(inside[tail] for tail in tails[b])
            through[b] = outside[v] + below
            for tail in tails[b]:
                outside[tail] = max(outside[tail], outside[v] + best[b] + below - inside[tail])
    marginals = edge_scores + np.repeat(through, np.diff(native.rule_offsets))
    kept: NDArray[Any] = marginals >= inside[-1] - beam - _SLACK * max(1.0, abs(inside[-1]))
    return kept


def _ranges(offsets: NDArray[Any]) -> list[tuple[int, int]]:
    return list(itertools.pairwise(offsets.tolist()))


@dataclass(frozen=True)
class _Shape:
    """A rule's labels, and its target side as searches have it."""

    lhs: int
    gaps: tuple[int, ...]
    target: tuple[int, ...]


class _Refinements:
    """The refinements of the rules of one sentence's grammars."""

    def __init__(self, forest: Forest, same: set[int]) -> None:
        self._forest = forest
        self._same = same | {forest.goal_origin}
        self._below: dict[int, tuple[int, ...]] = {}
        self._shapes: dict[int, _Shape] = {}

    def refined(self, forest: Forest, kept: NDArray[Any] | None, of_tables: Callable[[Forest], Any]) -> Forest:
        """The forest with the refinements of the edges that are ``kept``; without nodes if the goal has none."""
        native = forest.native
        origins, rules, tails = native.origins.tolist(), native.rules.tolist(), native.tails.tolist()
        spans, edges = native.tail_offsets.tolist(), native.rule_offsets.tolist()
        flags = [True] * len(rules) if kept is None else kept.tolist()
        nodes: dict[tuple[int, int], int] = {}
        bundles: list[dict[tuple[int, ...], list[int]]] = []
        for v, (first, last) in enumerate(_ranges(native.node_bundles)):
            for b in range(first, last):
                below = tails[spans[b] : spans[b + 1]]
                for e in range(edges[b], edges[b + 1]):
                    if not flags[e]:
                        continue
                    for origin in self._refinements(origins[rules[e]]):
                        shape = self._shape(origin)
                        found = [nodes.get(key) for key in zip(below, shape.gaps, strict=True)]
                        if None in found:
                            continue
                        at = nodes.setdefault((v, shape.lhs), len(bundles))
                        if at == len(bundles):
                            bundles.append({})
                        bundles[at].setdefault(tuple(found), []).append(origin)  # type: ignore[arg-type]
        rows = [(label, *native.nodes[v, 1:].tolist()) for v, label in nodes]
        there = bool(nodes) and next(reversed(nodes))[0] == len(native.nodes) - 1
        made = _assembled(*_reachable(rows, bundles), self._shape, forest.goal_origin) if there else _empty()
        fine = forest.with_native(cast("ParsedForest", made))
        return fine.with_native(cast("ParsedForest", replace(made, scores=of_tables(fine)))) if there else fine

    def _refinements(self, origin: int) -> tuple[int, ...]:
        known = self._below.get(origin)
        if known is None:
            known = self._below[origin] = (origin,) if origin in self._same else self._listed(origin)
        return known

    def _listed(self, origin: int) -> tuple[int, ...]:
        part, row = self._forest.placed(origin)
        levels = part.columns.level
        own, found, at = int(levels[row]), [], row + 1
        while at < len(levels) and levels[at] > own:
            if levels[at] == own + 1:
                found.append(origin + at - row)
            at += 1
        if not found:
            rule = part.columns.rule(row)
            raise NoRefinement(f"expected rules that refine [{rule.lhs}] ||| {_text(rule.source)}, found none")
        return tuple(found)

    def _shape(self, origin: int) -> _Shape:
        known = self._shapes.get(origin)
        if known is None:
            known = self._shapes[origin] = self._shaped(origin)
        return known

    def _shaped(self, origin: int) -> _Shape:
        forest = self._forest
        if origin == forest.goal_origin:
            top, below = forest.goal_labels
            return _Shape(top, (below,), (-1,))
        part, row = forest.placed(origin)
        columns = part.columns
        source = columns.source[columns.source_offsets[row] : columns.source_offsets[row + 1]].tolist()
        target = columns.target[columns.target_offsets[row] : columns.target_offsets[row + 1]].tolist()
        return _Shape(
            int(part.labels[columns.lhs[row]]),
            tuple(int(part.labels[-1 - symbol]) for symbol in source if symbol < 0),
            tuple(int(part.words[symbol]) if symbol >= 0 else symbol for symbol in target),
        )


def _text(symbols: Sequence[Any]) -> str:
    return " ".join(symbol if isinstance(symbol, str) else f"[{symbol.label},{symbol.index}]" for symbol in symbols)


def _empty() -> EditedForest:
    """A forest without a derivation."""
    import numpy as np

    none, ends, numbers = np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.float32)
    nodes = np.empty((0, 3), dtype=np.int32)
    return EditedForest(nodes, ends, ends, none, ends, none, ends, none, numbers, none, none, none)


_Bundles = list[dict[tuple[int, ...], list[int]]]


def _reachable(rows: list[tuple[int, int, int]], bundles: _Bundles) -> tuple[list[tuple[int, int, int]], _Bundles]:
    """The nodes below the last, renumbered."""
    needed = {len(rows) - 1}
    for v in range(len(rows) - 1, -1, -1):
        if v in needed:
            needed.update(tail for tails in bundles[v] for tail in tails)
    number = {v: i for i, v in enumerate(sorted(needed))}
    kept = [{tuple(number[tail] for tail in tails): rules for tails, rules in bundles[v].items()} for v in number]
    return [rows[v] for v in number], kept


def _assembled(
    rows: list[tuple[int, int, int]], bundles: _Bundles, shape: Callable[[int], _Shape], goal: int
) -> EditedForest:
    """The arrays of a forest; each edge has a rule of its own, the goal's is the last."""
    import numpy as np

    each = [bundle for node in bundles for bundle in node.items()]
    origins = [origin for _, rules in each for origin in rules]
    assert origins[-1] == goal
    targets = [shape(origin).target for origin in origins]

    def ends(sizes: Sequence[int]) -> NDArray[Any]:
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    return EditedForest(
        nodes=np.array(rows, dtype=np.int32).reshape(-1, 3),
        node_bundles=ends([len(node) for node in bundles]),
        tail_offsets=ends([len(tails) for tails, _ in each]),
        tails=np.array([tail for tails, _ in each for tail in tails], dtype=np.int32),
        rule_offsets=ends([len(rules) for _, rules in each]),
        rules=np.arange(len(origins), dtype=np.int32),
        target_offsets=ends([len(target) for target in targets]),
        targets=np.array([symbol for target in targets for symbol in target], dtype=np.int32),
        scores=np.zeros(len(origins), dtype=np.float32),
        origins=np.array(origins, dtype=np.int32),
        chains=np.full(len(origins), -1, dtype=np.int32),
        links=np.empty(0, dtype=np.int32),
    )
