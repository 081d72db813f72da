"""describe files: format, counts, feature ranges, problems"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from smtplugins.cli import options
from smtplugins.host import printing as tables

if TYPE_CHECKING:
    from smtplugins.host.files.description import Description


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "file",
        nargs="+",
        metavar="FILE",
        help="a file in any known format (`-` is standard input); several are described one after another",
    )
    parser.add_argument("--from", dest="from_format", metavar="FORMAT", help="format of the files (default: detected)")
    options.add_table(parser)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    import json

    host = options.load_host(args)
    several = len(args.file) > 1
    records = []
    for number, path in enumerate(args.file):
        description = host.describe(path, args.from_format)
        if args.format == "json":
            records.append({"file": path, **description.record()} if several else description.record())
            continue
        if number:
            options.show()
        _show(description, args.format, {"file": path} if several else {})
    if records:
        options.show(json.dumps(records if several else records[0], indent=1, ensure_ascii=False))


def _show(description: Description, style: str, named: dict[str, str]) -> None:
    """Print the tables of a description, the first with what it is ``named``."""
    facts = [{"what": name, "value": value} for name, value in {**named, **description.facts}.items()]
    options.show(tables.render(facts, ["what", "value"], style))
    if description.features:
        options.show()
        options.show(tables.render(description.features, list(description.features[0]), style))
    if description.problems:
        options.show()
        options.show(tables.render(description.problems, ["line", "problem"], style))
