"""Collect the data of a report: curves of learning runs, lists judged per sentence, trees with their building steps.

The page is written by a format of the kind ``report``, which takes one :class:`Report`; plugins can offer others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.arguments import argument
from smtplugins.host.decode.built_steps import BuiltFile, BuiltTree
from smtplugins.host.files.joining import references_of, texts_of
from smtplugins.host.host import Host
from smtplugins.host.judge import in_sample
from smtplugins.host.judge.histories import RunHistory, read_runs, result
from smtplugins.host.judge.judging import JudgedLists, judge
from smtplugins.host.pooling.origins import SYSTEM, count_chosen, shown_counts
from smtplugins.host.runs import input_hashes

Note = Callable[[str], None]
_LISTS = "iteration-*/candidates.jsonl.gz"
"""The n-best lists of a decoding run, one file per iteration (``host/learn/loop.py``)."""


@dataclass(frozen=True)
class Report:
    """The data of a report; ``facts`` are (label, value) pairs for the head of the page.

    ``built`` are sentences whose trees are shown step by step; it is iterated over once.
    """

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    runs: tuple[RunHistory, ...] = ()
    judged: JudgedLists | None = None
    built: Iterable[BuiltTree] | None = None


@dataclass(frozen=True)
class ReportInputs:
    """The input files of a report, as paths; ``format`` applies to the lists.

    ``built`` holds building steps of trees and needs no lists.
    """

    lists: str | None = None
    references: tuple[str, ...] = ()
    weights: str | None = None
    missing: float | None = None
    source: str | None = None
    baseline: str | None = None
    metric: str | None = None
    format: str | None = None
    allow_partial: bool = False
    built: str | None = None


def make_report(
    host: Host,
    runs: Sequence[str],
    requested: ReportInputs,
    *,
    title: str | None = None,
    note: Note = lambda text: None,
) -> Report:
    """Make a report of runs, lists and trees, or any of these.

    Lists are sorted by the weights requested, or else by the runs' result (the mean over several runs). The default
    lists are those the first run learnt from, if they are unchanged.
    """
    learnt = read_runs(runs)
    if not learnt and requested.lists is None and requested.built is None:
        raise UsageError(
            f"nothing to report on: expected runs, lists ({argument('lists', '-i')}) or building steps of trees "
            f"({argument('built')})"
        )
    if requested.built not in (None, "-"):
        # Fail now if the file is missing: it is read last, after slow work.
        os.stat(requested.built)
    built = None if requested.built is None else BuiltFile(requested.built)
    if requested.lists is None and learnt:
        requested = _add_run_inputs(learnt[0], requested, note)
    facts = [("runs", ", ".join(run.name for run in learnt))] if learnt else []
    facts += [("trees", requested.built)] if requested.built is not None else []
    name = f"Report of {learnt[0].name if learnt else requested.lists or requested.built}"
    if requested.lists is None:
        for option, value in (
            (argument("weights", "-w"), requested.weights),
            (argument("baseline"), requested.baseline),
            (argument("refs", "-r"), requested.references),
        ):
            if value:
                raise UsageError(f"{option} needs lists ({argument('lists', '-i')})")
        return Report(title or name, tuple(facts), learnt, None, built)
    if not requested.references:
        raise UsageError(f"lists need references ({argument('refs', '-r')}) to be judged; found none")
    weights: Mapping[str, float] | None = None
    whose = requested.weights or "none"
    if requested.weights is not None:
        weights = host.read_weights(requested.weights)
    elif learnt:
        weights, whose = result(learnt)
    judged = _judge_lists(host, requested, weights, learnt, note)
    facts += [("lists", requested.lists), ("references", ", ".join(requested.references)), ("weights", whose)]
    facts += [("source", requested.source)] if requested.source else []
    facts += [("signature", judged.signature), *_chosen(judged)]
    return Report(title or name, tuple(facts), learnt, judged, built)


def _chosen(judged: JudgedLists) -> list[tuple[str, str]]:
    """How often each system of a pool was chosen, and which systems the oracles come from."""
    origins = judged.lists.extras.get(SYSTEM)
    if origins is None:
        return []
    rows = {"systems chosen": judged.lists.offsets[:-1], "systems of oracles": judged.oracles}
    counts = {label: count_chosen(origins[int(i)] for i in chosen) for label, chosen in rows.items()}
    return [(label, shown_counts(chosen, len(judged.lists))) for label, chosen in counts.items() if chosen]


def _judge_lists(
    host: Host, inputs: ReportInputs, weights: Mapping[str, float] | None, runs: Sequence[RunHistory], note: Note
) -> JudgedLists:
    assert inputs.lists is not None
    formats = host.formats()
    judged = judge(
        host.read(inputs.lists, source=inputs.source, format=inputs.format, allow_partial=inputs.allow_partial),
        references_of(inputs.references, formats),
        host.metric(inputs.metric or "bleu"),
        weights=weights,
        missing=inputs.missing,
        baseline=None if inputs.baseline is None else texts_of(inputs.baseline, formats),
        sources=None if inputs.source is None else texts_of(inputs.source, formats, "source"),
        allow_partial=inputs.allow_partial,
        note=note,
    )
    tuned_on = [run.folder for run in runs if run.manifest]
    if in_sample.EvaluationFiles([inputs.lists, *inputs.references]).any_of(tuned_on):
        judged = replace(judged, signature=f"{judged.signature}|in-sample")
    return judged


def _add_run_inputs(run: RunHistory, inputs: ReportInputs, note: Note) -> ReportInputs:
    """Fill in missing inputs from what the run learnt from, unless those files are missing or have changed since."""
    hashes, decoded = run.manifest.get("inputs"), sorted(Path(run.folder).glob(_LISTS))
    own_inputs = _decoding_inputs(run, str(decoded[-1])) if decoded else _list_inputs(run)
    if own_inputs is None or not isinstance(hashes, dict):
        how = f"{argument('lists', '-i')} and {argument('refs', '-r')}"
        note(f"{run.name}: no lists in this report, as the run does not record its inputs; name them with {how}")
        return inputs
    own = replace(inputs, lists=own_inputs.lists, allow_partial=inputs.allow_partial or own_inputs.allow_partial)
    for name in ("references", "source", "metric", "format"):
        own = replace(own, **{name: getattr(inputs, name) or getattr(own_inputs, name)})
    hashes = {_from_folder(run, name): digest for name, digest in hashes.items()} if decoded else hashes
    files = [path for path in (own.lists, own.source, *own.references) if path is not None]
    wrong = [name for name in files if not Path(name).is_file()]
    wrong += [name for name, digest in input_hashes(files).items() if hashes.get(name, digest) != digest]
    if wrong or not own.references:
        why = f"{wrong[0]} is missing or has changed" if wrong else "its references are not known"
        how = f"{argument('lists', '-i')} and {argument('refs', '-r')}"
        note(f"{run.name}: no lists in this report, as {why}; name others with {how}")
        return inputs
    return own


def _decoding_inputs(run: RunHistory, lists: str) -> ReportInputs | None:
    """The inputs of a decoding run: its last lists, and the rest from its configuration."""
    import yaml

    try:
        config = yaml.safe_load(run.manifest["options"]["config"])
        references = tuple(_from_folder(run, name) for name in config["references"])
        source, metric = config.get("source"), config.get("metric")
        source = None if source is None else _from_folder(run, source)
    except (LookupError, TypeError, AttributeError, yaml.YAMLError) as error:
        raise SmtError(f"{run.folder}: expected the configuration of a run in its manifest, found {error}") from None
    # A sentence may have no translation.
    return ReportInputs(lists, references, source=source, metric=metric, allow_partial=True)


def _from_folder(run: RunHistory, name: str) -> str:
    """The absolute path of a file that the record of a decoding run names as seen from its folder."""
    return os.path.abspath(os.path.join(run.folder, name))


def _list_inputs(run: RunHistory) -> ReportInputs | None:
    """The inputs of a run on lists, from its command's options, if it read a single file of lists."""
    options: Any = run.manifest.get("options")
    if not isinstance(options, dict):
        return None

    def values_of(name: str) -> tuple[str, ...]:
        value = options.get(name) or ()
        return (value,) if isinstance(value, str) else tuple(map(str, value))

    if len(values_of("input")) != 1:
        return None
    return ReportInputs(
        values_of("input")[0],
        values_of("ref"),
        source=options.get("source"),
        metric=next(iter(values_of("metric")), None),
        format=options.get("from_format"),
        allow_partial=bool(options.get("allow_partial")),
    )
