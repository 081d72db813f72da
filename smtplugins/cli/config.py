"""check a configuration and print it as a run.yaml"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    verb = verbs.add_parser(
        "show",
        help="load a configuration's features, tables and decoder, and print all keys it sets as a run.yaml with "
        "absolute paths",
    )
    options.add_config(verb, required=True, argument=True)
    options.add_cache(verb)
    options.add_common(verb)
    verb.set_defaults(command=show)


def show(args: argparse.Namespace) -> None:
    """Check the configuration and print it."""
    host, config = options.load_configured(args, args.set)
    options.show(options.call(host.show_config, args, config=config, load=True, overrides=(), ignore=()), end="")
