"""Two toy learners, loaded as a plugin by the tests: one linear on lists, one of boosted stumps on rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from smtplugins import Offer, hookimpl
from smtplugins.contracts.learners import LearnerState, LearnerStep, ListProblem, RowProblem
from smtplugins.contracts.models import Files, Model
from smtplugins.contracts.runners import Runner


def spread(runner: Runner | None, function: Any, items: Any) -> Iterator[Any]:
    return map(function, items) if runner is None else runner.map(function, items)


class Perceptron:
    """The averaged structured perceptron: a step is one pass over the lists in random order."""

    accepts = frozenset({ListProblem})

    def __init__(self, *, epochs: int = 4, rate: float = 0.1) -> None:
        self.epochs = epochs
        self.rate = rate

    def learn(
        self,
        problem: ListProblem,
        start: Model,
        *,
        resume: LearnerState | None = None,
        seed: int = 1,
        runner: Runner | None = None,
    ) -> Iterator[LearnerStep]:
        names = sorted({name for nbest in problem.lists for name in nbest.names()})
        sign = 1 if problem.metric.higher_is_better else -1
        gains = [sign * problem.metric.sentence(rows) for rows in problem.stats]
        tables = list(spread(runner, partial(table_of, names), problem.lists))
        random = np.random.default_rng(seed)
        weights = np.array([start.weights.get(name, 0.0) for name in names])
        total, done = np.zeros(len(names)), 0
        if resume is not None:
            random.bit_generator.state = resume.values["random"]
            weights, total, done = resume.arrays["weights"].copy(), resume.arrays["total"].copy(), resume.values["done"]
        for epoch in range(done, self.epochs):
            for i in random.permutation(len(tables)):
                wanted, chosen = int(np.argmax(gains[i])), int(np.argmax(tables[i] @ weights))
                weights = weights + self.rate * (tables[i][wanted] - tables[i][chosen])
                total = total + weights
            averaged = total / ((epoch + 1) * len(tables))
            lost = [gain.max() - gain[np.argmax(table @ averaged)] for table, gain in zip(tables, gains, strict=True)]
            state = LearnerState(
                {"weights": weights, "total": total}, {"done": epoch + 1, "random": random.bit_generator.state}
            )
            model = start.with_weights(dict(zip(names, averaged.tolist(), strict=True)))
            yield LearnerStep(model, float(np.mean(lost)), {"lists": float(len(tables))}, state)


def table_of(names: list[str], nbest: Any) -> Any:
    rows = [features for _, features, _ in nbest.rows()]
    return np.array([[row.get(name, 0.0) for name in names] for row in rows])


@dataclass(frozen=True)
class Stumps:
    """An ensemble: feature, threshold and vote of each stump. No vector of weights says the same."""

    votes: tuple[tuple[str, float, float], ...] = ()

    def text(self) -> str:
        return json.dumps(self.votes)

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "stumps.json").write_text(self.text(), encoding="utf-8")

    @classmethod
    def of(cls, artefact: Any) -> Stumps:
        if isinstance(artefact, Files):
            data = json.loads((artefact.folder / "stumps.json").read_text(encoding="utf-8"))
            return cls(tuple((name, limit, vote) for name, limit, vote in data))
        return artefact if isinstance(artefact, Stumps) else cls()

    def digest(self) -> str:
        return hashlib.sha256(self.text().encode()).hexdigest()

    def decide(self, columns: dict[str, Any]) -> Any:
        votes = [vote * np.where(columns[name] > limit, 1.0, -1.0) for name, limit, vote in self.votes]
        return np.sign(np.sum(votes, axis=0))


class Boosting:
    """AdaBoost over products of features and single ones; a step is one stump more, found among random thresholds."""

    accepts = frozenset({RowProblem})

    def __init__(self, *, rounds: int = 8) -> None:
        self.rounds = rounds

    def learn(
        self,
        problem: RowProblem,
        start: Model,
        *,
        resume: LearnerState | None = None,
        seed: int = 1,
        runner: Runner | None = None,
    ) -> Iterator[LearnerStep]:
        columns = columns_of(problem)
        labels = np.asarray(problem.labels, dtype=np.float64)
        random = np.random.default_rng(seed)
        ensemble, weights = Stumps(), np.full(len(labels), 1 / len(labels))
        if resume is not None:
            ensemble, weights = Stumps.of(start.artefacts["stumps"]), resume.arrays["weights"]
            random.bit_generator.state = resume.values["random"]
        for _ in range(len(ensemble.votes), self.rounds):
            tries = [(name, float(random.choice(columns[name]))) for name in sorted(columns) for _ in range(6)]
            errors = list(spread(runner, partial(error_of, columns, labels, weights), tries))
            # The stump that decides most, one way or the other.
            best = max(range(len(tries)), key=lambda i: abs(errors[i] - 0.5))
            error = min(max(errors[best], 1e-6), 1 - 1e-6)
            vote = float(np.log((1 - error) / error) / 2)
            ensemble = Stumps((*ensemble.votes, (*tries[best], vote)))
            said = np.where(columns[tries[best][0]] > tries[best][1], 1.0, -1.0)
            weights = weights * np.exp(-vote * labels * said)
            objective = float(weights.sum())
            weights = weights / objective
            accuracy = float(np.mean(ensemble.decide(columns) == labels))
            state = LearnerState({"weights": weights}, {"random": random.bit_generator.state})
            yield LearnerStep(Model({}, {"stumps": ensemble}), objective, {"accuracy": accuracy}, state)


def columns_of(problem: RowProblem) -> dict[str, Any]:
    rows = [problem.features.row(i) for i in range(len(problem.features))]
    single = {name: np.array([row.get(name, 0.0) for row in rows]) for name in problem.features.names}
    pairs = {f"{a}*{b}": single[a] * single[b] for a in single for b in single if a < b}
    return {**single, **pairs}


def error_of(columns: dict[str, Any], labels: Any, weights: Any, tried: tuple[str, float]) -> float:
    said = np.where(columns[tried[0]] > tried[1], 1.0, -1.0)
    return float(weights[said != labels].sum())


@hookimpl
def smt_learners() -> Iterator[Offer]:
    yield Offer(name="toy-perceptron", make=Perceptron, summary="averaged perceptron on lists")
    yield Offer(name="toy-stumps", make=Boosting, summary="boosted stumps on rows")
