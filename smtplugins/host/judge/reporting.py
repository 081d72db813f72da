"""What a report is made from: curves of learning runs, lists judged sentence by sentence, trees as they were built.

A page is a format of the kind ``report`` that writes one :class:`Report`; plugins offer it like any other format.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.judge.histories import Run, read_runs, result
from smtplugins.host.judge.judging import Judged, judge

if TYPE_CHECKING:
    from smtplugins.host.decode.built_steps import BuiltTree
    from smtplugins.host.host import Host

Note = Callable[[str], None]
_LISTS = "iteration-*/candidates.jsonl.gz"
"""What a run that decodes found, iteration by iteration (``host/learn/loop.py``)."""


@dataclass(frozen=True)
class Report:
    """All of a report: facts are pairs of what and which, for the head of the page.

    ``built`` are sentences whose trees are shown as they grew; it is gone through once.
    """

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    runs: tuple[Run, ...] = ()
    judged: Judged | None = None
    built: Iterable[BuiltTree] | None = None


@dataclass(frozen=True)
class Inputs:
    """The files of a report of lists, all by path; ``format`` is that of the lists.

    ``built`` has the steps of trees, which need no lists.
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
    runs: Sequence[str] = (),
    inputs: Inputs | None = None,
    *,
    title: str | None = None,
    note: Note = lambda text: None,
) -> Report:
    """A report of runs, of lists, of trees as they were built, or of several of these.

    Lists are sorted by the weights named, or else by those the runs ended with (their mean, if there are several).
    Without lists, those that the first run learnt from are taken if they are there as they were.
    """
    from smtplugins.host.decode.built_steps import BuiltFile

    given = inputs or Inputs()
    found = read_runs(runs)
    if not found and given.lists is None and given.built is None:
        raise UsageError("expected runs to report on, lists (-i), or both; or trees as they were built (--built)")
    if given.built not in (None, "-"):
        # What takes long comes before it is read.
        os.stat(given.built)
    built = None if given.built is None else BuiltFile(given.built)
    if given.lists is None and found:
        given = _of_run(found[0], given, note)
    facts = [("runs", ", ".join(run.name for run in found))] if found else []
    facts += [("trees", given.built)] if given.built is not None else []
    name = f"Report of {found[0].name if found else given.lists or given.built}"
    if given.lists is None:
        for option, value in (("-w", given.weights), ("--baseline", given.baseline), ("-r", given.references)):
            if value:
                raise UsageError(f"{option} is for lists: name them (-i)")
        return Report(title or name, tuple(facts), found, None, built)
    if not given.references:
        raise UsageError("lists are judged by references (-r): name at least one")
    weights: Mapping[str, float] | None = None
    whose = given.weights or "none"
    if given.weights is not None:
        weights = host.read_weights(given.weights)
    elif found:
        weights, whose = result(found)
    judged = _judged(host, given, weights, found, note)
    facts += [("lists", given.lists), ("references", ", ".join(given.references)), ("weights", whose)]
    facts += [("source", given.source)] if given.source else []
    facts += [("signature", judged.signature)]
    return Report(title or name, tuple(facts), found, judged, built)


def _judged(host: Host, given: Inputs, weights: Mapping[str, float] | None, runs: Sequence[Run], note: Note) -> Judged:
    from smtplugins.host.files.joining import references_of, texts_of
    from smtplugins.host.judge import in_sample

    assert given.lists is not None
    formats = host.formats()
    judged = judge(
        host.read(given.lists, source=given.source, format=given.format, allow_partial=given.allow_partial),
        references_of(given.references, formats),
        host.metric(given.metric or "bleu"),
        weights=weights,
        missing=given.missing,
        baseline=None if given.baseline is None else texts_of(given.baseline, formats),
        sources=None if given.source is None else texts_of(given.source, formats, "source"),
        allow_partial=given.allow_partial,
        note=note,
    )
    tuned_on = [run.folder for run in runs if run.manifest]
    if in_sample.Judged([given.lists, *given.references]).any_of(tuned_on):
        judged = replace(judged, signature=f"{judged.signature}|in-sample")
    return judged


def _of_run(run: Run, given: Inputs, note: Note) -> Inputs:
    """What the run learnt from, for all that is not given; files that changed since are not what it learnt from."""
    from smtplugins.host.runs import input_hashes

    hashes, decoded = run.manifest.get("inputs"), sorted(Path(run.folder).glob(_LISTS))
    found = _decoded(run, str(decoded[-1])) if decoded else _frozen(run)
    if found is None or not isinstance(hashes, dict):
        note(f"{run.name}: no lists in this report, as the run does not say which it read; -i and -r name them")
        return given
    own = replace(given, lists=found.lists, allow_partial=given.allow_partial or found.allow_partial)
    for name in ("references", "source", "metric", "format"):
        own = replace(own, **{name: getattr(given, name) or getattr(found, name)})
    files = [one for one in (own.lists, own.source, *own.references) if one is not None]
    wrong = [name for name in files if not Path(name).is_file()]
    wrong += [name for name, digest in input_hashes(files).items() if hashes.get(name, digest) != digest]
    if wrong or not own.references:
        why = f"{wrong[0]} is not there as it was" if wrong else "its references are not known"
        note(f"{run.name}: no lists in this report, as {why}; -i and -r name others")
        return given
    return own


def _decoded(run: Run, lists: str) -> Inputs | None:
    """A run that decoded: its last lists, and the rest from its configuration."""
    import yaml

    try:
        config = yaml.safe_load(run.manifest["options"]["config"])
        references = tuple(map(str, config["references"]))
        source, metric = config.get("source"), config.get("metric")
    except (LookupError, TypeError, AttributeError, yaml.YAMLError) as error:
        raise SmtError(f"{run.folder}: expected the configuration of a run in its manifest, found {error}") from None
    # A decoder may find no translation for a sentence.
    return Inputs(lists, references, source=source, metric=metric, allow_partial=True)


def _frozen(run: Run) -> Inputs | None:
    """A run on lists: what its command was given, if that was one file of lists."""
    options: Any = run.manifest.get("options")
    if not isinstance(options, dict):
        return None

    def every(name: str) -> tuple[str, ...]:
        value = options.get(name) or ()
        return (value,) if isinstance(value, str) else tuple(map(str, value))

    if len(every("input")) != 1:
        return None
    return Inputs(
        every("input")[0],
        every("ref"),
        source=options.get("source"),
        metric=next(iter(every("metric")), None),
        format=options.get("from_format"),
        allow_partial=bool(options.get("allow_partial")),
    )
