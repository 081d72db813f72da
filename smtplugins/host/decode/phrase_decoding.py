"""What decoders of phrases share: from sentences to options and searches, and what a search found as a decoding.

A plugin's decoder is a :class:`PhraseDecoder` with options of its own: which phrases may come next (``order``), and
which features it has beside those of the run.
"""

from __future__ import annotations

import collections
import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.contracts import Decoding
from smtplugins.core.search.phrases import distortion, hypergraph_of_phrases, phrase_searcher, reordering
from smtplugins.core.search.stateful_search import SearchLimit, forest_of_parse
from smtplugins.host.decode.forest_decoding import ForestDecoder
from smtplugins.host.decode.forests import Conventions, Forests, Times, added
from smtplugins.host.decode.phrase_conventions import AS_WRITTEN, PhraseConventions
from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.features.rule_columns import column_names
from smtplugins.host.features.stateful import SearchScorers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats.columns import GrammarColumns
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.grammar.tables import Tables
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.core.search.phrases import OrderFeature, PhraseGraph, PhraseSearcher
    from smtplugins.host.config.resources import Resources
    from smtplugins.host.decode.forests import SentenceForest, Weighted
    from smtplugins.host.features.scoring import Active


@dataclass(frozen=True)
class PhraseOptions:
    """How sentences are searched; ``smt decoders show phrase`` says what each means. Thresholds are probabilities."""

    search: str = "cube"
    stack_size: int = 200
    beam_threshold: float = 1e-5
    lm_beam: float | None = None
    pop_limit: int = 200
    distortion_limit: int = 6
    order: str = "free"
    max_phrase_length: int = 20
    max_options: int = 0
    option_threshold: float = 0.0
    early_discarding: float = 0.0
    stack_diversity: int = 0
    cube_diversity: int = 0
    max_edges: int = 1 << 28
    lattice: bool = False
    pass_through: str = "unknown"
    mark_oovs: bool = False
    max_length: int | None = None
    joshua: bool = False
    phrases: PhraseConventions = AS_WRITTEN

    def __post_init__(self) -> None:
        for name, least in (
            ("stack_size", 0),
            ("pop_limit", 1),
            ("distortion_limit", -1),
            ("max_phrase_length", 1),
            ("max_options", 0),
            ("stack_diversity", 0),
            ("cube_diversity", 0),
            ("max_edges", 1),
            ("max_length", 1),
        ):
            if getattr(self, name) is not None and getattr(self, name) < least:
                raise UsageError(f"{name}: expected {least} or more, found {getattr(self, name)}")
        if self.lm_beam is not None and not self.lm_beam > 0:
            raise UsageError(f"lm_beam: expected a number above 0, found {self.lm_beam}")
        for name in ("beam_threshold", "option_threshold", "early_discarding"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UsageError(f"{name}: expected a probability, found {getattr(self, name)}")

    def of_search(self) -> dict[str, Any]:
        """The options of core's search."""
        return {
            "cube": self.search == "cube",
            "stack_size": self.stack_size,
            "beam": _lack(self.beam_threshold),
            "lm_beam": usual_lm_beam(self.pop_limit) if self.lm_beam is None else self.lm_beam,
            "pop_limit": self.pop_limit,
            "stack_diversity": self.stack_diversity,
            "cube_diversity": self.cube_diversity,
            "option_beam": _lack(self.option_threshold),
            "early_discarding": _lack(self.early_discarding),
            "distortion_limit": self.distortion_limit,
            "order": self.order,
            "max_edges": self.max_edges,
        }


_SMALL = 1 << 17


def _check_phrases(owner: str, columns: GrammarColumns) -> None:
    if len(columns.source) and int(columns.source.min()) < 0:
        raise UsageError(f"{owner}: expected phrases, found rules with gaps: a decoder of grammars (hiero) is for them")


def usual_lm_beam(pop_limit: int) -> float:
    """The beam that loses next to nothing at a pop limit, as far as Multi30k's sentences tell."""
    return 14.5 + max(0.0, 6.0 * math.log(pop_limit / 200))


def _lack(probability: float) -> float:
    """What a score may be below another one."""
    return -math.log(probability) if probability > 0 else math.inf


class PhraseDecoder(ForestDecoder["Weighted"]):
    """Decodes with a stack for each number of translated words."""

    def __init__(self, resources: Resources, options: PhraseOptions) -> None:
        conventions = Conventions(
            goal=None,
            glue=False,
            pass_through=options.pass_through,
            max_span=options.max_phrase_length,
            mark_oovs=options.mark_oovs,
            max_length=options.max_length,
            max_options=options.max_options,
            joshua=options.joshua,
            lattice=options.lattice,
        )
        reorders = options.order != "monotone" and options.distortion_limit != 0
        super().__init__(Forests(resources, conventions, replace(options.phrases, reorders=reorders)))
        self._options = options
        self._rows: list[_Rows] | None = None

    def system(self, weights: Mapping[str, float]) -> Weighted:
        """The tables under weights, and what reordering models say of their phrases."""
        weighted = self.forests.weighted(weights)
        if self._rows is None:
            columns = self.forests.static_columns()
            for owner, one in columns:
                _check_phrases(owner, one)
            with self.forests.times("loading"):
                models = [one for one in self.forests.stateful if _positional(one) == "reordering"]
                self._rows = [_Rows(one, self.forests.tables, [part for _, part in columns]) for one in models]
        return weighted

    def worker(self, system: Weighted, graphs: bool) -> PhraseWorker:
        """What decodes in one thread."""
        assert self._rows is not None
        return PhraseWorker(system, self._options, self._rows, graphs)


class PhraseWorker:
    """Decodes one sentence after the other, in one thread."""

    def __init__(self, weighted: Weighted, options: PhraseOptions, rows: Sequence[_Rows], graphs: bool) -> None:
        self._weighted = weighted
        self._search = {**options.of_search(), "all_edges": graphs}
        self._graphs = graphs
        features = weighted.maker.stateful
        # Jumps and reordering models are the search's own.
        self._orders = [one for one in features if _positional(one)]
        self._rows = rows
        self.scorers = SearchScorers([one for one in features if one not in self._orders])
        self._searcher: PhraseSearcher | None = None
        self._marked = options.phrases.mark_unknown
        self._conventions = weighted.maker.conventions
        self.names: list[str] = []

    def decode(self, sentence: Sentence) -> Decoding:
        times = Times()
        made = self._weighted.forest(sentence)
        with times("search"):
            given = forest_of_parse(made.forest, made.scores)
            searcher = self._prepared(sentence, made)
            rows = [one.of(made) for one in self._rows]
            try:
                found = searcher.search(given, rows, _distances(sentence, made), **self._search)
            except SearchLimit:
                text = f"more than {self._search['max_edges']} hypotheses: lower pop_limit or raise max_edges"
                raise SmtError(f"sentence {sentence.id}: {text}") from None
        with times("output"):
            steps = found.path
            rules = found.rules[steps]
            # A sentence without words has a translation without words.
            there = bool(found.nodes) or not sentence.tokens
            # Joshua gives back a sentence that it cannot translate.
            lost = self._conventions.joshua and not there
            best = made.sentence.text if lost else self._conventions.shown(_text(made, rules, self._marked))
        counts = {"hypotheses": found.made, "moves": found.asked}
        return Decoding(
            id=sentence.id,
            best=best,
            score=float(found.scores[steps].sum()) if there else None,
            features=_Sums(made, found, self.names),
            graph=(lambda: self._graph(made, found)) if self._graphs else None,
            shown=self._conventions.shown if self._conventions.joshua else None,
            trace=lambda: _traced(made, found),
            stats=added({**made.stats, **counts}, times.sums),
            found=there,
        )

    def _graph(self, made: SentenceForest, found: PhraseGraph) -> Hypergraph:
        return hypergraph_of_phrases(made.forest, found, made.features, self.names, id=made.sentence.id)

    def _prepared(self, sentence: Sentence, made: SentenceForest) -> PhraseSearcher:
        parts, same = self.scorers.prepared(sentence, made.forest.tables.words)
        if self._searcher is None or not same:
            weights = self._weighted.weights
            stateful = self.scorers.weighted(parts, weights)
            orders = [_order(one, weights) for one in self._orders]
            self.names = [name for one in stateful for name in one.names]
            self.names += [name for one in self._orders for name in _names(one)]
            self._searcher = phrase_searcher(stateful, orders)
        return self._searcher


def _positional(one: Active) -> str:
    """What of the search's own a feature is; "" for one that is asked like others."""
    return getattr(one.feature, "positional", "")


def _names(one: Active) -> tuple[str, ...]:
    return column_names(one, getattr(one.feature, "components", 1))


def _order(one: Active, weights: Mapping[str, float]) -> OrderFeature:
    own = [weights.get(name, 0.0) for name in _names(one)]
    if one.feature.positional == "distortion":
        return distortion(own[0])
    model = one.feature.model
    return reordering(
        model.orientation,
        own,
        backward="backward" in model.directions,
        forward="forward" in model.directions,
        collapsed=model.collapsed,
    )


def _distances(sentence: Sentence, made: SentenceForest) -> NDArray[Any] | None:
    # A lattice may have no words.
    if sentence.lattice is None or not made.forest.nodes:
        return None
    from smtplugins.core.grammar.lattice_distances import distances

    return distances(sentence.lattice).reshape(-1)


class _Rows:
    """A reordering model's numbers of rules. Those of the run's tables are looked up once; one object serves all."""

    def __init__(self, one: Active, tables: Tables, static: Sequence[GrammarColumns]) -> None:
        import numpy as np

        count = sum(map(len, static))

        self._tables = tables
        self._feature = one.feature
        self._lock = threading.Lock()
        # Where the rows of the tables' rules are, -1 for those that nobody asked for. Row 0 is nobody's.
        self._places = np.full(count, -1, dtype=np.int32)
        self._rows = np.zeros((1024, one.feature.model.scores), dtype=np.float32)
        self._used = 1
        # All of a small table at once takes less time; of a large one most phrases are never seen.
        if count <= _SMALL:
            before = 0
            for columns in static:
                numbers = np.arange(len(columns))
                self._keep(before + numbers, self._feature.rule_rows(columns, numbers))
                before += len(columns)

    def of(self, made: SentenceForest) -> NDArray[Any]:
        """The numbers of each rule of a forest, one row behind the other; the goal's rule has none."""
        import numpy as np

        origins = made.forest.native.origins[:-1]
        # A sentence whose grammars are its alone has none of the run's.
        limit = len(self._places) if made.forest.tables is self._tables else 0
        own = np.flatnonzero(origins >= limit)
        places = np.zeros(len(made.forest.native.origins), dtype=np.int32)
        with self._lock:
            if limit:
                places[:-1] = self._places.take(origins, mode="clip")
                places[own] = 0
                fresh = np.flatnonzero(places < 0)
                if len(fresh):
                    self._keep(origins[fresh], self._looked_up(made, fresh))
                    places[fresh] = self._places[origins[fresh]]
            rows: NDArray[Any] = self._rows[places]
        if len(own):
            rows[own] = self._looked_up(made, own)
        return rows.reshape(-1)

    def _keep(self, origins: NDArray[Any], rows: NDArray[Any]) -> None:
        import numpy as np

        if self._used + len(rows) > len(self._rows):
            more = max(len(rows), len(self._rows), 1024)
            self._rows = np.concatenate([self._rows, np.zeros((more, self._rows.shape[1]), np.float32)])
        self._places[origins] = np.arange(self._used, self._used + len(rows))
        self._rows[self._used : self._used + len(rows)] = rows
        self._used += len(rows)

    def _looked_up(self, made: SentenceForest, rules: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        found = np.empty((len(rules), self._rows.shape[1]), dtype=np.float32)
        for columns, chosen, places in made.forest.in_parts(rules):
            found[places] = self._feature.rule_rows(columns, chosen)
        return found


def _text(made: SentenceForest, rules: NDArray[Any], marked: bool) -> str:
    """The words of these rules; those of unknown words as they are shown, if these are ``marked``."""
    native = made.forest.native
    if marked:
        sides = [made.forest.rule(rule).target for rule in rules.tolist()]
        return " ".join(symbol for side in sides for symbol in side if isinstance(symbol, str))
    targets, offsets, word = native.targets, native.target_offsets, made.forest.tables.words.word
    found = [targets[offsets[rule] : offsets[rule + 1]].tolist() for rule in rules.tolist()]
    return " ".join([word(symbol) for row in found for symbol in row if symbol >= 0])


def _traced(made: SentenceForest, found: PhraseGraph) -> Iterator[str]:
    """``[first, last) source ||| target`` for each phrase in target order, with its score and that of all so far."""
    if not found.nodes:
        yield "no derivation"
        return
    total = 0.0
    for edge in found.path.tolist():
        score = float(found.scores[edge])
        total += score
        rule = made.forest.rule(int(found.rules[edge]))
        first, last = int(found.firsts[edge]), int(found.lasts[edge])
        if first == last:
            yield f"end  {score:.4f}  {total:.4f}"
        else:
            source, target = (" ".join(map(str, side)) for side in (rule.source, rule.target))
            yield f"[{first}, {last}) {source} ||| {target}  {score:.4f}  {total:.4f}"


class _Sums(collections.abc.Mapping[str, float]):
    """The features of the best derivation, summed when somebody asks."""

    def __init__(self, made: SentenceForest, found: PhraseGraph, names: Sequence[str]) -> None:
        self._given = (made, found, names)
        self._sums: dict[str, float] | None = None

    def _made(self) -> dict[str, float]:
        if self._sums is None:
            made, found, names = self._given
            self._sums = {}
            if found.nodes:
                steps = found.path
                self._sums = made.sums(found.rules[steps].tolist())
                if names:
                    values = found.values.reshape(-1, len(names))[steps].sum(axis=0, dtype="float64")
                    self._sums |= dict(zip(names, values.tolist(), strict=True))
        return self._sums

    def __getitem__(self, name: str) -> float:
        return self._made()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())
