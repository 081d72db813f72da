"""Shared by tests of learning: lists that can be learnt from, and scripted learners."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import smtplugins as smt
from smtformats import Candidates
from smtplugins import Offer
from smtplugins.contracts.learners import ForestProblem, LearnerState, LearnerStep, ListProblem
from smtplugins.contracts.models import Model
from smtplugins.host.files.opening import find_format, write_all
from smtplugins.host.host import Host

TOYS = Path(__file__).with_name("toy_learners.py")
BLEU = "bleu,tokenize=none"
REFS = ["the old house is red", "we saw the small dog", "he went home today", "a cat sat on the mat", "yes , we can go"]


class Given:
    """Gives the weights it is told to, a step each; knows lists and forests."""

    accepts = frozenset({ListProblem, ForestProblem})

    def __init__(
        self, *, value: float = 1.0, name: str = "good", steps: int = 2, fixed: str = "", by_seed: float = 0.0
    ) -> None:
        self.value, self.name, self.steps, self.fixed, self.by_seed = value, name, steps, fixed, by_seed

    def learn(
        self, problem: Any, start: Model, *, resume: Any = None, seed: int = 1, runner: Any = None
    ) -> Iterator[LearnerStep]:
        for number in range(0 if resume is None else resume.values["done"], self.steps):
            value = self.value + self.by_seed * seed
            weights = {**start.weights, self.name: value}
            for name in self.fixed.split():
                weights[name] = start.weights[name]
            yield LearnerStep(Model(weights), float(number), {"value": value}, LearnerState({}, {"done": number + 1}))


class Turning:
    """Every seed ends elsewhere."""

    accepts = frozenset({ListProblem})

    def learn(
        self, problem: Any, start: Model, *, resume: Any = None, seed: int = 1, runner: Any = None
    ) -> Iterator[LearnerStep]:
        yield LearnerStep(Model({"fg"[(seed + 1) % 2]: 1.0}), 0.0, {}, LearnerState())


def teaching_host() -> Host:
    """A host with these learners and the toys."""
    made = smt.load_plugins([str(TOYS)])
    for name, make in (("given", Given), ("turning", Turning)):
        made.registry.add("learners", Offer(name=name, make=make, summary="for tests"), made.plugins[0])
    return made


def lists(count: int = 5, seed: int = 1) -> list[Candidates]:
    """Worse and worse copies of the references; `good` says how good one is, `noise` nothing. Best ones stand last."""
    random = np.random.default_rng(seed)
    made = []
    for k in range(count):
        words = REFS[k].split()
        texts = [" ".join(words[:n] + ["x"] * (len(words) - n)) for n in range(len(words) + 1)]
        values = [[float(n), float(random.normal())] for n in range(len(texts))]
        made.append(Candidates(str(k), texts, [("good", "noise")] * len(texts), values))
    return made


def write(path: str, given: list[Candidates]) -> str:
    """The lists in a file."""
    write_all(find_format("jsonl-nbest"), given, path)
    return path
