"""metric scores of systems against references"""

from __future__ import annotations

import argparse

from smtplugins.cli import options, tables


def summary(name: str) -> str:
    """A line for the help page."""
    return "scores of systems (text or lists) under any metric, with intervals and a paired test"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument(
        "systems", nargs="+", metavar="SYSTEM", help="translations: text, or lists whose best count; first the baseline"
    )
    parser.add_argument(
        "-r", "--ref", action="append", default=[], metavar="FILE", help="references, a line per sentence (repeatable)"
    )
    parser.add_argument("-s", "--source", metavar="FILE", help="source sentences, for metrics that read them")
    parser.add_argument(
        "-m",
        "--metric",
        action="append",
        metavar="NAME[,key=value...]",
        help="a metric and its options, as bleu,tokenize=none (repeatable; default: bleu)",
    )
    parser.add_argument(
        "--bootstrap",
        type=int,
        default=0,
        metavar="N",
        help="N samples: 95%% intervals, and p of each system against the first (1000 is usual)",
    )
    parser.add_argument("--seed", type=int, default=12345, help="seed of the samples (default: 12345, as sacrebleu)")
    options.add_partial(parser)
    options.add_table(parser)
    options.add_manifest(parser)
    options.add_common(parser)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host.errors import UsageError

    manifest = options.Manifest(args, [*args.systems, *args.ref, args.source])
    host = options.load_host(args)
    twice = {one for one in args.systems if args.systems.count(one) > 1}
    if twice:
        raise UsageError(f"system {min(twice)!r} is named twice")
    if args.bootstrap < 0:
        raise UsageError(f"--bootstrap: expected a number of samples, found {args.bootstrap}")
    result = host.evaluate(
        args.ref,
        {path: path for path in args.systems},
        args.metric or ["bleu"],
        sources=args.source,
        bootstrap=args.bootstrap,
        seed=args.seed,
        allow_partial=args.allow_partial,
    )
    columns = ["system", "metric", "score", *(["low", "high", "p"] if args.bootstrap else []), "signature"]
    rows = result.rows()
    if args.format != "json":
        rows = [{**row, "score": f"{row['score']:.2f}"} for row in rows]
    print(tables.render(rows, columns, args.format))
    manifest.write(host, seed=args.seed, signatures=[one.signature for one in result.scores])
