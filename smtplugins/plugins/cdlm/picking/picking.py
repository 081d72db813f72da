"""Evaluation on confusion sets: the sentence a model picks from each, and how much the sets are like a system's lists.

Z. Li, Z. Wang, S. Khudanpur and J. Eisner (COLING 2010). Section 5.4, table 2: of the confusion set of a sentence a
model picks what it likes best, and the score of what was picked, against the sentences themselves, says how good the
model is. Each model searches by itself, in the whole set; besides, all can pick from the sets of the first one.
Section 5.6, table 4: n-grams of the best strings of the sets (simulated) and of a system's lists for the source
sentences (real): which share of the types of the one are among those of the other, summed over sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError, UsageError
from smtplugins.plugins.cdlm.sets.confusing import BLM, OOV, TSRB, WP, Setting, confusion_sets

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Metric, Sentence
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.host import Host

BASELINE = "baseline LM"
ORDER = 4


@dataclass(frozen=True)
class Contender:
    """Who picks: a name, weights, and the class map of its rule bigrams if it has any."""

    name: str
    weights: Mapping[str, float]
    classes: Path | None = None

    @property
    def features(self) -> tuple[str, ...]:
        """The features that count, as the paper's tables name them."""
        families = {name.partition(":")[0] for name, value in self.weights.items() if value}
        return tuple(one for one in (BLM, WP, TSRB) if one in families)


def baseline() -> Contender:
    """The language model alone."""
    return Contender(BASELINE, {BLM: 1.0})


def contender(folder: Path, name: str | None = None) -> Contender:
    """A trained model."""
    from smtplugins.plugins.cdlm.features.classes import FILE
    from smtplugins.plugins.cdlm.features.model import CLASSES, load_model

    model = load_model(folder)
    classes = folder / CLASSES / FILE if CLASSES in model.artefacts else None
    return Contender(name or folder.name, dict(model.weights), classes)


@dataclass(frozen=True)
class Picked:
    """What was picked for each sentence, empty where there was nothing to pick, and how often it was the sentence."""

    texts: tuple[str, ...]
    own: int


def sets_of(
    host: Host,
    setting: Setting,
    sentences: Sequence[Sentence],
    one: Contender,
    jobs: int = 1,
    cache: str | None = None,
) -> Iterator[Hypergraph]:
    """The confusion sets that a contender searches, with its scores."""
    own = replace(setting, classes=one.classes)
    return confusion_sets(host, own, sentences, one.weights, threads=jobs, cache=cache)


def picked(graphs: Iterable[Hypergraph], sentences: Sequence[Sentence]) -> Picked:
    """The best of each set by its scores."""
    from smtplugins.core.graph.inference import viterbi

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
    """What each contender picks from the same sets, made by one of them; rule bigrams are those of each one's classes.

    ``cost`` is what an unknown word costs, for all alike.
    """
    from smtplugins.core.graph.inference import viterbi
    from smtplugins.plugins.cdlm.features.classes import ClassMap, read_classes
    from smtplugins.plugins.cdlm.features.tsrb import Alphabet
    from smtplugins.plugins.cdlm.sets.graphs import with_tsrb

    alphabets: dict[str, Alphabet] = {}
    for one in contenders:
        if TSRB in one.features:
            classes: ClassMap = ClassMap({}) if one.classes is None else read_classes(one.classes)
            alphabets[one.name] = Alphabet(classes)
    texts: dict[str, list[str]] = {one.name: [] for one in contenders}
    for graph in graphs:
        for one in contenders:
            if not len(graph):
                texts[one.name].append("")
                continue
            own = with_tsrb(graph, alphabets[one.name]) if one.name in alphabets else graph
            names = set(own.names[:])
            weights = {name: value for name, value in one.weights.items() if name in names}
            best = viterbi(own, own.scores({**weights, **({OOV: -cost} if OOV in names else {})}))
            texts[one.name].append("" if best is None else best.text)
    return {
        name: Picked(tuple(found), sum(text == one.text for text, one in zip(found, sentences, strict=True)))
        for name, found in texts.items()
    }


def judged(
    metric: Metric, outputs: Sequence[Sequence[str]], references: Sequence[Sequence[str]]
) -> list[dict[str, Any]]:
    """Score and 95 % interval of each output, and p (bootstrap) that it differs from the first."""
    from smtplugins.host.judge.significance import Plan, judge

    stats = [[metric.stats(list(one), [list(stream) for stream in references])] for one in outputs]
    found = judge(metric, stats, Plan(("bootstrap",)))
    return [
        {"score": one.score, "low": one.low, "high": one.high, "p": one.p.get("bootstrap") if k else None}
        for k, one in enumerate(found)
    ]


def perplexity(path: Path, texts: Sequence[str]) -> tuple[float, int]:
    """Perplexity of a text by a language model, sentence ends counted; and how many words the model does not know."""
    import numpy as np

    from smtplugins.core.lm.ngram_model import KenlmMissing, read_lm

    try:
        model = read_lm(path)
    except KenlmMissing as error:
        raise SmtError(str(error)) from None
    scores, unknown = model.score_sentences(list(texts))
    words = sum(len(text.split()) + 1 for text in texts)
    if not words:
        raise SmtError("expected a text to take the perplexity of, found none")
    return float(10 ** (-np.asarray(scores).sum() / words)), int(np.asarray(unknown).sum())


NgramSets = tuple[frozenset[tuple[str, ...]], ...]
"""For each length from 1 on, the n-grams that are there."""


def ngram_types(texts: Iterable[str], order: int = ORDER) -> NgramSets:
    """The n-grams of several strings, each once."""
    found: tuple[set[tuple[str, ...]], ...] = tuple(set() for _ in range(order))
    for text in texts:
        words = tuple(text.split())
        for n, own in enumerate(found, 1):
            own.update(words[i : i + n] for i in range(len(words) - n + 1))
    return tuple(map(frozenset, found))


@dataclass(frozen=True)
class Overlap:
    """N-gram types of one length in simulated sets, in real ones, and in both, summed over sentences."""

    simulated: int
    real: int
    both: int

    @property
    def precision(self) -> float:
        """The share of simulated ones that are real."""
        return self.both / self.simulated if self.simulated else 0.0

    @property
    def recall(self) -> float:
        """The share of real ones that are simulated."""
        return self.both / self.real if self.real else 0.0

    @property
    def agreement(self) -> float:
        """Of all that are in either, the share that are in both."""
        either = self.simulated + self.real - self.both
        return self.both / either if either else 0.0


def overlaps(simulated: Iterable[NgramSets], real: Iterable[NgramSets], order: int = ORDER) -> list[Overlap]:
    """For each length; sentence by sentence, both in the same order. Sentences that lack either set are left out."""
    sums = [[0, 0, 0] for _ in range(order)]
    for one, other in zip(simulated, real, strict=True):
        if not one[0] or not other[0]:
            continue
        for own, left, right in zip(sums, one, other, strict=True):
            for k, count in enumerate((len(left), len(right), len(left & right))):
                own[k] += count
    return [Overlap(*own) for own in sums]


def best_strings(graph: Hypergraph, count: int) -> list[str]:
    """The best strings of a set, each once."""
    from smtplugins.core.graph.inference import kbest

    return kbest(graph, k=count, unique=True).texts() if len(graph) else []


def strings_of_lists(host: Host, path: Path, count: int, sentences: int) -> list[list[str]]:
    """The best strings of each list of a file, by its order; one list for each sentence, by its number."""
    from smtformats.tokens import is_id

    found: dict[int, list[str]] = {}
    for one in host.read(path):
        if not is_id(one.id):
            raise SmtError(f"{path}:{one.line}: expected the number of a sentence as id, found {one.id!r}")
        number = int(one.id)
        if number in found:
            raise SmtError(f"{path}: expected a list for each sentence, found a second one of {number}")
        found[number] = list(dict.fromkeys(one.texts))[:count]
    beyond = [number for number in found if not 0 <= number < sentences]
    if beyond:
        raise UsageError(f"{path}: expected lists of sentences 0 to {sentences - 1}, found {min(beyond)}")
    return [found.get(number, []) for number in range(sentences)]


def gain_shape(texts: Sequence[str], references: Sequence[Sequence[str]], order: int = ORDER) -> tuple[float, float]:
    """Unigram precision, and by which factor precision falls with each longer n-gram, of what was picked.

    These are p and r of the linear gains, with which a text as good as these is worth the same however long it is. An
    n-gram that a reference has is right however often it is there, as in the gains.
    """
    right, total = [0] * order, [0] * order
    for index, text in enumerate(texts):
        known = ngram_types((stream[index] for stream in references), order)
        words = tuple(text.split())
        for n in range(1, order + 1):
            grams = [words[i : i + n] for i in range(len(words) - n + 1)]
            total[n - 1] += len(grams)
            right[n - 1] += sum(gram in known[n - 1] for gram in grams)
    shares = [one / whole for one, whole in zip(right, total, strict=True) if one and whole]
    if not shares:
        raise SmtError("expected picked sentences that share words with the text, found none")
    return shares[0], (shares[-1] / shares[0]) ** (1 / max(len(shares) - 1, 1)) if len(shares) > 1 else 0.5


def references_of(host: Host, text: Path, paraphrases: Sequence[Path]) -> list[list[str]]:
    """The sentences and their paraphrases, stream by stream."""
    from smtplugins.plugins.cdlm.sets.confusing import read_text

    streams = [[one.text for one in read_text(host, path)] for path in (text, *paraphrases)]
    for path, stream in zip(paraphrases, streams[1:], strict=True):
        if len(stream) != len(streams[0]):
            raise SmtError(f"{path}: expected {len(streams[0])} lines as in {text}, found {len(stream)}")
    return streams
