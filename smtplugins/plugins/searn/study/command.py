"""``smt searn compare``: table 1 and figures 4 and 5 of Zhang, Sun and Li (2008) for your own bitext.

Amasis beside phrase-based systems with phrases of up to one, two and three words, as the paper's Pharaoh; then variants
of Amasis: features of earlier labels, several labels tried, words left out, no labels.
"""

from __future__ import annotations

import argparse

from smtplugins.contracts.tools.running import add_number
from smtplugins.contracts.tools.study import add_metric, add_renamed, add_study, add_texts, add_tuning, file
from smtplugins.plugins.searn.study.rows import HISTORY, KINDS, PAIRS, TABLES


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("-s", "--source", required=True, type=file, metavar="FILE", help="source side of the training text, tokenised")
    add("-t", "--target", required=True, type=file, metavar="FILE", help="target side of the training text")
    add("-a", "--alignment", type=file, metavar="FILE", help="word alignments, 0-0 1-2")
    add("--align", metavar="NAME[,key=value...]", help="align with this model, as `smt align` does")
    add("--lm", required=True, type=file, metavar="FILE", help="language model of the target language, ARPA or KenLM")
    add_texts(parser, "tune", "of the tuning set")
    add_texts(parser, "test", "of the test set")
    add("--pair", choices=PAIRS, help="language pair of the paper's figures (default: by file endings .fr, .de, .es)")
    group = parser.add_argument_group("rows")
    add = group.add_argument
    add(
        "--length",
        type=int,
        action="append",
        metavar="N",
        help="maximum words of Pharaoh's phrases (repeatable; default: 1, 2, 3)",
    )
    names = f"features of earlier labels, as in `smt searn train` (repeatable; default: {HISTORY})"
    add("--history", action="append", metavar="NAMES", help=names)
    add_number(group, "--labels", 3, "labels tried in the row `labels`")
    group = parser.add_argument_group("learning")
    add = group.add_argument
    add_number(group, "--searn-iterations", 3, "iterations of SEARN")
    add_number(group, "--passes", 5, "passes of the perceptron")
    add_number(group, "--min-count", 5, "drop features that occur less often")
    add_number(group, "--held-out", 0.05, "fraction of the text held out to evaluate labels", "X")
    add_tuning(group)
    add_metric(group)
    group = parser.add_argument_group("decoding")
    add = group.add_argument
    add_number(group, "--stack-size", 100, "hypotheses in a stack")
    add_number(group, "--max-options", 20, "options kept for the same words")
    add_number(group, "--distortion-limit", 6, "distortion limit of Pharaoh's search")
    add_study(parser, TABLES, KINDS)
    add_renamed(parser, {"--nbest": "--tune-nbest", "--iterations": "--tune-iterations"})
