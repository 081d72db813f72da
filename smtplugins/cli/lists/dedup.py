"""each text once per list"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def summary(name: str) -> str:
    """A line for the help page."""
    return "each text once per list, with the best total or the log of the sum"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument(
        "--merge",
        choices=("max", "logsum"),
        default="max",
        help="total of equal texts: the best one, or the log of the sum of their exponentials (default: max)",
    )
    options.add_input(parser)
    options.add_output(parser)
    options.add_common(parser)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Do it."""
    host = options.load_host(args)
    options.write_lists(host, options.open_lists(host, args).dedup(args.merge), args)
