"""score systems against references, with confidence intervals and significance tests"""

from __future__ import annotations

import argparse
import json
import os
from typing import TYPE_CHECKING, Any

from smtplugins.cli import options
from smtplugins.cli.lists.systems import add_formats, formats_of
from smtplugins.contracts.errors import UsageError
from smtplugins.host import printing as tables
from smtplugins.host.command_options import add_jobs
from smtplugins.host.judge.significance import CORRECTIONS, SAMPLES, TESTS

if TYPE_CHECKING:
    from smtplugins.host.judge.evaluation import Evaluation


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "systems",
        nargs="+",
        metavar="SYSTEM",
        help="translations, the baseline first: a text, or lists or forests of which the best is used; NAME=FILE names "
        "a system, NAME=FILE,FILE,... gives one output per optimiser run",
    )
    add_formats(parser, "the systems' files")
    options.add_references(parser)
    options.add_metric_source(parser)
    options.add_metric(parser, several=True)
    parser.add_argument(
        "--tuned-on",
        action="append",
        default=[],
        metavar="RUN|FILE",
        help="folder or manifest of a run, or a file that weights were learnt from: scores on the same sentences are "
        "marked in-sample (repeatable; outputs inside the folder of their run are recognised automatically)",
    )
    options.add_post(parser)
    options.add_partial(parser)
    _add_tests(parser)
    parser.add_argument(
        "--sentences",
        metavar="FILE",
        help="write the scores of each sentence: a table with a column SYSTEM/METRIC for each, or JSON lines if the "
        "name ends in .jsonl; the runs of a system are SYSTEM[1], SYSTEM[2] ..",
    )
    add_jobs(parser)
    options.add_score_cache(parser)
    options.add_table(parser)
    options.add_manifest(parser)


def _add_tests(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "significance", "Tests of the difference between each system and the baseline (the first system)."
    )
    usual = ", ".join(f"{count} for {name}" for name, count in SAMPLES.items())
    shown = "; ".join(f"{name}: {what}" for name, what in TESTS.items())
    group.add_argument("--test", action="append", default=[], choices=list(TESTS), help=f"{shown} (repeatable)")
    group.add_argument(
        "--all-pairs",
        action="store_true",
        help="test every two systems, not only each against the baseline; adds a table of pairs (with -f json the "
        "output is an object with scores and pairs)",
    )
    shown = "; ".join(f"{name}: {what}" for name, what in CORRECTIONS.items())
    group.add_argument(
        "--correct",
        choices=list(CORRECTIONS),
        default="none",
        help=f"correct the p-values of a metric and test ({shown}; default: none)",
    )
    group.add_argument("--samples", type=int, default=0, metavar="N", help=f"number of samples (default: {usual})")
    group.add_argument(
        "--confidence",
        type=float,
        metavar="LEVEL",
        help="level of bootstrap confidence intervals (default: 0.95 with bootstrap, else none)",
    )
    group.add_argument("--bootstrap", type=int, default=0, metavar="N", help="short for --test bootstrap --samples N")
    group.add_argument("--seed", type=int, default=12345, help="random seed (default: 12345, as sacrebleu)")


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    systems: dict[str, Any] = {}
    paths: list[str] = []
    for argument in args.systems:
        name, system, files = _parse_system(argument)
        if name in systems:
            raise UsageError(f"expected different system names, found {name!r} twice")
        systems[name] = system
        paths += files
    inputs = [*paths, *args.ref, args.source, *(path for path in args.tuned_on if os.path.isfile(path))]
    manifest = options.Manifest(args, inputs)
    host = options.load_host(args)
    given = {"refs": args.ref, "systems": systems, "metrics": args.metric, "sources": args.source, "tests": args.test}
    result = options.call(host.evaluate, args, **given, format=formats_of(args.from_formats, systems))
    options.show(_tables(result, args))
    manifest.write(host, seed=args.seed, signatures=[score.signature for score in result.scores])


def _parse_system(argument: str) -> tuple[str, Any, list[str]]:
    """Parse a SYSTEM argument into name, system and files; an existing file's name may have any characters."""
    from smtplugins.host.judge.evaluation import Runs

    name, equals, rest = argument.partition("=")
    if not equals or os.path.exists(argument):
        return argument, argument, [argument]
    files = [rest] if os.path.exists(rest) else rest.split(",")
    if not name or not all(files):
        raise UsageError(f"system {argument!r}: expected FILE, NAME=FILE or NAME=FILE,FILE,...")
    return name, files[0] if len(files) == 1 else Runs(tuple(files)), files


def _tables(result: Evaluation, args: argparse.Namespace) -> str:
    """The scores, the pairs of systems if all were tested, and how often the systems of pools were chosen."""
    if args.format == "json":
        if not args.all_pairs:
            return _table(result.rows(), args.format)
        return json.dumps({"scores": result.rows(), "pairs": result.pair_rows()}, indent=1, ensure_ascii=False)
    shown = [_table(result.rows(), args.format)]
    shown += [_pair_table(result.pair_rows(), args.format)] if args.all_pairs else []
    shown += [options.chosen_table(result.chosen_rows(), args.format)] if result.chosen else []
    return "\n\n".join(shown)


def _table(rows: list[dict[str, Any]], style: str) -> str:
    columns = ["system", "metric", "score"]
    if any(row["runs"] > 1 for row in rows):
        columns += ["runs", "deviation"]
    if any(row["low"] is not None for row in rows):
        columns += ["low", "high"]
    if style != "json":
        rows = [{**row, "score": f"{row['score']:.2f}", **_p_cells(row)} for row in rows]
    return tables.render(rows, [*columns, *_p_columns(rows), "signature"], style)


def _pair_table(rows: list[dict[str, Any]], style: str) -> str:
    columns = ["first", "second", "metric", "difference", *_p_columns(rows), "correction"]
    cells = [{**row, "difference": f"{row['difference']:.2f}", **_p_cells(row)} for row in rows]
    return tables.render(cells, columns, style)


def _p_columns(rows: list[dict[str, Any]]) -> list[str]:
    """The columns of p-values: ``p`` of a single test, ``p(TEST)`` of several; then the same, corrected."""
    tests = list(dict.fromkeys(test for row in rows for test in row["tests"]))
    columns = [f"({test})" for test in tests] if len(tests) != 1 else [""]
    corrected = any(row.get("corrected") for row in rows)
    return [f"p{column}" for column in columns] + [f"corrected{column}" for column in columns] * corrected


def _p_cells(row: dict[str, Any]) -> dict[str, float | None]:
    cells: dict[str, float | None] = {}
    for name, values in (("p", row["tests"]), ("corrected", row.get("corrected", {}))):
        cells |= {f"{name}({test})": p for test, p in values.items()}
        cells[name] = next(iter(values.values()), None)
    return cells
