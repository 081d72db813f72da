"""A parsed sentence's forest: nodes and rules in native arrays, and the records and columns of its rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from smtformats.columns import gathered, string_table
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.gather import grammar_columns
from smtformats.hypergraph.graph import GraphColumns
from smtplugins.core._core import RuleTrie
from smtplugins.core.grammar.tables import GrammarPart, Tables, join_parts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtformats.columns import GrammarColumns
    from smtplugins.core._core import ParsedForest
    from smtplugins.core.grammar.parsing import PassThrough

    RuleFeatures = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]

TOP = "Goal"


class MintedRules:
    """Rules made ("minted") for words of a sentence, such as unknown ones: arrays at once, records on demand."""

    def __init__(self, minting: PassThrough, words: Sequence[str], tables: Tables) -> None:
        import numpy as np

        self._minting = minting
        self._words = [word for word in words if word not in minting.except_for] if minting.except_for else words
        self._tables = tables
        labels = len(minting.labels)
        # Each word has a rule for each label.
        source = np.repeat(np.arange(len(self._words), dtype=np.int32), labels)
        offsets = np.arange(len(source) + 1, dtype=np.int64)
        target, target_offsets, spelt = source, offsets, list(self._words)
        if minting.target is not None:
            targets = [minting.target(word) for word in self._words]
            some = np.repeat(np.array([text != "" for text in targets], dtype=bool), labels)
            target = source[some] + np.int32(len(spelt))
            target_offsets = np.concatenate([offsets[:1], np.cumsum(some, dtype=np.int64)])
            spelt += targets
        self.trie = RuleTrie(
            np.tile(np.arange(labels, dtype=np.int32), len(self._words)),
            np.zeros(len(source), dtype=np.uint8),
            source,
            offsets,
            target,
            target_offsets,
            np.array(tables.words.ids(spelt), dtype=np.int32),
            np.array(tables.labels.ids(minting.labels), dtype=np.int32),
        )

    def __len__(self) -> int:
        return len(self._words) * len(self._minting.labels)

    def place(self, word: str) -> int:
        """The number of the first rule of a word."""
        return self._words.index(word) * len(self._minting.labels)

    def target(self, i: int) -> tuple[str, ...]:
        """The target side of rule i, as the search sees it."""
        word = self._words[i // len(self._minting.labels)]
        translation = word if self._minting.target is None else self._minting.target(word)
        return (translation,) if translation else ()

    def scores(self, weights: Mapping[str, float]) -> NDArray[np.float32]:
        """The weighted feature sum of each rule."""
        import numpy as np

        minting = self._minting
        if minting.features is None:
            own = [weighted_sum(features, weights) for features in minting.labels.values()]
            return np.tile(np.array(own, dtype=np.float32), len(self._words))
        return self.part.scores(weights)

    @cached_property
    def part(self) -> GrammarPart:
        """The same rules in the form of a table's."""
        return GrammarPart(grammar_columns(self._minting.rules(self._words)), self._tables)


def weighted_sum(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The sum of weights times features; a feature without a weight counts 0."""
    return sum(value * weights.get(name, 0.0) for name, value in features.items())


class Forest:
    """A sentence's forest. It numbers its rules itself; ``native`` holds all arrays.

    A bundle is the edges with one head and the same tails. The rules of a bundle have consecutive numbers, and two
    bundles share all their rules or none.
    """

    def __init__(
        self,
        native: ParsedForest,
        tables: Tables,
        parts: tuple[GrammarPart | MintedRules, ...],
        featured: tuple[Mapping[str, float], ...],
        goal: str,
    ) -> None:
        self.native = native
        self.tables = tables
        self._parts = parts
        self._featured = featured
        self._goal = goal
        self._joined: tuple[NDArray[Any], GrammarColumns] | None = None

    def __bool__(self) -> bool:
        """Whether there is a derivation."""
        return self.nodes > 0

    def __repr__(self) -> str:
        return f"<forest of {self.nodes} nodes, {self.bundles} bundles, {self.edges} edges>"

    @property
    def nodes(self) -> int:
        """The number of nodes, the goal included."""
        return len(self.native.nodes)

    @property
    def bundles(self) -> int:
        """The number of bundles: groups of edges with one head and the same tails."""
        return len(self.native.rule_offsets) - 1

    @property
    def edges(self) -> int:
        """The number of edges, the edge into the goal included."""
        return len(self.native.rules)

    @property
    def goal_origin(self) -> int:
        """The number of the rule into the goal in ``native.origins``, above all others."""
        return sum(map(len, self._parts))

    @property
    def minted_from(self) -> int:
        """The number of the first minted rule in ``native.origins``; ``goal_origin`` if there are none."""
        return self.goal_origin - (len(self._parts[-1]) if isinstance(self._parts[-1], MintedRules) else 0)

    def minted(self, word: str) -> int:
        """The number in ``native.origins`` of the first rule minted for a word of the input."""
        last = self._parts[-1]
        if not isinstance(last, MintedRules):
            raise LookupError("this forest has no minted rules")
        return self.minted_from + last.place(word)

    def searched_target(self, origin: int) -> tuple[str, ...]:
        """The target words of a rule without gaps, by its number in ``native.origins``."""
        at = origin
        for part in self._parts:
            if at < len(part):
                words = part.target(at) if isinstance(part, MintedRules) else part.columns.rule(at).target
                return tuple(word for word in words if isinstance(word, str))
            at -= len(part)
        raise IndexError(f"no rule has the number {origin}")

    def placed(self, origin: int) -> tuple[GrammarPart, int]:
        """The set of columns that a rule is in, by its number in ``native.origins``, and its number there."""
        at = origin
        for part in self._parts:
            if at < len(part):
                return _as_part(part), at
            at -= len(part)
        raise IndexError(f"no rule of a grammar has the number {origin}")

    @property
    def goal_labels(self) -> tuple[int, int]:
        """The labels of the rule into the goal."""
        return self.tables.labels.id(TOP), self.tables.labels.id(self._goal)

    def with_native(self, native: ParsedForest, goal: str | None = None) -> Forest:
        """The same forest with other nodes, edges and rules, and another label below the goal."""
        return Forest(native, self.tables, self._parts, self._featured, goal or self._goal)

    def rule(self, i: int) -> Rule:
        """Rule i of the forest as a record, without the features of lattice arcs."""
        at = int(self.native.origins[i])
        for part in self._parts:
            if at < len(part):
                return _as_part(part).columns.rule(at)
            at -= len(part)
        return self._goal_rule

    @property
    def _goal_rule(self) -> Rule:
        below = (NonTerminal(self._goal, 1),)
        return Rule(TOP, below, below)

    def scores(self, weights: Mapping[str, float], known: Sequence[NDArray[Any]] = ()) -> NDArray[np.float32]:
        """The weighted feature sum of each rule, features of lattice arcs included.

        ``known`` are the scores of the first grammars' rules, an array for each of their sets of columns.
        """
        import numpy as np

        origins = self.native.origins
        scores = np.zeros(len(origins), dtype=np.float32)
        before = 0
        for number, part in enumerate(self._parts):
            here = np.flatnonzero((origins >= before) & (origins < before + len(part)))
            if len(here):
                own = known[number] if number < len(known) else part.scores(weights)
                scores[here] = own[origins[here] - before]
            before += len(part)
        for i in np.flatnonzero(self.native.chains >= 0).tolist():
            scores[i] += weighted_sum(self.arc_features(i), weights)
        return scores

    def rule_features(self, i: int) -> dict[str, float]:
        """The features of rule i of the forest, features of lattice arcs included."""
        at = int(self.native.origins[i])
        features: dict[str, float] = {}
        for part in self._parts:
            if at < len(part):
                own = _as_part(part)
                first, last = own.columns.feature_offsets[at : at + 2].tolist()
                names = own.columns.features[first:last].tolist()
                for name, value in zip(names, own.columns.values[first:last].tolist(), strict=True):
                    features[own.names[name]] = features.get(own.names[name], 0.0) + value
                break
            at -= len(part)
        if self.native.chains[i] >= 0:
            for name, value in self.arc_features(i).items():
                features[name] = features.get(name, 0.0) + value
        return features

    def in_parts(self, rules: NDArray[Any]) -> Iterator[tuple[Any, NDArray[np.int64], NDArray[np.int64]]]:
        """For each part with some of these rules: its columns, their numbers there, their positions in ``rules``."""
        import numpy as np

        origins = self.native.origins[rules]
        before = 0
        for part in self._parts:
            here = np.flatnonzero((origins >= before) & (origins < before + len(part)))
            if len(here):
                yield _as_part(part).columns, origins[here] - before, here
            before += len(part)

    def arc_features(self, i: int) -> dict[str, float]:
        """The summed features of the lattice arcs that rule i of the forest covers."""
        sums: dict[str, float] = {}
        link = int(self.native.chains[i])
        while link >= 0:
            link, features = map(int, self.native.links[link])
            for name, value in self._featured[features].items():
                sums[name] = sums.get(name, 0.0) + value
        return sums

    @cached_property
    def features(self) -> RuleFeatures:
        """The features of all rules, as those of :meth:`features_of`."""
        return self._features_of(self._all, self.rule_columns)

    def features_of(self, rules: NDArray[Any]) -> RuleFeatures:
        """The features of these rules, lattice arcs included: offsets, name ids in ``tables``, values."""
        return self._features_of(rules, self.columns_of(rules))

    def _features_of(self, rules: NDArray[Any], columns: GrammarColumns) -> RuleFeatures:
        import numpy as np

        names = np.array(self.tables.names.ids(columns.names[:]), dtype=np.int64)
        offsets = np.asarray(columns.feature_offsets, dtype=np.int64)
        ids, values = names[columns.features], columns.values.astype(np.float64)
        changed = np.flatnonzero(self.native.chains[rules] >= 0)
        if not len(changed):
            return offsets, ids, values
        rows = [range(first, last) for first, last in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
        features = [dict(zip(ids[row].tolist(), values[row].tolist(), strict=True)) for row in map(_slice, rows)]
        for i in changed.tolist():
            for name, value in self.arc_features(int(rules[i])).items():
                number = self.tables.names.id(name)
                features[i][number] = features[i].get(number, 0.0) + value
        return (
            np.cumsum([0, *map(len, features)], dtype=np.int64),
            np.array([number for row in features for number in row], dtype=np.int64),
            np.array([value for row in features for value in row.values()], dtype=np.float64),
        )

    @property
    def _all(self) -> NDArray[Any]:
        import numpy as np

        return np.arange(len(self.native.origins))

    @cached_property
    def rule_columns(self) -> GrammarColumns:
        """The rules of the forest as columns, in the forest's order."""
        return self.columns_of(self._all)

    def columns_of(self, rules: NDArray[Any]) -> GrammarColumns:
        """These rules of the forest as columns, in this order; those of the last call are kept."""
        if self._joined is None or self._joined[0] is not rules:
            self._joined = rules, self._columns_of(rules)
        return self._joined[1]

    def _columns_of(self, rules: NDArray[Any]) -> GrammarColumns:
        import numpy as np

        origins = self.native.origins[rules]
        chosen: list[tuple[GrammarPart, NDArray[Any]]] = []
        places: list[NDArray[np.int64]] = []
        before = 0
        for part in (*self._parts, GrammarPart(grammar_columns([self._goal_rule]), self.tables)):
            here = np.flatnonzero((origins >= before) & (origins < before + len(part)))
            if len(here):
                chosen.append((_as_part(part), origins[here] - before))
                places.append(here)
            before += len(part)
        if not chosen:
            return grammar_columns(())
        order = np.empty(len(origins), dtype=np.int64)
        order[np.concatenate(places)] = np.arange(len(origins))
        columns = join_parts(chosen, self.tables).take(order)
        # A rule of a forest is no refinement of the one before it.
        return replace(columns, level=0 * columns.level)

    def to_hypergraph(self, id: str = "") -> GraphColumns:
        """The forest as columns: an edge for each rule of a bundle, with the features of its rule and lattice arcs."""
        import numpy as np

        native = self.native
        bundle_of = np.repeat(np.arange(self.bundles), np.diff(native.rule_offsets))
        tail_offsets, places = gathered(native.tail_offsets, bundle_of)
        counts = np.diff(native.node_bundles)
        heads = np.repeat(np.arange(self.nodes), counts)[bundle_of]
        offsets, ids, values = self.features
        feature_offsets, rows = gathered(offsets, native.rules)
        used, numbers = np.unique(ids, return_inverse=True)
        labels, own = np.unique(native.nodes[:, 0], return_inverse=True)
        return GraphColumns(
            id=id,
            node_labels=own.astype(np.int32),
            edge_offsets=native.rule_offsets[native.node_bundles] if self.nodes else np.zeros(1, np.int64),
            tails=native.tails[places],
            tail_offsets=tail_offsets,
            rules=native.rules.copy(),
            spans=native.nodes[heads, 1:],
            features=numbers[rows].astype(np.int32),
            values=values[rows],
            feature_offsets=feature_offsets,
            scores=None,
            grammar=self.rule_columns,
            labels=string_table(self.tables.labels.words(labels.tolist())),
            names=string_table(self.tables.names.words(used.tolist())),
        )


def _as_part(part: GrammarPart | MintedRules) -> GrammarPart:
    return part.part if isinstance(part, MintedRules) else part


def _slice(row: range) -> slice:
    return slice(row.start, row.stop)
