"""Confusion sets: sentences "translated" by a confusion grammar into what a system might have said in their place.

Z. Li, Z. Wang, S. Khudanpur and J. Eisner, "Unsupervised Discriminative Language Model Training for Machine Translation
using Simulated Confusion Sets" (2010), section 3.2. The decoder is ``hiero``, asked for by name: glue rules are its
own, and rules ``X -> <word, oov>`` for every word of the text are a second table with one feature, ``OOV``, whose
weight is minus a high cost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.spec import Spec
from smtplugins.host.config.run_yaml import ModelConfig, RunConfig
from smtplugins.host.errors import SmtError, UsageError

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.decode.decoding import Translator
    from smtplugins.host.files.forest_files import ForestFiles
    from smtplugins.host.host import Host

DECODER = "hiero"
BLM, WP, TSRB, OOV = "blm", "wp", "tsrb", "OOV"
UNKNOWN = "oov"
RELATIVE = "Confusion"
"""What weighted confusion grammars call minus the logarithm of a rule's relative frequency."""
WORDS = "words.gz"


@dataclass(frozen=True)
class Setting:
    """With what sentences are confused.

    ``unknown`` is what a word without any other rule becomes: the word ``oov``, as in the paper, or itself (``copy``);
    that costs ``cost`` for each word. ``classes`` is the class map of ``tsrb``; without one there are the features
    ``blm`` and ``wp`` alone. ``pop_limit`` and ``beam`` prune the search at each node, ``search`` are further options
    of the decoder. A graph keeps the edges whose best derivation lacks at most ``prune`` against the best of all, or
    ``density`` edges for each word, if either is given.
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
            raise UsageError(f"cost of unknown words: expected a number from 0 on, found {self.cost}")
        if self.prune is not None and self.density is not None:
            raise UsageError("expected graphs to be pruned by a beam or by density, found both")

    def features(self, host: Host) -> tuple[Spec, ...]:
        """The features, called as trained models have them."""
        known = host.registry.names("features")
        blm = Spec(BLM, {"path": str(self.lm)}) if BLM in known else Spec("lm", {"name": BLM, "path": str(self.lm)})
        found = [blm, Spec("word-penalty", {"name": WP, "value": 1.0})]
        if self.classes is not None:
            found.append(Spec(TSRB, {"classes": str(self.classes)}))
        return tuple(found)

    def config(self, host: Host, words: Path, source: Path | None = None, references: Sequence[Path] = ()) -> RunConfig:
        """The run that confuses; ``words`` is the table of :func:`write_words`."""
        if DECODER not in host.registry.names("decoders"):
            raise UsageError(f"confusion sets are made by decoder:{DECODER}, and there is no such decoder")
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
            source_format="text",
            references=tuple(references),
            decoder=Spec(DECODER, options),
            model=ModelConfig(grammar=(self.grammar, words), features=self.features(host)),
            metric=Spec("bleu", {"tokenize": "none"}),
        )

    def fixed(self, host: Host, cache: str | None = None) -> dict[str, float]:
        """The weights that are no language model's: of unknown words and of the grammar's own features."""
        from smtplugins.host.files.opening import load_grammar

        names = load_grammar(self.grammar, cache=cache, formats=host.formats()).names[:]
        return {**{name: -float(name == RELATIVE) for name in names}, OOV: -self.cost}

    def weights(
        self, host: Host, given: Mapping[str, float] | None = None, cache: str | None = None
    ) -> dict[str, float]:
        """Weights to confuse with: those given, or else the language model alone, and the fixed ones."""
        found = {**self.fixed(host, cache), **({BLM: 1.0} if given is None else given)}
        return {name: found[name] for name in sorted(found)}


def read_weights(host: Host, path: Path) -> dict[str, float]:
    """Weights of a file, or of a model's folder."""
    from smtplugins.host.model import Model

    return dict(Model.load(path).weights) if path.is_dir() else host.read_weights(path)


def write_words(path: Path, sentences: Iterable[Sentence], unknown: str) -> int:
    """The table of rules for unknown words: one for each word of these sentences; how many there are."""
    from smtformats.grammar.rules import Rule
    from smtplugins.host.files.opening import find_format, write_all

    words = sorted({word for one in sentences for word in one.tokens})
    rules = (Rule("X", (word,), (UNKNOWN if unknown == "oov" else word,), (OOV,), (1.0,)) for word in words)
    return write_all(find_format("cdec-grammar", "grammar"), rules, path)


def read_text(host: Host, path: Path) -> list[Sentence]:
    """A sentence on each line, at least one of them with a word; its id is the number of the line, from 0 on."""
    from smtplugins.host.decode.decoding import read_sentences

    found = list(read_sentences(host, path, "text"))
    if not any(one.tokens for one in found):
        raise SmtError(f"{path}: expected sentences, found none with a word")
    return found


def confuser(
    host: Host,
    setting: Setting,
    sentences: Sequence[Sentence],
    folder: Path,
    weights: Mapping[str, float] | None = None,
    cache: str | None = None,
) -> Translator:
    """What confuses these sentences. The folder holds the rules for their words, which are read when work begins."""
    from smtplugins.host.decode.decoding import make_translator

    folder.mkdir(parents=True, exist_ok=True)
    write_words(folder / WORDS, sentences, setting.unknown)
    config = setting.config(host, folder / WORDS)
    return make_translator(host, config, setting.weights(host, weights, cache), cache)


def confusion_sets(
    host: Host,
    setting: Setting,
    sentences: Sequence[Sentence],
    weights: Mapping[str, float] | None = None,
    *,
    threads: int = 1,
    cache: str | None = None,
) -> Iterator[Hypergraph]:
    """The confusion set of each sentence as a graph with scores, in their order; one without nodes is empty."""
    import tempfile

    from smtplugins.core.graph.compacting import compacted

    with tempfile.TemporaryDirectory(prefix="cdlm-") as name:
        translator = confuser(host, setting, sentences, Path(name), weights, cache)
        for one in translator.decode(sentences, threads=threads, graphs=True):
            assert one.graph is not None
            yield compacted(one.graph())


@dataclass(frozen=True)
class Confused:
    """What is told of a sentence's confusion set; ``own`` says whether the sentence itself is in it."""

    id: str
    nodes: int = 0
    edges: int = 0
    bytes: int = 0
    own: bool = False
    copied: bool = False
    seconds: float = 0.0


@dataclass
class Totals:
    """The sums of a text."""

    sentences: int = 0
    empty: int = 0
    nodes: int = 0
    edges: int = 0
    bytes: int = 0
    own: int = 0
    copied: int = 0
    cpu: float = 0.0

    def add(self, one: Confused) -> None:
        """One more sentence."""
        self.sentences += 1
        self.empty += not one.nodes
        self.nodes += one.nodes
        self.edges += one.edges
        self.bytes += one.bytes
        self.own += one.own
        self.copied += one.copied
        self.cpu += one.seconds

    def record(self) -> dict[str, float]:
        """Sums, and what they are for each sentence. ``cpu`` has a machine's seconds, all else is the same anywhere."""
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
    setting: Setting,
    sentences: Sequence[Sentence],
    folder: Path,
    weights: Mapping[str, float] | None = None,
    *,
    format: str | None = None,
    jobs: int = 1,
    cache: str | None = None,
    quiet: bool = True,
    note: Callable[[str], None] = lambda text: None,
) -> Totals:
    """Write the confusion set of each sentence into a folder, as ``smt decode --forests`` does; what was written.

    The files are the same for any number of jobs.
    """
    import tempfile

    from smtplugins.host.files.forest_files import ForestFiles
    from smtplugins.host.host import default_runner
    from smtplugins.host.progress import progress

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
        runner = host.registry.make("runners", default_runner(jobs))
        done = runner.map(partial(_kept, translator, files), sentences)
        for one in progress(done, "sentences", total=len(sentences), quiet=quiet):
            totals.add(one)
            if not one.nodes:
                note(f"sentence {one.id} has no confusion set")
        folder.mkdir(parents=True, exist_ok=True)
    return totals


def _kept(translator: Translator, files: ForestFiles, sentence: Sentence) -> Confused:
    """Confuse a sentence and write its set."""
    import time

    from smtplugins.core.graph.compacting import compacted

    begun = time.process_time()
    (one,) = translator.decode([sentence], graphs=True)
    assert one.graph is not None
    graph = compacted(one.graph())
    files.write(graph, one.id)
    # Time for what is told is none of the work.
    seconds = time.process_time() - begun
    if not graph.nodes:
        return Confused(one.id, seconds=seconds)
    size = sum(os.path.getsize(path) for path in Path(files.folder).glob(f"{one.id}.*"))
    copied = one.best == sentence.text
    own = copied or holds(graph, sentence.text)
    return Confused(one.id, graph.nodes, len(graph), size, own, copied, seconds)


def holds(graph: Hypergraph, text: str) -> bool:
    """Whether a text is that of a derivation."""
    from smtplugins.core.graph.inference import intersect

    return len(graph) > 0 and intersect(graph, text).graph.nodes > 0


def read_sets(host: Host, folder: Path, format: str | None = None) -> Iterator[Hypergraph]:
    """Kept confusion sets, one after the other in the order of their numbers; only one is in memory."""
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.files.opening import open_known

    with open_known(folder, "hypergraph", format, host.formats()) as opened:
        for one in opened.records():
            yield Hypergraph.from_columns(one)
