"""``smt bitree compare``: tables 7.2 to 7.5 of Wellington, Turian and Melamed (2009) for your own bitext."""

from __future__ import annotations

import argparse

from smtplugins.contracts.tools.study import add_renamed, add_study, add_tuning
from smtplugins.plugins.bitree.study.tables import ROWS, SIZES, TABLES
from smtplugins.plugins.bitree.trees.tree_making import SHAPES
from smtplugins.plugins.bitree.words.word_training import add_path
from smtplugins.plugins.bitree.words.words_command import add_set, add_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_text(parser)
    add_set(parser, "dev", "for tables 7.2 and 7.3")
    add_set(parser, "test", "for tables 7.4 and 7.5", aligned=False)
    add = parser.add_argument
    add("--shape", choices=SHAPES, help="for table 7.5 without a parser: trees of this shape, the same for each length")
    add("--lm", metavar="FILE", help="target language model, for phrase-based translation")
    add("--configuration", action="append", metavar="LETTERS", help="atoms, as in `smt bitree words` (repeatable)")
    add(
        "--penalty",
        type=float,
        action="append",
        metavar="X",
        help="penalties tried for l2 (repeatable; default: 3, 1, 0.3, 0.1)",
    )
    add(
        "--cost",
        type=float,
        action="append",
        metavar="X",
        help="costs tried for the SVM (repeatable; default: 1, 0.1, 0.01)",
    )
    add("--figures", choices=SIZES, help="training size in the paper to compare with (default: 10k up to 50,000 pairs)")
    add_path(parser)
    add_tuning(parser, None, seeds=None)
    add_study(parser, TABLES, ROWS)
    add_renamed(parser, {"--without": "--row or --table, which name what to make"})
