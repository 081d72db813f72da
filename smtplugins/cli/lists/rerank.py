"""learn weights on dev lists, sort test lists by them, and evaluate: the whole chain in one command"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from smtplugins.cli import options
from smtplugins.cli.systems.tune import add_learning
from smtplugins.host import printing as tables

if TYPE_CHECKING:
    from smtplugins.host.host import Host
    from smtplugins.host.learn.reranking import Reranked


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--dev", required=True, metavar="FILE", help="n-best lists to learn from")
    parser.add_argument(
        "--dev-ref", action="append", required=True, metavar="FILE", help="references of --dev (repeatable)"
    )
    parser.add_argument("--test", required=True, metavar="FILE", help="n-best lists to sort")
    parser.add_argument(
        "--test-ref", action="append", default=[], metavar="FILE", help="references of --test, to evaluate (repeatable)"
    )
    parser.add_argument("--dev-source", metavar="FILE", help="source sentences of --dev, for features")
    parser.add_argument("--test-source", metavar="FILE", help="source sentences of --test")
    parser.add_argument(
        "--feature",
        action="append",
        default=[],
        metavar="NAME[,key=value...]",
        help="feature to add to the lists first (repeatable; `smt features` lists them)",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="folder for weights, best texts and sorted lists"
    )
    parser.add_argument("--from", dest="from_format", metavar="FORMAT", help="format of the lists (default: detected)")
    parser.add_argument(
        "--to", dest="to_format", metavar="FORMAT", help="format of the sorted lists (default: the input's)"
    )
    parser.add_argument(
        "--missing-weight", type=float, metavar="X", help="weight of features that only the test lists have"
    )
    parser.add_argument(
        "--bootstrap",
        type=int,
        default=1000,
        metavar="N",
        help="bootstrap samples for intervals and p-values (default: 1000)",
    )
    options.add_partial(parser)
    options.add_score_cache(parser)
    add_learning(parser, "minrisk")
    options.add_table(parser)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.host import runs
    from smtplugins.host.learn.tuning import LISTS

    learnt = [args.dev, *args.dev_ref, args.dev_source, args.weights, *options.feature_files(args)]
    inputs, judged = (
        runs.input_hashes([path for path in some if path]) for some in (learnt, [args.test, *args.test_ref])
    )
    host = options.load_host(args)
    result = _rerank(host, args)
    _show(args, result)
    # The inputs are the tuning data, by which `smt evaluate` recognises in-sample scores.
    record = runs.manifest(
        command=runs.argv(),
        options={
            "learner": args.learner or LISTS,
            "metric": args.metric,
            "features": args.feature,
            "applied_to": judged,
        },
        inputs=inputs,
        plugins=host.plugins,
        seed=1 if args.seed is None else args.seed,
        signatures=[str(row["signature"]) for row in result.rows()],
    )
    record["tuned_on"] = sorted(inputs)
    runs.write_manifest(os.path.join(args.output, runs.MANIFEST), record)


def _rerank(host: Host, args: argparse.Namespace) -> Reranked:
    dev, test = (
        host.read(path, source=source, format=args.from_format, allow_partial=args.allow_partial)
        for path, source in ((args.dev, args.dev_source), (args.test, args.test_source))
    )
    return options.call(
        host.rerank,
        args,
        dev=dev,
        dev_refs=args.dev_ref,
        test=test,
        test_refs=args.test_ref,
        features=args.feature,
        missing=args.missing_weight,
        samples=args.bootstrap,
        start=args.weights,
    )


def _show(args: argparse.Namespace, result: Reranked) -> None:
    """Print the scores and the warnings."""
    rows, chosen = result.rows(), result.chosen_rows()
    columns = ["set", "system", "metric", "score", "low", "high", "p", "signature"]
    if not args.test_ref or not args.bootstrap:
        columns = [column for column in columns if column not in ("low", "high", "p")]
    if args.format != "json":
        rows = [{**row, "score": f"{row['score']:.2f}"} for row in rows]
    options.show(tables.render(rows, columns, args.format))
    if chosen and args.format != "json":
        options.show(f"\n{options.chosen_table(chosen, args.format)}")
    for warning in result.warnings():
        if args.format == "text":
            options.show(f"\n{warning}")
        elif not args.quiet:
            options.note(warning)
