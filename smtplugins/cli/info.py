"""what a file is: format, counts, ranges, problems"""

from __future__ import annotations

import argparse

from smtplugins.cli import options
from smtplugins.host import printing as tables


def summary(name: str) -> str:
    """A line for the help page."""
    return "what a file is: its format, counts, features and ranges, problems by line"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("file", metavar="FILE", help="any file of a known format (`-` is standard input)")
    parser.add_argument("--from", dest="from_format", metavar="FORMAT", help="its format (default: by shape)")
    options.add_table(parser)
    options.add_common(parser)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Do it."""
    import json

    from smtplugins.host.files.description import describe

    found = describe(options.load_host(args), args.file, args.from_format)
    if args.format == "json":
        options.show(json.dumps(found.record(), indent=1, ensure_ascii=False))
        return
    facts = [{"what": name, "value": value} for name, value in found.facts.items()]
    options.show(tables.render(facts, ["what", "value"], args.format))
    if found.features:
        options.show()
        options.show(tables.render(found.features, list(found.features[0]), args.format))
    if found.problems:
        options.show()
        options.show(tables.render(found.problems, ["line", "problem"], args.format))
