"""Synchronous grammars: columns as read, the ids shared by a run, and a trie of source sides to parse with.

The columns are not copied; a grammar adds the trie and small tables of ids.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from smtformats.columns import GrammarColumns, IndexedColumns, gathered, string_table
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.gather import grammar_columns
from smtformats.records import dataclass
from smtplugins.core._core import RuleTrie, rule_index, rule_scores
from smtplugins.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtplugins.core._core import LanguageModel

    Ints = NDArray[np.int32]
    Offsets = NDArray[np.int64]
    Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Tables:
    """The ids of words, labels and feature names, shared by the grammars and sentences of a run."""

    words: Vocabulary = field(default_factory=Vocabulary)
    labels: Vocabulary = field(default_factory=Vocabulary)
    names: Vocabulary = field(default_factory=Vocabulary)


def own_label(label: str) -> str:
    """The label used in derivations: the target label of Moses' pair `SOURCE][TARGET`, else the label."""
    return label.rpartition("][")[2]


def source_index(columns: GrammarColumns) -> GrammarColumns:
    """The columns with the trie of their source sides, as arrays that can be cached with them."""
    import numpy as np

    labels: dict[str, int] = {}
    same = [labels.setdefault(own_label(label), i) for i, label in enumerate(columns.labels[:])]
    index = rule_index(
        np.ascontiguousarray(columns.lhs, dtype=np.int32),
        np.ascontiguousarray(columns.level, dtype=np.uint8),
        np.ascontiguousarray(columns.source, dtype=np.int32),
        np.ascontiguousarray(columns.source_offsets, dtype=np.int64),
        np.array(same, dtype=np.int32),
    )
    return IndexedColumns.indexed(columns, index)


class GrammarPart:
    """The rules of one set of columns, with their trie."""

    def __init__(self, columns: GrammarColumns, tables: Tables) -> None:
        import numpy as np

        def column(name: str, dtype: type) -> NDArray[Any]:
            return np.ascontiguousarray(getattr(columns, name), dtype=dtype)

        self.columns = columns
        # An index cached with the columns has their own ids.
        index: Any = columns.index if isinstance(columns, IndexedColumns) else None
        self.words = tables.words.ids_of_table(columns.words)
        labels = tables.labels.ids(map(own_label, columns.labels[:]))
        self.labels = np.array(labels, dtype=np.int32)
        self.names = columns.names[:]
        arrays = (
            column("lhs", np.int32),
            column("level", np.uint8),
            column("source", np.int32),
            column("source_offsets", np.int64),
            column("target", np.int32),
            column("target_offsets", np.int64),
            self.words,
            self.labels,
        )
        self.trie: RuleTrie = RuleTrie(*arrays) if index is None else RuleTrie(*arrays, index)

    def __len__(self) -> int:
        return len(self.columns)

    def limited(self, estimates: Floats, limit: int) -> GrammarPart:
        """Prune: only the ``limit`` rules with the highest estimates apply for each source side; columns stay."""
        import numpy as np

        part = copy.copy(self)
        part.trie = self.trie.limited(np.ascontiguousarray(estimates, dtype=np.float32), limit)
        return part

    def scores(self, weights: Mapping[str, float]) -> Floats:
        """The weighted feature sum of each rule."""
        columns = self.columns
        own = [weights.get(name, 0.0) for name in self.names]
        return row_scores(columns.features, columns.values, columns.feature_offsets, own)


def row_scores(ids: Any, values: Any, offsets: Any, weights: Any) -> Floats:
    """The weighted feature sum of each row; row i has ``values[offsets[i]:offsets[i+1]]`` at the ids ``ids[...]``."""
    import numpy as np

    return rule_scores(
        np.ascontiguousarray(ids, dtype=np.int32),
        np.ascontiguousarray(values, dtype=np.float32),
        np.ascontiguousarray(offsets, dtype=np.int64),
        np.ascontiguousarray(weights, dtype=np.float64),
    )


class Grammar:
    """The rules of one or more sets of columns, numbered consecutively.

    A rule applies to spans of at most ``span_limit`` arcs on the shortest path; with ``from_start`` only to spans that
    begin at the start of the sentence, as glue rules do in cdec and Joshua. Derivations use Moses' target labels. Rules
    of a level above 0 and rules without a source side are never applied.
    """

    def __init__(
        self,
        columns: GrammarColumns | Sequence[GrammarColumns],
        tables: Tables,
        *,
        span_limit: int | None = None,
        from_start: bool = False,
    ) -> None:
        self.tables = tables
        self.span_limit = span_limit
        self.from_start = from_start
        column_sets = [columns] if isinstance(columns, GrammarColumns) else columns
        self.parts = tuple(GrammarPart(rules, tables) for rules in column_sets)

    @classmethod
    def of_rules(
        cls, rules: Iterable[Rule], tables: Tables, *, span_limit: int | None = None, from_start: bool = False
    ) -> Grammar:
        """A grammar made of rule records."""
        return cls(grammar_columns(rules), tables, span_limit=span_limit, from_start=from_start)

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def rule(self, i: int) -> Rule:
        """Rule i as a record."""
        at = range(len(self))[i]
        for part in self.parts:
            if at < len(part):
                return part.columns.rule(at)
            at -= len(part)
        raise AssertionError("unreachable: the rule number is below the sum of the sizes")

    def scores(self, weights: Mapping[str, float]) -> Floats:
        """The weighted feature sum of each rule; a feature without a weight counts 0."""
        import numpy as np

        return np.concatenate([np.empty(0, np.float32), *(part.scores(weights) for part in self.parts)])

    def limited(self, estimates: Floats, limit: int) -> Grammar:
        """Prune: for each source side at most ``limit`` rules apply (0: all); rules keep their numbers.

        The rules with the highest estimates are kept, on ties the earlier ones. As in Moses and Joshua, all left-hand
        sides of a source side are counted together, and each set of columns by itself.
        """
        if len(estimates) != len(self):
            raise ValueError(f"expected {len(self)} estimates, one for each rule, found {len(estimates)}")
        if limit <= 0:
            return self
        grammar = copy.copy(self)
        ends = list(itertools.accumulate(map(len, self.parts), initial=0))
        grammar.parts = tuple(
            part.limited(estimates[first:last], limit)
            for part, (first, last) in zip(self.parts, itertools.pairwise(ends), strict=True)
        )
        return grammar

    def scored(self, weights: Mapping[str, float]) -> ScoredGrammar:
        """The grammar with its rules scored, to parse many sentences."""
        return ScoredGrammar(self, self.scores(weights))


@dataclass(frozen=True)
class ScoredGrammar:
    """A grammar with the score of each rule."""

    grammar: Grammar
    scores: Floats


def fragment_scores(model: LanguageModel, columns: GrammarColumns, threads: int = 1, *, markers: bool = True) -> Floats:
    """log10 probability of each rule's target words without context, summed over the word runs between gaps.

    With ``markers``, a ``<s>`` at the start of a run begins the sentence and costs nothing.
    """
    import numpy as np

    from smtplugins.core._core import fragment_scores as native

    return native(
        model,
        np.ascontiguousarray(columns.target, dtype=np.int32),
        np.ascontiguousarray(columns.target_offsets, dtype=np.int64),
        np.frombuffer(columns.words.blob, dtype=np.uint8),
        np.ascontiguousarray(columns.words.offsets, dtype=np.int64),
        markers,
        threads,
    )


def glue(tables: Tables, goal: str = "S", label: str = "X") -> Grammar:
    """cdec's glue rules, which join translated spans from left to right."""
    whole, part = NonTerminal(label, 1), NonTerminal(label, 2)
    before = NonTerminal(goal, 1)
    rules = (
        Rule(goal, (whole,), (whole,)),
        Rule(goal, (before, part), (before, part), names=("Glue",), values=(1.0,)),
    )
    return Grammar.of_rules(rules, tables, from_start=True)


class _Used:
    """Map shared ids to the ids of a table that holds only the strings in use."""

    def __init__(self, vocabulary: Vocabulary, *numbers: NDArray[Any]) -> None:
        import numpy as np

        marks = np.zeros(len(vocabulary), dtype=bool)
        for part in numbers:
            marks[part] = True
        used = np.flatnonzero(marks)
        self._ids = np.empty(len(vocabulary), dtype=np.int32)
        self._ids[used] = np.arange(len(used))
        self.table = string_table(vocabulary.words(used.tolist()))

    def __call__(self, numbers: NDArray[Any]) -> Ints:
        ids: Ints = self._ids[numbers]
        return ids


def join_parts(rows: Sequence[tuple[GrammarPart, NDArray[Any]]], tables: Tables) -> GrammarColumns:
    """The columns of some rules of several parts, part after part, with string tables of their own."""
    import numpy as np

    columns: dict[str, list[NDArray[Any]]] = {}

    def put(name: str, values: NDArray[Any]) -> None:
        columns.setdefault(name, []).append(values)

    for part, numbers in rows:
        own = part.columns
        for name in ("source", "target", "feature", "point"):
            offsets, places = gathered(getattr(own, f"{name}_offsets"), numbers)
            put(f"{name}_sizes", np.diff(offsets))
            if name == "feature":
                names = np.fromiter(tables.names.ids(part.names), dtype=np.int64)
                put("features", names[own.features[places]])
                put("values", own.values[places])
            elif name == "point":
                put("points", own.points[places])
            else:
                symbols = getattr(own, name)[places].astype(np.int64)
                words = symbols >= 0
                symbols[words] = part.words[symbols[words]]
                if name == "source":
                    symbols[~words] = -1 - part.labels[-1 - symbols[~words]]
                put(name, symbols)
        put("lhs", part.labels[own.lhs[numbers]])
        put("level", own.level[numbers])
    whole = {name: np.concatenate(values) for name, values in columns.items()}
    source, target = whole["source"], whole["target"]
    in_source, in_target = source >= 0, target >= 0
    words = _Used(tables.words, source[in_source], target[in_target])
    labels = _Used(tables.labels, whole["lhs"], -1 - source[~in_source])
    features = _Used(tables.names, whole["features"])
    symbols, targets = np.empty(len(source), dtype=np.int32), target.astype(np.int32)
    symbols[in_source], symbols[~in_source] = words(source[in_source]), -1 - labels(-1 - source[~in_source])
    targets[in_target] = words(target[in_target])

    def ends(name: str) -> Offsets:
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(whole[f"{name}_sizes"], dtype=np.int64)])

    return GrammarColumns(
        lhs=labels(whole["lhs"]),
        level=whole["level"],
        source=symbols,
        source_offsets=ends("source"),
        target=targets,
        target_offsets=ends("target"),
        features=features(whole["features"]),
        values=whole["values"],
        feature_offsets=ends("feature"),
        points=whole["points"],
        point_offsets=ends("point"),
        words=words.table,
        labels=labels.table,
        names=features.table,
    )
