"""oracle scores of n-best lists"""

from __future__ import annotations

import argparse

from smtplugins.cli import options
from smtplugins.host import printing as tables


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    options.add_input(parser)
    options.add_references(parser)
    options.add_metric_source(parser)
    options.add_metric(parser, several=True)
    options.add_post(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the best hypothesis of each whole list under the first metric"
    )
    options.add_partial(parser)
    options.add_derivations(parser)
    options.add_score_cache(parser)
    options.add_table(parser)
    options.add_manifest(parser)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from dataclasses import asdict

    manifest = options.Manifest(args, [args.input, *args.ref, args.source, args.weights])
    host = options.load_host(args)
    # The source is for metrics only.
    lists = options.searched(host, options.open_lists(host, args, source=None, allow_partial=False), args)
    result = options.call(host.oracle, args, lists=lists, refs=args.ref, metrics=args.metric, sources=args.source)
    if args.output is not None:
        result.write(args.output)
    rows = [asdict(row) for row in result.rows]
    if args.format != "json":
        rows = [{**row, "score": f"{row['score']:.2f}", "gain": f"{row['gain']:.2f}"} for row in rows]
    options.show(tables.render(rows, ["best_at", "metric", "score", "gain", "signature"], args.format))
    manifest.write(host, signatures=list(dict.fromkeys(row.signature for row in result.rows)))
