"""keep each text once per list"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--merge",
        choices=("max", "logsum"),
        default="max",
        help="total of equal texts: the best, or the log of the summed exponentials (default: max)",
    )
    options.add_input(parser)
    options.add_output(parser)
    options.add_derivations(parser)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    host = options.load_host(args)
    lists = options.searched(host, options.open_lists(host, args), args)
    options.write_lists(host, lists.dedup(args.merge), args)
