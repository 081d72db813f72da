"""``smt searn compare``: table 1 and figures 4 and 5 of Zhang, Sun and Li (2008) for your own bitext.

Amasis beside phrase-based systems with phrases of up to one, two and three words, as the paper's Pharaoh; then variants
of Amasis: features of earlier labels, several labels tried, words left out, no labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.tools.running import Host


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    from smtplugins.contracts.tools.study import add_metric, add_renamed, add_study, add_texts, add_tuning, file
    from smtplugins.plugins.searn.study.rows import HISTORY, KINDS, PAIRS, TABLES

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
    add("--labels", type=int, default=3, metavar="N", help="labels tried in the row `labels` (default: 3)")
    group = parser.add_argument_group("learning")
    add = group.add_argument
    add("--searn-iterations", type=int, default=3, metavar="N", help="iterations of SEARN (default: 3)")
    add("--passes", type=int, default=5, metavar="N", help="passes of the perceptron (default: 5)")
    add("--min-count", type=int, default=5, metavar="N", help="drop features that occur less often (default: 5)")
    add(
        "--held-out",
        type=float,
        default=0.05,
        metavar="X",
        help="fraction of the text held out to evaluate labels (default: 0.05)",
    )
    add_tuning(group)
    add_metric(group)
    group = parser.add_argument_group("decoding")
    add = group.add_argument
    add("--stack-size", type=int, default=100, metavar="N", help="hypotheses in a stack (default: 100)")
    add("--max-options", type=int, default=20, metavar="N", help="options kept for the same words (default: 20)")
    add(
        "--distortion-limit", type=int, default=6, metavar="N", help="distortion limit of Pharaoh's search (default: 6)"
    )
    add_study(parser, TABLES, KINDS)
    add_renamed(parser, {"--nbest": "--tune-nbest", "--iterations": "--tune-iterations"})


def run(host: Host, args: argparse.Namespace) -> None:
    """Make the tables."""
    from smtplugins.plugins.searn.study.steps import AmasisStudy

    AmasisStudy(host, args).make()
