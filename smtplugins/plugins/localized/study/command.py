"""``smt localized compare``: the nine rows of table 2 of Tillmann and Zhang (2005) for your own bitext."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.tools.running import Host


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    from smtplugins.contracts.tools.study import add_metric, add_study, add_texts
    from smtplugins.plugins.localized.events.bitext import add_bitext
    from smtplugins.plugins.localized.learning.options import add_learning
    from smtplugins.plugins.localized.study.rows import ROWS, TABLES

    add = parser.add_argument
    add_bitext(parser)
    parser.set_defaults(min_count=2)
    add_learning(parser)
    add_texts(parser, "devtest", "for learning the float weights of rows 6 and 7")
    add_texts(parser, "test", "of the test set")
    add("--nbest", type=int, default=1000, metavar="N", help="translations of each devtest sentence (default: 1000)")
    add(
        "--modified-rate",
        type=float,
        default=1e-3,
        metavar="R",
        help="learning rate of float weights on the devtest (default: 1e-3)",
    )
    add("--modified-passes", type=int, default=50, metavar="N", help="passes over the devtest (default: 50)")
    add(
        "--min-left",
        type=int,
        default=3,
        metavar="N",
        help="a block may go left if it does in at least N events (default: 3)",
    )
    add("--stack-size", type=int, default=100, metavar="N", help="hypotheses in a stack (default: 100)")
    add_metric(parser)
    add_study(parser, TABLES, {row.key: f"{row.order_in_words}, features {row.components}" for row in ROWS})


def run(host: Host, args: argparse.Namespace) -> None:
    """Make the table."""
    from smtplugins.plugins.localized.study.rows import BlockStudy

    BlockStudy(host, args).make()
