"""describe files: format, counts, feature ranges, problems"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from smtformats import FormatError
from smtplugins.cli import options
from smtplugins.contracts.errors import SmtError
from smtplugins.host import printing as tables
from smtplugins.host.errors import message

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
    records, wrong, shown = [], [], False
    for path in args.file:
        try:
            description = host.describe(path, args.from_format)
        except (SmtError, FormatError, OSError) as error:
            if not several:
                raise
            wrong.append(message(error))
            continue
        if args.format == "json":
            records.append({"file": path, **description.record()} if several else description.record())
            continue
        if shown:
            options.show()
        _show(description, args.format, {"file": path} if several else {})
        shown = True
    if args.format == "json":
        options.show(json.dumps(records if several else records[0], indent=1, ensure_ascii=False))
    if wrong:
        raise SmtError("\nsmt: ".join(wrong))


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
