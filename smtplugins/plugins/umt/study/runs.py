"""The work of ``smt umt compare``: learning, decoding and judging, with the CPU time that each took."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Decoding, Sentence
    from smtplugins.host.decode.decoding import Translator
    from smtplugins.host.learn.loop import LoopPlan
    from smtplugins.plugins.umt.study.systems import Case, System

Say = Callable[[str], None]
_DONE = "training.json"


@dataclass(frozen=True)
class Learnt:
    """Weights, the CPU seconds of the run that found them, and how many passes over the sentences it made."""

    weights: Mapping[str, float]
    seconds: float
    sentences: int
    passes: int
    unit: str
    score: float

    @property
    def made(self) -> str:
        """How many passes, in words."""
        return f"{self.passes} {self.unit if self.passes != 1 else self.unit[:-1]}"


@dataclass(frozen=True)
class Loop:
    """How mert learns with a decoder: lists in place of forests if they have a length, and iterations."""

    nbest: int | None = None
    iterations: int = 10


@dataclass(frozen=True)
class Trial:
    """Translations of the test set; CPU seconds of parsing and search, and of search alone, each the best of rounds."""

    texts: tuple[str, ...]
    decoding: float
    search: float
    counts: Mapping[str, float]


@dataclass(frozen=True)
class Judged:
    """A system's score, and p of each test against the reference system: for the sign test, that this is better."""

    score: float
    signature: str
    tests: Mapping[str, float]


def cpu_seconds() -> float:
    """Of this process and of its children that have ended."""
    import resource

    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


def learnt(case: Case, system: System, loop: Loop, folder: Path, say: Say, note: Say, quiet: bool) -> Learnt:
    """Learn in a folder, or read what was learnt there by the run that is resumed."""
    done = folder / _DONE
    if done.exists():
        say(f"{system.name}: has learnt already")
        return Learnt(**json.loads(done.read_text(encoding="utf-8")))
    if folder.exists():
        # What a killed run left cannot be gone on with: its time would be lost.
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    say(f"{system.name}: learning from {case.loaded.source}")
    begun = cpu_seconds()
    if system.learner.name == "mert":
        made = _by_loop(case, system, loop, folder / "run", note, say, quiet)
    else:
        made = _by_policy(case, system, folder / "run", note, quiet)
    weights, passes, unit, score = made
    seconds = cpu_seconds() - begun
    found = Learnt(dict(weights), seconds, len(case.texts(case.loaded.references)[0]), passes, unit, score)
    say(f"{system.name}: {found.made}, {score:.4g} on what was learnt from, {seconds:.1f} s")
    _write(case, folder, found)
    return found


def _by_policy(
    case: Case, system: System, folder: Path, note: Say, quiet: bool
) -> tuple[Mapping[str, float], int, str, float]:
    config = case.config_of(system, learning=True)
    done = case.host.tune_policy(
        config,
        folder=folder,
        learner=system.learner,
        jobs=case.jobs,
        cache=case.cache,
        post=case.post,
        note=note,
        quiet=quiet,
    )
    return done.weights, sum(len(one.steps) for one in done.runs), "epochs", done.score


def loop_plan(case: Case, system: System, loop: Loop) -> LoopPlan:
    """How the host's loop is to go."""
    from smtplugins.host.learn.loop import LoopPlan
    from smtplugins.host.learn.tuning import plan_of

    plan = plan_of(case.host, system.learner, seed=case.loaded.seed, jobs=case.jobs)
    forests = loop.nbest is None
    return LoopPlan(plan, loop.iterations, forests=forests, nbest=100 if loop.nbest is None else loop.nbest)


def _by_loop(
    case: Case, system: System, loop: Loop, folder: Path, note: Say, say: Say, quiet: bool
) -> tuple[Mapping[str, float], int, str, float]:
    from smtplugins.host.learn.loop import tune_decoder

    config = case.config_of(system, learning=True)
    options = loop_plan(case, system, loop)
    done = tune_decoder(
        case.host,
        config,
        options,
        folder,
        cache=case.cache,
        post=case.post,
        note=note,
        quiet=quiet,
        told=lambda text: say(f"{system.name}: {text}"),
    )
    return done.weights, sum("learnt" in row for row in done.iterations), "iterations", done.score


def _write(case: Case, folder: Path, found: Learnt) -> None:
    from smtplugins.host.files.opening import find_format, write_all
    from smtplugins.host.learn.pools import write_json

    record = find_format("cdec-weights", "weights", case.host.formats())
    write_all(record, [dict(found.weights)], folder / "weights")
    # The last file: with it the work is done.
    write_json(folder / _DONE, asdict(found))


def tried(case: Case, systems: Sequence[tuple[System, Learnt]], rounds: int, say: Say) -> dict[str, Trial]:
    """Decode the test set with every system in turn, again in each round, one sentence after the other."""
    assert case.test is not None
    ready: dict[str, tuple[Translator, list[Sentence]]] = {}
    for system, one in systems:
        translator = case.translator(system, one.weights)
        ready[system.key] = translator, case.sentences(case.test, translator)
    found: dict[str, Trial] = {}
    for number in range(1, rounds + 1):
        say(f"decoding {case.test}" + (f", round {number} of {rounds}" if rounds > 1 else ""))
        for key, (translator, sentences) in ready.items():
            now = _trial(list(translator.decode(sentences)))
            best = found.setdefault(key, now)
            seconds = min(best.decoding, now.decoding), min(best.search, now.search)
            found[key] = Trial(now.texts, *seconds, now.counts)
    return found


def _trial(done: Sequence[Decoding]) -> Trial:
    parsing, search = (sum(one.stats.get(f"cpu.{phase}", 0.0) for one in done) for phase in ("parsing", "search"))
    counts = {name: sum(one.stats.get(name, 0.0) for one in done) for name in ("nodes", "edges", "pops", "lm_queries")}
    # In the order of the references, whose lines the ids are.
    texts = tuple(one.best if one.found else "" for one in sorted(done, key=lambda one: int(one.id)))
    return Trial(texts, parsing + search, search, counts | {"failed": sum(not one.found for one in done)})


def judged(case: Case, trials: Mapping[str, Trial], against: str, keys: Sequence[str]) -> dict[str, Judged]:
    """Scores, and tests against one of them: the sign test has one tail, that the one named ``against`` is better."""
    own = _evaluated(case, trials, [against])
    found = {against: Judged(own[0].score, own[0].signature, {})}
    for key in keys:
        if key != against:
            first, second = _evaluated(case, trials, [key, against])
            found[key] = Judged(first.score, first.signature, second.tests)
    return found


def _evaluated(case: Case, trials: Mapping[str, Trial], keys: Sequence[str]) -> Sequence[Any]:
    systems = {key: list(trials[key].texts) for key in keys}
    tests = ("sign", "bootstrap") if len(keys) > 1 else ()
    done = case.host.evaluate(
        case.test_references,
        systems,
        [case.metric_name],
        sources=case.test_sources,
        tests=tests,
        tuned_on=case.loaded.references,
        post=case.post,
    )
    return done.scores
