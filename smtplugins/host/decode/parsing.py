"""Parse sentences into forests and score their rules with the stateless features.

What toolkits do differently when they parse is in :class:`ParsingOptions`. Stateful features are scored in the search.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.caching.folders import cached_load
from smtformats.records import dataclass
from smtplugins.contracts.errors import UsageError
from smtplugins.core.grammar.lookup import looked_up
from smtplugins.core.grammar.parsing import Lattice, Options, PassThrough, prepared
from smtplugins.core.grammar.rules import GLUE, MINTED, Origins, Rules
from smtplugins.core.grammar.tables import Grammar, ScoredGrammar, Tables
from smtplugins.core.vocabulary import Vocabulary
from smtplugins.host.decode import markup
from smtplugins.host.decode.lattices import input_of
from smtplugins.host.decode.markup import SentenceMarkup
from smtplugins.host.decode.parsing_options import MARKS, NO_LIMIT, ParsingOptions
from smtplugins.host.decode.phrase_options import AS_WRITTEN, InputOptions
from smtplugins.host.decode.statistics import Times
from smtplugins.host.features.rule_columns import ColumnBlock, SparseBlock, blocks_of, column_names, sorted_out
from smtplugins.host.files.opening import load_grammar, open_known

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Format, GrammarColumns
    from smtformats.grammar.rules import Rule
    from smtformats.grammar.shared.lookup import PhraseLookup
    from smtplugins.contracts.data import Sentence
    from smtplugins.core.grammar.parsed_forest import Forest
    from smtplugins.core.search.coarse_to_fine import CoarseToFine
    from smtplugins.core.search.phrase_forests import PhraseOrders
    from smtplugins.host.config.resources import Resources
    from smtplugins.host.features.scoring import Active


_COPIED_SPAN = 3
_JOSHUA_SPAN = 20


def _copied(phrases: InputOptions, *, drop: bool, mark: bool) -> Callable[[str], str] | None:
    """The translation of an unknown word if it is not itself: nothing, or with a mark."""
    if not (drop or mark or phrases.drop_unknown):
        return None
    target = replace(phrases, drop_unknown=drop or phrases.drop_unknown).target
    return (lambda word: f"{target(word)}_OOV" if target(word) else "") if mark else target


class SentenceParser:
    """Parses sentences with the tables and features of a run; the weights are applied to its tables once."""

    def __init__(
        self,
        resources: Resources,
        options: ParsingOptions,
        phrases: InputOptions | None = None,
        *,
        own: Mapping[str, Sequence[Rule]] | None = None,
        orders: PhraseOrders | None = None,
        coarse: CoarseToFine | None = None,
    ) -> None:
        """With ``phrases`` there is no goal: a forest has the phrases of each span, or with ``orders`` all orders.

        ``own`` are rules of the decoder itself, by the name of their owner.
        """
        self.resources = resources
        self.options = options
        self.goal = options.goal if phrases is None else None
        self.phrases = AS_WRITTEN if phrases is None else phrases
        self.orders, self.coarse = orders, coarse
        self._own_rules = dict(own or {})
        self.tables = Tables()
        self._lock = threading.Lock()
        self._grammars: list[Grammar] | None = None
        self._owners: list[str] = []
        self._own_format: Format | None = None
        # Tables that are looked up for each sentence, by the number of their grammar, which has no rules.
        self._lookups: dict[int, PhraseLookup] = {}
        self.rule_features, self.stateful = sorted_out(resources.features)
        self._pass_through, self.rule_features = self._copying()
        self.times = Times()
        self.dense_names: list[str] = []
        self.first_names: list[str] = []

    def _copying(self) -> tuple[PassThrough | None, list[Active]]:
        """The rules that copy input words, and the rule features except the one that scores their labels."""
        options, phrases = self.options, self.phrases
        probabilities = options.oov_labels
        if options.pass_through == "none":
            return None, self.rule_features
        labels: dict[str, dict[str, float]] = {options.nonterminal: {}}
        rest = self.rule_features
        if probabilities:
            labelled = [active for active in rest if getattr(active.feature, "labelled_unknowns", False)]
            names = [active.label for active in labelled]
            rest = [active for active in rest if active not in labelled]
            labels = {
                label: {name: math.log(p) if p > 0 else -math.inf for name in names}
                for label, p in probabilities.items()
            }
        copying = PassThrough(
            labels,
            target=_copied(phrases, drop=options.drop_unknown, mark=options.mark_oovs),
            shown=phrases.shown if phrases.mark_unknown else None,
            span_limit=_JOSHUA_SPAN if options.joshua else _COPIED_SPAN,
            unknown_only=options.pass_through == "unknown",
            except_for=frozenset(MARKS) if options.markers else frozenset(),
        )
        return copying, rest

    def load(self) -> None:
        """Load the tables unless they are loaded."""
        with self._lock:
            if self._grammars is not None:
                return
            with self.times("loading"):
                self._grammars = self._loaded()

    def _loaded(self) -> list[Grammar]:
        grammars: list[Grammar] = []
        for table in self.resources.tables:
            opened = table.lookup(self.resources.formats)
            if opened is None:
                columns = table.load(self.resources.formats, self.resources.cache)
            else:
                self._lookups[len(grammars)] = opened
                columns = opened.columns(())
            grammars.append(self._grammar(columns, table.max_span))
            self._owners.append(table.owner or table.name or str(table.path))
            names = table.dense_names(columns.names[:])
            self.first_names = self.first_names or names
            self.dense_names += [name for name in names if name not in self.dense_names]
        extra = self.options.glue_path
        if extra is not None:
            given = self.resources
            columns = load_grammar(extra, format=given.grammar_format, cache=given.cache, formats=given.formats)
            grammars.append(Grammar(columns, self.tables, from_start=True))
            self._owners.append(str(extra))
        if self.options.glue:
            grammars.append(self._glue(self.tables))
            self._owners.append(GLUE)
        for owner, rules in self._own_rules.items():
            grammars.append(Grammar.of_rules(rules, self.tables, span_limit=self.options.max_span))
            self._owners.append(owner)
        return grammars

    def table_names(self, own: Iterable[str] = ()) -> tuple[str, ...]:
        """The features of rules in the run's tables and in ``own`` files."""
        tables = [columns for _, columns in self.static_columns()]
        tables += [self.load_own(Path(path)) for path in own]
        return tuple(dict.fromkeys(name for columns in tables for name in columns.names[:]))

    def static_columns(self) -> list[tuple[str, GrammarColumns]]:
        """The rules of the run's tables with their owners; rules of single sentences are numbered after these."""
        self.load()
        assert self._grammars is not None
        each = zip(self._owners, self._grammars, strict=True)
        return [(owner, part.columns) for owner, grammar in each for part in grammar.parts]

    def load_own(self, path: Path) -> GrammarColumns:
        """Load a per-sentence grammar, in the format configured for grammars or detected in the first such file."""
        known = self._own_format
        if known is None:
            with open_known(path, "grammar", self.resources.grammar_format, self.resources.formats) as opened:
                known = self._own_format = opened.record
        return cached_load(path, known, None)

    def _grammar(self, columns: GrammarColumns | Sequence[GrammarColumns], own_span: int | None) -> Grammar:
        span = self.options.max_span if own_span is None else own_span
        if span == NO_LIMIT:
            return Grammar(columns, self.tables, from_start=True)
        return Grammar(columns, self.tables, span_limit=span)

    def looked_up(self, given: Sequence[str] | Lattice) -> list[tuple[int, GrammarColumns]]:
        """The rules for a sentence of the tables that are looked up, with the number of the table's grammar."""
        assert self._grammars is not None
        limits = {number: self._grammars[number].span_limit for number in self._lookups}
        return [(number, looked_up(table, given, limits[number])) for number, table in self._lookups.items()]

    def _glue(self, tables: Tables) -> Grammar:
        return Grammar.of_rules(self.options.glue_rules(self.goal or "S"), tables, from_start=True)

    def weighted(self, weights: Mapping[str, float]) -> WeightedParser:
        """Apply weights to the tables; the result parses sentences."""
        self.load()
        assert self._grammars is not None
        with self.times("loading"):
            applied = [
                self._applied(*table, weights)
                for table in zip(self._grammars, self._owners, self._limits(), strict=True)
            ]
        return WeightedParser(self, dict(weights), applied, tuple(self._owners))

    def _limits(self) -> list[int]:
        """The number of target sides kept for a source side, by grammar; 0, as for glue, keeps all."""
        limits = [table.limit or self.options.max_options for table in self.resources.tables]
        return limits + [0] * (len(self._owners) - len(limits))

    def _applied(self, grammar: Grammar, owner: str, limit: int, weights: Mapping[str, float]) -> ScoredGrammar:
        scores = grammar.scores(weights)
        if limit:
            grammar = grammar.limited(self._estimates(grammar, owner, scores, weights), limit)
        return ScoredGrammar(grammar, scores)

    def _estimates(
        self, grammar: Grammar, owner: str, scores: NDArray[Any], weights: Mapping[str, float]
    ) -> NDArray[Any]:
        """Estimate the score of each rule of a table out of context, to prune the table with a ``limit``."""
        import numpy as np

        parts = []
        for part, first in zip(grammar.parts, _starts(grammar), strict=True):
            columns = part.columns
            origins = Origins((owner,), (0,), np.arange(len(part)), lambda columns=columns: columns)  # type: ignore[misc]
            words = Vocabulary(columns.words[:])
            rules = Rules(words, columns.target, columns.target_offsets, origins, ordered=False)
            worth = scores[first : first + len(part)].astype(np.float64)
            for block in blocks_of(self.rule_features, rules):
                block.add_scores(worth, weights)
            for feature in self.stateful:
                if hasattr(feature.feature, "fragment_scores"):
                    name = column_names(feature, 1)[0]
                    worth += weights.get(name, 0.0) * feature.feature.fragment_scores(columns)
            parts.append(worth)
        return np.concatenate(parts).astype(np.float32)


def _parts(applied: ScoredGrammar) -> list[NDArray[Any]]:
    """The scores of each part of a grammar."""
    ends = [*_starts(applied.grammar), len(applied.scores)]
    return [applied.scores[first:last] for first, last in itertools.pairwise(ends)]


def _starts(grammar: Grammar) -> list[int]:
    return list(itertools.accumulate((len(part) for part in grammar.parts[:-1]), initial=0)) if grammar.parts else []


class WeightedParser:
    """Parses sentences under one set of weights, in any number of threads."""

    def __init__(
        self,
        parser: SentenceParser,
        weights: Mapping[str, float],
        applied: Sequence[ScoredGrammar],
        owners: tuple[str, ...],
    ) -> None:
        self.parser = parser
        self.weights = weights
        self._applied = applied
        self._owners = owners
        self._options = Options(goal=parser.goal, pass_through=parser._pass_through)

    def forest(self, sentence: Sentence) -> SentenceForest:
        """Parse a sentence."""
        times = Times()
        parser, options = self.parser, self.parser.options
        if sentence.marks:
            markup.check(sentence, parser.phrases)
        if options.max_length is not None and len(sentence.tokens) > options.max_length:
            sentence = replace(sentence, tokens=sentence.tokens[: options.max_length])
        given = input_of(sentence, options, parser.resources.features)
        own = [Path(path) for path in sentence.grammars]
        # Per-sentence grammars without tables of the run leave the run's vocabulary as it is.
        alone = bool(own) and not parser.resources.tables and options.glue_path is None
        tables = Tables() if alone else parser.tables
        tags, orders = None, parser.orders
        if sentence.marks:
            tags = SentenceMarkup(sentence, parser.phrases.xml, parser.first_names, options.nonterminal, tables)
        with times("loading"):
            columns = [parser.load_own(path) for path in own]
            found = [] if alone else parser.looked_up(given)
        with times("parsing"):
            # Tables that sentences share grow while a sentence is prepared.
            with contextlib.nullcontext() if alone else parser._lock:
                grammars, owners = self._sentence_grammars(columns, own, tables, alone)
                table_of = {len(grammars) + i: number for i, (number, _) in enumerate(found)}
                grammars += [self._looked_up(number, rules) for number, rules in found]
                owners += tuple(self._owners[number] for number, _ in found)
                if tags:
                    grammars.append(tags.grammar)
                    owners += (markup.OWNER,)
                if orders is not None:
                    grammars.append(orders.grammar(options.nonterminal, tables))
                    owners += (GLUE,)
                run = prepared(given, grammars, self._options, self.weights)
            forest = run()
            starts = list(itertools.accumulate(map(_size, grammars), initial=0))
            if tags:
                forest = tags.edited(forest, starts[-2 if orders is None else -3], self.weights)
            if any(table.backoff for table in parser.resources.tables):
                forest = self._backed_off(sentence, forest, starts, table_of)
            if orders is not None:
                forest = orders.ordered(forest, starts[-2], len(sentence.tokens), options.nonterminal)
            owners += (MINTED,)
            if parser.coarse is not None:
                forest = self._coarse_to_fine(sentence, forest, owners, starts, parser.coarse)
            scored = self._scored(sentence, forest, owners, starts)
        scored.stats.update(times.sums)
        return scored

    def _looked_up(self, number: int, rules: GrammarColumns) -> ScoredGrammar:
        """The rules for a sentence of a table that is looked up, scored and pruned as those of other tables."""
        parser, span = self.parser, self._applied[number].grammar.span_limit
        grammar = Grammar(rules, parser.tables, span_limit=span)
        return parser._applied(grammar, self._owners[number], parser._limits()[number], self.weights)

    def _backed_off(
        self, sentence: Sentence, forest: Forest, starts: Sequence[int], table_of: Mapping[int, int]
    ) -> Forest:
        """The forest without the phrases of a table with a backoff where it is not to be used."""
        from smtplugins.core.search.phrase_options import backed_off

        parser = self.parser
        if parser.goal is not None or sentence.lattice is not None:
            raise UsageError("model.tables: backoff: expected a decoder of phrases, and sentences, no lattices")
        backoffs = [table.backoff for table in parser.resources.tables]
        return backed_off(forest, starts, backoffs, table_of, len(sentence.tokens), parser.options.nonterminal)

    def _coarse_to_fine(
        self, sentence: Sentence, forest: Forest, owners: tuple[str, ...], starts: Sequence[int], coarse: CoarseToFine
    ) -> Forest:
        """The forest of the finest rules that refine those of a pruned coarse one."""
        if sentence.lattice is not None:
            raise UsageError(f"sentence {sentence.id}: coarse_beam: expected words, found a lattice")
        counted = {name: self.weights.get(name, 0.0) for name in coarse.features}

        def scored(fine: Forest) -> NDArray[Any]:
            scores = fine.native.scores.astype("float64")
            for block in self._scored(sentence, fine, owners, starts).blocks:
                block.add_scores(scores, counted)
            return scores

        static = [part for applied in self._applied for part in _parts(applied)]
        levels = max((int(rules.level.max(initial=0)) for _, rules in self.parser.static_columns()), default=0)
        places = (*starts, forest.goal_origin)
        same = Origins((*owners, "goal"), places, forest.native.origins, lambda: forest.rule_columns).of(GLUE, MINTED)
        return coarse.refined(forest, levels, same, lambda fine: fine.scores(self.weights, static), scored)

    def _sentence_grammars(
        self, columns: Sequence[GrammarColumns], own: Sequence[Path], tables: Tables, alone: bool
    ) -> tuple[list[Any], tuple[str, ...]]:
        """The grammars that a sentence is parsed with, and their owners."""
        span = self.parser.options.max_span
        grammars: list[Any] = [Grammar(part, tables, span_limit=span) for part in columns]
        owners = tuple(map(str, own))
        if not alone:
            grammars, owners = [*self._applied, *grammars], (*self._owners, *owners)
            if not grammars:
                raise UsageError("expected a grammar: none is configured, and the sentence has none of its own")
        elif self.parser.options.glue:
            grammars.append(self.parser._glue(tables))
            owners += (GLUE,)
        return grammars, owners

    def scores_of(self, made: SentenceForest) -> NDArray[Any]:
        """Score the rules of a forest by these weights; it may be parsed under others, with the same tables."""
        import numpy as np

        # A forest of per-sentence grammars alone has no rules of the run's tables.
        alone = made.forest.tables is not self.parser.tables
        static = [] if alone else [part for applied in self._applied for part in _parts(applied)]
        scores = made.forest.scores(self.weights, static).astype(np.float64)
        for block in made.blocks:
            block.add_scores(scores, self.weights)
        return np.ascontiguousarray(scores, dtype=np.float32)

    def _scored(
        self, sentence: Sentence, forest: Forest, owners: tuple[str, ...], starts: Sequence[int]
    ) -> SentenceForest:
        import numpy as np

        native = forest.native
        above = forest.goal_origin
        origins = Origins((*owners, "goal"), (*starts, above), native.origins, lambda: forest.rule_columns)
        rules = Rules(forest.tables.words, native.targets, native.target_offsets, origins, ordered=False)
        # The rule above the goal has no owner; without a parse there is none.
        blocks = list(blocks_of(self.parser.rule_features, rules, -1 if len(native.origins) else None))
        scores = native.scores.astype(np.float64)
        for block in blocks:
            block.add_scores(scores, self.weights)
        counts = {"nodes": forest.nodes, "bundles": forest.bundles, "edges": forest.edges}
        narrow = np.ascontiguousarray(scores, dtype=np.float32)
        return SentenceForest(sentence, forest, narrow, blocks, dict(counts), rules)


def _size(grammar: Grammar | ScoredGrammar) -> int:
    return len(grammar.grammar if isinstance(grammar, ScoredGrammar) else grammar)


@dataclass
class SentenceForest:
    """A forest whose rules are scored by their own features and the stateless features of the run."""

    sentence: Sentence
    forest: Forest
    scores: NDArray[Any]
    blocks: list[ColumnBlock | SparseBlock]
    stats: dict[str, float]
    rules: Rules

    @cached_property
    def features(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The features of all rules, as those of :meth:`features_of`."""
        import numpy as np

        return self.features_of(np.arange(len(self.scores)))

    def features_of(self, rules: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The features of these rules, each once: offsets, ids of names in ``forest.tables.names``, values."""
        import numpy as np

        offsets, ids, values = self.forest.features_of(rules)
        rows = np.repeat(np.arange(len(rules)), np.diff(offsets))
        names = self.forest.tables.names
        for block in self.blocks:
            places, own, more = block.of(rules).entries()
            rows = np.concatenate([rows, places])
            ids = np.concatenate([ids, np.array(names.ids(block.names), dtype=np.int64)[own]])
            values = np.concatenate([values, more])
        order = np.argsort(rows, kind="stable")
        counts = np.bincount(rows, minlength=len(rules))
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), ids[order], values[order]

    def sums(self, rules: Sequence[int]) -> dict[str, float]:
        """Sum the features of these rules; a rule that occurs twice counts twice."""
        named: dict[str, float] = {}
        for rule in rules:
            for name, value in self.forest.rule_features(rule).items():
                named[name] = named.get(name, 0.0) + value
        for block in self.blocks:
            for label, value in block.sums(rules).items():
                named[label] = named.get(label, 0.0) + value
        return named
