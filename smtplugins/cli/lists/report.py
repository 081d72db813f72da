"""write an HTML report: learning curves, weights, feature contributions, wins and losses, trees step by step"""

from __future__ import annotations

import argparse
import os

from smtplugins.cli import options
from smtplugins.contracts.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "runs",
        nargs="*",
        metavar="RUN|FILE",
        help="folders of learning runs, or of several runs (run-1, ...); a file is the same as -i FILE",
    )
    parser.add_argument("-i", "--input", metavar="FILE", help="n-best lists (default: the first run's, if it has any)")
    parser.add_argument(
        "--from",
        dest="from_format",
        metavar="FORMAT",
        help="format of the lists, NAME[,key=value...] (default: detected)",
    )
    options.add_references(parser)
    parser.add_argument("-w", "--weights", metavar="FILE", help="weights in any known format, instead of the run's")
    options.add_missing_weight(parser)
    options.add_source(parser)
    parser.add_argument(
        "--baseline", metavar="FILE", help="text or lists to compare with (default: the best before rescoring)"
    )
    parser.add_argument(
        "-m", "--metric", metavar="NAME[,key=value...]", help="metric with options (default: the run's, else bleu)"
    )
    parser.add_argument(
        "--built", metavar="FILE", help="building steps of trees from `smt decode --built`, drawn step by step"
    )
    parser.add_argument("--title", metavar="TEXT", help="title of the page")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="output file (default: standard output)")
    parser.add_argument(
        "--to",
        dest="to_format",
        default="html",
        metavar="FORMAT",
        help="report format (default: html); html,candidates=N includes N hypotheses per list (default: 100), "
        "html,trees=N includes N trees (default: 200)",
    )
    options.add_partial(parser)
    options.add_score_cache(parser)
    options.add_manifest(parser)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    files = [name for name in args.runs if os.path.exists(name) and not os.path.isdir(name)]
    if len(files) + (args.input is not None) > 1:
        named = ", ".join([*files, *([args.input] if args.input is not None else [])])
        raise UsageError(f"expected one file of n-best lists, found {named}")
    if files:
        args.input = files[0]
        args.runs = [name for name in args.runs if name not in files]
    manifest = options.Manifest(args, [args.input, args.weights, args.source, args.baseline, args.built, *args.ref])
    host = options.load_host(args)
    report = options.call(host.report, args, lists=args.input, refs=args.ref, missing=args.missing_weight)
    manifest.write(host, signatures=[] if report.judged is None else [report.judged.signature])
