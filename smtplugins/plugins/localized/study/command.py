"""``smt localized compare``: the nine rows of table 2 of Tillmann and Zhang (2005) for your own bitext."""

from __future__ import annotations

import argparse

from smtplugins.contracts.tools.running import add_number
from smtplugins.contracts.tools.study import add_metric, add_study, add_texts
from smtplugins.plugins.localized.events.bitext import add_bitext
from smtplugins.plugins.localized.learning.options import add_learning
from smtplugins.plugins.localized.study.rows import ROWS, TABLES


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_bitext(parser)
    parser.set_defaults(min_count=2)
    add_learning(parser)
    add_texts(parser, "devtest", "for learning the float weights of rows 6 and 7")
    add_texts(parser, "test", "of the test set")
    add_number(parser, "--nbest", 1000, "translations of each devtest sentence")
    add_number(parser, "--modified-rate", 1e-3, "learning rate of float weights on the devtest", "R")
    add_number(parser, "--modified-passes", 50, "passes over the devtest")
    add_number(parser, "--min-left", 3, "a block may go left if it does in at least N events")
    add_number(parser, "--stack-size", 100, "hypotheses in a stack")
    add_metric(parser)
    add_study(parser, TABLES, {row.key: f"{row.order_in_words}, features {row.components}" for row in ROWS})
