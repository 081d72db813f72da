"""what a configuration amounts to"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def summary(name: str) -> str:
    """A line for the help page."""
    return "`config show -c FILE`: what a run.yaml, cdec.ini, moses.ini or joshua.config amounts to"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    show = verbs.add_parser(
        "show", help="check a configuration and print it as a run.yaml: every key it sets, paths absolute"
    )
    show.add_argument(
        "-c", "--config", required=True, metavar="FILE", help="a run.yaml, cdec.ini, moses.ini or joshua.config"
    )
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
    from smtplugins.host.config import show_config

    options.show(show_config(args.config, args.set), end="")
