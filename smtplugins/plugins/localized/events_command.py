"""``smt localized events``: the event list of a phrase table and a bitext."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.host.offers import Command

if TYPE_CHECKING:
    import argparse

    from smtplugins.host.host import Host


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    from smtplugins.plugins.localized.bitext import add_bitext
    from smtplugins.plugins.localized.learning import add_quiet

    add_bitext(parser)
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder to be written")
    add_quiet(parser)


def run(host: Host, args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.plugins.localized.bitext import listed_of
    from smtplugins.plugins.localized.learning import sayer

    listed_of(host, args, Path(args.output), sayer(args.quiet), args.quiet)


EVENTS = Command(
    name="events",
    summary="which phrase pairs stand beside each other in a bitext, and how: what the model is learnt from",
    configure=configure,
    run=run,
)
