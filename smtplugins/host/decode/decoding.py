"""Decoding: a configuration made into a decoder and its model, sentences read, translations and lists written."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from smtplugins.host.config.resources import resources
from smtplugins.host.decode.decoded_lists import candidates_of, writable_lists
from smtplugins.host.decode.lattices import LATTICES, NETWORK, PLF, check_lattice, check_text, holds_both, tell_lattices
from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.features.scoring import tuneable
from smtplugins.host.files.opening import Path, find_format, format_options, number, open_known, rounded, write_all

if TYPE_CHECKING:
    from smtformats import Candidates
    from smtplugins.contracts.contracts import Decoder, Decoding, Sentence
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.decode.built_steps import BuiltTree
    from smtplugins.host.files.forest_files import ForestFiles
    from smtplugins.host.host import Host
    from smtplugins.host.model import Model

PHASES = ("loading", "parsing", "search", "output")
COUNTS = ("sentences", "nodes", "edges", "bundles", "pops", "lm_queries")
_OF_PHRASES = ("hypotheses", "moves")
_TABLE = "translation-model"
_MARKED = "moses-xml"


@dataclass(frozen=True)
class Translator:
    """A decoder and a model, as a configuration says, and the names of features that lists always show.

    ``arc_name`` is what numbers of arcs are called, ``arc_scores`` how many there are of each, where a feature says so.
    ``given`` are the weights as they were read.
    """

    decoder: Decoder
    model: Model
    config: RunConfig
    columns: tuple[tuple[str, ...], ...] = ()
    stateful: frozenset[str] = frozenset()
    arc_name: str | None = None
    loading: Mapping[str, float] = field(default_factory=dict)
    arc_scores: int | None = None
    given: Mapping[str, float] = field(default_factory=dict)

    def loaded(self) -> Translator:
        """The same with its tables read, which decoding does otherwise."""
        from smtplugins.host.decode.forests import added

        load = getattr(self.decoder, "load", None)
        return self if load is None else replace(self, loading=added(self.loading, load(self.model)))

    def names(self) -> tuple[str, ...]:
        """The features that a list always shows, in their order; those of tables are known when tables are loaded.

        Moses has features with states first, Joshua those of tables.
        """
        dense = tuple(getattr(self.decoder, "dense_names", ()))
        shown = list(self.features())
        if self.config.output.format.startswith("joshua"):
            shown.sort(key=lambda name: name not in dense)
        if self.config.output.format.startswith("moses"):
            shown.sort(key=lambda name: name not in self.stateful)
        return tuple(shown)

    def features(self) -> tuple[str, ...]:
        """The same in the order of the configuration."""
        dense = tuple(getattr(self.decoder, "dense_names", ()))
        tables = {spec.options.get("name") for spec in self.config.model.features if spec.name == _TABLE}
        found: list[str] = []
        for label in itertools.chain.from_iterable(self.columns):
            own = [one for one in dense if one == label or one.startswith((f"{label}[", f"{label}_"))]
            found += own if label in tables else [label]
        return tuple(dict.fromkeys(found))

    @property
    def fixed(self) -> frozenset[str]:
        """The features whose weights are not to be learnt, by ``tuneable=false``."""
        specs = zip(self.config.model.features, self.columns, strict=True)
        labels = {name for spec, names in specs if not tuneable(spec) for name in names}
        dense = getattr(self.decoder, "dense_names", ())
        return frozenset(labels).union(one for one in dense if one.partition("[")[0] in labels)

    def unweighted(self) -> list[str]:
        """Features without a weight, each component by its name; those of tables once these are loaded.

        A column that a feature has beside its own, as the count of unknown words, may be without one.
        """
        weights = self.model.weights
        beside = {name for names in self.columns if names and names[0] in weights for name in names if name[-1] != "]"}
        return [name for name in self.features() if name not in weights and name not in beside]

    def notes(self) -> list[str]:
        """What a user should know before decoding begins."""
        found = list(getattr(self.decoder, "notes", ()))
        if not self.model.weights:
            found.append("no weights: all translations score 0 (-w FILE, or model.weights in the configuration)")
        elif self.unweighted():
            found.append(f"features without a weight count 0: {', '.join(self.unweighted())}")
        return found

    def decode(
        self, sentences: Iterable[Sentence | str | Sequence[str]], *, threads: int = 1, graphs: bool = False
    ) -> Iterator[Decoding]:
        """Translations in the order of the input: of records, of texts or of sequences of words."""
        if threads < 1:
            raise UsageError(f"jobs: expected 1 or more, found {threads}")
        given = map(_as_sentence, itertools.count(), sentences)
        if graphs:
            return self.decoder.decode(given, self.model, threads=threads, graphs=True)
        return self.decoder.decode(given, self.model, threads=threads)


def make_translator(
    host: Host, config: RunConfig, weights: Mapping[str, float] | None = None, cache: str | None = None
) -> Translator:
    """Loads what a configuration names. ``weights`` replace those of the configuration."""
    begun = time.process_time(), time.perf_counter()
    from smtplugins.host.config.weight_names import check_range
    from smtplugins.host.features.rule_columns import column_names, is_stateful
    from smtplugins.host.model import Model

    if config.decoder is None:
        raise UsageError("the configuration names no decoder: `decoder: hiero`, or --decoder NAME")
    formats = host.formats()
    given = resources(host.registry, config.model, formats, cache, config.at)
    columns: list[tuple[str, ...]] = []
    stateful: set[str] = set()
    for spec in config.model.features:
        label = str(spec.options.get("name", spec.name))
        active = next((one for one in given.features if one.label == label), None)
        # A table has columns of its own; so has a feature with an open namespace.
        own = (label,) if active is None else column_names(active, getattr(active.feature, "components", 1))
        columns.append(tuple(own))
        if active is not None and is_stateful(active.feature):
            stateful.update(own)
    read = weights or {}
    if config.model.weights is not None:
        with config.at("model", "weights"):
            configured = host.read_weights(config.model.weights)
        read = configured if weights is None else read
        given = replace(given, weights=_with_missing(configured, config, columns))
    check_range(read)
    weights = given.weights if weights is None else weights
    with config.at("decoder"):
        decoder: Decoder = host.registry.make("decoders", config.decoder, given={"resources": given})
    arcs, scores = next(
        ((one.label, one.feature.arcs) for one in given.features if hasattr(one.feature, "arcs")), (None, None)
    )
    model = Model(dict(weights or {}))
    loading = {"cpu.loading": time.process_time() - begun[0], "wall.loading": time.perf_counter() - begun[1]}
    return Translator(decoder, model, config, tuple(columns), frozenset(stateful), arcs, loading, scores, read)


def _with_missing(
    weights: Mapping[str, float], config: RunConfig, columns: Sequence[tuple[str, ...]]
) -> Mapping[str, float]:
    """Weights with those that the configuration says features have which have none."""
    if config.model.missing is None:
        return weights
    found = dict(weights)
    for spec, names in zip(config.model.features, columns, strict=True):
        count = int(spec.options.get("scores") or 1) if spec.name == _TABLE else 1
        if count > 1:
            names = tuple(f"{names[0]}[{k}]" for k in range(count))
        for name in names:
            found.setdefault(name, float(config.model.missing))
    return found


def read_source(
    host: Host,
    translator: Translator,
    path: Path,
    format: str | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> Iterator[Sentence]:
    """What a decoder is to translate, read as its options ``input`` and ``xml`` say, unless the format is named.

    ``format`` goes before that of the configuration. With ``xml`` a line is a sentence, as Moses has it, with mark-up
    unless that passes through; without, the file is looked at, and tags are words.
    """
    config = translator.config
    given = config.decoder.options if config.decoder is not None else {}
    wanted = format or config.source_format
    if wanted is None and given.get("input") == "confusion-net":
        wanted = NETWORK if translator.arc_scores is None else f"{NETWORK},scores={translator.arc_scores}"
    lattice = wanted is None and given.get("input") == "lattice"
    if wanted is None and not lattice and "xml" in given:
        wanted = f"{_MARKED},tags=false" if given["xml"] == "pass-through" else _MARKED
    both = holds_both(config)
    return read_sentences(host, path, wanted, lattice=lattice, both=both, arc_name=translator.arc_name, note=note)


def read_sentences(
    host: Host,
    path: Path,
    format: str | None = None,
    *,
    lattice: bool = False,
    both: bool = True,
    arc_name: str | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> Iterator[Sentence]:
    """The sentences of a corpus or of lattices; files that they name are those of their own grammars.

    With ``lattice`` and no format, a file is one of lattices: of HTK or confusion networks by its shape, or else PLF,
    with ``both`` among sentences. Numbers of arcs are called ``arc_name``, if the format leaves that open. Tags are
    words unless the format is named.
    """
    from smtformats.files import shown_name

    named = (PLF if both else f"{PLF},text=false") if format is None and lattice else format
    # Told by shape, a graph is one that is a lattice for sure.
    shapes = [one for one in host.formats() if one.kind == "corpus" or one.name in LATTICES]
    graphs = [one for one in host.formats() if one.kind == "hypergraph" and one not in shapes]
    known = [*shapes, *graphs] if named is not None else shapes
    with open_known(path, None, named, known, empty="text") as opened:
        if format is None and lattice:
            tell_lattices(opened, known)
        options = format_options(opened.record)
        if arc_name is not None and "name" in options and "name=" not in (named or ""):
            opened.record = find_format(f"{named or opened.record.name},name={arc_name}", None, known)
        if named is None and opened.record.name == _MARKED:
            opened.record = find_format(f"{_MARKED},tags=false", None, known)
        for number, one in enumerate(opened.records()):
            if getattr(one, "fault", ""):
                note(f"{shown_name(path)}:{one.line}: tags are taken for words: {one.fault}")
            if opened.record.name not in LATTICES:
                check_lattice(one, shown_name(path))
            if named is None:
                check_text(one, number, opened.record.name, shown_name(path))
            yield from _sentence(one, number)


def _as_sentence(number: int, given: Sentence | str | Sequence[str]) -> Sentence:
    from smtformats.tokens import blanks
    from smtplugins.contracts.contracts import Sentence

    if isinstance(given, Sentence):
        return given
    return Sentence(str(number), tuple(blanks(given) if isinstance(given, str) else given))


def _sentence(one: Any, number: int) -> Iterator[Sentence]:
    from smtformats.corpus.segments import MarkedSegment, Segment
    from smtformats.hypergraph.graph import GraphColumns
    from smtformats.tokens import blanks
    from smtplugins.contracts.contracts import Sentence

    if isinstance(one, str):
        yield Sentence(str(number), tuple(blanks(one)))
    elif isinstance(one, GraphColumns):
        yield Sentence(one.id, (), lattice=one)
    elif isinstance(one, Segment):
        # cdec skips a line without anything in it.
        if one.side == "reference":
            raise UsageError(f"expected sources to translate, found references alone (line {one.line})")
        if one.id is not None:
            grammars = sorted((k, v) for k, v in one.attributes.items() if _is_grammar(k))
            rest = {name: value for name, value in one.attributes.items() if not _is_grammar(name)}
            own = tuple(value for _, value in grammars)
            marks = one.marks if isinstance(one, MarkedSegment) else ()
            key = str(one.id) if one.key is None else one.key
            yield Sentence(key, tuple(blanks(one.source)), one.references, rest, None, own, marks)
    else:
        raise UsageError(f"expected sentences or lattices, found {type(one).__name__}")


def _is_grammar(name: str) -> bool:
    return name == "grammar" or (name.startswith("grammar") and name[7:].isdigit())


@dataclass
class Statistics:
    """Times and counts over all sentences."""

    sums: dict[str, float]
    sentences: int = 0
    failed: int = 0

    def add(self, one: Decoding) -> None:
        """One more sentence."""
        self.sentences += 1
        self.failed += not one.found
        for name, value in one.stats.items():
            self.sums[name] = self.sums.get(name, 0.0) + value

    def record(self) -> dict[str, Any]:
        """As stats.json has it."""
        import resource
        import sys

        # Of the largest process, if there are several.
        peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        made: dict[str, Any] = {
            kind: {phase: round(self.sums.get(f"{kind}.{phase}", 0.0), 6) for phase in PHASES}
            for kind in ("cpu", "wall")
        }
        # In kilobytes, on macOS in bytes.
        made["peak_rss_mb"] = round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
        for name in (*COUNTS, *(one for one in _OF_PHRASES if one in self.sums)):
            made[name] = self.sentences if name == "sentences" else int(self.sums.get(name, 0))
        return made


@dataclass(frozen=True)
class _Task:
    """What is to be done with each sentence."""

    translator: Translator
    k: int | None
    unique: bool
    forests: ForestFiles | None
    trace: bool
    built: bool
    fields: tuple[str, ...]
    hidden: frozenset[str]

    @property
    def graphs(self) -> bool:
        listed = self.k is not None and (self.k > 1 or bool(self.fields))
        return listed or self.forests is not None

    def done(self, sentence: Sentence) -> _Done:
        """A sentence translated; nothing in the result holds on to the decoder, so that it can go through a pipe."""
        from smtplugins.host.decode.forests import Times, added

        made = list(self.translator.decode([sentence], graphs=self.graphs))
        if len(made) != 1:
            raise SmtError(f"sentence {sentence.id}: expected one decoding of one sentence, found {len(made)}")
        one = made[0]
        times = Times()
        with times("output"):
            graph = one.graph() if self.graphs and one.graph is not None else None
            if self.forests is not None:
                self.forests.write(graph, one.id)
            found = None
            if self.k is not None:
                found = candidates_of(
                    one,
                    self.k,
                    unique=self.unique,
                    names=self.translator.names(),
                    graph=graph,
                    fields=self.fields,
                    hidden=self.hidden,
                )
            trace = tuple(one.trace()) if self.trace and one.trace is not None else None
            tree = _built_tree(sentence, one) if self.built else None
        stats = added(one.stats, times.sums)
        rest = replace(one, features={}, graph=None, shown=None, trace=None, built=None, stats=stats)
        return _Done(rest, found, trace, tree)


@dataclass(frozen=True)
class _Done:
    decoding: Decoding
    candidates: Candidates | None
    trace: tuple[str, ...] | None
    tree: BuiltTree | None


def _built_tree(sentence: Sentence, one: Decoding) -> BuiltTree:
    """The tree of a decoding as it was built; of lattices the words are those of the path that was taken."""
    from smtformats.tokens import BadField
    from smtplugins.host.decode.built_steps import BuiltTree, children, sides, source_words

    if one.built is None and one.found:
        raise UsageError("the decoder does not say how it builds trees, so that there are no steps to write")
    score = None if one.score is None else rounded([one.score])[0]
    steps = () if one.built is None else tuple(one.built())
    steps = tuple(replace(s, score=v) for s, v in zip(steps, rounded([s.score for s in steps]), strict=True))
    try:
        for step, below in zip(steps, children(steps), strict=True):
            sides(step.rule, below)
        source = sentence.tokens if sentence.lattice is None else source_words(steps)
    except BadField as bad:
        raise SmtError(f"sentence {one.id}: the decoder's steps: expected {bad.expected}, found {bad.found}") from None
    return BuiltTree(one.id, source, one.best, score, steps)


def _done(task: _Task, sentence: Sentence) -> _Done:
    return task.done(sentence)


def run(
    host: Host,
    translator: Translator,
    sentences: Iterable[Sentence],
    output: Path,
    *,
    k: int | None = None,
    to_format: str | None = None,
    unique: bool = False,
    jobs: int | None = None,
    fields: Iterable[str] = (),
    forests: Path | None = None,
    forests_format: str | None = None,
    trace: Callable[[str], None] | None = None,
    built: Path | None = None,
    precision: int | None = None,
    note: Callable[[str], None] = lambda text: None,
    quiet: bool = True,
) -> Statistics:
    """Translate, and write texts, or with ``k`` lists; ``forests`` is a folder for the graphs.

    ``fields`` are what lists have beside texts and features (``host/files/list_fields.py``).
    ``built`` is a file for the steps in which trees were built (``host/decode/built_steps.py``).
    Several jobs are processes that share what was loaded: lists and features in Python are made by all of them at once.
    Without ``jobs`` the runner is the configuration's, or one process.
    """
    from smtformats.files import open_write
    from smtplugins.host.decode.built_steps import line_of
    from smtplugins.host.decode.forests import added
    from smtplugins.host.files.forest_files import ForestFiles
    from smtplugins.host.files.list_fields import check_fields
    from smtplugins.host.host import runner_of
    from smtplugins.host.progress import progress

    if k is not None and k < 1:
        raise UsageError(f"nbest: expected 1 or more, found {k}")
    if built is not None and os.fspath(built) == os.fspath(output):
        raise UsageError(f"expected two files for translations and for what was built, found {built} for both")
    shown = number(None if built is None else precision)
    record = None
    if k is not None:
        record = find_format(to_format or translator.config.output.format, "nbest", host.formats())
        record = writable_lists(record)
    wanted = check_fields(tuple(fields))
    if wanted and record is None:
        raise UsageError(f"{wanted[0]}: expected lists, which have such fields, found translations alone")
    if record is not None and not record.carries.issuperset(wanted):
        raise UsageError(f"{record.name} has no place for {', '.join(sorted({*wanted} - record.carries))}")
    # Moses says nothing in its lists of features that are not to be tuned.
    hidden = translator.fixed if record is not None and record.name == "moses-nbest" else frozenset[str]()
    runner = runner_of(host, jobs, translator.config)
    load: Callable[[Model], Mapping[str, float]] = getattr(translator.decoder, "load", lambda model: {})
    statistics = Statistics(added(translator.loading, load(translator.model)))
    files = None
    if forests is not None:
        names, weights = translator.features(), translator.model.weights
        files = ForestFiles.of(host, forests, forests_format, names, weights, precision)
    task = _Task(translator, k, unique, files, trace is not None, built is not None, wanted, hidden)

    def each() -> Iterator[_Done]:
        for one in progress(runner.map(_done, sentences, setup=lambda: task), "sentences", quiet=quiet):
            statistics.add(one.decoding)
            if not one.decoding.found:
                note(f"sentence {one.decoding.id} has no translation")
            if trace is not None and one.trace is not None:
                trace(f"sentence {one.decoding.id}")
                for line in one.trace:
                    trace(line)
            if trees is not None and one.tree is not None:
                trees.write(line_of(one.tree, shown))
            yield one

    with contextlib.nullcontext() if built is None else open_write(built) as trees:
        if record is None:
            with open_write(output) as out:
                for one in each():
                    out.write(one.decoding.best + "\n")
                    if output == "-":
                        # Somebody may wait for it before the next sentence comes.
                        out.flush()
        else:
            write_all(record, (one.candidates for one in each() if one.candidates is not None), output, precision)
    if files is not None:
        files.write_beside()
    return statistics
