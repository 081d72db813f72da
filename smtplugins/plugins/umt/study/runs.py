"""The steps of ``smt umt compare``: learning, decoding and judging, with the CPU time that each took."""

from __future__ import annotations

import argparse
import resource
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property, partial
from typing import Any

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.metrics import Metric
from smtplugins.contracts.tools.decoding import Translator
from smtplugins.contracts.tools.files import find_format, write_all, write_json
from smtplugins.contracts.tools.running import Host
from smtplugins.contracts.tools.study import Study, StudyTable, TuningPlan, check_least, choose
from smtplugins.contracts.tools.tuning import LoopPlan, tune_decoder
from smtplugins.plugins.umt.study import tables
from smtplugins.plugins.umt.study.systems import LearntSystem, UmtCase
from smtplugins.plugins.umt.study.tables import DecodedTest, Learnt, Verdict


def cpu_seconds() -> float:
    """CPU time of this process and of its children that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


class CaseStudy(Study):
    """A study of a configuration and its texts."""

    def __init__(self, host: Host, args: argparse.Namespace) -> None:
        super().__init__(host, args)
        self.case = UmtCase(host, args)
        self.host = self.case.host

    def inputs(self) -> list[str]:
        """The texts, references, grammars and weights."""
        model = self.case.loaded.model
        return [*self.tuned_on(), self.case.test, *self.case.test_references, *map(str, model.paths)]

    def tuned_on(self) -> list[str]:
        """The text that systems learn from, with its references."""
        config = self.case.loaded
        return [str(config.source), *map(str, config.references)]

    def details(self) -> dict[str, Any]:
        """The configuration."""
        return {"config": self.case.loaded.to_yaml()}


class UmtStudy(CaseStudy):
    """Tables 1 to 3 and the ablation."""

    name = "umt compare"
    known_tables = tables.TABLES
    unrecorded = ("rounds",)
    unasked = ("passes",)

    def __init__(self, host: Host, args: argparse.Namespace) -> None:
        super().__init__(host, args)
        check_least(args, rounds=1, tune_nbest=0)
        names, keys = self.chosen_tables(), choose(args.row, tables.ROWS)
        umt = self.case.umt()
        needed = {"umt", *(["hiero-30"] if "quality" in names else []), *(keys if names != ["cff"] else [])}
        self.main = [system for system in (umt, self.case.hiero(1), self.case.hiero(30)) if system.key in needed]
        without = umt.but("umt-without-cff", f"{umt.name}, without CFF", cff="none")
        self.ablated = [umt, without] if "cff" in names else []
        self.names = {system.key: system.name for system in self.main}
        self.learnt: dict[str, Learnt] = {}
        self.tests: dict[str, DecodedTest] = {}
        self.signature: str | None = None

    def check(self) -> None:
        """Raise an error if an option or a file is wrong, before hours of work."""
        self._loop_plan(self.case.hiero(30))
        self.case.check([*self.main, *self.ablated[1:]])

    def begin(self) -> None:
        """Learn with all systems, then translate the test set with those of the paper's tables."""
        self.case.warm(self.case.umt())
        for system in [*self.main, *self.ablated[1:]]:
            record = self.step(f"{system.key}/training", partial(self._learn, system))
            self.learnt[system.key] = Learnt(**record)
        names = self.chosen_tables()
        if "decoding" in names or "quality" in names:
            # By themselves: a system that is not in table 1 would have its memory in their caches.
            self._test(self.main, self.args.rounds if "decoding" in names else 1)
        self._test([system for system in self.ablated if system.key not in self.tests])
        write_json(self.folder / "stats.json", {key: own.record() for key, own in sorted(self.tests.items())})

    def settings(self) -> dict[str, Any]:
        """Decoders, learners, metric and rounds."""
        case, systems = self.case, [self.case.umt(), self.case.hiero(1), self.case.hiero(30)]
        return {
            **{f"decoder {system.key}": str(system.decoder) for system in systems},
            "drl": str(systems[0].learner),
            "mert": str(systems[2].learner),
            "mert learns from": f"lists of {self.args.tune_nbest}" if self.args.tune_nbest else "forests",
            "iterations": self.args.tune_iterations,
            "seed": case.loaded.seed,
            "metric": str(case.metric_name),
            "signature": self.signature,
            "rounds": self.args.rounds,
        }

    @cached_property
    def metric(self) -> Metric:
        """The metric of the command line or of the configuration."""
        return self.host.metric(self.case.metric_name)

    # The paper's tables.

    def decoding(self) -> StudyTable:
        """Table 1."""
        return tables.speed_table(self.names, self.tests, self.args.rounds)

    def training(self) -> StudyTable:
        """Table 2."""
        return tables.training_table(self.names, self.learnt)

    def passes(self) -> StudyTable:
        """Table 2 without times."""
        return tables.passes_table(self.training())

    def quality(self) -> StudyTable:
        """Table 3."""
        verdicts, count = self._judge(tables.REFERENCE, self.names), len(self.tests["umt"].texts)
        return tables.quality_table(self.names, verdicts, self.metric.name, self.metric.higher_is_better, count)

    def cff(self) -> StudyTable:
        """The ablation: with and without context-free-factor features."""
        names = {system.key: system.name for system in self.ablated}
        verdicts, count = self._judge("umt", names), len(self.tests["umt"].texts)
        return tables.ablation_table(names, verdicts, self.metric.name, count)

    def _judge(self, against: str, keys: Iterable[str]) -> dict[str, Verdict]:
        verdicts = judge_runs(self.case, self.tests, against, keys)
        self.signature = verdicts[against].signature
        return verdicts

    # Learning and decoding.

    def _loop_plan(self, system: LearntSystem) -> LoopPlan:
        plan = TuningPlan(system.learner, self.args.tune_nbest, self.args.tune_iterations)
        return plan.loop(self, self.case.loaded.seed)

    def _learn(self, system: LearntSystem) -> Mapping[str, Any]:
        case, folder = self.case, self.folder / system.key
        # A run that was killed begins anew: its time is not known.
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.say(f"{system.name}: learning from {case.loaded.source}")
        begun = cpu_seconds()
        config, run = case.config_of(system, learning=True), folder / "run"
        options: dict[str, Any] = {"cache": self.cache, "post": self.args.post, "note": self.note, "quiet": self.quiet}
        if system.learner.name == "mert":
            options["told"] = lambda text: self.say(f"{system.name}: {text}")
            ended = tune_decoder(case.host, config, self._loop_plan(system), run, **options)
            weights, score = ended.weights, ended.score
            passes, unit = sum("learnt" in row for row in ended.iterations), "iterations"
        else:
            tuned = case.host.tune_policy(config, folder=run, learner=system.learner, jobs=self.jobs, **options)
            weights, score = tuned.weights, tuned.score
            passes, unit = sum(len(run.steps) for run in tuned.runs), "epochs"
        seconds = cpu_seconds() - begun
        learnt = Learnt(dict(weights), seconds, len(case.texts(case.loaded.references)[0]), passes, unit, score)
        self.say(f"{system.name}: {learnt.made}, {score:.4g} on what was learnt from, {seconds:.1f} s")
        write_all(find_format("cdec-weights", "weights", self.host.formats()), [dict(weights)], folder / "weights")
        return asdict(learnt)

    def _test(self, systems: Sequence[LearntSystem], rounds: int = 1) -> None:
        self.tests |= decode(self, self.case, [(one, self.learnt[one.key].weights) for one in systems], rounds)
        for system in systems:
            own = self.tests[system.key]
            self.write_text(f"{system.key}/test.txt", own.texts)
            if own.counts["failed"]:
                failed = int(own.counts["failed"])
                self.note(f"{system.name}: {failed} sentences have no translation: they count as empty ones")


run = UmtStudy.run


def decode(
    study: Study, case: UmtCase, systems: Sequence[tuple[LearntSystem, Mapping[str, float]]], rounds: int = 1
) -> dict[str, DecodedTest]:
    """Decode the test set with every system in turn, again in each round, one sentence after the other."""
    ready: dict[str, tuple[Translator, list[Sentence]]] = {}
    for system, weights in systems:
        translator = case.translator(system, weights)
        ready[system.key] = translator, case.sentences(case.test, translator)
    runs: dict[str, DecodedTest] = {}
    for number in range(1, rounds + 1 if systems else 1):
        study.say(f"decoding {case.test}" + (f", round {number} of {rounds}" if rounds > 1 else ""))
        for key, (translator, sentences) in ready.items():
            now = _decode_test(list(translator.decode(sentences)))
            best = runs.setdefault(key, now)
            seconds = min(best.decoding, now.decoding), min(best.search, now.search)
            runs[key] = DecodedTest(now.texts, *seconds, now.counts)
    return runs


def _decode_test(decodings: Sequence[Decoding]) -> DecodedTest:
    def total(name: str) -> float:
        return sum(decoding.stats.get(name, 0.0) for decoding in decodings)

    parsing, search = total("cpu.parsing"), total("cpu.search")
    counts = {name: total(name) for name in ("nodes", "edges", "pops", "lm_queries")}
    counts["failed"] = sum(not decoding.found for decoding in decodings)
    # In the order of the references, whose lines the ids are.
    ordered = sorted(decodings, key=lambda decoding: int(decoding.id))
    texts = tuple(decoding.best if decoding.found else "" for decoding in ordered)
    return DecodedTest(texts, parsing + search, search, counts)


def judge_runs(case: UmtCase, runs: Mapping[str, DecodedTest], against: str, keys: Iterable[str]) -> dict[str, Verdict]:
    """Score systems and test them against one; the one-tailed sign test: ``against`` is better."""
    alone = _evaluate(case, runs, [against])
    verdicts = {against: Verdict(alone[0].score, alone[0].signature, {})}
    for key in keys:
        if key != against:
            own, other = _evaluate(case, runs, [key, against])
            verdicts[key] = Verdict(own.score, own.signature, other.tests)
    return verdicts


def _evaluate(case: UmtCase, runs: Mapping[str, DecodedTest], keys: Sequence[str]) -> Sequence[Any]:
    evaluation = case.host.evaluate(
        case.test_references,
        {key: list(runs[key].texts) for key in keys},
        [case.metric_name],
        sources=case.test_sources,
        tests=("sign", "bootstrap") if len(keys) > 1 else (),
        tuned_on=case.loaded.references,
        post=case.args.post,
    )
    return evaluation.scores
