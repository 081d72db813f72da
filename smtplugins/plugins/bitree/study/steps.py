"""The steps of ``smt bitree compare``: classifiers and what they predict, bags, transducers; each is made once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.decode.threads import in_order
from smtplugins.host.study.steps import once
from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel
from smtplugins.plugins.bitree.boosting.linear import Linear, fit_loglinear, fit_online_svm
from smtplugins.plugins.bitree.words.atoms import shown_configuration
from smtplugins.plugins.bitree.words.material import Pair, TokenRows, count_links, rows_like, training_rows
from smtplugins.plugins.bitree.words.predicting import Mixture, accuracy, predict_boosted
from smtplugins.plugins.bitree.words.word_model import WordModel
from smtplugins.plugins.bitree.words.word_training import PathOptions, learn_configuration, tree_kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

SETS = ("tune", "dev", "test")
L1, L2, PRUNED, SVM = "l1", "l2", "pruned", "svm"


@dataclass(frozen=True)
class Grids:
    """What is chosen from on the tuning text: penalties of l2, costs of the SVM."""

    penalties: Sequence[float] = (3.0, 1.0, 0.3, 0.1)
    costs: Sequence[float] = (1.0, 0.1, 0.01)
    seed: int = 1


@dataclass(frozen=True, eq=False)
class Classifiers:
    """All that is compared in table 7.2, learnt from one text; ``sets`` are the others."""

    folder: Path
    training: Sequence[Pair]
    sets: Mapping[str, Sequence[Pair]]
    letters: Sequence[str]
    path: PathOptions
    grids: Grids = field(default_factory=Grids)
    say: Callable[[str], None] = lambda text: None

    @cached_property
    def rows(self) -> dict[str, TokenRows]:
        """The rows of each text, ``training`` among them."""
        counts = count_links(self.training)
        training = training_rows(self.training, counts)
        found = {name: rows_like(pairs, counts, training) for name, pairs in self.sets.items()}
        return {"training": training, **found}

    def once(self, name: str, make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """A record that the folder has, or that is made now."""
        if name not in self._known:
            self._known[name] = once(self.folder, name, make, self.say)
        return self._known[name]

    @cached_property
    def _known(self) -> dict[str, dict[str, Any]]:
        return {}

    # What is predicted stands beside the records.

    def predictions(self, name: str, letters: str) -> dict[str, Array]:
        """The classes that a kind of classifiers predicts for the rows of each set."""
        import numpy as np

        self.record(name, letters)
        found = {}
        for one in self.sets:
            values: Array = np.load(self.folder / f"{name}-{letters}.{one}.npy", allow_pickle=False)
            found[one] = values
        return found

    def record(self, name: str, letters: str) -> dict[str, Any]:
        """What is known of a kind of classifiers: what was chosen, accuracy on each set, size."""
        makers = {
            L1: lambda: self._boosted(letters),
            L2: lambda: self._loglinear(letters),
            SVM: lambda: self._svm(letters),
        }
        if name == PRUNED:
            self.record(L2, letters)
        return self.once(f"{name}-{letters}", makers.get(name, dict))

    def _keep(self, name: str, letters: str, predictions: Mapping[str, Array]) -> dict[str, float]:
        import numpy as np

        for one, classes in predictions.items():
            np.save(self.folder / f"{name}-{letters}.{one}.npy", classes, allow_pickle=False)
        found = self.accuracies(predictions)
        self.say(f"{name}, {shown_configuration(letters)}: " + ", ".join(f"{k} {v:.2f} %" for k, v in found.items()))
        return found

    def accuracies(self, predictions: Mapping[str, Array]) -> dict[str, float]:
        """How often predictions are right, in those sets that have links."""
        linked = [name for name in predictions if self.rows[name].linked.any()]
        return {name: accuracy(self.rows[name], predictions[name]) for name in linked}

    def model(self, letters: str) -> BoostedModel:
        """The boosted trees of a configuration."""
        self.record(L1, letters)
        return BoostedModel.load(self.folder / f"{L1}-{letters}")

    def _boosted(self, letters: str) -> dict[str, Any]:
        import time

        import numpy as np

        self.say(f"{L1}, {shown_configuration(letters)}: {len(self.rows['training'])} rows")
        begun = time.process_time()
        model, told = learn_configuration(self.rows["training"], self.rows["tune"], letters, self.path)
        self.say(f"{L1}, {shown_configuration(letters)}: {time.process_time() - begun:.0f} s of CPU time")
        model.save(self.folder / f"{L1}-{letters}")
        np.save(self.folder / f"{L1}-{letters}.sizes.npy", model.sizes(), allow_pickle=False)
        own = {name: predict_boosted(model, self.rows[name]) for name in self.sets}
        return {**told, "accuracy": self._keep(L1, letters, own)}

    def _loglinear(self, letters: str) -> dict[str, Any]:
        """l2, and pruned l2: as many weights of each classifier as its trees have parameters."""
        import numpy as np

        self.record(L1, letters)
        sizes = np.load(self.folder / f"{L1}-{letters}.sizes.npy", allow_pickle=False)
        training = self.rows["training"].only(letters)
        starts = np.cumsum([0, *map(len, training.translations)]).tolist()
        penalties = sorted(self.grids.penalties, reverse=True)

        def fit(word: int) -> list[tuple[Linear, Linear]]:
            problem, found, model = training.problem(word), [], None
            for penalty in penalties:
                model = fit_loglinear(problem, penalty, start=model)
                found.append((model, model.pruned(sizes[starts[word] : starts[word + 1]])))
            return found

        self.say(f"{L2}, {shown_configuration(letters)}")
        both, total = self._tried(fit, len(penalties), 2)
        at, curve = self._best([one[0] for one in both], penalties)
        # The penalty is that of the whole model: pruning comes after it.
        pruned = {"penalty": penalties[at], "size": total[at][1], "accuracy": self._keep(PRUNED, letters, both[at][1])}
        self.once(f"{PRUNED}-{letters}", lambda: pruned)
        found = {"penalty": penalties[at], "curve": curve, "size": total[at][0]}
        return {**found, "accuracy": self._keep(L2, letters, both[at][0])}

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

        self.say(f"{SVM}, {shown_configuration(letters)}")
        tried, total = self._tried(fit, len(costs), 1)
        vectors = [sum(one[k] for one in counted) for k in range(len(costs))]
        at, curve = self._best([one[0] for one in tried], costs)
        found = {"cost": costs[at], "curve": curve, "size": total[at][0], "vectors": vectors[at]}
        return {**found, "accuracy": self._keep(SVM, letters, tried[at][0])}

    def _tried(
        self, fit: Callable[[int], Sequence[Sequence[Linear]]], settings: int, kinds: int
    ) -> tuple[list[list[dict[str, Array]]], list[list[int]]]:
        """What the models of each setting predict for each set, and their sizes; a word's models are made at once."""
        import numpy as np

        training = self.rows["training"]
        found = [
            [{name: np.zeros(len(self.rows[name]), dtype=np.int32) for name in self.sets} for _ in range(kinds)]
            for _ in range(settings)
        ]
        total = [[0] * kinds for _ in range(settings)]

        def one(word: int) -> list[list[tuple[int, dict[str, Array]]]]:
            made = []
            for row in fit(word):
                made.append([(int(model.sizes().sum()), self._of(model, word)) for model in row])
            return made

        # What is predicted is kept, models are not: those of all words would be large.
        for word, made in enumerate(in_order(one, range(len(training.words)), self.path.jobs)):
            for k, row in enumerate(made):
                for kind, (size, classes) in enumerate(row):
                    total[k][kind] += size
                    for name, values in classes.items():
                        found[k][kind][name][self.rows[name].of(word)] = values
        return found, total

    def _of(self, model: Linear, word: int) -> dict[str, Array]:
        return {name: model.scores(self.rows[name].examples(word)).argmax(axis=1) for name in self.sets}

    def _best(self, tried: Sequence[Mapping[str, Array]], values: Sequence[float]) -> tuple[int, list[Any]]:
        """The setting that is best on the tuning rows, of equal ones the first, and all of them."""
        curve = [accuracy(self.rows["tune"], one["tune"]) for one in tried]
        return curve.index(max(curve)), list(zip(values, curve, strict=True))

    # What table 7.3 compares.

    @cached_property
    def mixture(self) -> Mixture:
        """The best configuration of each source word on the tuning text."""
        return Mixture.of(self.rows["tune"], {one: self.predictions(L1, one)["tune"] for one in self.letters})

    def mixed(self, name: str) -> Array:
        """What the mixture predicts for a set."""
        return self.mixture.choose(self.rows[name], {one: self.predictions(L1, one)[name] for one in self.letters})

    def word_model(self) -> WordModel:
        """The trees of all configurations, and their mixture."""
        models = {one: self.model(one) for one in self.letters}
        return WordModel(models, self.mixture, tree_kind(self.training, self.letters))

    def baseline(self, name: str) -> Array:
        """The most frequent translation."""
        import numpy as np

        return np.zeros(len(self.rows[name]), dtype=np.int32)
