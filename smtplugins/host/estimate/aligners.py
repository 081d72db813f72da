"""Word alignment models of the library sil-thot, one direction at a time: the models of `smt align --model`, training
and alignment (Brown et al. 1993; Vogel et al. 1996; Dyer et al. 2013; Östling and Tiedemann 2016).

A model is a list of training stages, each initialised from the previous one.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec, build, suggestion
from smtplugins.host.arguments import argument
from smtplugins.host.progress import progress

Words: TypeAlias = "Sequence[str]"

_CHUNK = 1000


@dataclass(frozen=True)
class Stage:
    """Training iterations with one model class of the library; None uses the library's own schedule."""

    kind: str
    passes: int | None
    settings: Mapping[str, Any] = field(default_factory=dict)


def _ibm1(*, iterations: int = 5) -> list[Stage]:
    return [Stage("Ibm1AlignmentModel", iterations)]


def _ibm2(*, iterations: int = 5, ibm1: int = 5) -> list[Stage]:
    return [*_ibm1(iterations=ibm1), Stage("Ibm2AlignmentModel", iterations)]


def _hmm(
    *,
    iterations: int = 5,
    ibm1: int = 5,
    p0: float = 0.4,
    lexical_smoothing: float = 0.0,
    jump_smoothing: float = 0.2,
) -> list[Stage]:
    settings = {
        "hmm_p0": _share("p0", p0),
        "lexical_smoothing_factor": lexical_smoothing,
        "hmm_alignment_smoothing_factor": jump_smoothing,
    }
    return [*_ibm1(iterations=ibm1), Stage("HmmAlignmentModel", iterations, settings)]


def _ibm3(*, iterations: int = 3, ibm1: int = 5, hmm: int = 5, fertility_smoothing: float = 64.0) -> list[Stage]:
    settings = {"fertility_smoothing_factor": fertility_smoothing}
    return [*_hmm(iterations=hmm, ibm1=ibm1), Stage("Ibm3AlignmentModel", iterations, settings)]


def _ibm4(
    *,
    iterations: int = 3,
    ibm1: int = 5,
    hmm: int = 5,
    ibm3: int = 3,
    fertility_smoothing: float = 64.0,
    distortion_smoothing: float = 0.2,
) -> list[Stage]:
    before = _ibm3(iterations=ibm3, ibm1=ibm1, hmm=hmm, fertility_smoothing=fertility_smoothing)
    settings = {**before[-1].settings, "distortion_smoothing_factor": distortion_smoothing}
    return [*before, Stage("Ibm4AlignmentModel", iterations, settings)]


def _fast_align(*, iterations: int = 5, p0: float = 0.08) -> list[Stage]:
    return [Stage("FastAlignModel", iterations, {"fast_align_p0": _share("p0", p0)})]


def _eflomal(*, iterations: int | None = None, samplers: int = 3, p0: float = 0.2, seed: int = 1) -> list[Stage]:
    if samplers < 1:
        raise UsageError(f"model: samplers: expected 1 or more, found {samplers}")
    settings = {"num_samplers": samplers, "p0": _share("p0", p0), "seed": seed % 2**32}
    return [Stage("EflomalAlignmentModel", iterations, settings)]


MODELS: Mapping[str, Callable[..., list[Stage]]] = {
    "ibm1": _ibm1,
    "ibm2": _ibm2,
    "hmm": _hmm,
    "ibm3": _ibm3,
    "ibm4": _ibm4,
    "fast-align": _fast_align,
    "eflomal": _eflomal,
}
"""Models by name; the keyword parameters are their options."""


def model_stages(
    model: str | Mapping[str, Any] | Spec, iterations: int | None = None, seed: int | None = None
) -> list[Stage]:
    """Parse ``NAME[,key=value...]`` into training stages; ``iterations`` applies to the last stage."""
    spec = Spec.of(model)
    if spec.name not in MODELS:
        raise UsageError(f"unknown alignment model {spec.name!r}{suggestion(spec.name, MODELS)}")
    options = dict(spec.options)
    for name, value in (("iterations", iterations), ("seed", seed)):
        if value is not None and name in options:
            raise UsageError(f"expected {argument(name)} or the model's option {name}, found both")
        if value is not None and (name == "iterations" or spec.name == "eflomal"):
            options[name] = value
    stages: list[Stage] = build(f"model {spec.name!r}", MODELS[spec.name], options)
    for stage in stages:
        if stage.passes is not None and stage.passes < 1:
            raise UsageError(f"model {spec.name!r}: expected 1 iteration or more, found {stage.passes}")
    return stages


def _share(name: str, value: float) -> float:
    if not 0 < value < 1:
        raise UsageError(f"model: {name}: expected a number between 0 and 1, found {value:g}")
    return value


def _missing() -> UsageError:
    ways = f"{argument('forward')}, {argument('backward')}"
    return UsageError(
        "alignment models need the package sil-thot: pip install 'smtplugins[align]' "
        f"(or read alignments of both directions: {ways})"
    )


def load_library() -> Any:
    """Import the library's alignment module with a single thread.

    With several threads it sums counts in varying order, so results would differ in the last digit.
    """
    name = "OMP_NUM_THREADS"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        return importlib.import_module("thot.alignment")
    except ImportError:
        raise _missing() from None
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def check_library() -> None:
    """Raise UsageError if the library is not installed, without importing it."""
    if importlib.util.find_spec("thot") is None:
        raise _missing()


def align_words(
    stages: Sequence[Stage], source: Sequence[Words], target: Sequence[Words], *, quiet: bool = True
) -> tuple[list[list[int]], int]:
    """Train and align: per sentence pair, each target word's source word from 1, or 0; and the maximum sentence length.

    Pairs with a longer or an empty sentence are skipped and get an empty list.
    """
    library = load_library()
    longest = min(int(_make_model(library, stage).max_sentence_length) for stage in stages)
    taken = [
        number
        for number, pair in enumerate(zip(source, target, strict=True))
        if all(0 < len(words) <= longest for words in pair)
    ]
    links: list[list[int]] = [[] for _ in source]
    if taken:
        sides = [[side[number] for number in taken] for side in (source, target)]
        for number, pair_links in zip(taken, _align_pairs(library, stages, *sides, quiet=quiet), strict=True):
            links[number] = pair_links
    return links, longest


def _align_pairs(
    library: Any, stages: Sequence[Stage], source: Sequence[Words], target: Sequence[Words], *, quiet: bool
) -> Iterator[list[int]]:
    model: Any = None
    for stage in stages:
        model = _make_model(library, stage, model)
        if stage is stages[0]:
            reserved = {model.get_src_word(i) for i in range(model.src_vocab_size)}
            source, target = _escape_reserved(source, reserved), _escape_reserved(target, reserved)
            for pair in zip(source, target, strict=True):
                model.add_sentence_pair(*pair, 1)
        model.start_training()
        passes: int = stage.passes or model.scheduled_iterations
        for _ in progress(range(passes), f"training, {stage.kind}", total=passes, quiet=quiet):
            model.train()
        model.end_training()
    starts = range(0, len(source), _CHUNK)
    for start in progress(starts, "aligning, thousands", total=len(starts), quiet=quiet):
        for _, matrix in model.get_best_alignments(source[start : start + _CHUNK], target[start : start + _CHUNK]):
            yield matrix.to_list()


def _make_model(library: Any, stage: Stage, before: Any = None) -> Any:
    kind = getattr(library, stage.kind, None)
    if kind is None:
        raise UsageError(f"this sil-thot has no {stage.kind}: pip install --upgrade 'smtplugins[align]'")
    model = kind() if before is None else kind(before)
    for name, value in stage.settings.items():
        setattr(model, name, value)
    if stage.kind == "EflomalAlignmentModel" and stage.passes is not None:
        # Scale its own schedule: IBM 1 and HMM iterations first, then those with fertilities.
        quarter = max(1, stage.passes // 4)
        model.set_iterations(quarter, quarter, max(1, stage.passes - 2 * quarter))
    return model


def _escape_reserved(sentences: Sequence[Words], reserved: set[str]) -> list[list[str]]:
    """Escape words reserved by the library by appending a space, which no other word contains."""
    return [[f"{word} " if word in reserved else word for word in words] for words in sentences]
