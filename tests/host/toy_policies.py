"""A decoder that translates word by word, and a learner of its policy: what a plugin needs for `smt tune`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smtformats import Columns
from smtplugins import Offer, hookimpl
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.learners import LearnerState, LearnerStep
from smtplugins.contracts.metrics import Metric
from smtplugins.contracts.models import Model
from smtplugins.contracts.tasks import TaskProblem
from smtplugins.host.learn.search_tasks import Weights, follow, ranked

TABLE = {
    "das": ("the", "that"),
    "haus": ("house", "home"),
    "geht": ("goes", "walks"),
    "nach": ("to", "after"),
}


@dataclass(frozen=True)
class Words:
    """A state: a sentence's number, its words, and what was said so far."""

    number: int
    words: tuple[str, ...]
    said: tuple[str, ...] = ()


@dataclass
class WordByWord:
    """The task: the next word's translation; the reward is the metric's score of the sentence."""

    sentences: Sequence[Sentence]
    references: Sequence[Sequence[str]]
    metric: Metric | None

    def begin(self, example: int) -> Words:
        words = self.sentences[example].tokens
        return Words(example, () if "unknown" in words else words)

    def actions(self, state: Words) -> Sequence[str]:
        left = state.words[len(state.said) :]
        return TABLE.get(left[0], (left[0],)) if left else ()

    def features(self, state: Words, actions: Sequence[str]) -> Columns:
        before = state.said[-1] if state.said else "^"
        word = state.words[len(state.said)]
        rows = [
            {f"word:{word}_{action}": 1.0, f"pair:{before}_{action}": 1.0, "length": float(len(action))}
            for action in actions
        ]
        return Columns.from_mappings(rows)

    def after(self, state: Words, action: str) -> Words:
        return Words(state.number, state.words, (*state.said, action))

    def reward(self, state: Words) -> float:
        if len(state.said) < len(state.words):
            return 0.0
        assert self.metric is not None
        references = [[stream[state.number]] for stream in self.references]
        return float(self.metric.sentence(self.metric.stats([" ".join(state.said)], references))[0])


class ByWord:
    """Translates word by word, as the policy says; one that holds an unknown word not at all."""

    def decode(
        self, sentences: Iterable[Sentence], model: Model, *, threads: int = 1, graphs: bool = False
    ) -> Iterator[Decoding]:
        for sentence in sentences:
            task = WordByWord([sentence], [], None)
            task.reward = lambda state: 0.0  # type: ignore[method-assign]
            end = follow(task, task.begin(0), Weights.of(model.weights)).end
            yield Decoding(sentence.id, " ".join(end.said), found=bool(end.said))

    def task(
        self, sentences: Sequence[Sentence], references: Sequence[Sequence[str]], metric: Metric, model: Model
    ) -> TaskProblem:
        return TaskProblem(WordByWord(sentences, references, metric), range(len(sentences)), {"length": 0.25})


class Silent:
    """A decoder without a task."""

    def decode(
        self, sentences: Iterable[Sentence], model: Model, *, threads: int = 1, graphs: bool = False
    ) -> Iterator[Decoding]:
        return (Decoding(sentence.id, "") for sentence in sentences)


class Trying:
    """From any state of the path tries all actions, and goes from what the policy did to what was best."""

    accepts = frozenset({TaskProblem})

    def __init__(self, *, epochs: int = 6, rate: float = 1.0, fixed: str = "") -> None:
        self.epochs, self.rate, self.fixed = epochs, rate, fixed.split()

    def learn(
        self, problem: TaskProblem, start: Model, *, resume: Any = None, seed: int = 1, runner: Any = None
    ) -> Iterator[LearnerStep]:
        random, task = np.random.default_rng(seed), problem.search
        weights, done = Weights.of(start.weights), 0
        if resume is not None:
            random.bit_generator.state = resume.values["random"]
            weights, done = Weights(resume.values["names"], resume.arrays["weights"]), resume.values["done"]
        for epoch in range(done, self.epochs):
            rewards = []
            for number in random.permutation(len(problem.examples)).tolist():
                path = follow(task, task.begin(problem.examples[number]), weights)
                rewards.append(path.value(0))
                if not len(path):
                    continue
                at = int(random.integers(len(path)))
                state = path.state(at)
                tried = [follow(task, state, weights, action) for action in ranked(task, state, weights)[0]]
                best = max(tried, key=lambda path: path.value(0))
                if best.value(0) > path.value(at):
                    for sign, (ids, values) in ((self.rate, best.features(0)), (-self.rate, path.features(at))):
                        free = [weights.names[number] not in self.fixed for number in ids.tolist()]
                        with np.errstate(over="ignore", invalid="ignore"):
                            weights.array[ids[free]] += sign * values[free]
            values = {"names": list(weights.names), "done": epoch + 1, "random": random.bit_generator.state}
            model = start.with_weights({**start.weights, **weights.mapping()})
            state_of = LearnerState({"weights": weights.array.copy()}, values)
            yield LearnerStep(model, float(np.mean(rewards)), {"examples": float(len(rewards))}, state_of)


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    yield Offer(name="by-word", make=ByWord, summary="word by word")
    yield Offer(name="silent", make=Silent, summary="says nothing")


@hookimpl
def smt_learners() -> Iterator[Offer]:
    yield Offer(name="trying", make=Trying, summary="tries all actions of a state")
