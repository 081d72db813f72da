"""write a new run.yaml, check a configuration and print it as a run.yaml"""

from __future__ import annotations

import argparse
import os

from smtplugins.cli import options
from smtplugins.contracts.errors import UsageError
from smtplugins.host import printing as tables


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
        help="load a configuration's features, tables and decoder, and print all keys it sets as a run.yaml",
    )
    options.add_config(verb, required=True, argument=True)
    verb.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        help="the run.yaml to write, whose folder paths are relative to (default: standard output, absolute paths)",
    )
    options.add_cache(verb)
    options.add_common(verb)
    verb.set_defaults(command=show)
    verb = verbs.add_parser(
        "check",
        help="load a configuration and translate a sentence with it: print its tables, weights and the translation",
    )
    options.add_config(verb, required=True, argument=True)
    verb.add_argument(
        "-i",
        "--input",
        metavar="FILE",
        help="text whose first sentence is translated (default: some words of the first table)",
    )
    options.add_cache(verb)
    options.add_table(verb)
    options.add_common(verb)
    verb.set_defaults(command=check)
    verb = verbs.add_parser(
        "schema", help="print the JSON schema of a run.yaml (draft 2020-12), by which editors complete and check it"
    )
    verb.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        help="file for the schema: run.schema.json, which a run.yaml that is written beside it names in its first line",
    )
    options.add_common(verb)
    verb.set_defaults(command=schema)


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
    verb.add_argument(
        "--schema",
        action="store_true",
        help="also write run.schema.json beside it, by which editors complete and check it",
    )
    options.add_common(verb)
    verb.set_defaults(command=new)


def new(args: argparse.Namespace) -> None:
    """Write a new configuration."""
    from smtformats.files import open_write
    from smtplugins.host.config.run_yaml import read_override
    from smtplugins.host.config.writing.schema import SCHEMA, schema_line

    if args.schema and args.output == "-":
        raise UsageError("--schema is written beside the run.yaml: name its file (-o FILE)")
    folder = "." if args.output == "-" else os.path.dirname(args.output) or "."
    values = dict(map(read_override, args.set))
    host = options.load_host(args)
    text = options.call(host.new_config, args, folder=folder, values=values)
    if args.schema:
        with open_write(os.path.join(folder, SCHEMA)) as out:
            out.write(host.config_schema())
    with open_write(args.output) as out:
        out.write(text if args.output == "-" else schema_line(folder) + text)


def check(args: argparse.Namespace) -> None:
    """Try the configuration on a sentence."""
    host, config = options.load_configured(args, args.set)
    for text in config.notes:
        options.notes(args)(text)
    tried = options.call(host.check_config, args, config=config, sentences=args.input, overrides=(), ignore=())
    options.show(tables.render(tried.rows(), ["what", "value"], args.format))


def schema(args: argparse.Namespace) -> None:
    """Print or write the schema."""
    from smtformats.files import open_write

    with open_write(args.output) as out:
        out.write(options.load_host(args).config_schema())


def show(args: argparse.Namespace) -> None:
    """Check the configuration and print it."""
    from smtformats.files import open_write

    host, config = options.load_configured(args, args.set)
    from smtplugins.host.config.writing.schema import schema_line

    folder = None if args.output == "-" else os.path.dirname(os.path.abspath(args.output))
    near = os.path.dirname(args.config if folder is None else args.output)
    line = "" if args.config == "-" else schema_line(near, absolute=folder is None)
    given = {"config": config, "load": True, "overrides": (), "ignore": (), "folder": folder}
    text = options.call(host.show_config, args, **given)
    with open_write(args.output) as out:
        out.write(line + text)
