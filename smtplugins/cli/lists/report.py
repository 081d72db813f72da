"""a page to look at: learning curves, weights, lists taken apart by feature, wins and losses, trees as they grew"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def summary(name: str) -> str:
    """A line for the help page."""
    return "one page to look at: learning curves, weights, lists taken apart by feature, trees as they grew"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", help="folders of learning runs, each perhaps with several (run-1, ...)"
    )
    parser.add_argument("-i", "--input", metavar="FILE", help="n-best list (default: the first run's, if it had one)")
    parser.add_argument(
        "--from",
        dest="from_format",
        metavar="FORMAT",
        help="format of the list, NAME[,key=value...] (default: by shape)",
    )
    options.add_references(parser)
    parser.add_argument("-w", "--weights", metavar="FILE", help="weights in any known format, in place of the run's")
    parser.add_argument(
        "--missing-weight", type=float, metavar="X", help="weight of features that have none (default: an error)"
    )
    parser.add_argument(
        "-s",
        "--source",
        metavar="FILE",
        help="source sentences; line 1 of a text belongs to id 0, JSON lines and tables have ids",
    )
    parser.add_argument(
        "--baseline", metavar="FILE", help="text or a list to compare with (default: the best of the list as it came)"
    )
    parser.add_argument(
        "-m", "--metric", metavar="NAME[,key=value...]", help="a metric and its options (default: the run's, else bleu)"
    )
    parser.add_argument(
        "--built", metavar="FILE", help="steps in which trees were built, of `smt decode --built`: drawn step by step"
    )
    parser.add_argument("--title", metavar="TEXT", help="title of the page")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="where to write (default: standard output)")
    parser.add_argument(
        "--to",
        dest="to_format",
        default="html",
        metavar="FORMAT",
        help="kind of page (default: html); html,candidates=N holds the first N hypotheses of each list, not 100, "
        "and html,trees=N the first N trees, not 200",
    )
    options.add_partial(parser)
    options.add_manifest(parser)
    options.add_common(parser)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host.files.opening import find_format, write_all
    from smtplugins.host.judge import reporting

    manifest = options.Manifest(args, [args.input, args.weights, args.source, args.baseline, args.built, *args.ref])
    host = options.load_host(args)
    record = find_format(args.to_format, "report", host.formats())
    inputs = reporting.Inputs(
        lists=args.input,
        references=tuple(args.ref),
        weights=args.weights,
        missing=args.missing_weight,
        source=args.source,
        baseline=args.baseline,
        metric=args.metric,
        format=args.from_format,
        allow_partial=args.allow_partial,
        built=args.built,
    )
    note = (lambda text: None) if args.quiet else options.note
    report = reporting.make_report(host, args.runs, inputs, title=args.title, note=note)
    write_all(record, [report], args.output)
    manifest.write(host, signatures=[] if report.judged is None else [report.judged.signature])
