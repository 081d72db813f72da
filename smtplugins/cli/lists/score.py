"""append feature scores to every hypothesis of a list; nothing else in it changes"""

from __future__ import annotations

import argparse

from smtplugins.cli import options
from smtplugins.host.command_options import add_jobs, jobs_of


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--feature",
        action="append",
        required=True,
        metavar="NAME[,key=value...]",
        help="feature with options; `name=` names its column (repeatable; `smt features` lists them)",
    )
    options.add_input(parser)
    options.add_output(parser)
    options.add_sources(parser)
    options.add_derivations(parser)
    add_jobs(parser)
    options.add_score_cache(parser)
    options.add_manifest(parser)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    annotations = [argument.partition("=")[2] for argument in args.annotation]
    manifest = options.Manifest(
        args, [args.input, args.source, args.weights, *annotations, *options.feature_files(args)]
    )
    host = options.load_host(args)
    lists = options.searched(host, options.open_lists(host, args), args)
    lists = host.score(lists, args.feature, jobs=jobs_of(args))
    options.write_lists(host, lists, args)
    manifest.write(host)
