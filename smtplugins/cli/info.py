"""describe a file: format, counts, feature ranges, problems"""

from __future__ import annotations

import argparse

from smtplugins.cli import options
from smtplugins.host import printing as tables


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("file", metavar="FILE", help="a file in any known format (`-` is standard input)")
    parser.add_argument("--from", dest="from_format", metavar="FORMAT", help="format of the file (default: detected)")
    options.add_table(parser)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    import json

    description = options.load_host(args).describe(args.file, args.from_format)
    if args.format == "json":
        options.show(json.dumps(description.record(), indent=1, ensure_ascii=False))
        return
    facts = [{"what": name, "value": value} for name, value in description.facts.items()]
    options.show(tables.render(facts, ["what", "value"], args.format))
    if description.features:
        options.show()
        options.show(tables.render(description.features, list(description.features[0]), args.format))
    if description.problems:
        options.show()
        options.show(tables.render(description.problems, ["line", "problem"], args.format))
