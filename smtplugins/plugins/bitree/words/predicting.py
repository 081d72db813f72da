"""What classifiers predict for the rows of a text, how often they are right, and the choice among several.

Section 7.4.2: the word of the classifier with the highest confidence, of equal ones the more frequent; NULL for words
that were not in the training text. Accuracy is over the words that have a link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel
    from smtplugins.plugins.bitree.boosting.examples import Examples
    from smtplugins.plugins.bitree.words.material import Rows

    Array = NDArray[Any]

Score = Callable[[int, "Examples"], "Array"]
"""The confidences of a word's classes for some rows."""


def predict(score: Score, rows: Rows, words: Iterable[int]) -> Array:
    """The class of each row of some words; that of all others is 0, which is the most frequent or NULL."""
    return predict_each([score], rows, words)[0]


def predict_each(scores: Sequence[Score], rows: Rows, words: Iterable[int]) -> list[Array]:
    """The same by several."""
    import numpy as np

    found = [np.zeros(len(rows), dtype=np.int32) for _ in scores]
    for word in words:
        own = rows.of(word)
        if own.start < own.stop and len(rows.translations[word]) > 1:
            examples = rows.examples(word)
            for classes, score in zip(found, scores, strict=True):
                classes[own] = score(word, examples).argmax(axis=1)
    return found


def alone(model: BoostedModel, problem: int) -> BoostedModel:
    """The part of a model that is about one problem, so that what is asked of it takes no look at all others."""
    from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel, Trees

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


def predict_boosted(model: BoostedModel, rows: Rows) -> Array:
    """What boosted trees predict. Rows may have atoms that the model does not know of."""
    return predict_path(model, rows, [model.least])[0]


def predict_path(model: BoostedModel, rows: Rows, leasts: Sequence[float]) -> list[Array]:
    """What boosted trees predict at several lambdas of their path."""
    parts: dict[int, BoostedModel] = {}

    def at(least: float) -> Score:
        def score(word: int, examples: Examples) -> Array:
            if word not in parts:
                parts.clear()
                parts[word] = alone(model, word)
            return parts[word].scores(0, examples, least)

        return score

    return predict_each([at(least) for least in leasts], rows, range(len(model.problems)))


def accuracy(rows: Rows, classes: Array) -> float:
    """The percentage of words with a link whose translation is right."""
    import numpy as np

    right = (classes == rows.classes)[rows.linked]
    return 100 * float(np.count_nonzero(right)) / max(len(right), 1)


def bags(rows: Rows, classes: Array, sentences: int) -> list[list[str]]:
    """The words that each sentence became, in the order of the source words they are of."""
    import numpy as np

    names: dict[tuple[int, int], str] = {}
    for word in range(len(rows.words)):
        own = rows.of(word)
        for sentence, place, chosen in zip(
            rows.sentence[own].tolist(), rows.place[own].tolist(), classes[own].tolist(), strict=True
        ):
            names[sentence, place] = rows.translations[word][chosen]
    found: list[list[str]] = [[] for _ in range(sentences)]
    order = np.lexsort((rows.place, rows.sentence))
    for sentence, place in zip(rows.sentence[order].tolist(), rows.place[order].tolist(), strict=True):
        if names[sentence, place]:
            found[sentence].append(names[sentence, place])
    return found


@dataclass(frozen=True)
class Overlap:
    """Words of hypotheses and references, and those that match: each as often as it is in both."""

    matches: int
    found: int
    wanted: int

    @classmethod
    def of(cls, hypotheses: Iterable[Sequence[str]], references: Iterable[Sequence[str]]) -> Overlap:
        """Those of a text."""
        from collections import Counter

        matches = found = wanted = 0
        for one, other in zip(hypotheses, references, strict=True):
            matches += (Counter(one) & Counter(other)).total()
            found += len(one)
            wanted += len(other)
        return cls(matches, found, wanted)

    def shown(self) -> dict[str, float]:
        """Precision, recall and F in percent."""
        precision, recall = self.matches / max(self.found, 1), self.matches / max(self.wanted, 1)
        both = self.found + self.wanted
        return {"P": 100 * precision, "R": 100 * recall, "F": 200 * self.matches / max(both, 1)}


def upper_bound(sources: Iterable[Sequence[str]], references: Iterable[Sequence[str]]) -> Overlap:
    """What is best if each source word becomes one word at most: the 1-to-1 bound of table 7.3."""
    pairs = list(zip(sources, references, strict=True))
    most = sum(min(len(one), len(other)) for one, other in pairs)
    return Overlap(most, most, sum(len(other) for _, other in pairs))


@dataclass(frozen=True)
class Mixture:
    """Which of several models is used for each word: the best one on the tuning text, or ``best`` of all words."""

    best: str
    words: Mapping[str, str]

    @classmethod
    def of(cls, rows: Rows, predictions: Mapping[str, Array]) -> Mixture:
        """The choice by right predictions of words with a link; of equal ones the best of all, then the first."""
        import numpy as np

        right = {name: (classes == rows.classes) & rows.linked for name, classes in predictions.items()}
        order = sorted(right, key=lambda name: -int(right[name].sum()))
        found = {}
        for word, name in enumerate(rows.words):
            own = rows.of(word)
            counts = [int(np.count_nonzero(right[one][own])) for one in order]
            if max(counts) > counts[0]:
                found[name] = order[counts.index(max(counts))]
        return cls(order[0], found)

    def choose(self, rows: Rows, predictions: Mapping[str, Array]) -> Array:
        """The mixture's predictions, from those of the models."""
        classes: Array = predictions[self.best].copy()
        for word, name in enumerate(rows.words):
            if name in self.words:
                own = rows.of(word)
                classes[own] = predictions[self.words[name]][own]
        return classes


def lambdas(least: float, greatest: float) -> list[float]:
    """Values to choose from, falling by the root of 2: the last one is the least."""
    found = [least]
    while found[0] < greatest:
        found.insert(0, found[0] * 2**0.5)
    return found


def choose_lambda(model: BoostedModel, rows: Rows) -> tuple[float, list[tuple[float, float]]]:
    """Where on the path accuracy is best (of equal ones the smaller model), and the accuracy of each lambda tried."""
    largest = float(model.trees.lambdas.max(initial=model.least))
    tried = lambdas(model.least, largest)
    predicted = predict_path(model, rows, tried)
    curve = [(one, accuracy(rows, classes)) for one, classes in zip(tried, predicted, strict=True)]
    best = max(value for _, value in curve)
    return next(one for one, value in curve if value == best), curve
