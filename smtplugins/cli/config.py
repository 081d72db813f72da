"""what a configuration amounts to"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def summary(name: str) -> str:
    """A line for the help page."""
    return "`config show -c run.yaml`: what a configuration amounts to"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    show = verbs.add_parser("show", help="check a run.yaml and print every key it sets, paths absolute")
    show.add_argument("-c", "--config", required=True, metavar="FILE", help="a run.yaml")
    show.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a key, as decoder.pop_limit=200 (repeatable)",
    )
    options.add_common(show)
    show.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host.config import load_config

    print(load_config(args.config, args.set).to_yaml(), end="")
