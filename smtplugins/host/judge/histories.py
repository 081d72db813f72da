"""Read learning runs from their folders: curves over steps, and final weights."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.models import Model
from smtplugins.host.files.lists import read_weights
from smtplugins.host.runs import MANIFEST

OBJECTIVE = "objective"
RESULT = "weights"
"""The file with a run's chosen weights, if it chose any."""


@dataclass(frozen=True)
class RunHistory:
    """A learning run: curves by name (the objective and each metric, ``nan`` where a step has none) and weights.

    ``weights`` are those in the file `weights` if the run chose some, else those of the last step. ``folder`` holds the
    manifest.
    """

    name: str
    steps: tuple[int, ...]
    curves: Mapping[str, tuple[float, ...]]
    weights: Mapping[str, float]
    manifest: Mapping[str, Any] = field(default_factory=dict)
    folder: str = ""


def result(runs: Sequence[RunHistory]) -> tuple[Mapping[str, float], str]:
    """The result of runs and its origin: the weights file in their common folder, or else the mean of their weights."""
    chosen = Path(runs[0].folder) / RESULT
    if len({run.folder for run in runs}) == 1 and chosen.is_file():
        return read_weights(chosen), str(chosen)
    if len(runs) == 1:
        return runs[0].weights, runs[0].name
    return mean_weights([run.weights for run in runs]), f"mean of {len(runs)} runs"


def mean_weights(each: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of the weights of several runs; a missing weight counts as 0."""
    names = sorted({name for weights in each for name in weights})
    return {name: math.fsum(weights.get(name, 0.0) for weights in each) / len(each) for name in names}


def read_runs(paths: Sequence[str]) -> tuple[RunHistory, ...]:
    """Read the runs in these folders; a folder without steps may contain several runs (run-1, ...)."""
    runs = []
    for path in paths:
        folder = Path(path)
        places = [folder] if _has_steps(folder) else sorted(filter(_has_steps, folder.glob("run-*")), key=_number)
        if not places:
            raise UsageError(
                f"{path}: expected the folder of a run with finished steps, or of several runs (run-1, ...)"
            )
        runs += [_read_run(place, folder) for place in places]
    return tuple(runs)


def _has_steps(folder: Path) -> bool:
    return any((step / "step.json").is_file() for step in folder.glob("step-*"))


def _number(place: Path) -> tuple[int, str]:
    last = place.name.rpartition("-")[2]
    return (int(last) if last.isdecimal() else 0, place.name)


def _read_run(folder: Path, whole: Path) -> RunHistory:
    places = sorted((step for step in folder.glob("step-*") if (step / "step.json").is_file()), key=_number)
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
    manifests = [place for place in (folder, whole) if (place / MANIFEST).is_file()]
    return RunHistory(
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
