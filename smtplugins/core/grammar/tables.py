"""Synchronous grammars: columns as they were read, in the numbers that all of a run share, with a trie to parse with.

The columns are not copied; what is made of them is the trie of their source sides and small tables of numbers.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from smtformats.columns import GrammarColumns, IndexedColumns
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.gather import Numbering, grammar_columns
from smtplugins.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtplugins.core._core import LanguageModel, RuleTrie

    Ints = NDArray[np.int32]
    Offsets = NDArray[np.int64]
    Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Tables:
    """The numbers of words, labels and feature names that the grammars and sentences of a run share."""

    words: Vocabulary = field(default_factory=Vocabulary)
    labels: Vocabulary = field(default_factory=Vocabulary)
    names: Vocabulary = field(default_factory=Vocabulary)


def own_label(label: str) -> str:
    """The label that derivations are made with: of Moses' pair `SOURCE][TARGET` the target's."""
    return label.rpartition("][")[2]


def source_index(columns: GrammarColumns) -> GrammarColumns:
    """The columns with the trie of their source sides, as arrays that can be kept with them."""
    import numpy as np

    from smtplugins.core._core import rule_index

    labels: dict[str, int] = {}
    same = [labels.setdefault(own_label(one), i) for i, one in enumerate(columns.labels[:])]
    index = rule_index(
        np.ascontiguousarray(columns.lhs, dtype=np.int32),
        np.ascontiguousarray(columns.level, dtype=np.uint8),
        np.ascontiguousarray(columns.source, dtype=np.int32),
        np.ascontiguousarray(columns.source_offsets, dtype=np.int64),
        np.array(same, dtype=np.int32),
    )
    return IndexedColumns.indexed(columns, index)


class Part:
    """The rules of one set of columns."""

    def __init__(self, columns: GrammarColumns, tables: Tables) -> None:
        import numpy as np

        from smtplugins.core._core import RuleTrie

        def column(name: str, dtype: type) -> NDArray[Any]:
            return np.ascontiguousarray(getattr(columns, name), dtype=dtype)

        self.columns = columns
        # What was kept with the columns has their own numbers.
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

    def limited(self, estimates: Floats, limit: int) -> Part:
        """The same columns, with the rules applied that have the highest estimates of their source side."""
        import numpy as np

        made = copy.copy(self)
        made.trie = self.trie.limited(np.ascontiguousarray(estimates, dtype=np.float32), limit)
        return made

    def scores(self, weights: Mapping[str, float]) -> Floats:
        """Weights times features of each rule."""
        columns = self.columns
        own = [weights.get(name, 0.0) for name in self.names]
        return row_scores(columns.features, columns.values, columns.feature_offsets, own)


def row_scores(ids: Any, values: Any, offsets: Any, weights: Any) -> Floats:
    """Weights times features of rows: row i has ``values[offsets[i]:offsets[i+1]]`` at the numbers ``ids[...]``."""
    import numpy as np

    from smtplugins.core._core import rule_scores

    return rule_scores(
        np.ascontiguousarray(ids, dtype=np.int32),
        np.ascontiguousarray(values, dtype=np.float32),
        np.ascontiguousarray(offsets, dtype=np.int64),
        np.ascontiguousarray(weights, dtype=np.float64),
    )


class Grammar:
    """The rules of one or more sets of columns, numbered through.

    A rule applies to spans of at most ``span_limit`` arcs on the shortest path, and with ``from_start`` to those alone
    that begin where the sentence does, as glue rules do in cdec and Joshua. Labels that derivations are made with are
    Moses' target labels. Rules of a level above 0 and those without a source side are never applied.
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
        several = [columns] if isinstance(columns, GrammarColumns) else columns
        self.parts = tuple(Part(one, tables) for one in several)

    @classmethod
    def of_rules(
        cls, rules: Iterable[Rule], tables: Tables, *, span_limit: int | None = None, from_start: bool = False
    ) -> Grammar:
        """A grammar of records."""
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
        raise AssertionError("a number below the sum of the sizes is in one of them")

    def scores(self, weights: Mapping[str, float]) -> Floats:
        """Weights times features of each rule; a feature without a weight counts 0."""
        import numpy as np

        return np.concatenate([np.empty(0, np.float32), *(part.scores(weights) for part in self.parts)])

    def limited(self, estimates: Floats, limit: int) -> Grammar:
        """The same rules by the same numbers, of which ``limit`` are applied for each source side, if it is above 0.

        They are those with the highest estimates, the earlier ones of equal estimates. As in Moses and Joshua, the
        left-hand sides of a source side are counted together, and each set of columns for itself.
        """
        if len(estimates) != len(self):
            raise ValueError(f"expected {len(self)} estimates, one for each rule, found {len(estimates)}")
        if limit <= 0:
            return self
        made = copy.copy(self)
        ends = list(itertools.accumulate(map(len, self.parts), initial=0))
        made.parts = tuple(
            part.limited(estimates[first:last], limit)
            for part, (first, last) in zip(self.parts, itertools.pairwise(ends), strict=True)
        )
        return made

    def scored(self, weights: Mapping[str, float]) -> ScoredGrammar:
        """The grammar with its scores, for many sentences."""
        return ScoredGrammar(self, self.scores(weights))


@dataclass(frozen=True)
class ScoredGrammar:
    """A grammar, and the score of each rule."""

    grammar: Grammar
    scores: Floats


def fragment_scores(model: LanguageModel, columns: GrammarColumns, threads: int = 1, *, markers: bool = True) -> Floats:
    """log10 of the words of each rule's target side, those between two gaps by themselves, without any context.

    With ``markers`` a ``<s>`` that such a piece begins with is where the sentence begins, and costs nothing.
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
    """The rules that cdec joins translations of spans with, from left to right."""
    whole, part = NonTerminal(label, 1), NonTerminal(label, 2)
    before = NonTerminal(goal, 1)
    rules = (
        Rule(goal, (whole,), (whole,)),
        Rule(goal, (before, part), (before, part), names=("Glue",), values=(1.0,)),
    )
    return Grammar.of_rules(rules, tables, from_start=True)


def gathered(offsets: Offsets, rows: NDArray[Any]) -> tuple[Offsets, Offsets]:
    """Offsets of these rows one behind the other, and the places that their values have in the column."""
    import numpy as np

    starts = offsets[rows].astype(np.int64)
    sizes = offsets[rows + 1] - starts
    new = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    return new, np.arange(int(new[-1]), dtype=np.int64) + np.repeat(starts - new[:-1], sizes)


class _Used:
    """Shared numbers made into those of a table with what is used alone."""

    def __init__(self, vocabulary: Vocabulary, numbers: Sequence[NDArray[Any]]) -> None:
        import numpy as np

        self._used = np.unique(np.concatenate(numbers)) if numbers else np.empty(0, np.int64)
        self.table = Numbering(map(vocabulary.word, self._used.tolist())).table()

    def __call__(self, numbers: NDArray[Any]) -> Ints:
        import numpy as np

        return np.searchsorted(self._used, numbers).astype(np.int32)


def joined(rows: Sequence[tuple[Part, NDArray[Any]]], tables: Tables) -> GrammarColumns:
    """Columns of some rules of several parts, one part behind the other, with tables of their own."""
    import numpy as np

    columns: dict[str, list[NDArray[Any]]] = {}

    def put(name: str, values: NDArray[Any]) -> None:
        columns.setdefault(name, []).append(values)

    for part, of in rows:
        own = part.columns
        for name in ("source", "target", "feature", "point"):
            offsets, places = gathered(getattr(own, f"{name}_offsets"), of)
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
        put("lhs", part.labels[own.lhs[of]])
        put("level", own.level[of])
    whole = {name: np.concatenate(values) for name, values in columns.items()}
    source, target = whole["source"], whole["target"]
    words = _Used(tables.words, [source[source >= 0], target[target >= 0]])
    labels = _Used(tables.labels, [whole["lhs"], -1 - source[source < 0]])
    features = _Used(tables.names, [whole["features"]])

    def ends(name: str) -> Offsets:
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(whole[f"{name}_sizes"], dtype=np.int64)])

    return GrammarColumns(
        lhs=labels(whole["lhs"]),
        level=whole["level"],
        source=np.where(source >= 0, words(source), -1 - labels(-1 - source)).astype(np.int32),
        source_offsets=ends("source"),
        target=np.where(target >= 0, words(target), target).astype(np.int32),
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
