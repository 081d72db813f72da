"""clean, tokenize and case parallel or monolingual text, and say what was dropped and why"""

from __future__ import annotations

import argparse

from smtplugins.cli import options
from smtplugins.host import printing as tables


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("-s", "--source", metavar="FILE", help="source sentences, one per line")
    parser.add_argument(
        "-t",
        "--target",
        action="append",
        metavar="FILE",
        help="target sentences, in the same order; one side alone is monolingual text (with --like repeatable, for "
        "several references)",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FOLDER",
        help="folder for source, target, dropped.tsv (line numbers and reasons) and prepared.json (settings)",
    )
    parser.add_argument(
        "--like",
        metavar="FOLDER",
        help="prepare as the text in this folder was, and drop nothing: for development and test sets",
    )
    parser.add_argument(
        "--clean", action="store_true", help="with --like: drop what its limits drop, for more training text"
    )
    add_words(parser)
    add_limits(parser)
    options.add_table(parser)


def add_words(parser: argparse.ArgumentParser) -> None:
    """Add the options for the spelling of words."""
    group = parser.add_argument_group(
        "words",
        "Kept in the folder with the models: for --like, and for the key `text` of a run.yaml, by which decoding "
        "prepares its input.",
    )
    group.add_argument(
        "--tokenize",
        metavar="none|moses|13a|intl",
        help="tokenizer: Moses' (pip install 'smtplugins[tokenize]'), or those of sacrebleu (default: none)",
    )
    group.add_argument(
        "--case",
        metavar="keep|lower|true",
        help="true: sentences begin with a word in its most frequent case, as by Moses' truecaser, whose models are "
        "learnt from this text (default: keep)",
    )
    group.add_argument(
        "--languages",
        nargs="+",
        metavar="CODE",
        help="languages of source and target, for moses (default: suffixes, as of train.de.gz)",
    )


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add the options for what is dropped."""
    group = parser.add_argument_group("limits", "Lines with an empty side are dropped, too.")
    group.add_argument("--max-length", type=int, metavar="N", help="drop sentences of more words (default: 80)")
    group.add_argument(
        "--max-ratio",
        type=float,
        metavar="X",
        help="drop pairs of which one side has more than X times as many words as the other (default: 9)",
    )
    group.add_argument(
        "--keep-duplicates",
        action="store_const",
        const=True,
        help="keep pairs that occurred before (default: dropped; monolingual text always keeps them)",
    )


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.host.methods.estimation import Estimation

    # Installed plugins have no part in it; loading them takes longer than preparing a small text.
    host = options.load_host(args) if args.plugin else Estimation()
    result = options.call(host.prepare, args, folder=args.output)
    rows = result.rows()
    if args.format != "json":
        for row in rows:
            row["share"] = f"{100 * row['lines'] / result.read:.2f} %"
            row["first line"] = row["first"]
    options.show(tables.render(rows, ["what", "lines", "share", "first line"], args.format))
