"""Confusion sets: what a system might have output instead of a sentence, decoded with a confusion grammar.

Z. Li, Z. Wang, S. Khudanpur and J. Eisner, "Unsupervised Discriminative Language Model Training for Machine Translation
using Simulated Confusion Sets" (2010), section 3.2. The decoder is ``hiero``, looked up by name. It adds glue rules
itself; rules ``X -> <word, oov>`` for every word of the text are a second table with a single feature, ``OOV``, whose
weight is minus a high cost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtformats.grammar.rules import Rule
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.contracts.tools.decoding import RuleTable, make_translator, read_sentences
from smtplugins.contracts.tools.running import ModelConfig, RunConfig, make_runner, progress

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.runners import Jobs
    from smtplugins.contracts.tools.decoding import Translator
    from smtplugins.contracts.tools.files import ForestFiles
    from smtplugins.contracts.tools.graphs import Hypergraph
    from smtplugins.contracts.tools.running import Host

DECODER = "hiero"
BLM, WP, TSRB, OOV = "blm", "wp", "tsrb", "OOV"
UNKNOWN = "oov"
RELATIVE = "Confusion"
"""Feature of weighted confusion grammars: minus the logarithm of a rule's relative frequency."""
WORDS = "words.gz"


@dataclass(frozen=True)
class ConfusionSetting:
    """The model and search settings that make confusion sets.

    ``unknown`` is the translation of a word without any other rule: the word ``oov``, as in the paper, or a copy
    (``copy``); each such word costs ``cost``. ``classes`` is the class map of ``tsrb``; without it the features are
    ``blm`` and ``wp``. ``pop_limit`` and ``beam`` prune the search at each node; ``search`` holds further options of
    the decoder. If given, ``prune`` keeps the edges of a graph whose best derivation is within that score of the best
    of all, ``density`` keeps that many edges per word.
    """

    grammar: Path
    lm: Path
    classes: Path | None = None
    unknown: Literal["oov", "copy"] = "oov"
    cost: float = 100.0
    pop_limit: int = 200
    beam: float = 15.0
    max_span: int = 10
    prune: float | None = None
    density: float | None = None
    search: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.unknown not in ("oov", "copy"):
            raise UsageError(f"unknown: expected oov or copy, found {self.unknown!r}")
        if not 0 <= self.cost < float("inf"):
            raise UsageError(f"cost of unknown words: expected a finite number of 0 or more, found {self.cost}")
        if self.prune is not None and self.density is not None:
            raise UsageError("expected prune or density, found both")

    def features(self, host: Host) -> tuple[Spec, ...]:
        """Return the features, named as in trained models."""
        known = host.registry.names("features")
        blm = Spec(BLM, {"path": str(self.lm)}) if BLM in known else Spec("lm", {"name": BLM, "path": str(self.lm)})
        features = [blm, Spec("word-penalty", {"name": WP, "value": 1.0})]
        if self.classes is not None:
            features.append(Spec(TSRB, {"classes": str(self.classes)}))
        return tuple(features)

    def config(self, host: Host, words: Path, source: Path | None = None, references: Sequence[Path] = ()) -> RunConfig:
        """Return the decoding run; ``words`` is the table of :func:`write_words`."""
        if DECODER not in host.registry.names("decoders"):
            raise UsageError(f"confusion sets need decoder:{DECODER}, but there is no such decoder")
        options: dict[str, Any] = {
            "pop_limit": self.pop_limit,
            "beam": self.beam,
            "adapt": 0.0,
            "max_span": self.max_span,
            "pass_through": "none",
            **self.search,
        }
        pruned = {"beam_prune": self.prune, "density_prune": self.density}
        options |= {name: value for name, value in pruned.items() if value is not None}
        return RunConfig(
            source=source,
            source_format=Spec("text"),
            references=tuple(references),
            decoder=Spec(DECODER, options),
            model=ModelConfig((RuleTable(self.grammar), RuleTable(words)), features=self.features(host)),
            metric=Spec("bleu", {"tokenize": "none"}),
        )

    def fixed(self, host: Host, cache: str | None = None) -> dict[str, float]:
        """Return the fixed weights: those of unknown words and of the grammar's own features."""
        from smtplugins.contracts.tools.files import load_grammar

        names = load_grammar(self.grammar, cache=cache, formats=host.formats()).names[:]
        return {**{name: -float(name == RELATIVE) for name in names}, OOV: -self.cost}

    def weights(
        self, host: Host, given: Mapping[str, float] | None = None, cache: str | None = None
    ) -> dict[str, float]:
        """Return the decoding weights: ``given`` (default: the language model alone) and the fixed weights."""
        weights = {**self.fixed(host, cache), **({BLM: 1.0} if given is None else given)}
        return {name: weights[name] for name in sorted(weights)}


def read_weights(host: Host, path: Path) -> dict[str, float]:
    """Read weights from a file or a model's folder."""
    from smtplugins.contracts.models import Model

    return dict(Model.load(path).weights) if path.is_dir() else host.read_weights(path)


def write_words(path: Path, sentences: Iterable[Sentence], unknown: str) -> int:
    """Write the table of unknown-word rules, one for each word of the sentences; returns their number."""
    from smtplugins.contracts.tools.files import find_format, write_all

    words = sorted({word for sentence in sentences for word in sentence.tokens})
    rules = (Rule("X", (word,), (UNKNOWN if unknown == "oov" else word,), (OOV,), (1.0,)) for word in words)
    return write_all(find_format("cdec-grammar", "grammar"), rules, path)


def read_text(host: Host, path: Path) -> list[Sentence]:
    """Read sentences, one per line; ids are line numbers from 0. Raises SmtError if no line has a word."""
    sentences = list(read_sentences(host, path, "text"))
    if not any(sentence.tokens for sentence in sentences):
        raise SmtError(f"{path}: expected sentences, found none with a word")
    return sentences


def confuser(
    host: Host,
    setting: ConfusionSetting,
    sentences: Sequence[Sentence],
    folder: Path,
    weights: Mapping[str, float] | None = None,
    cache: str | None = None,
) -> Translator:
    """Return a translator that makes the confusion sets of these sentences.

    Writes the unknown-word rules into ``folder``, which must exist until the translator has loaded its tables.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_words(folder / WORDS, sentences, setting.unknown)
    config = setting.config(host, folder / WORDS)
    return make_translator(host, config, setting.weights(host, weights, cache), cache)


def confusion_sets(
    host: Host,
    setting: ConfusionSetting,
    sentences: Sequence[Sentence],
    weights: Mapping[str, float] | None = None,
    *,
    threads: int = 1,
    cache: str | None = None,
) -> Iterator[Hypergraph]:
    """Yield the confusion set of each sentence as a scored graph, in order; an empty set has no nodes."""
    import tempfile

    from smtplugins.contracts.tools.graphs import compacted

    with tempfile.TemporaryDirectory(prefix="cdlm-") as name:
        translator = confuser(host, setting, sentences, Path(name), weights, cache)
        for decoding in translator.decode(sentences, threads=threads, graphs=True):
            assert decoding.graph is not None
            yield compacted(decoding.graph())


@dataclass(frozen=True)
class Confused:
    """Statistics of a confusion set.

    ``own``: the sentence itself is in it; ``copied``: it is the best string; ``seconds``: CPU time.
    """

    id: str
    nodes: int = 0
    edges: int = 0
    bytes: int = 0
    own: bool = False
    copied: bool = False
    seconds: float = 0.0


@dataclass
class Totals:
    """Statistics of a text, summed over its sentences."""

    sentences: int = 0
    empty: int = 0
    nodes: int = 0
    edges: int = 0
    bytes: int = 0
    own: int = 0
    copied: int = 0
    cpu: float = 0.0

    def add(self, confused: Confused) -> None:
        """Add a sentence."""
        self.sentences += 1
        self.empty += not confused.nodes
        self.nodes += confused.nodes
        self.edges += confused.edges
        self.bytes += confused.bytes
        self.own += confused.own
        self.copied += confused.copied
        self.cpu += confused.seconds

    def record(self) -> dict[str, float]:
        """Return sums and averages per sentence; all but CPU times are the same on any machine."""
        count = max(self.sentences - self.empty, 1)
        return {
            "sentences": self.sentences,
            "empty": self.empty,
            "nodes": self.nodes,
            "edges": self.edges,
            "bytes": self.bytes,
            "edges_per_sentence": self.edges / count,
            "bytes_per_sentence": self.bytes / count,
            "bytes_per_edge": self.bytes / max(self.edges, 1),
            "own_in_set": self.own / max(self.sentences, 1),
            "best_is_own": self.copied / max(self.sentences, 1),
            "cpu_seconds": self.cpu,
            "sentences_per_cpu_second": self.sentences / self.cpu if self.cpu else 0.0,
        }


def keep_sets(
    host: Host,
    setting: ConfusionSetting,
    sentences: Sequence[Sentence],
    folder: Path,
    weights: Mapping[str, float] | None = None,
    *,
    format: str | None = None,
    jobs: Jobs = None,
    cache: str | None = None,
    quiet: bool = True,
    note: Callable[[str], None] = lambda text: None,
) -> Totals:
    """Write the confusion set of each sentence into a folder, as ``smt decode --forests`` does; returns statistics.

    The files are the same for any number of jobs.
    """
    import tempfile

    from smtplugins.contracts.tools.files import ForestFiles

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: expected an empty folder, or none yet, found other files")
    totals = Totals()
    with tempfile.TemporaryDirectory(prefix="cdlm-") as name:
        translator = confuser(host, setting, sentences, Path(name), weights, cache)
        for text in translator.notes() if weights is not None else ():
            note(text)
        getattr(translator.decoder, "load", lambda model: {})(translator.model)
        model = translator.model.weights
        files = ForestFiles.of(host, folder, format, translator.features(), model, None)
        runner = make_runner(host, jobs)
        done = runner.map(partial(_write_set, translator, files), sentences)
        for confused, parcel in progress(done, "sentences", total=len(sentences), quiet=quiet):
            files.output.unpack(parcel)
            totals.add(confused)
            if not confused.nodes:
                note(f"sentence {confused.id} has no confusion set")
        folder.mkdir(parents=True, exist_ok=True)
    return totals


def _write_set(translator: Translator, files: ForestFiles, sentence: Sentence) -> tuple[Confused, Mapping[str, bytes]]:
    """Make and write the confusion set of a sentence; the files are returned that another machine writes."""
    import time

    from smtplugins.contracts.tools.graphs import compacted

    begun = time.process_time()
    decoding = translator.decode_one(sentence, graphs=True)
    assert decoding.graph is not None
    graph = compacted(decoding.graph())
    parcel = files.write(graph, decoding.id)
    # The time for statistics is not counted.
    seconds = time.process_time() - begun
    if not graph.nodes:
        return Confused(decoding.id, seconds=seconds), {}
    here = [] if parcel else list(Path(files.folder).glob(f"{decoding.id}.*"))
    size = sum(map(len, parcel.values())) + sum(map(os.path.getsize, here))
    copied = decoding.best == sentence.text
    own = copied or holds(graph, sentence.text)
    return Confused(decoding.id, graph.nodes, len(graph), size, own, copied, seconds), parcel


def holds(graph: Hypergraph, text: str) -> bool:
    """Return whether a text is the yield of a derivation of the graph."""
    from smtplugins.contracts.tools.graphs import intersect

    return len(graph) > 0 and intersect(graph, text).graph.nodes > 0
