"""check a configuration and print it as a run.yaml"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def summary(name: str) -> str:
    """The summary on the help page."""
    return "check a run.yaml, cdec.ini, moses.ini or joshua.config and print it as a run.yaml: `config show -c FILE`"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    show = verbs.add_parser(
        "show",
        help="check a configuration with its decoder and feature options, and print all keys it sets as a run.yaml "
        "with absolute paths",
    )
    show.add_argument(
        "-c", "--config", required=True, metavar="FILE", help="a run.yaml, cdec.ini, moses.ini or joshua.config"
    )
    show.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a key, such as decoder.pop_limit=200 (repeatable)",
    )
    options.add_ignore(show)
    options.add_common(show)
    show.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.host.config.run_yaml import read_and_show

    config, text = read_and_show(args.config, args.set, ignore=args.ignore)
    args.plugin = [*args.plugin, *config.plugins]
    registry = options.load_host(args).registry
    if config.decoder is not None:
        with config.at("decoder"):
            registry.check("decoders", config.decoder)
    for i, feature in enumerate(config.model.features):
        with config.at("model", "features", str(i)):
            registry.check("features", feature, without=("name", "tuneable"))
    options.show(text, end="")
