"""estimate an n-gram language model: interpolated modified Kneser-Ney, as lmplz does"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "-o",
        "--order",
        type=int,
        required=True,
        metavar="N",
        help="order of the model: length of the longest n-grams, 1 to 16",
    )
    parser.add_argument(
        "-i",
        "--input",
        default="-",
        metavar="TEXT",
        help="tokenised text, a sentence per line (default: standard input)",
    )
    parser.add_argument(
        "-O",
        "--output",
        metavar="ARPA",
        help="ARPA file, compressed if .gz (default: standard output, or none with --binary)",
    )
    parser.add_argument("--binary", metavar="FILE", help="write a KenLM probing file, which loads instantly")
    parser.add_argument(
        "--prune",
        nargs="+",
        type=int,
        default=[],
        metavar="T",
        help="drop n-grams seen T times or fewer: a threshold per order, the last for all higher orders; 0 0 1 drops "
        "trigrams seen once",
    )
    parser.add_argument(
        "--discount-fallback",
        nargs="*",
        type=float,
        metavar="D",
        help="discounts of counts 1, 2, and 3 or more for orders where none can be estimated, as in small or "
        "artificial texts (without values: 0.5 1 1.5)",
    )
    parser.add_argument("--vocabulary", metavar="FILE", help="drop n-grams with words that are not in this file")
    parser.add_argument(
        "--memory", metavar="SIZE", help="fail if more memory is needed: 500M, 8G (default: 80%% of the machine's)"
    )


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.host.methods.estimation import Estimation

    arpa = args.output or (None if args.binary else "-")
    # Installed plugins have no part in it; loading them takes longer than estimating a small model.
    host = options.load_host(args) if args.plugin else Estimation()
    options.call(host.estimate_lm, args, text=args.input, arpa=arpa, memory=options.memory_limit(args))
