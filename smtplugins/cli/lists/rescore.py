"""compute new total scores from weights and sort each list; of forests, find the best derivations"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("-w", "--weights", required=True, metavar="FILE", help="weights in any known format")
    options.add_missing_weight(parser)
    options.add_set_weight(parser)
    options.add_input(parser)
    options.add_output(parser)
    options.add_derivations(parser, weights=False)
    options.add_manifest(parser)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    manifest = options.Manifest(args, [args.input, args.weights])
    host = options.load_host(args)
    weights = host.read_weights(args.weights)
    required = options.set_weights(args)
    weights.update(required)
    lists = options.open_lists(host, args)
    lists = lists.rescore(weights, missing=args.missing_weight, required=list(required), note=options.notes(args))
    options.write_lists(host, lists, args)
    manifest.write(host)
