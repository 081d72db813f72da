"""filter a phrase, rule or reordering table to an input: keep the lines whose source sides can match it"""

from __future__ import annotations

import argparse

from smtplugins.cli import options
from smtplugins.contracts.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "table",
        metavar="TABLE",
        help="phrase table, grammar or reordering table (- is standard input), or a folder of them",
    )
    parser.add_argument(
        "-i",
        "--input",
        action="append",
        default=[],
        metavar="FILE",
        help="sentences to be translated, one per line, in the words of the model (as `smt prepare` makes them); may "
        "be repeated (required)",
    )
    parser.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        help="filtered table (default: standard output), or a new folder for those of a folder",
    )
    parser.add_argument("--from", dest="from_format", metavar="FORMAT", help="format of the table (default: detected)")
    parser.add_argument(
        "--input-format",
        metavar="FORMAT",
        help="format of the sentences, such as moses-xml, whose tags are no words (default: detected)",
    )
    options.add_escape(parser, "escape the words of the input, for tables made with it")
    parser.add_argument(
        "--lowercase", action="store_true", help="lower-case the words of the input, for decoders that do"
    )


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    if not args.input:
        raise UsageError("expected the sentences to be translated (-i FILE), found none")
    if [args.table, *args.input].count("-") > 1:
        raise UsageError("only one of the table and the inputs can be read from standard input")
    host = options.load_host(args)
    options.call(host.filter_table, args, inputs=args.input, target=args.output)
