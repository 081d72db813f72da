"""convert a file to another format of its kind, forests to n-best lists, or update the weights inside a file"""

from __future__ import annotations

import argparse

from smtformats.escapes import SCHEMES
from smtplugins.cli import options
from smtplugins.contracts.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("input", nargs="?", default="-", metavar="IN", help="file to convert (default: standard input)")
    parser.add_argument(
        "out",
        nargs="?",
        metavar="OUT",
        help="output file (default: standard output); a name ending in .yaml converts a configuration to run-yaml",
    )
    parser.add_argument("-i", "--input", dest="named_input", metavar="FILE", help="same as IN")
    parser.add_argument("-o", "--output", metavar="FILE", help="same as OUT")
    parser.add_argument("--from", dest="from_format", metavar="FORMAT", help="input format (default: detected)")
    parser.add_argument(
        "--to",
        dest="to_format",
        metavar="FORMAT",
        help="output format (default: that of the file's suffix, such as .jsonl, else the input's); run-yaml for "
        "configurations",
    )
    parser.add_argument(
        "--into",
        metavar="FILE",
        help="copy this file (moses.ini or weights) with the input's weights in its weight lines",
    )
    spellings = ", ".join(SCHEMES)
    parser.add_argument(
        "--unescape", metavar="NAME", help=f"undo this escaping of special characters in words: {spellings}"
    )
    parser.add_argument(
        "--escape",
        metavar="NAME",
        help="apply this escaping, after --unescape if both are given; moses alone is undone without loss",
    )
    options.add_ignore(parser)
    options.add_precision(parser)
    _add_lists(parser)
    options.add_derivations(parser)


def _add_lists(parser: argparse.ArgumentParser) -> None:
    """Add the options for lists, whose totals references or a metric replace."""
    group = parser.add_argument_group(
        "n-best lists",
        "With -r or -m, totals become sentence scores of the metric (for --to preferences).",
    )
    options.add_source(group)
    options.add_references(group)
    options.add_metric(group)
    options.add_score_cache(group)
    options.add_partial(group)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    host = options.load_host(args)
    if args.out is not None and args.output is not None:
        raise UsageError("expected one output, found both OUT and -o")
    if args.named_input is not None and args.input != "-":
        raise UsageError("expected one input, found both IN and -i")
    source = args.named_input or args.input
    target = args.output or args.out or "-"
    if args.into is not None:
        if args.to_format is not None:
            raise UsageError("--to cannot be used with --into, which keeps the format of the file")
        if args.ignore:
            raise UsageError("--ignore needs a configuration converted with --to run-yaml")
        if args.escape is not None or args.unescape is not None:
            raise UsageError("--escape and --unescape cannot be used with --into, which changes only weights")
        if args.source or args.ref or args.metric:
            raise UsageError("--source, --ref and --metric need n-best lists, found --into, which changes weights")
        for name in ("derivations", "unique", "weights", "missing_weight"):
            if getattr(args, name):
                raise UsageError(f"--{name.replace('_', '-')} cannot be used with --into, which changes only weights")
        options.call(host.update_weights, args, weights=source, target=target)
    else:
        given = {"sources": args.source, "refs": args.ref, "missing": args.missing_weight}
        options.call(host.convert, args, source=source, target=target, **given)
