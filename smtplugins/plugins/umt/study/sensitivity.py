"""``smt umt sensitivity``: the effect of options of decoder, learner and metric on translations, with several seeds.

The paper leaves open the exponent of the Zipfian distribution, how sentence BLEU is smoothed, and how bounds are
scaled; it learns for ten epochs.
"""

from __future__ import annotations

import argparse
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.contracts.tools.running import Host
from smtplugins.contracts.tools.study import SCORE, StudyColumn, StudyTable, check_least
from smtplugins.plugins.umt.study.runs import CaseStudy, decode, judge_runs
from smtplugins.plugins.umt.study.systems import LearntSystem, UmtCase

_PARTS = ("umt", "drl", "metric")
VARIED = (
    "drl.exponent=0.5,1,1.5,2",
    "metric.smooth_method=exp,add-k,floor",
    "umt.cff_scale=1,4,8.5,20,100",
    "drl.epochs=1,3,10,30",
)


@dataclass(frozen=True)
class Varied:
    """An option of the decoder, the learner or the metric and values for it; the others stay as they are."""

    part: str
    option: str
    values: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Varied:
        """Read ``PART.OPTION=VALUE,VALUE...``."""
        name, equals, values = text.partition("=")
        part, dot, option = name.strip().partition(".")
        texts = tuple(value.strip() for value in values.split(","))
        if not equals or not dot or not option or not all(texts) or part not in _PARTS:
            raise UsageError(f"--vary: expected umt|drl|metric.OPTION=VALUE,VALUE..., found {text!r}")
        return cls(part, option, texts)

    @property
    def name(self) -> str:
        """The option as it is written."""
        return f"{self.part}.{self.option}"


def settings_of(case: UmtCase, varied: Sequence[Varied]) -> dict[tuple[str, str], tuple[UmtCase, LearntSystem]]:
    """The rows of the table by option and value: the case to learn with, and the system."""
    base = case.umt()
    settings: dict[tuple[str, str], tuple[UmtCase, LearntSystem]] = {}
    for option in varied:
        for value in option.values:
            own, system = case, base
            if option.part == "umt":
                system = base.but(base.key, base.name, **{option.option: value})
            elif option.part == "drl":
                system = replace(base, learner=Spec("drl", {**base.learner.options, option.option: value}))
            else:
                metric = Spec.of(case.metric_name)
                own = case.with_metric(Spec(metric.name, {**metric.options, option.option: value}))
            settings[option.name, value] = own, system
    return settings


class SensitivityStudy(CaseStudy):
    """A row for each value of each option, with the mean of several seeds."""

    name = "umt sensitivity"
    known_tables: Mapping[str, str] = MappingProxyType({"sensitivity": "the options"})

    def __init__(self, host: Host, args: argparse.Namespace) -> None:
        check_least(args, seeds=1)
        varied = [Varied.parse(text) for text in args.vary or VARIED]
        super().__init__(host, args)
        self.varied = settings_of(self.case, varied)

    def check(self) -> None:
        """Raise an error if an option or a file is wrong, before hours of work."""
        self.case.check(list({str(system): system for _, system in self.varied.values()}.values()))

    def settings(self) -> dict[str, Any]:
        """Decoder, learner and seeds."""
        umt = self.case.umt()
        return {"decoder": str(umt.decoder), "drl": str(umt.learner), "seeds": self.args.seeds}

    def sensitivity(self) -> StudyTable:
        """The scores for each value of each option."""
        known: dict[str, Mapping[str, Any]] = {}
        rows, seeds = [], self.args.seeds
        for number, ((option, value), (own, system)) in enumerate(self.varied.items(), 1):
            key = f"{option}={value}"
            self.say(f"{key} ({number} of {len(self.varied)}), {seeds} seeds")
            place = f"{system.decoder}|{system.learner}|{own.metric_name}"
            if place not in known:
                known[place] = self.step(f"{key}/scores", partial(_learn, self, own, system, key))
            rows.append({"key": key, "name": option, "option": option, "value": value, **known[place]})
        metric = self.host.metric(self.case.metric_name).name
        titles = {"mean": f"{metric} mean", "deviation": "deviation", "least": "least", "most": "most"}
        titles["learnt_from"] = "of what was learnt from"
        columns = [StudyColumn("value", "value"), *(StudyColumn(key, text, SCORE) for key, text in titles.items())]
        plural = "" if seeds == 1 else "s"
        title = f"Sensitivity: {metric} of the test set over {seeds} seed{plural}, one option changed"
        return StudyTable("sensitivity", title, columns, rows, "option")


run = SensitivityStudy.run


def _learn(study: SensitivityStudy, own: UmtCase, system: LearntSystem, name: str) -> Mapping[str, Any]:
    """Learn with several seeds; returns test scores by the study's metric, also if another was learnt with."""
    folder = study.folder / name
    shutil.rmtree(folder, ignore_errors=True)
    tuned = own.host.tune_policy(
        own.config_of(system),
        folder=folder / "run",
        learner=system.learner,
        runs=study.args.seeds,
        jobs=study.jobs,
        cache=study.cache,
        post=study.args.post,
        quiet=True,
    )
    scores = []
    for learnt in tuned.runs:
        tests = decode(study, study.case, [(system, learnt.weights)])
        scores.append(judge_runs(study.case, tests, system.key, [])[system.key].score)
    mean = math.fsum(scores) / len(scores)
    squares = math.fsum((score - mean) ** 2 for score in scores)
    return {
        "mean": mean,
        "deviation": math.sqrt(squares / (len(scores) - 1)) if len(scores) > 1 else None,
        "least": min(scores),
        "most": max(scores),
        "scores": scores,
        "learnt_from": math.fsum(learnt.score for learnt in tuned.runs) / len(scores),
    }
