"""Learn weights from files: load the kind of input, choose start weights, and run the learner."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.learners import ListProblem
from smtplugins.host.arguments import argument
from smtplugins.host.files.lists import ListStream
from smtplugins.host.files.opening import Path, find_format, open_known, write_all
from smtplugins.host.learn.training_data import Material, Note, forest_material, list_material, streams_of

if TYPE_CHECKING:
    from smtplugins.contracts.metrics import Metric
    from smtplugins.host.host import Host
    from smtplugins.host.learn.tuning import Plan, Tuned


@dataclass(frozen=True)
class Inputs:
    """What to learn from: lists and references; forests (a folder) and references; or files of Moses' extractor.

    For the extractor, ``lists`` are its feature files and ``scores`` its files of statistics.
    """

    lists: Any
    refs: Sequence[Any]
    metric: Metric
    scores: Sequence[Path] = ()
    forests: Path | None = None
    sources: Any = None
    format: str | None = None
    allow_partial: bool = False


def tune_inputs(
    host: Host, inputs: Inputs, plan: Plan, start: Mapping[str, float] | Path | None, folds: int, note: Note
) -> Tuned:
    """Learn from inputs; with folds, also cross-validate."""
    from smtplugins.host.learn.cross_validation import check_folds, cross_validate
    from smtplugins.host.learn.gains import compare, leave_out
    from smtplugins.host.learn.tuning import estimate_weights, tune

    stream, material = material_of(host, inputs)
    if folds and stream is None:
        raise UsageError("folds: expected lists, found forests or extractor files")
    if folds:
        check_folds(material, folds)
    if start is None:
        weights = estimate_weights(material) if stream is not None else {}
    else:
        weights = dict(start if isinstance(start, Mapping) else host.read_weights(start))
    done = tune(host, material, plan, weights, note)
    if folds:
        assert stream is not None
        done = cross_validate(host, material, stream, plan, weights, folds, done)
    gain = compare(material.metric, *map(material.best_stats, (weights, done))) if weights else None
    left_out = leave_out(material, done) if isinstance(material.problem, ListProblem) else ()
    done = replace(done, gain=gain, left_out=left_out)
    if plan.folder is not None:
        plan.folder.mkdir(parents=True, exist_ok=True)
        write_all(find_format("cdec-weights", "weights"), [dict(done)], plan.folder / "weights")
    return done


def material_of(host: Host, inputs: Inputs) -> tuple[ListStream | None, Material]:
    """Load the training data; also return the list stream if it is made of lists."""
    from smtplugins.host.files.joining import references_of, texts_of
    from smtplugins.host.learn.moses_extractor import load_extracted

    formats = host.formats()
    if inputs.scores:
        if inputs.refs or inputs.forests is not None:
            raise UsageError(
                f"{argument('scores')} cannot be used with {argument('refs', '-r')} or {argument('forests')}: "
                "extractor files need no references"
            )
        features = [inputs.lists] if isinstance(inputs.lists, (str, os.PathLike)) else list(inputs.lists)
        scores = [inputs.scores] if isinstance(inputs.scores, (str, os.PathLike)) else list(inputs.scores)
        return None, load_extracted(features, scores, inputs.metric, formats)
    if not inputs.refs:
        raise UsageError(f"expected references to learn with ({argument('refs=FILE', '-r FILE')})")
    references = references_of(inputs.refs, formats)
    sources = texts_of(inputs.sources, formats, "source") if inputs.sources is not None else None
    if inputs.forests is not None:
        return None, forest_material(
            inputs.forests,
            references,
            inputs.metric,
            format=inputs.format,
            formats=formats,
            sources=sources,
            allow_partial=inputs.allow_partial,
        )
    stream = streams_of(inputs.lists, lambda path: _lists(host, path, inputs.format))
    return stream, list_material(stream, references, inputs.metric, sources=sources, allow_partial=inputs.allow_partial)


def _lists(host: Host, path: Path, format: str | None) -> ListStream:
    if format is None and os.path.isfile(path):
        known = [fmt for fmt in host.formats() if fmt.kind in ("nbest", "hypergraph", "tuning")]
        with open_known(path, None, None, known) as opened:
            if opened.record.kind == "tuning":
                how = argument("scores=FILE", "--scores FILE")
                raise UsageError(f"{os.fspath(path)}: features of Moses' extractor need its statistics ({how})")
    return host.read(path, format=format)
