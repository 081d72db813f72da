"""compute new total scores from weights and sort each list"""

from __future__ import annotations

import argparse

from smtplugins.cli import options
from smtplugins.contracts.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("-w", "--weights", required=True, metavar="FILE", help="weights in any known format")
    options.add_missing_weight(parser)
    parser.add_argument(
        "--set-weight",
        action="append",
        default=[],
        metavar="NAME=X",
        help="add a weight or change its value (repeatable)",
    )
    options.add_input(parser)
    options.add_output(parser)
    options.add_manifest(parser)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    manifest = options.Manifest(args, [args.input, args.weights])
    host = options.load_host(args)
    weights = host.read_weights(args.weights)
    required = []
    for argument in args.set_weight:
        name, equals, value = argument.rpartition("=")
        try:
            weights[name] = float(value)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise UsageError(f"--set-weight: expected NAME=NUMBER, found {argument!r}")
        required.append(name)
    lists = options.open_lists(host, args)
    lists = lists.rescore(weights, missing=args.missing_weight, required=required, note=options.notes(args))
    options.write_lists(host, lists, args)
    manifest.write(host)
