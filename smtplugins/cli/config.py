"""write a new run.yaml, check a configuration and print it as a run.yaml"""

from __future__ import annotations

import argparse
import os

from smtplugins.cli import options


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    _configure_new(
        verbs.add_parser(
            "new",
            help="write a commented run.yaml with every key for a decoder, which uses the files that are found",
        )
    )
    verb = verbs.add_parser(
        "show",
        help="load a configuration's features, tables and decoder, and print all keys it sets as a run.yaml with "
        "absolute paths",
    )
    options.add_config(verb, required=True, argument=True)
    options.add_cache(verb)
    options.add_common(verb)
    verb.set_defaults(command=show)


def _configure_new(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--decoder", required=True, metavar="NAME[,key=value...]", help="the decoder; `smt decoders` lists them"
    )
    verb.add_argument(
        "--from",
        dest="files",
        action="append",
        default=[],
        metavar="DIR|FILE",
        help="folder or file of tables, language models and reordering tables to use (repeatable)",
    )
    verb.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set a key, such as source=dev.de; paths are relative to the run.yaml (repeatable)",
    )
    verb.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="the run.yaml to write, whose folder paths are relative to"
    )
    options.add_common(verb)
    verb.set_defaults(command=new)


def new(args: argparse.Namespace) -> None:
    """Write a new configuration."""
    from smtformats.files import open_write
    from smtplugins.host.config.run_yaml import read_override

    folder = "." if args.output == "-" else os.path.dirname(args.output) or "."
    values = dict(map(read_override, args.set))
    text = options.call(options.load_host(args).new_config, args, folder=folder, values=values)
    with open_write(args.output) as out:
        out.write(text)


def show(args: argparse.Namespace) -> None:
    """Check the configuration and print it."""
    host, config = options.load_configured(args, args.set)
    options.show(options.call(host.show_config, args, config=config, load=True, overrides=(), ignore=()), end="")
