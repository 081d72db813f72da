"""Evaluation on confusion sets: the sentence a model picks from each, and n-gram overlap with a system's n-best lists.

Z. Li, Z. Wang, S. Khudanpur and J. Eisner (COLING 2010). Section 5.4, table 2: a model picks the best sentence from
each confusion set; the metric's score of the picks against the original sentences measures the model. Each model
searches the whole set itself; optionally all models pick from the sets of the first. Section 5.6, table 4: precision
and recall of the n-gram types of the sets' best strings (simulated) against those of a system's n-best lists for the
source sentences (real), summed over sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from smtformats.tokens import is_id
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.plugins.cdlm.sets.confusing import BLM, OOV, TSRB, WP, ConfusionSetting, confusion_sets, read_text

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.tools.graphs import Hypergraph
    from smtplugins.contracts.tools.running import Host

BASELINE = "baseline LM"
ORDER = 4


@dataclass(frozen=True)
class Contender:
    """A model that picks: its name, weights, and the class map of its rule bigrams, if any."""

    name: str
    weights: Mapping[str, float]
    classes: Path | None = None

    @property
    def features(self) -> tuple[str, ...]:
        """The features with nonzero weights, as the paper's tables name them."""
        families = {name.partition(":")[0] for name, value in self.weights.items() if value}
        return tuple(family for family in (BLM, WP, TSRB) if family in families)


def baseline() -> Contender:
    """Return the baseline: the language model alone."""
    return Contender(BASELINE, {BLM: 1.0})


def contender(folder: Path, name: str | None = None) -> Contender:
    """Load a trained model."""
    from smtplugins.plugins.cdlm.features.classes import FILE
    from smtplugins.plugins.cdlm.features.model import CLASSES, load_model

    model = load_model(folder)
    classes = folder / CLASSES / FILE if CLASSES in model.artefacts else None
    return Contender(name or folder.name, dict(model.weights), classes)


@dataclass(frozen=True)
class Picked:
    """The text picked for each sentence (empty for empty sets), and how many picks are the sentence itself."""

    texts: tuple[str, ...]
    own: int


def sets_of(
    host: Host,
    setting: ConfusionSetting,
    sentences: Sequence[Sentence],
    model: Contender,
    jobs: int = 1,
    cache: str | None = None,
) -> Iterator[Hypergraph]:
    """Yield the confusion sets that a model searches, with its scores."""
    own = replace(setting, classes=model.classes)
    return confusion_sets(host, own, sentences, model.weights, threads=jobs, cache=cache)


def picked(graphs: Iterable[Hypergraph], sentences: Sequence[Sentence]) -> Picked:
    """Pick the best derivation of each set by its scores."""
    from smtplugins.contracts.tools.graphs import viterbi

    texts = []
    for graph in graphs:
        best = viterbi(graph) if len(graph) else None
        texts.append("" if best is None else best.text)
    own = sum(text == sentence.text for text, sentence in zip(texts, sentences, strict=True))
    return Picked(tuple(texts), own)


def same_sets(
    graphs: Iterable[Hypergraph],
    sentences: Sequence[Sentence],
    contenders: Sequence[Contender],
    cost: float,
) -> dict[str, Picked]:
    """Let each model pick from the same sets; rule bigrams are recomputed with each model's class map.

    ``cost`` is the cost of an unknown word, the same for all models.
    """
    from smtplugins.contracts.tools.graphs import viterbi
    from smtplugins.plugins.cdlm.features.classes import ClassMap, read_classes
    from smtplugins.plugins.cdlm.features.tsrb import Alphabet
    from smtplugins.plugins.cdlm.sets.graphs import with_tsrb

    alphabets: dict[str, Alphabet] = {}
    for model in contenders:
        if TSRB in model.features:
            classes: ClassMap = ClassMap({}) if model.classes is None else read_classes(model.classes)
            alphabets[model.name] = Alphabet(classes)
    texts: dict[str, list[str]] = {model.name: [] for model in contenders}
    for graph in graphs:
        for model in contenders:
            if not len(graph):
                texts[model.name].append("")
                continue
            own = with_tsrb(graph, alphabets[model.name]) if model.name in alphabets else graph
            names = set(own.names[:])
            weights = {name: value for name, value in model.weights.items() if name in names}
            best = viterbi(own, own.scores({**weights, **({OOV: -cost} if OOV in names else {})}))
            texts[model.name].append("" if best is None else best.text)
    return {
        name: Picked(tuple(picks), sum(text == sentence.text for text, sentence in zip(picks, sentences, strict=True)))
        for name, picks in texts.items()
    }


def perplexity(path: Path, texts: Sequence[str]) -> tuple[float, int]:
    """Return a text's perplexity under a language model, counting sentence ends, and its number of unknown words."""
    import numpy as np

    from smtplugins.contracts.tools.language_models import read_lm

    model = read_lm(path)
    scores, unknown = model.score_sentences(list(texts))
    words = sum(len(text.split()) + 1 for text in texts)
    if not words:
        raise SmtError("perplexity: expected a text with words, found none")
    return float(10 ** (-np.asarray(scores).sum() / words)), int(np.asarray(unknown).sum())


NgramSets = tuple[frozenset[tuple[str, ...]], ...]
"""For each length from 1 on, the n-gram types."""


def ngram_types(texts: Iterable[str], order: int = ORDER) -> NgramSets:
    """Return the n-gram types of several strings."""
    types: tuple[set[tuple[str, ...]], ...] = tuple(set() for _ in range(order))
    for text in texts:
        words = tuple(text.split())
        for n, own in enumerate(types, 1):
            own.update(words[i : i + n] for i in range(len(words) - n + 1))
    return tuple(map(frozenset, types))


@dataclass(frozen=True)
class NgramOverlap:
    """Counts of n-gram types of one length in simulated sets, in real lists, and in both, summed over sentences."""

    simulated: int
    real: int
    both: int

    @property
    def precision(self) -> float:
        """The share of simulated types that are real."""
        return self.both / self.simulated if self.simulated else 0.0

    @property
    def recall(self) -> float:
        """The share of real types that are simulated."""
        return self.both / self.real if self.real else 0.0

    @property
    def agreement(self) -> float:
        """The intersection divided by the union (Jaccard index)."""
        either = self.simulated + self.real - self.both
        return self.both / either if either else 0.0


def overlaps(simulated: Iterable[NgramSets], real: Iterable[NgramSets]) -> list[NgramOverlap]:
    """Sum the overlap of each length over parallel sentences; sentences where either set is empty are skipped."""
    sums = [[0, 0, 0] for _ in range(ORDER)]
    for simulated_sets, real_sets in zip(simulated, real, strict=True):
        if not simulated_sets[0] or not real_sets[0]:
            continue
        for own, left, right in zip(sums, simulated_sets, real_sets, strict=True):
            for k, count in enumerate((len(left), len(right), len(left & right))):
                own[k] += count
    return [NgramOverlap(*own) for own in sums]


def best_strings(graph: Hypergraph, count: int) -> list[str]:
    """Return the best distinct strings of a set."""
    from smtplugins.contracts.tools.graphs import kbest

    return kbest(graph, k=count, unique=True).texts() if len(graph) else []


def strings_of_lists(host: Host, path: Path, count: int, sentences: int) -> list[list[str]]:
    """Return the first distinct strings of each list of a file, indexed by sentence number."""
    lists: dict[int, list[str]] = {}
    for nbest in host.read(path):
        if not is_id(nbest.id):
            raise SmtError(f"{path}:{nbest.line}: expected a sentence number as id, found {nbest.id!r}")
        number = int(nbest.id)
        if number in lists:
            raise SmtError(f"{path}: expected one list for each sentence, found a second list of sentence {number}")
        lists[number] = list(dict.fromkeys(nbest.texts))[:count]
    beyond = [number for number in lists if not 0 <= number < sentences]
    if beyond:
        raise UsageError(f"{path}: expected lists of sentences 0 to {sentences - 1}, found {min(beyond)}")
    return [lists.get(number, []) for number in range(sentences)]


def gain_shape(texts: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Return the unigram precision of the picked texts and the factor by which precision falls with n-gram length.

    These are p and r of the linear gains, chosen so that the gain of a text of this quality does not depend on its
    length. As in the gains, n-gram matches are not clipped.
    """
    right, total = [0] * ORDER, [0] * ORDER
    for index, text in enumerate(texts):
        known = ngram_types((stream[index] for stream in references), ORDER)
        words = tuple(text.split())
        for n in range(1, ORDER + 1):
            grams = [words[i : i + n] for i in range(len(words) - n + 1)]
            total[n - 1] += len(grams)
            right[n - 1] += sum(gram in known[n - 1] for gram in grams)
    shares = [hits / whole for hits, whole in zip(right, total, strict=True) if hits and whole]
    if not shares:
        raise SmtError("expected picked sentences that share words with the text, found none")
    return shares[0], (shares[-1] / shares[0]) ** (1 / max(len(shares) - 1, 1)) if len(shares) > 1 else 0.5


def references_of(host: Host, text: Path, paraphrases: Sequence[Path]) -> list[list[str]]:
    """Read the sentences and their paraphrases as reference streams."""
    streams = [[sentence.text for sentence in read_text(host, path)] for path in (text, *paraphrases)]
    for path, stream in zip(paraphrases, streams[1:], strict=True):
        if len(stream) != len(streams[0]):
            raise SmtError(f"{path}: expected {len(streams[0])} lines as in {text}, found {len(stream)}")
    return streams
