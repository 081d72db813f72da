"""From sentences to forests: parsing with the tables of a run, and what its features say of the rules in a forest.

What toolkits do differently when they parse is in :class:`Conventions`. Stateful features are the search's own; all
others are summed here, so that a forest's rules have scores.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.core.grammar.parsing import Lattice, Options, PassThrough, prepared
from smtplugins.core.grammar.rules import GLUE, MINTED, Origins, Rules
from smtplugins.core.grammar.tables import Grammar, ScoredGrammar, Tables
from smtplugins.host.decode import markup
from smtplugins.host.decode.lattices import lattice_of
from smtplugins.host.decode.markup import Markup
from smtplugins.host.decode.phrase_conventions import AS_WRITTEN, PhraseConventions
from smtplugins.host.errors import UsageError
from smtplugins.host.features.rule_columns import Block, SparseBlock, blocks_of, column_names, sorted_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Format, GrammarColumns
    from smtformats.grammar.rules import Rule
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.grammar.parsed_forest import Forest
    from smtplugins.host.config.resources import Resources, Table
    from smtplugins.host.features.scoring import Active

MARKS = ("<s>", "</s>")
NO_LIMIT = -1  # of a span: Joshua's way to say that a rule begins where the sentence does
_MINTED_SPAN = 3
_JOSHUA_SPAN = 20


@dataclass(frozen=True)
class Conventions:
    """How sentences become forests.

    ``markers``: ``<s>`` and ``</s>`` stand around a sentence and in the glue rules. ``pass_through``: a rule for each
    word of the input, for the ``unknown`` ones or for none; with one of ``oov_labels`` as its left-hand side, whose
    numbers are probabilities. ``joshua`` is what Joshua alone does: rules for words have spans of 20 words, ``<eps>``
    is a word of lattices, brackets and bars of the input are spelt out, and a sentence without a parse is its own
    translation.
    """

    goal: str | None = "S"
    nonterminal: str = "X"
    max_span: int | None = None
    glue: bool = True
    glue_path: Path | None = None
    markers: bool = False
    pass_through: str = "all"
    oov_labels: Mapping[str, float] = field(default_factory=dict)
    mark_oovs: bool = False
    max_length: int | None = None
    max_options: int = 0
    joshua: bool = False
    lattice: bool = False

    def shown(self, text: str) -> str:
        """Words as they are given out: without the marks of sentences, and Joshua's brackets spelt back."""
        from smtformats.escapes import unescape

        if self.markers:
            text = " ".join(word for word in text.split(" ") if word not in MARKS)
        return unescape(text, "joshua") if self.joshua else text


def oov_labels(text: str | None, path: Path | None) -> dict[str, float]:
    """Joshua's list of labels for words without a rule, and how probable each is."""
    if path is not None:
        from smtformats.files import open_lines

        with open_lines(path) as lines:
            text = " ".join(line.strip() for line in lines)
    cells = (text or "").split()
    if len(cells) % 2:
        raise UsageError(f"oov_list: expected labels with a number each, found {len(cells)} items")
    found = {}
    for label, number in zip(cells[::2], cells[1::2], strict=True):
        try:
            found[label.removeprefix("[").removesuffix("]")] = float(number)
        except ValueError:
            raise UsageError(f"oov_list: expected a number behind {label!r}, found {number!r}") from None
    return found


class Forests:
    """Makes forests with the tables and features of a run; what weights do to tables is done once for each weights."""

    def __init__(
        self,
        resources: Resources,
        conventions: Conventions,
        phrases: PhraseConventions = AS_WRITTEN,
        *,
        own: Mapping[str, Sequence[Rule]] | None = None,
    ) -> None:
        """``own`` are rules of the decoder itself, by the name of their owner."""
        self.resources = resources
        self.conventions = conventions
        self.phrases = phrases
        self._own_rules = dict(own or {})
        self.tables = Tables()
        self._lock = threading.Lock()
        self._grammars: list[Grammar] | None = None
        self._owners: list[str] = []
        self._own_format: Format | None = None
        self.rule_features, self.stateful = sorted_out(resources.features)
        self._pass_through, self.rule_features = self._minting()
        self.times = Times()
        self.dense_names: list[str] = []
        self.first_names: list[str] = []

    def _minting(self) -> tuple[PassThrough | None, list[Active]]:
        """Rules for words of the input; and the features of rules, without that one which knows their labels."""
        by, phrases = self.conventions, self.phrases
        if by.pass_through == "none":
            return None, self.rule_features
        labels: dict[str, dict[str, float]] = {by.nonterminal: {}}
        rest = self.rule_features
        if by.oov_labels:
            names = [one.label for one in rest if one.offer.name == "oov"]
            rest = [one for one in rest if one.offer.name != "oov"]
            labels = {
                label: {name: math.log(p) if p > 0 else -math.inf for name in names}
                for label, p in by.oov_labels.items()
            }
        minting = PassThrough(
            labels,
            target=(lambda word: f"{word}_OOV") if by.mark_oovs else phrases.target if phrases.drop_unknown else None,
            shown=phrases.shown if phrases.mark_unknown else None,
            span_limit=_JOSHUA_SPAN if by.joshua else _MINTED_SPAN,
            unknown_only=by.pass_through == "unknown",
            except_for=frozenset(MARKS) if by.markers else frozenset(),
        )
        return minting, rest

    def load(self) -> None:
        """Read the tables, if that is still to be done."""
        with self._lock:
            if self._grammars is not None:
                return
            with self.times("loading"):
                self._grammars = self._loaded()

    def _loaded(self) -> list[Grammar]:
        found = []
        for table in self.resources.tables:
            columns = table.load(self.resources.formats, self.resources.cache)
            found.append(self._grammar(columns, table.max_span))
            self._owners.append(table.owner or table.name or str(table.path))
            names = table.dense_names(columns.names[:])
            self.first_names = self.first_names or names
            self.dense_names += [one for one in names if one not in self.dense_names]
        extra = self.conventions.glue_path
        if extra is not None:
            from smtplugins.host.files.opening import load_grammar

            given = self.resources
            columns = load_grammar(extra, format=given.grammar_format, cache=given.cache, formats=given.formats)
            found.append(Grammar(columns, self.tables, from_start=True))
            self._owners.append(str(extra))
        if self.conventions.glue:
            found.append(self._glue(self.tables))
            self._owners.append(GLUE)
        for owner, rules in self._own_rules.items():
            found.append(Grammar.of_rules(rules, self.tables, span_limit=self.conventions.max_span))
            self._owners.append(owner)
        return found

    def table_names(self, own: Iterable[str] = ()) -> tuple[str, ...] | None:
        """The features that rules of the run's tables and of ``own`` files have; none if other names may come up."""
        made = [one.feature for one in self.rule_features]
        if not all(hasattr(one, "column_names") or hasattr(one, "components") for one in made):
            return None
        tables = [columns for _, columns in self.static_columns()]
        tables += [self.load_own(Path(path)) for path in own]
        return tuple(dict.fromkeys(name for columns in tables for name in columns.names[:]))

    def static_columns(self) -> list[tuple[str, GrammarColumns]]:
        """The rules of the run's tables, numbered through, and whose they are; rules of sentences come behind them."""
        self.load()
        assert self._grammars is not None
        each = zip(self._owners, self._grammars, strict=True)
        return [(owner, part.columns) for owner, grammar in each for part in grammar.parts]

    def load_own(self, path: Path) -> GrammarColumns:
        """The rules of one sentence. All such files have the format that is said of grammars, or of the first one."""
        from smtplugins.host.files.opening import open_known

        known = self._own_format
        if known is None:
            with open_known(path, "grammar", self.resources.grammar_format, self.resources.formats) as opened:
                known = self._own_format = opened.record
        from smtformats.caching.folders import cached_load

        return cached_load(path, known, None)

    def _grammar(self, columns: GrammarColumns | Sequence[GrammarColumns], own_span: int | None) -> Grammar:
        span = self.conventions.max_span if own_span is None else own_span
        if span == NO_LIMIT:
            return Grammar(columns, self.tables, from_start=True)
        return Grammar(columns, self.tables, span_limit=span)

    def _glue(self, tables: Tables) -> Grammar:
        from smtformats.grammar.rules import NonTerminal, Rule

        by = self.conventions
        root = by.goal or "S"
        goal, first, second = NonTerminal(root, 1), NonTerminal(by.nonterminal, 1), NonTerminal(by.nonterminal, 2)
        rules = [Rule(root, (goal, second), (goal, second))]
        if by.markers:
            rules.insert(0, Rule(root, MARKS[:1], MARKS[:1]))
            rules.append(Rule(root, (goal, MARKS[1]), (goal, MARKS[1])))
        else:
            rules.insert(0, Rule(root, (first,), (first,)))
        if by.joshua and by.lattice:
            rules.append(Rule(root, (goal, "<eps>"), (goal,)))
        return Grammar.of_rules(rules, tables, from_start=True)

    def weighted(self, weights: Mapping[str, float]) -> Weighted:
        """Forests with scores by these weights."""
        self.load()
        assert self._grammars is not None
        with self.times("loading"):
            applied = [
                self._applied(*one, weights) for one in zip(self._grammars, self._owners, self._limits(), strict=True)
            ]
        return Weighted(self, dict(weights), applied, tuple(self._owners))

    def _limits(self) -> list[int]:
        """How many target sides of a source side count, by grammar; glue has no limit."""
        limits = [table.limit or self.conventions.max_options for table in self.resources.tables]
        return limits + [0] * (len(self._owners) - len(limits))

    def _applied(self, grammar: Grammar, owner: str, limit: int, weights: Mapping[str, float]) -> ScoredGrammar:
        scores = grammar.scores(weights)
        if limit:
            grammar = grammar.limited(self._estimates(grammar, owner, scores, weights), limit)
        return ScoredGrammar(grammar, scores)

    def _estimates(
        self, grammar: Grammar, owner: str, scores: NDArray[Any], weights: Mapping[str, float]
    ) -> NDArray[Any]:
        """What each rule of a table is worth as far as it can be told from the rule alone."""
        import numpy as np

        from smtplugins.core.vocabulary import Vocabulary

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
    at, found = 0, []
    for part in grammar.parts:
        found.append(at)
        at += len(part)
    return found


class Weighted:
    """Forests by one set of weights. One object serves all threads."""

    def __init__(
        self, maker: Forests, weights: Mapping[str, float], applied: Sequence[ScoredGrammar], owners: tuple[str, ...]
    ) -> None:
        self.maker = maker
        self.weights = weights
        self._applied = applied
        self._owners = owners
        self._options = Options(goal=maker.conventions.goal, pass_through=maker._pass_through)

    def forest(self, sentence: Sentence) -> SentenceForest:
        """The forest of a sentence."""

        times = Times()
        by = self.maker.conventions
        if sentence.marks:
            markup.check(sentence, self.maker.phrases)
        if by.max_length is not None and len(sentence.tokens) > by.max_length:
            sentence = replace(sentence, tokens=sentence.tokens[: by.max_length])
        given: Any = sentence.tokens
        if sentence.lattice is not None:
            given = lattice_of(sentence.lattice, self.maker.resources.features, "<eps>" if by.joshua else None)
        if by.joshua:
            given = _escaped(given)
        if by.markers:
            given = (MARKS[0], *given, MARKS[1]) if sentence.lattice is None else given.between(*MARKS)
        own = self._own_tables(sentence)
        # Grammars that are a sentence's alone do not make the tables of the run grow.
        alone = bool(own) and not self.maker.resources.tables and by.glue_path is None
        tables = Tables() if alone else self.maker.tables
        tags = None
        if sentence.marks:
            tags = Markup(sentence, self.maker.phrases.xml, self.maker.first_names, by.nonterminal, tables)
        with times("loading"):
            columns = [self.maker.load_own(table.path) for table in own]
        with times("parsing"):
            if alone:
                grammars: list[Any] = [self._own(one, tables) for one in columns]
                owners = tuple(str(table.path) for table in own)
                if by.glue:
                    grammars.append(self.maker._glue(tables))
                    owners += (GLUE,)
                if tags:
                    grammars.append(tags.grammar)
                    owners += (markup.OWNER,)
                run = prepared(given, grammars, self._options, self.weights)
            else:
                with self.maker._lock:
                    grammars = [*self._applied, *(self._own(one, tables) for one in columns)]
                    owners = (*self._owners, *(str(table.path) for table in own))
                    if not grammars:
                        raise UsageError("expected a grammar: none is configured, and the sentence has none of its own")
                    if tags:
                        grammars.append(tags.grammar)
                        owners += (markup.OWNER,)
                    run = prepared(given, grammars, self._options, self.weights)
            forest = run()
        with times("parsing"):
            starts = list(itertools.accumulate(map(_size, grammars), initial=0))
            if tags:
                forest = tags.edited(forest, starts[-2], self.weights)
            made = self._scored(sentence, forest, (*owners, MINTED), starts)
        made.stats.update(times.sums)
        return made

    def scores_of(self, made: SentenceForest) -> NDArray[Any]:
        """Scores by these weights of the rules of a forest that other weights of the same tables led to."""
        import numpy as np

        # A sentence whose grammars are its alone has none of the run's.
        alone = made.forest.tables is not self.maker.tables
        static = [] if alone else [one for applied in self._applied for one in _parts(applied)]
        scores = made.forest.scores(self.weights, static).astype(np.float64)
        for block in made.blocks:
            block.add_scores(scores, self.weights)
        return np.ascontiguousarray(scores, dtype=np.float32)

    def _own(self, columns: GrammarColumns, tables: Tables) -> Grammar:
        return Grammar(columns, tables, span_limit=self.maker.conventions.max_span)

    def _own_tables(self, sentence: Sentence) -> list[Table]:
        from smtplugins.host.config.resources import Table

        return [Table(Path(one)) for one in sentence.grammars]

    def _scored(
        self, sentence: Sentence, forest: Forest, owners: tuple[str, ...], starts: Sequence[int]
    ) -> SentenceForest:
        import numpy as np

        native = forest.native
        above = forest.goal_origin
        origins = Origins((*owners, "goal"), (*starts, above), native.origins, lambda: forest.rule_columns)
        rules = Rules(forest.tables.words, native.targets, native.target_offsets, origins, ordered=False)
        # The rule above the goal is nobody's; without a parse there is none.
        blocks = list(blocks_of(self.maker.rule_features, rules, -1 if len(native.origins) else None))
        scores = native.scores.astype(np.float64)
        for block in blocks:
            block.add_scores(scores, self.weights)
        counts = {"nodes": forest.nodes, "bundles": forest.bundles, "edges": forest.edges}
        return SentenceForest(sentence, forest, np.ascontiguousarray(scores, dtype=np.float32), blocks, dict(counts))


def _escaped(given: Any) -> Any:
    """Words with brackets and bars in Joshua's spelling."""
    from smtformats.escapes import escape

    if isinstance(given, Lattice):
        arcs = (one if one.word is None else replace(one, word=escape(one.word, "joshua")) for one in given.arcs)
        return Lattice(given.positions, tuple(arcs))
    return tuple(escape(word, "joshua") for word in given)


def _size(grammar: Grammar | ScoredGrammar) -> int:
    return len(grammar.grammar if isinstance(grammar, ScoredGrammar) else grammar)


class Times:
    """CPU and wall seconds of the phases of a sentence's work, in one thread."""

    def __init__(self) -> None:
        self.sums: dict[str, float] = {}
        self._phase = ""
        self._begun = (0.0, 0.0)

    def __call__(self, phase: str) -> Times:
        self._phase = phase
        return self

    def __enter__(self) -> None:
        self._begun = (time.thread_time(), time.perf_counter())

    def taken(self) -> dict[str, float]:
        """The sums so far, which are begun anew."""
        found, self.sums = self.sums, {}
        return found

    def __exit__(self, *error: object) -> None:
        now = (time.thread_time(), time.perf_counter())
        for kind, begun, ended in zip(("cpu", "wall"), self._begun, now, strict=True):
            key = f"{kind}.{self._phase}"
            self.sums[key] = self.sums.get(key, 0.0) + ended - begun


def added(sums: Mapping[str, float], more: Mapping[str, float]) -> dict[str, float]:
    """Statistics and more of them, those of one name added up."""
    return {**sums, **{name: sums.get(name, 0.0) + value for name, value in more.items()}}


@dataclass
class SentenceForest:
    """A forest whose rules have scores: their own features and those of the run, stateful ones left out."""

    sentence: Sentence
    forest: Forest
    scores: NDArray[Any]
    blocks: list[Block | SparseBlock]
    stats: dict[str, float]

    @cached_property
    def features(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The features of the forest's rules: offsets, numbers of names in ``forest.tables.names``, values."""
        import numpy as np

        rows, ids, values = _rows(*self.forest.features)
        names = self.forest.tables.names
        for block in self.blocks:
            places, own, more = block.entries()
            rows = np.concatenate([rows, places])
            ids = np.concatenate([ids, np.array(names.ids(block.names), dtype=np.int64)[own]])
            values = np.concatenate([values, more])
        order = np.argsort(rows, kind="stable")
        counts = np.bincount(rows, minlength=len(self.scores))
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), ids[order], values[order]

    def sums(self, rules: Sequence[int]) -> dict[str, float]:
        """The features of these rules, each as often as it is there."""
        named: dict[str, float] = {}
        for rule in rules:
            for name, value in self.forest.rule_features(rule).items():
                named[name] = named.get(name, 0.0) + value
        for block in self.blocks:
            for label, value in block.sums(rules).items():
                named[label] = named.get(label, 0.0) + value
        return named


def _rows(offsets: NDArray[Any], ids: NDArray[Any], values: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    import numpy as np

    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), ids, values
