"""interpolate language models linearly into one, with weights tuned on a text"""

from __future__ import annotations

import argparse

from smtplugins.cli import options
from smtplugins.contracts.errors import UsageError
from smtplugins.host import printing as tables


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("models", nargs="+", metavar="MODEL", help="two or more ARPA files; all are held in memory")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="ARPA",
        help="ARPA file, compressed if .gz: the n-grams of all models with the weighted sums of their probabilities",
    )
    parser.add_argument("--binary", metavar="FILE", help="write a KenLM probing file, too")
    parser.add_argument(
        "--tune", metavar="TEXT", help="tokenised text, a sentence per line, whose likelihood the weights maximise (EM)"
    )
    parser.add_argument(
        "--weights", type=float, nargs="+", default=[], metavar="W", help="instead of --tune: a weight for each model"
    )
    options.add_escape(parser, "escape the words of the tuning text, as those of the models")
    options.add_table(parser)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.host.methods.estimation import Estimation

    if args.output == "-":
        raise UsageError("--output: expected the name of a file, found '-': standard output has the table of weights")
    # Installed plugins have no part in it.
    host = options.load_host(args) if args.plugin else Estimation()
    result = options.call(host.mix_lms, args, arpa=args.output)
    rows = result.rows()
    if args.format != "json":
        for row in rows:
            row["of shared words"] = row["shared"]
    columns = ["model", "weight", *(["perplexity", "unknown", "of shared words"] if args.tune else [])]
    options.show(tables.render(rows, columns, args.format))
    options.note_uses(args, [args.binary or args.output])
