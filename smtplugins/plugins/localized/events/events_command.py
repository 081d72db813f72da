"""``smt localized events``: make the event list of a phrase table and a bitext."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.contracts.tools.files import add_output, check_folder
from smtplugins.contracts.tools.running import add_quiet, sayer
from smtplugins.plugins.localized.events.bitext import add_bitext, listed_of
from smtplugins.plugins.localized.events.event_lists import RECORD

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.tools.running import Host


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_bitext(parser)
    parser.add_argument("--cache", metavar="DIR|off", help="cache of loaded tables (default: $SMT_CACHE)")
    add_output(parser)
    add_quiet(parser)


def run(host: Host, args: argparse.Namespace) -> None:
    """Run the command."""
    folder = Path(args.output)
    check_folder(folder, RECORD, force=args.force)
    listed_of(host, args, folder, sayer(args.quiet), args.quiet, force=args.force)
