"""write the best hypothesis of each list, or of each forest, as plain text"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    options.add_input(parser)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="output file (default: standard output)")
    parser.add_argument(
        "--fill",
        action="store_true",
        help="write an empty line for each id without a list, so that line N+1 is id N (numeric ids only)",
    )
    options.add_derivations(parser, length=False)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    host = options.load_host(args)
    options.write_best(host, options.searched(host, options.open_lists(host, args), args), args)
