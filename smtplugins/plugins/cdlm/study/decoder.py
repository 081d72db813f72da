"""Table 3: a system tuned anew with a trained model as one more feature, and without, by several seeds each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.spec import Spec
from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.plugins.cdlm.study.steps import Study

NAME = "cdlm"
KEYS = ("without", "with")


def check(study: Study) -> None:
    """Whether a system is there, and what it is tuned on and tested on."""
    system = study.system
    if system is None or system.source is None:
        raise UsageError("table 3 needs a system (-c) and the source sentences of the test text (--source)")
    if system.seeds < 1:
        raise UsageError(f"--seeds: expected 1 or more, found {system.seeds}")
    if system.config.source is None or not system.config.references:
        raise UsageError("table 3 needs a configuration with source and references to tune on")


def config_of(study: Study, key: str, model: Path) -> RunConfig:
    """The configuration, with the model as one more feature or without."""
    assert study.system is not None
    config = study.system.config
    if key == "without":
        return config
    if any(str(one.options.get("name", one.name)) == NAME for one in config.model.features):
        raise UsageError(f"the configuration has a feature {NAME} already")
    features = (*config.model.features, Spec(NAME, {"path": str(model)}))
    return replace(config, model=replace(config.model, features=features))


def effect(study: Study, model: Path) -> list[dict[str, Any]]:
    """The rows of table 3."""
    check(study)
    assert study.system is not None
    seeds = range(study.seed, study.seed + study.system.seeds)
    for key in KEYS:
        for seed in seeds:
            study.once(f"decoder/{key}-{seed}/done", lambda key=key, seed=seed: _tuned(study, key, seed, model))  # type: ignore[misc]
    return list(study.once("decoder/result", lambda: {"rows": _judged(study, list(seeds))})["rows"])


def _tuned(study: Study, key: str, seed: int, model: Path) -> Mapping[str, Any]:
    """Tune with one seed, and translate the test sentences."""
    from smtplugins.host.decode.decoding import make_translator
    from smtplugins.host.learn.loop import LoopPlan
    from smtplugins.host.learn.tuning import plan_of
    from smtplugins.host.study.steps import tune_and_test

    system = study.system
    assert system is not None and system.source is not None
    folder = study.folder / "decoder" / f"{key}-{seed}"
    config = config_of(study, key, model)
    plan = plan_of(study.host, system.learner, seed=seed, jobs=study.jobs)
    forests = system.nbest == 0
    options = LoopPlan(plan, system.iterations, forests=forests, nbest=100 if forests else system.nbest)
    start = dict(make_translator(study.host, config, None, study.cache).model.weights)
    if key == "with":
        start.setdefault(NAME, 0.0)
    study.say(f"decoder, {key} cdlm, seed {seed}: tuning")
    ended = tune_and_test(
        study.host,
        config,
        options,
        folder,
        system.source,
        start=start,
        cache=study.cache,
        quiet=study.quiet,
        told=lambda text: study.say(f"decoder, {key} cdlm, seed {seed}: {text}"),
    )
    return {"tuned": ended.score, "weights": dict(ended.weights), "reason": ended.reason}


def _judged(study: Study, seeds: list[int]) -> list[dict[str, Any]]:
    """Means over seeds, intervals, and the bootstrap's p of the difference."""
    import json

    from smtplugins.host.judge.significance import Plan, judge

    folder = study.folder / "decoder"
    stats, weights = [], []
    for key in KEYS:
        runs, own = [], []
        for seed in seeds:
            texts = (folder / f"{key}-{seed}" / "test.txt").read_text(encoding="utf-8").splitlines()
            runs.append(study.metric.stats(texts, study.references))
            done = json.loads((folder / f"{key}-{seed}" / "done.json").read_text(encoding="utf-8"))
            whole = sum(map(abs, done["weights"].values())) or 1.0
            own.append(done["weights"].get(NAME, 0.0) / whole)
        stats.append(runs)
        weights.append(sum(own) / len(own))
    found = judge(study.metric, stats, Plan(("bootstrap",)))
    rows = []
    for key, one, weight in zip(KEYS, found, weights, strict=True):
        row: dict[str, Any] = {"key": key, "score": one.score, "deviation": one.deviation, "low": one.low}
        row |= {"high": one.high, "p": one.p.get("bootstrap") if key == "with" else None}
        row |= {"change": one.score - found[0].score if key == "with" else None}
        row["weight"] = weight if key == "with" else None
        rows.append(row)
    return rows
