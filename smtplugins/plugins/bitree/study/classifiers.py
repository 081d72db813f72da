"""The classifiers of ``smt bitree compare`` and what they predict: table 7.2."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.contracts.tools.decoding import in_order
from smtplugins.contracts.tools.study import Study
from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel
from smtplugins.plugins.bitree.boosting.linear import Linear, fit_loglinear, fit_online_svm
from smtplugins.plugins.bitree.words.atoms import shown_configuration
from smtplugins.plugins.bitree.words.material import Pair, TokenRows, count_links, rows_like, training_rows
from smtplugins.plugins.bitree.words.predicting import Mixture, accuracy, predict_boosted
from smtplugins.plugins.bitree.words.word_model import WordModel
from smtplugins.plugins.bitree.words.word_training import PathOptions, learn_configuration, tree_kind

Array = NDArray[Any]
L1, L2, PRUNED, SVM = "l1", "l2", "pruned", "svm"


@dataclass(frozen=True)
class Grids:
    """The settings to choose from on the tuning text: penalties of l2, costs of the SVM."""

    penalties: Sequence[float] = (3.0, 1.0, 0.3, 0.1)
    costs: Sequence[float] = (1.0, 0.1, 0.01)
    seed: int = 1


@dataclass(frozen=True, eq=False)
class Classifiers:
    """The classifiers of table 7.2, learnt from one text; ``sets`` are the other texts."""

    study: Study
    training: Sequence[Pair]
    sets: Mapping[str, Sequence[Pair]]
    letters: Sequence[str]
    path: PathOptions
    grids: Grids = field(default_factory=Grids)

    @cached_property
    def rows(self) -> dict[str, TokenRows]:
        """The rows of each text, ``training`` among them."""
        counts = count_links(self.training)
        training = training_rows(self.training, counts)
        return {"training": training} | {name: rows_like(own, counts, training) for name, own in self.sets.items()}

    def predictions(self, name: str, letters: str) -> dict[str, Array]:
        """The classes that a kind of classifiers predicts for the rows of each set."""
        self.record(name, letters)
        folder = self.study.folder
        return {text: np.load(folder / f"{name}-{letters}.{text}.npy", allow_pickle=False) for text in self.sets}

    def record(self, name: str, letters: str) -> dict[str, Any]:
        """Learn a kind of classifiers; returns the chosen setting, accuracy on each set, size."""
        makers = {
            L1: lambda: self._boosted(letters),
            L2: lambda: self._loglinear(letters),
            SVM: lambda: self._svm(letters),
        }
        if name == PRUNED:
            self.record(L2, letters)
        return self.study.step(f"{name}-{letters}", makers.get(name, dict))

    def _keep(self, name: str, letters: str, predictions: Mapping[str, Array]) -> dict[str, float]:
        for text, classes in predictions.items():
            np.save(self.study.folder / f"{name}-{letters}.{text}.npy", classes, allow_pickle=False)
        accuracies = self.accuracies(predictions)
        shown = ", ".join(f"{text} {value:.2f} %" for text, value in accuracies.items())
        self.study.say(f"{name}, {shown_configuration(letters)}: {shown}")
        return accuracies

    def accuracies(self, predictions: Mapping[str, Array]) -> dict[str, float]:
        """The percentage of right predictions, for sets that have links."""
        linked = [name for name in predictions if self.rows[name].linked.any()]
        return {name: accuracy(self.rows[name], predictions[name]) for name in linked}

    def model(self, letters: str) -> BoostedModel:
        """The boosted trees of a configuration."""
        self.record(L1, letters)
        return BoostedModel.load(self.study.folder / f"{L1}-{letters}")

    def _boosted(self, letters: str) -> dict[str, Any]:
        self.study.say(f"{L1}, {shown_configuration(letters)}: {len(self.rows['training'])} rows")
        begun = time.process_time()
        model, told = learn_configuration(self.rows["training"], self.rows["tune"], letters, self.path)
        self.study.say(f"{L1}, {shown_configuration(letters)}: {time.process_time() - begun:.0f} s of CPU time")
        model.save(self.study.folder / f"{L1}-{letters}")
        np.save(self.study.folder / f"{L1}-{letters}.sizes.npy", model.sizes(), allow_pickle=False)
        own = {name: predict_boosted(model, self.rows[name]) for name in self.sets}
        return {**told, "accuracy": self._keep(L1, letters, own)}

    def _loglinear(self, letters: str) -> dict[str, Any]:
        """Learn l2, and pruned l2: each classifier keeps as many weights as its trees have parameters."""
        self.record(L1, letters)
        sizes = np.load(self.study.folder / f"{L1}-{letters}.sizes.npy", allow_pickle=False)
        training = self.rows["training"].only(letters)
        starts = np.cumsum([0, *map(len, training.translations)]).tolist()
        penalties = sorted(self.grids.penalties, reverse=True)

        def fit(word: int) -> list[tuple[Linear, Linear]]:
            problem, models, model = training.problem(word), [], None
            for penalty in penalties:
                model = fit_loglinear(problem, penalty, start=model)
                models.append((model, model.pruned(sizes[starts[word] : starts[word + 1]])))
            return models

        self.study.say(f"{L2}, {shown_configuration(letters)}")
        both, total = self._tried(fit, len(penalties), 2)
        at, curve = self._best([kinds[0] for kinds in both], penalties)
        # The penalty is that of the whole model: pruning comes after it.
        pruned = {"penalty": penalties[at], "size": total[at][1], "accuracy": self._keep(PRUNED, letters, both[at][1])}
        self.study.step(f"{PRUNED}-{letters}", lambda: pruned)
        record = {"penalty": penalties[at], "curve": curve, "size": total[at][0]}
        return {**record, "accuracy": self._keep(L2, letters, both[at][0])}

    def _svm(self, letters: str) -> dict[str, Any]:
        training = self.rows["training"].only(letters)
        costs = sorted(self.grids.costs)
        counted = [[0] * len(costs) for _ in training.words]

        def fit(word: int) -> list[tuple[Linear]]:
            problem, models = training.problem(word), []
            for k, cost in enumerate(costs):
                model, counted[word][k] = fit_online_svm(problem, cost, seed=self.grids.seed)
                models.append((model,))
            return models

        self.study.say(f"{SVM}, {shown_configuration(letters)}")
        tried, total = self._tried(fit, len(costs), 1)
        vectors = [sum(word[k] for word in counted) for k in range(len(costs))]
        at, curve = self._best([kinds[0] for kinds in tried], costs)
        record = {"cost": costs[at], "curve": curve, "size": total[at][0], "vectors": vectors[at]}
        return {**record, "accuracy": self._keep(SVM, letters, tried[at][0])}

    def _tried(
        self, fit: Callable[[int], Sequence[Sequence[Linear]]], settings: int, kinds: int
    ) -> tuple[list[list[dict[str, Array]]], list[list[int]]]:
        """Predictions of each setting's models for each set, and their sizes; a word's models are fitted together."""
        training = self.rows["training"]
        predicted = [
            [{name: np.zeros(len(self.rows[name]), dtype=np.int32) for name in self.sets} for _ in range(kinds)]
            for _ in range(settings)
        ]
        total = [[0] * kinds for _ in range(settings)]

        def fit_word(word: int) -> list[list[tuple[int, dict[str, Array]]]]:
            made = []
            for row in fit(word):
                made.append([(int(model.sizes().sum()), self._of(model, word)) for model in row])
            return made

        # Predictions are kept, models are not: those of all words would be large.
        for word, made in enumerate(in_order(fit_word, range(len(training.words)), self.path.jobs)):
            for k, row in enumerate(made):
                for kind, (size, classes) in enumerate(row):
                    total[k][kind] += size
                    for name, values in classes.items():
                        predicted[k][kind][name][self.rows[name].of(word)] = values
        return predicted, total

    def _of(self, model: Linear, word: int) -> dict[str, Array]:
        return {name: model.scores(self.rows[name].examples(word)).argmax(axis=1) for name in self.sets}

    def _best(self, tried: Sequence[Mapping[str, Array]], values: Sequence[float]) -> tuple[int, list[Any]]:
        """The best setting on the tuning rows (the first on ties), and the values of all settings."""
        curve = [accuracy(self.rows["tune"], predicted["tune"]) for predicted in tried]
        return curve.index(max(curve)), list(zip(values, curve, strict=True))

    # What table 7.3 compares.

    @cached_property
    def mixture(self) -> Mixture:
        """The best configuration of each source word on the tuning text."""
        return Mixture.of(
            self.rows["tune"], {letters: self.predictions(L1, letters)["tune"] for letters in self.letters}
        )

    def predict_mixture(self, name: str) -> Array:
        """The mixture's predictions for a set."""
        return self.mixture.choose(self.rows[name], self._boosted_predictions(name))

    def _boosted_predictions(self, name: str) -> dict[str, Array]:
        return {letters: self.predictions(L1, letters)[name] for letters in self.letters}

    def word_model(self) -> WordModel:
        """The trees of all configurations, and their mixture."""
        models = {letters: self.model(letters) for letters in self.letters}
        return WordModel(models, self.mixture, tree_kind(self.training, self.letters))

    def baseline(self, name: str) -> Array:
        """The most frequent translation."""
        return np.zeros(len(self.rows[name]), dtype=np.int32)
