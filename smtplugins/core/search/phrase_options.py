"""Edit the translation options of a sentence: remove phrases from spans, add others.

A parse without a goal is a node for each span that phrases apply to (``core/grammar/parsing.py``). An edited forest has
the same arrays, but some rules may be in no bundle, and the rules of a span need not have consecutive numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from smtformats.records import dataclass
from smtplugins.core.grammar.parsed_forest import Forest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core._core import ParsedForest, SearchForest


@dataclass(frozen=True)
class Put:
    """An added option for the source words ``[first, last)``: its number in ``native.origins``, and its score."""

    first: int
    last: int
    origin: int
    score: float = 0.0


@dataclass(frozen=True)
class EditedForest:
    """The arrays of a ``ParsedForest``."""

    nodes: NDArray[Any]
    node_bundles: NDArray[Any]
    tail_offsets: NDArray[Any]
    tails: NDArray[Any]
    rule_offsets: NDArray[Any]
    rules: NDArray[Any]
    target_offsets: NDArray[Any]
    targets: NDArray[Any]
    scores: NDArray[Any]
    origins: NDArray[Any]
    chains: NDArray[Any]
    links: NDArray[Any]
    complete: bool = True

    def search_forest(self, scores: NDArray[Any] | None = None) -> SearchForest:
        """The forest for searches."""
        import numpy as np

        from smtplugins.core._core import SearchForest

        columns = (np.ascontiguousarray(column, dtype=np.int32) for column in self.nodes.T)
        labels, firsts, lasts = columns
        return SearchForest.of(
            labels=labels,
            firsts=firsts,
            lasts=lasts,
            node_bundles=self.node_bundles,
            tails=self.tails,
            tail_offsets=self.tail_offsets,
            rules=self.rules,
            rule_offsets=self.rule_offsets,
            targets=self.targets,
            target_offsets=self.target_offsets,
            scores=np.ascontiguousarray(self.scores if scores is None else scores, dtype=np.float32),
        )


def edge_spans(forest: Forest, edges: NDArray[Any] | None = None) -> NDArray[Any]:
    """The source words ``[first, last)`` of edges, by default of all, a row each, in the order of ``native.rules``."""
    import numpy as np

    native = forest.native
    numbers = np.arange(int(native.rule_offsets[-1])) if edges is None else edges
    bundles = np.searchsorted(native.rule_offsets, numbers, side="right") - 1
    nodes = np.searchsorted(native.node_bundles, bundles, side="right") - 1
    spans: NDArray[Any] = native.nodes[nodes, 1:]
    return spans


def edited(forest: Forest, kept: NDArray[Any], put: Sequence[Put], label: str) -> Forest:
    """The forest with the ``kept`` options (a flag for each edge) and those in ``put``, added under ``label``."""
    import numpy as np

    native = forest.native
    if len(native.tails):
        raise ValueError("expected phrases, found rules with gaps")
    spans = edge_spans(forest)[kept]
    ends = [(option.first, option.last) for option in put]
    firsts_lasts = np.concatenate([spans, np.array(ends, dtype=np.int32).reshape(-1, 2)])
    # New rules come before the goal rule, which is the last.
    before = len(native.origins) - 1
    rules = np.concatenate([native.rules[kept], before + np.arange(len(put))]).astype(np.int32)
    labels = np.repeat(native.nodes[:, 0], np.diff(native.rule_offsets[native.node_bundles]))[kept]
    labels = np.concatenate([labels, np.full(len(put), forest.tables.labels.id(label))]).astype(np.int32)
    # A node with one bundle for each span and label, in order of first occurrence.
    keys = np.column_stack([labels, firsts_lasts])
    nodes, first_at, node_of = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first_at))
    order = np.argsort(rank[node_of.reshape(-1)], kind="stable")
    counts = np.bincount(rank[node_of.reshape(-1)], minlength=len(nodes))
    texts = [forest.searched_target(option.origin) for option in put]
    added = [forest.tables.words.ids(text) for text in texts]
    last = native.target_offsets[before]
    sizes = np.diff(native.target_offsets)
    sizes = np.concatenate([sizes[:before], np.array(list(map(len, added)), dtype=np.int64), sizes[before:]])

    def with_put(column: NDArray[Any], values: Sequence[Any]) -> NDArray[Any]:
        return np.concatenate([column[:before], np.array(values, dtype=column.dtype), column[before:]])

    native_forest = EditedForest(
        nodes=nodes[np.argsort(rank)].astype(np.int32).reshape(-1, 3),
        node_bundles=np.arange(len(nodes) + 1, dtype=np.int64),
        tail_offsets=np.zeros(len(nodes) + 1, dtype=np.int64),
        tails=np.empty(0, dtype=np.int32),
        rule_offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        rules=rules[order],
        target_offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        targets=np.concatenate(
            [native.targets[:last], np.array([word for row in added for word in row]), native.targets[last:]]
        ).astype(np.int32),
        scores=with_put(native.scores, [option.score for option in put]),
        origins=with_put(native.origins, [option.origin for option in put]),
        chains=with_put(native.chains, [-1] * len(put)),
        links=native.links,
    )
    return forest.with_native(cast("ParsedForest", native_forest))


def backed_off(
    forest: Forest,
    starts: Sequence[int],
    backoffs: Sequence[int],
    table_of: Mapping[int, int],
    words: int,
    nonterminal: str,
) -> Forest:
    """The forest without the phrases of a table with a backoff where it is not to be used.

    ``starts`` are the first rules of the grammars, tables first. ``backoffs`` are those of the tables: the most words,
    -1 for any number, 0 for tables that are always used. ``table_of`` has the number of the table by that of a grammar
    of its rules for the sentence. ``words`` is the length of the sentence.
    """
    import numpy as np

    if not forest.nodes:
        return forest
    spans = edge_spans(forest)
    origins = np.asarray(forest.native.origins)[np.asarray(forest.native.rules)]
    owner = np.searchsorted(np.asarray(starts), origins, side="right") - 1
    for number, own_table in table_of.items():
        owner[owner == number] = own_table
    owner[origins >= forest.minted_from] = len(starts)
    tables = len(backoffs)
    translated = {(first, last) for first, last in spans[(owner >= tables) & (owner < len(starts))].tolist()}
    kept = np.ones(len(spans), dtype=bool)
    for k, backoff in enumerate(backoffs):
        own = np.flatnonzero(owner == k)
        pairs = list(map(tuple, spans[own].tolist()))
        if backoff and k:
            most = backoff if backoff > 0 else words
            kept[own] = [pair not in translated and pair[1] - pair[0] <= most for pair in pairs]
        translated.update(pair for pair, used in zip(pairs, kept[own].tolist(), strict=True) if used)
    return forest if kept.all() else edited(forest, kept, (), nonterminal)
