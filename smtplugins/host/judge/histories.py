"""What learning runs left in their folders: curves, step by step, and the weights they ended with."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from smtplugins.host.errors import SmtError, UsageError

OBJECTIVE = "objective"
RESULT = "weights"
"""The file of a run's result, if it chose one."""


@dataclass(frozen=True)
class Run:
    """A learning run: curves by name (the objective and each metric, ``nan`` where a step has none), last weights.

    ``folder`` is where its manifest lies. A run that chose other weights than its last ones left them in a file.
    """

    name: str
    steps: tuple[int, ...]
    curves: Mapping[str, tuple[float, ...]]
    weights: Mapping[str, float]
    manifest: Mapping[str, Any] = field(default_factory=dict)
    folder: str = ""


def result(runs: Sequence[Run]) -> tuple[Mapping[str, float], str]:
    """The weights that runs ended with, and whose they are: what their folder says, or else their mean."""
    from smtplugins.host.files.lists import read_weights

    chosen = Path(runs[0].folder) / RESULT
    if len({run.folder for run in runs}) == 1 and chosen.is_file():
        return read_weights(chosen), str(chosen)
    if len(runs) == 1:
        return runs[0].weights, runs[0].name
    return mean_weights(runs), f"mean of {len(runs)} runs"


def mean_weights(runs: Sequence[Run]) -> dict[str, float]:
    """The mean of the runs' last weights; a name that a run lacks is 0 there."""
    names = sorted({name for run in runs for name in run.weights})
    return {name: math.fsum(run.weights.get(name, 0.0) for run in runs) / len(runs) for name in names}


def read_runs(paths: Sequence[str]) -> tuple[Run, ...]:
    """The runs in these folders; one that has no steps itself may hold several runs."""
    runs = []
    for path in paths:
        folder = Path(path)
        found = [folder] if _has_steps(folder) else sorted(filter(_has_steps, folder.glob("run-*")), key=_number)
        if not found:
            raise UsageError(
                f"{path}: expected the folder of a run with finished steps, or one with several (run-1, ...)"
            )
        runs += [_read_run(one, folder) for one in found]
    return tuple(runs)


def _has_steps(folder: Path) -> bool:
    return any((one / "step.json").is_file() for one in folder.glob("step-*"))


def _number(place: Path) -> tuple[int, str]:
    last = place.name.rpartition("-")[2]
    return (int(last) if last.isdecimal() else 0, place.name)


def _read_run(folder: Path, whole: Path) -> Run:
    from smtplugins.host.files.lists import read_weights
    from smtplugins.host.model import Model
    from smtplugins.host.runs import MANIFEST

    places = sorted((one for one in folder.glob("step-*") if (one / "step.json").is_file()), key=_number)
    rows: list[dict[str, float]] = []
    for place in places:
        record = _read_json(place / "step.json")
        try:
            rows.append({OBJECTIVE: float(record[OBJECTIVE]), **{k: float(v) for k, v in record["metrics"].items()}})
        except (KeyError, TypeError, ValueError, AttributeError):
            raise SmtError(f"{place / 'step.json'}: expected `objective` and `metrics`, found other values") from None
    names = {name: None for row in rows for name in row}
    curves = {name: tuple(row.get(name, math.nan) for row in rows) for name in names}
    chosen = folder / RESULT
    manifests = [one for one in (folder, whole) if (one / MANIFEST).is_file()]
    return Run(
        name=str(folder),
        steps=tuple(_number(place)[0] for place in places),
        curves=curves,
        weights=read_weights(chosen) if chosen.is_file() else Model.load(places[-1] / "model").weights,
        manifest=_read_json(manifests[0] / MANIFEST) if manifests else {},
        folder=str(manifests[0]) if manifests else str(folder),
    )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SmtError(f"{path}: expected JSON, found {error}") from None
    if not isinstance(record, dict):
        raise SmtError(f"{path}: expected an object in JSON, found {type(record).__name__}")
    return record
