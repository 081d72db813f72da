"""new total scores from weights, each list sorted by them"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def summary(name: str) -> str:
    """A line for the help page."""
    return "new total scores from weights, each list sorted by them (equal totals keep their order)"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("-w", "--weights", required=True, metavar="FILE", help="weights in any known format")
    parser.add_argument(
        "--missing-weight", type=float, metavar="X", help="weight of features that have none (default: an error)"
    )
    parser.add_argument(
        "--set-weight",
        action="append",
        default=[],
        metavar="NAME=X",
        help="one more weight, or another value for one (repeatable)",
    )
    options.add_input(parser)
    options.add_output(parser)
    options.add_manifest(parser)
    options.add_common(parser)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host.errors import UsageError

    manifest = options.Manifest(args, [args.input, args.weights])
    host = options.load_host(args)
    weights = host.read_weights(args.weights)
    required = []
    for one in args.set_weight:
        name, equals, value = one.rpartition("=")
        try:
            weights[name] = float(value)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise UsageError(f"--set-weight: expected NAME=NUMBER, found {one!r}")
        required.append(name)
    lists = options.open_lists(host, args).rescore(
        weights,
        missing=args.missing_weight,
        required=required,
        note=(lambda text: None) if args.quiet else options.note,
    )
    options.write_lists(host, lists, args)
    manifest.write(host)
