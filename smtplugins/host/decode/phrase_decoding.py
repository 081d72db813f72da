"""Decode with phrases: the tables and features of a run joined with core's search, for the decoders of several plugins.

A plugin's decoder is a :class:`PhraseDecoder` whose options (:class:`StackOptions` and fields of its own) say which
phrases may come next, and which may have features beside those of the run.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.core.search.neighbours import FAULT, NeighbouringPhrases
from smtplugins.core.search.neighbours import NAME as CONSTRAINT
from smtplugins.core.search.phrases import hypergraph_of_phrases, phrase_searcher, position_feature, reordering
from smtplugins.core.search.stateful_search import SearchLimit, Stateful, contract_scorer, forest_of_parse
from smtplugins.host.decode.forest_decoding import BestFeatures, ForestDecoder, unknown_words
from smtplugins.host.decode.markup import barriers
from smtplugins.host.decode.parsing import SentenceParser
from smtplugins.host.decode.statistics import Times, added
from smtplugins.host.features.rule_columns import column_names
from smtplugins.host.features.stateful import SearchScorers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats.columns import GrammarColumns
    from smtplugins.contracts.data import Sentence
    from smtplugins.core.grammar.tables import Tables
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.core.search.phrases import OrderFeature, PhraseGraph, PhraseSearcher
    from smtplugins.core.search.search_options import PhraseSearchOptions
    from smtplugins.host.config.resources import Resources
    from smtplugins.host.decode.parsing import SentenceForest, WeightedParser
    from smtplugins.host.decode.phrase_options import StackOptions
    from smtplugins.host.features.scoring import Active


_SMALL = 1 << 17


def check_phrases(owner: str, columns: GrammarColumns) -> None:
    """Refuse a table with gaps."""
    if len(columns.source) and int(columns.source.min()) < 0:
        raise UsageError(f"{owner}: expected phrases, found rules with gaps: a decoder of grammars (hiero) is for them")


class PhraseDecoder(ForestDecoder["WeightedParser"]):
    """A decoder with a stack of hypotheses for each number of translated words."""

    def __init__(self, resources: Resources, options: StackOptions) -> None:
        super().__init__(SentenceParser(resources, options.parsing(), options.input_options()))
        self._options = options
        self._rows: list[_Rows] | None = None

    def system(self, weights: Mapping[str, float]) -> WeightedParser:
        """Apply weights to the tables; look up the reordering scores of their phrases once."""
        weighted = self.parser.weighted(weights)
        if self._rows is None:
            columns = self.parser.static_columns()
            for owner, part in columns:
                check_phrases(owner, part)
            with self.parser.times("loading"):
                models = [active for active in self.parser.stateful if _positional(active) == "orientation"]
                self._rows = [_Rows(model, self.parser.tables, [part for _, part in columns]) for model in models]
        return weighted

    def worker(self, system: WeightedParser, graphs: bool) -> PhraseWorker:
        """Make a decoder for one thread."""
        assert self._rows is not None
        return PhraseWorker(system, self._options, self._rows, graphs)


class PhraseWorker:
    """Decodes sentences one by one, in one thread."""

    def __init__(self, weighted: WeightedParser, options: StackOptions, rows: Sequence[_Rows], graphs: bool) -> None:
        self._weighted = weighted
        self._options = options
        self._search = options.native(all_edges=graphs)
        self._graphs = graphs
        features = weighted.parser.stateful
        # The search itself computes distortion and reordering.
        self._orders = [active for active in features if _positional(active)]
        self._rows = rows
        self.scorers = SearchScorers([active for active in features if active not in self._orders])
        self._searcher: PhraseSearcher | None = None
        self._marked = weighted.parser.phrases.mark_unknown
        self._parsing = weighted.parser.options
        self.names: list[str] = []

    def decode(self, sentence: Sentence) -> Decoding:
        times = Times()
        forest = self._weighted.forest(sentence)
        with times("search"):
            given = forest_of_parse(forest.forest, forest.scores)
            target = self._options.constraint(sentence)
            searcher = self._prepared(sentence, forest, target)
            names = self.names
            rows = [model.of(forest) for model in self._rows]
            try:
                graph = searcher.search(given, rows, _distances(sentence, forest), self._limited(sentence))
            except SearchLimit:
                text = f"more than {self._search.max_edges} hypotheses: lower pop_limit or raise max_edges"
                raise SmtError(f"sentence {sentence.id}: {text}") from None
        with times("output"):
            steps = graph.path
            # A sentence without words has a translation without words.
            there = bool(graph.nodes) or not sentence.tokens
            if target is not None and float(graph.scores[steps].sum()) < -FAULT / 2:
                there, steps = False, steps[:0]
            rules = graph.rules[steps]
            # Joshua gives back a sentence that it cannot translate.
            lost = self._parsing.joshua and not there
            best = forest.sentence.text if lost else self._parsing.shown(_text(forest, rules, self._marked))
        counts = {"hypotheses": graph.made, "moves": graph.asked}
        return Decoding(
            id=sentence.id,
            best=best,
            score=float(graph.scores[steps].sum()) if there else None,
            features=BestFeatures(forest, names, lambda: _steps(graph) if there else None),
            graph=(lambda: self._graph(forest, graph, names)) if self._graphs else None,
            endings=(lambda: self._endings(graph, rows)) if self._graphs and target is None else None,
            shown=self._parsing.shown if self._parsing.joshua else None,
            trace=lambda: _traced(forest, graph) if there else iter(["no derivation"]),
            unknown=lambda: unknown_words(forest),
            stats=added({**forest.stats, **counts}, times.sums),
            found=there,
        )

    def _limited(self, sentence: Sentence) -> PhraseSearchOptions:
        """The options of the search, with the walls and zones of a sentence."""
        limits = barriers(sentence, punctuation=self._weighted.parser.phrases.monotone_at_punctuation)
        return self._options.native(all_edges=self._graphs, **limits) if limits else self._search

    def _graph(self, forest: SentenceForest, graph: PhraseGraph, names: Sequence[str]) -> Hypergraph:
        made = hypergraph_of_phrases(forest.forest, graph, forest.features_of, names, id=forest.sentence.id)
        if CONSTRAINT in names and len(made):
            # Without the steps of illegal translations, and empty if there are no others.
            return made.restricted(made.scores({CONSTRAINT: 1.0}) >= 0).graph
        return made

    def _endings(self, graph: PhraseGraph, rows: Sequence[NDArray[Any]]) -> list[int]:
        """Number the phrases of steps: by where they end and, with reordering models, begin and score before others."""
        import numpy as np

        count = int(graph.node_edges[-2]) if graph.nodes else 0
        rules = graph.rules[:count]
        keys = np.zeros(count, dtype=np.int64)
        columns: list[NDArray[Any]] = [graph.lasts[:count]] if self._orders else []
        for model, values in zip(self._rows, rows, strict=True):
            forward = model.forward(values)
            own = np.unique(forward, axis=0, return_inverse=True)[1].reshape(-1) if forward.size else None
            columns += [graph.firsts[:count]] if own is None else [graph.firsts[:count], own[rules]]
        for column in columns:
            keys = np.unique(keys * (1 + column.max(initial=0)) + column, return_inverse=True)[1].reshape(-1)
        numbers: list[int] = keys.tolist()
        return numbers

    def _prepared(self, sentence: Sentence, forest: SentenceForest, target: str | None) -> PhraseSearcher:
        words = forest.forest.tables.words
        parts, same = self.scorers.prepared(sentence, words)
        if self._searcher is None or not same or target is not None or CONSTRAINT in self.names:
            weights = self._weighted.weights
            stateful = self.scorers.weighted(parts, weights)
            if target is not None:
                rule = contract_scorer(NeighbouringPhrases(target), words)
                stateful.append(Stateful(rule, (CONSTRAINT,), (1.0,)))
            orders = [_order(active, weights) for active in self._orders]
            self.names = [name for feature in stateful for name in feature.names]
            self.names += [name for active in self._orders for name in _names(active)]
            self._searcher = phrase_searcher(stateful, orders)
        return self._searcher


def _positional(active: Active) -> str:
    """``jump`` or ``orientation`` for features that the search itself computes, "" for others."""
    return getattr(active.feature, "positional", "")


def _names(active: Active) -> tuple[str, ...]:
    return column_names(active, getattr(active.feature, "components", 1))


def _order(active: Active, weights: Mapping[str, float]) -> OrderFeature:
    own = [weights.get(name, 0.0) for name in _names(active)]
    if active.feature.positional != "orientation":
        return position_feature(active.feature.positional, own)
    model = active.feature.model
    return reordering(
        model.orientation,
        own,
        backward="backward" in model.directions,
        forward="forward" in model.directions,
        collapsed=model.collapsed,
    )


def _distances(sentence: Sentence, forest: SentenceForest) -> NDArray[Any] | None:
    # A lattice may have no words.
    if sentence.lattice is None or not forest.forest.nodes:
        return None
    from smtplugins.core.grammar.lattice_distances import distances

    return distances(sentence.lattice).reshape(-1)


class _Rows:
    """The scores of rules in a reordering model; those of the run's tables are looked up once, for all threads."""

    def __init__(self, active: Active, tables: Tables, static: Sequence[GrammarColumns]) -> None:
        import numpy as np

        count = sum(map(len, static))

        self._tables = tables
        self._feature = active.feature
        self._lock = threading.Lock()
        # The row of each table rule, -1 before it is looked up. Row 0 belongs to no rule.
        self._places = np.full(count, -1, dtype=np.int32)
        self._rows = np.zeros((1024, active.feature.model.scores), dtype=np.float32)
        self._used = 1
        # Looking up a small table at once is faster; most phrases of a large one are never seen.
        if count <= _SMALL:
            before = 0
            for columns in static:
                numbers = np.arange(len(columns))
                self._keep(before + numbers, self._feature.rule_rows(columns, numbers))
                before += len(columns)

    def of(self, forest: SentenceForest) -> NDArray[Any]:
        """The scores of each rule of a forest, row after row; zeros for the goal's rule."""
        import numpy as np

        origins = forest.forest.native.origins[:-1]
        # A forest of per-sentence grammars alone has no rules of the run's tables.
        limit = len(self._places) if forest.forest.tables is self._tables else 0
        own = np.flatnonzero(origins >= limit)
        places = np.zeros(len(forest.forest.native.origins), dtype=np.int32)
        with self._lock:
            if limit:
                places[:-1] = self._places.take(origins, mode="clip")
                places[own] = 0
                fresh = np.flatnonzero(places < 0)
                if len(fresh):
                    self._keep(origins[fresh], self._looked_up(forest, fresh))
                    places[fresh] = self._places[origins[fresh]]
            rows: NDArray[Any] = self._rows[places]
        if len(own):
            rows[own] = self._looked_up(forest, own)
        return rows.reshape(-1)

    def forward(self, values: NDArray[Any]) -> NDArray[Any]:
        """The scores of each rule with the phrase behind it, of the values that :meth:`of` returns."""
        model = self._feature.model
        table = values.reshape(-1, model.scores)
        here = model.scores // len(model.directions) if "backward" in model.directions else 0
        return table[:, here:] if "forward" in model.directions else table[:, :0]

    def _keep(self, origins: NDArray[Any], rows: NDArray[Any]) -> None:
        import numpy as np

        if self._used + len(rows) > len(self._rows):
            more = max(len(rows), len(self._rows), 1024)
            self._rows = np.concatenate([self._rows, np.zeros((more, self._rows.shape[1]), np.float32)])
        self._places[origins] = np.arange(self._used, self._used + len(rows))
        self._rows[self._used : self._used + len(rows)] = rows
        self._used += len(rows)

    def _looked_up(self, forest: SentenceForest, rules: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        rows = np.empty((len(rules), self._rows.shape[1]), dtype=np.float32)
        for columns, chosen, places in forest.forest.in_parts(rules):
            rows[places] = self._feature.rule_rows(columns, chosen)
        return rows


def _text(forest: SentenceForest, rules: NDArray[Any], marked: bool) -> str:
    """The target words of these rules; unknown words as they are printed if they are ``marked``."""
    native = forest.forest.native
    if marked:
        sides = [forest.forest.rule(rule).target for rule in rules.tolist()]
        return " ".join(symbol for side in sides for symbol in side if isinstance(symbol, str))
    targets, offsets, word = native.targets, native.target_offsets, forest.forest.tables.words.word
    rows = [targets[offsets[rule] : offsets[rule + 1]].tolist() for rule in rules.tolist()]
    return " ".join([word(symbol) for row in rows for symbol in row if symbol >= 0])


def _traced(forest: SentenceForest, graph: PhraseGraph) -> Iterator[str]:
    """``[first, last) source ||| target`` for each phrase in target order, with its score and the total so far."""
    if not graph.nodes:
        yield "no derivation"
        return
    total = 0.0
    for edge in graph.path.tolist():
        score = float(graph.scores[edge])
        total += score
        rule = forest.forest.rule(int(graph.rules[edge]))
        first, last = int(graph.firsts[edge]), int(graph.lasts[edge])
        if first == last:
            yield f"end  {score:.4f}  {total:.4f}"
        else:
            source, target = (" ".join(map(str, side)) for side in (rule.source, rule.target))
            yield f"[{first}, {last}) {source} ||| {target}  {score:.4f}  {total:.4f}"


def _steps(graph: PhraseGraph) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """The rules of the best derivation, and the values of its stateful features."""
    return (graph.rules[graph.path], graph.values.reshape(len(graph.rules), -1)[graph.path]) if graph.nodes else None
