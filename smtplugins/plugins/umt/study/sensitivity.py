"""``smt umt sensitivity``: what options of decoder, learner and metric do to translations, each with several seeds.

The paper leaves open the exponent of the Zipfian distribution, how sentence BLEU is smoothed, and how bounds are
scaled; it learns for ten epochs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.offers import Command
from smtplugins.contracts.spec import Spec
from smtplugins.host.errors import UsageError
from smtplugins.plugins.umt.study.command import add_case, add_output, case_of, folder_of, talk

if TYPE_CHECKING:
    from smtplugins.host.host import Host
    from smtplugins.plugins.umt.study.systems import Case, System
    from smtplugins.plugins.umt.study.tables import Table

_PARTS = ("umt", "drl", "metric")
VARIED = (
    "drl.exponent=0.5,1,1.5,2",
    "metric.smooth_method=exp,add-k,floor",
    "umt.cff_scale=1,4,8.5,20,100",
    "drl.epochs=1,3,10,30",
)


@dataclass(frozen=True)
class Varied:
    """An option of the decoder, the learner or the metric, and values for it; all else stays as it is."""

    part: str
    option: str
    values: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Varied:
        """Read ``PART.OPTION=VALUE,VALUE...``."""
        name, equals, values = text.partition("=")
        part, dot, option = name.strip().partition(".")
        given = tuple(one.strip() for one in values.split(","))
        if not equals or not dot or not option or not all(given) or part not in _PARTS:
            raise UsageError(f"--vary: expected umt|drl|metric.OPTION=VALUE,VALUE..., found {text!r}")
        return cls(part, option, given)

    @property
    def name(self) -> str:
        """As it was given."""
        return f"{self.part}.{self.option}"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    add_case(parser)
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="PART.OPTION=VALUE,...",
        help=f"an option of umt, drl or metric and its values (repeatable; default: {' '.join(VARIED)})",
    )
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="how many seeds each (default: 3)")
    add_output(parser)


def settings_of(case: Case, varied: Sequence[Varied]) -> dict[tuple[str, str], tuple[Case, System]]:
    """Each row of the table: the option and the value, what is learnt with, and the system."""
    base = case.umt()
    found: dict[tuple[str, str], tuple[Case, System]] = {}
    for one in varied:
        for value in one.values:
            own, system = case, base
            if one.part == "umt":
                system = base.but(base.key, base.name, **{one.option: value})
            elif one.part == "drl":
                options = {**base.learner.options, one.option: value}
                system = replace(base, learner=Spec("drl", options))
            else:
                metric = Spec.of(case.metric_name)
                own = replace(case, metric=str(Spec(metric.name, {**metric.options, one.option: value})))
                # A wrong option is an error before hours of work.
                own.host.metric(own.metric_name)
            found[one.name, value] = own, system
    return found


def run(host: Host, args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host.learn.pools import write_json
    from smtplugins.plugins.umt.study import tables as compare_tables

    varied = [Varied.parse(one) for one in args.vary or VARIED]
    if args.seeds < 1:
        raise UsageError(f"seeds: expected 1 or more, found {args.seeds}")
    case = case_of(host, args)
    rows = settings_of(case, varied)
    case.check([system for _, system in {str(one): (own, one) for own, one in rows.values()}.values()])
    say, _ = talk(args.quiet)
    details = {name: getattr(args, name) for name in ("umt", "drl", "seeds")}
    with folder_of(case, args, details) as folder:
        known: dict[str, Mapping[str, Any]] = {}
        made = []
        for number, ((option, value), (own, system)) in enumerate(rows.items(), 1):
            say(f"{option}={value} ({number} of {len(rows)}), {args.seeds} seeds")
            place = f"{system.decoder}|{system.learner}|{own.metric_name}"
            if place not in known:
                known[place] = _scores(case, own, system, args.seeds, folder / f"{option}={value}")
            made.append({"option": option, "value": value, **known[place]})
        table = _table(case, made)
        settings = {"decoder": str(case.umt().decoder), "drl": str(case.umt().learner), "seeds": args.seeds}
        if args.output is not None:
            write_json(folder / "result.json", {"settings": settings, "rows": [dict(row) for row in table.rows]})
        sys.stdout.write(compare_tables.shown([table], args.format, False, settings) + "\n")


def _scores(case: Case, own: Case, system: System, seeds: int, folder: Path) -> dict[str, Any]:
    """The scores of the test set, by the metric that all are judged by, whatever was learnt with."""
    import json
    import math
    import shutil

    from smtplugins.host.learn.pools import write_json
    from smtplugins.plugins.umt.study.runs import Learnt, judged, tried

    kept = folder / "scores.json"
    if kept.exists():
        return dict(json.loads(kept.read_text(encoding="utf-8")))
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    done = own.host.tune_policy(
        own.config_of(system),
        folder=folder / "run",
        learner=system.learner,
        runs=seeds,
        jobs=own.jobs,
        cache=own.cache,
        post=own.post,
        quiet=True,
    )
    scores = []
    for one in done.runs:
        weights = Learnt(one.weights, 0.0, 0, 0, "", one.score)
        trials = tried(case, [(system, weights)], 1, lambda text: None)
        scores.append(judged(case, trials, system.key, [])[system.key].score)
    mean = math.fsum(scores) / len(scores)
    squares = math.fsum((one - mean) ** 2 for one in scores)
    found = {
        "mean": mean,
        "deviation": math.sqrt(squares / (len(scores) - 1)) if len(scores) > 1 else None,
        "least": min(scores),
        "most": max(scores),
        "scores": scores,
        "learnt_from": math.fsum(one.score for one in done.runs) / len(scores),
    }
    write_json(kept, found)
    return found


def _table(case: Case, rows: Sequence[Mapping[str, Any]]) -> Table:
    from smtplugins.plugins.umt.study.tables import Column, Table

    metric = case.host.metric(case.metric_name)
    columns = (
        Column("option", "option"),
        Column("value", "value"),
        Column("mean", f"{metric.name} mean", "{:.2f}"),
        Column("deviation", "deviation", "{:.2f}"),
        Column("least", "least", "{:.2f}"),
        Column("most", "most", "{:.2f}"),
        Column("learnt_from", "of what was learnt from", "{:.2f}"),
    )
    seeds = len(rows[0]["scores"]) if rows else 0
    title = f"Sensitivity: {metric.name} of the test set over {seeds} seed{'s' * (seeds > 1)}, one option changed"
    return Table("sensitivity", title, columns, tuple(rows))


SENSITIVITY = Command(
    name="sensitivity",
    summary="what options do to translations, each with several seeds: exponent, smoothing, bounds, epochs",
    configure=configure,
    run=run,
)
