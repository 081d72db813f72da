"""an n-gram model of a text: interpolated modified Kneser-Ney, as lmplz estimates it"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def summary(name: str) -> str:
    """A line for the help page."""
    return "an n-gram language model of a text, as lmplz estimates it"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument(
        "-o", "--order", type=int, required=True, metavar="N", help="the length of the longest n-grams, 1 to 16"
    )
    parser.add_argument(
        "-i", "--input", default="-", metavar="TEXT", help="a sentence a line, tokenised (default: standard input)"
    )
    parser.add_argument(
        "-O", "--output", metavar="ARPA", help="where to write, .gz too (default: standard output, without --binary)"
    )
    parser.add_argument("--binary", metavar="FILE", help="write a KenLM probing file, which loads at once")
    parser.add_argument(
        "--prune",
        nargs="+",
        type=int,
        default=[],
        metavar="T",
        help="leave out n-grams seen T times or fewer: a threshold for each order, the last for those beyond; "
        "0 0 1 leaves out trigrams seen once",
    )
    parser.add_argument(
        "--discount-fallback",
        nargs="*",
        type=float,
        metavar="D",
        help="discounts of counts 1, 2, and 3 or more for orders whose counts give none, as in small or artificial "
        "texts (default: 0.5 1 1.5)",
    )
    parser.add_argument("--vocabulary", metavar="FILE", help="leave out n-grams with words that are not in this file")
    parser.add_argument(
        "--memory", metavar="SIZE", help="stop when more is needed: 500M, 8G (default: 80%% of the machine's)"
    )
    options.add_common(parser)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host.estimate.lm import binary_target, estimate_file, write_model

    if args.binary is not None:
        binary_target(args.binary)  # known to be wrong before the work is done
    model = estimate_file(
        args.input,
        args.order,
        prune=args.prune,
        fallback=args.discount_fallback,
        vocabulary=args.vocabulary,
        memory=options.memory_limit(args),
        note=(lambda text: None) if args.quiet else options.note,
        quiet=args.quiet,
    )
    write_model(model, args.output or (None if args.binary else "-"), args.binary)
