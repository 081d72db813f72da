"""Predictions of classifiers for the rows of a text, their accuracy, and selection among models.

Section 7.4.2: the translation whose classifier has the highest confidence, the more frequent on ties; NULL for words
that are not in the training text. Accuracy is over words with a link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel, Trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.plugins.bitree.boosting.examples import Examples
    from smtplugins.plugins.bitree.words.material import TokenRows

    Array = NDArray[Any]

Score = Callable[[int, "Examples"], "Array"]
"""Scores the classes of a word for some rows (rows x classes)."""


def predict_each(scores: Sequence[Score], rows: TokenRows, words: Iterable[int]) -> list[Array]:
    """Predict the class of each row of some words, by several scoring functions.

    Other words get class 0, the most frequent translation or NULL.
    """
    import numpy as np

    predictions = [np.zeros(len(rows), dtype=np.int32) for _ in scores]
    for word in words:
        own = rows.of(word)
        if own.start < own.stop and len(rows.translations[word]) > 1:
            examples = rows.examples(word)
            for classes, score in zip(predictions, scores, strict=True):
                classes[own] = score(word, examples).argmax(axis=1)
    return predictions


def alone(model: BoostedModel, problem: int) -> BoostedModel:
    """The part of a model for a single problem, which is faster to evaluate."""
    trees = model.trees
    first, last = model.firsts[problem], model.firsts[problem + 1]
    begin, end = int(trees.starts[first]), int(trees.starts[last])
    low, high = int(trees.nodes[begin]), int(trees.nodes[end])
    own = Trees(
        trees.starts[first : last + 1] - begin,
        trees.lambdas[begin:end],
        trees.nodes[begin : end + 1] - low,
        trees.splits[low:high],
        trees.others[low:high],
        trees.values[low:high],
    )
    return BoostedModel(model.atoms, (model.problems[problem],), (model.classes[problem],), own, model.least)


def predict_boosted(model: BoostedModel, rows: TokenRows) -> Array:
    """Predict by boosted trees. Atoms unknown to the model are ignored."""
    return predict_path(model, rows, [model.least])[0]


def predict_path(model: BoostedModel, rows: TokenRows, leasts: Sequence[float]) -> list[Array]:
    """Predict by boosted trees at several lambdas of their path."""
    parts: dict[int, BoostedModel] = {}

    def at(least: float) -> Score:
        def score(word: int, examples: Examples) -> Array:
            if word not in parts:
                parts.clear()
                parts[word] = alone(model, word)
            return parts[word].scores(0, examples, least)

        return score

    return predict_each([at(least) for least in leasts], rows, range(len(model.problems)))


def accuracy(rows: TokenRows, classes: Array) -> float:
    """The percentage of linked words whose translation is right."""
    import numpy as np

    right = (classes == rows.classes)[rows.linked]
    return 100 * float(np.count_nonzero(right)) / max(len(right), 1)


def bags(rows: TokenRows, classes: Array, sentences: int) -> list[list[str]]:
    """The predicted words of each sentence, in source order."""
    import numpy as np

    names: dict[tuple[int, int], str] = {}
    for word in range(len(rows.words)):
        own = rows.of(word)
        for sentence, place, chosen in zip(
            rows.sentence[own].tolist(), rows.place[own].tolist(), classes[own].tolist(), strict=True
        ):
            names[sentence, place] = rows.translations[word][chosen]
    result: list[list[str]] = [[] for _ in range(sentences)]
    order = np.lexsort((rows.place, rows.sentence))
    for sentence, place in zip(rows.sentence[order].tolist(), rows.place[order].tolist(), strict=True):
        if names[sentence, place]:
            result[sentence].append(names[sentence, place])
    return result


@dataclass(frozen=True)
class BagOverlap:
    """Word counts of hypotheses and references, and of matches, clipped per sentence."""

    matches: int
    hypothesis_words: int
    reference_words: int

    @classmethod
    def of(cls, hypotheses: Iterable[Sequence[str]], references: Iterable[Sequence[str]]) -> BagOverlap:
        """Count the words of a text."""
        from collections import Counter

        matches = hypothesis_words = reference_words = 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            matches += (Counter(hypothesis) & Counter(reference)).total()
            hypothesis_words += len(hypothesis)
            reference_words += len(reference)
        return cls(matches, hypothesis_words, reference_words)

    def shown(self) -> dict[str, float]:
        """Precision, recall and F in percent."""
        precision, recall = self.matches / max(self.hypothesis_words, 1), self.matches / max(self.reference_words, 1)
        both = self.hypothesis_words + self.reference_words
        return {"P": 100 * precision, "R": 100 * recall, "F": 200 * self.matches / max(both, 1)}


def upper_bound(sources: Iterable[Sequence[str]], references: Iterable[Sequence[str]]) -> BagOverlap:
    """The upper bound if each source word becomes at most one word: the 1-to-1 bound of table 7.3."""
    pairs = list(zip(sources, references, strict=True))
    most = sum(min(len(source), len(reference)) for source, reference in pairs)
    return BagOverlap(most, most, sum(len(reference) for _, reference in pairs))


@dataclass(frozen=True)
class Mixture:
    """The model used for each word: the best for that word on the tuning text, else ``best``, the best overall."""

    best: str
    words: Mapping[str, str]

    @classmethod
    def of(cls, rows: TokenRows, predictions: Mapping[str, Array]) -> Mixture:
        """Choose by the number of right predictions of linked words; ties go to the model that is best overall."""
        import numpy as np

        right = {name: (classes == rows.classes) & rows.linked for name, classes in predictions.items()}
        order = sorted(right, key=lambda name: -int(right[name].sum()))
        exceptions = {}
        for word, name in enumerate(rows.words):
            own = rows.of(word)
            counts = [int(np.count_nonzero(right[model][own])) for model in order]
            if max(counts) > counts[0]:
                exceptions[name] = order[counts.index(max(counts))]
        return cls(order[0], exceptions)

    def choose(self, rows: TokenRows, predictions: Mapping[str, Array]) -> Array:
        """Combine the models' predictions into those of the mixture."""
        classes: Array = predictions[self.best].copy()
        for word, name in enumerate(rows.words):
            if name in self.words:
                own = rows.of(word)
                classes[own] = predictions[self.words[name]][own]
        return classes


def lambdas(least: float, greatest: float) -> list[float]:
    """Values of lambda to try, falling by a factor of the square root of 2 down to ``least``."""
    values = [least]
    while values[0] < greatest:
        values.insert(0, values[0] * 2**0.5)
    return values


def choose_lambda(model: BoostedModel, rows: TokenRows) -> tuple[float, list[tuple[float, float]]]:
    """The lambda with the best accuracy (the smaller model on ties), and the accuracy of each lambda tried."""
    largest = float(model.trees.lambdas.max(initial=model.least))
    tried = lambdas(model.least, largest)
    predicted = predict_path(model, rows, tried)
    curve = [(penalty, accuracy(rows, classes)) for penalty, classes in zip(tried, predicted, strict=True)]
    best = max(value for _, value in curve)
    return next(penalty for penalty, value in curve if value == best), curve
