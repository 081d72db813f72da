"""write the best hypothesis of each list as plain text"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def summary(name: str) -> str:
    """The summary on the help page."""
    return "write the hypothesis with the highest total of each list as plain text"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    options.add_input(parser)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="output file (default: standard output)")
    parser.add_argument(
        "--fill",
        action="store_true",
        help="write an empty line for each id without a list, so that line N+1 is id N (numeric ids only)",
    )
    options.add_common(parser)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.host.files.lists import write_best

    host = options.load_host(args)
    skipped = write_best(options.open_lists(host, args), args.output, fill=args.fill)
    if skipped and not args.fill and not args.quiet:
        options.note(f"{skipped} ids have no list, so line numbers are not ids; --fill writes empty lines for them")
