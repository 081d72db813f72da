"""estimate an n-gram language model: interpolated modified Kneser-Ney, as lmplz does"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from smtplugins.cli import options
from smtplugins.contracts.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--order", type=int, metavar="N", help="order of the model: length of the longest n-grams, 1 to 16 (required)"
    )
    parser.add_argument(
        "-i",
        "--input",
        action="append",
        default=[],
        metavar="TEXT",
        help="tokenised text, a sentence per line (repeatable; default: standard input)",
    )
    options.add_file(parser, several=True)
    parser.add_argument(
        "-o",
        "--output",
        action=_Output,
        default=[],
        metavar="ARPA",
        help="ARPA file, compressed if .gz (default: standard output, or none with --binary)",
    )
    # As it was: `-o` was the order, `-O` the output.
    parser.add_argument("-O", dest="old_output", action="append", default=[], help=argparse.SUPPRESS)
    parser.add_argument("--binary", metavar="FILE", help="write a KenLM probing file, which loads instantly")
    parser.add_argument(
        "--prune",
        action=_Numbers,
        nargs="+",
        number=int,
        default=[],
        metavar="T",
        help="drop n-grams seen T times or fewer: a threshold per order, the last for all higher orders; 0 0 1 drops "
        "trigrams seen once",
    )
    parser.add_argument(
        "--discount-fallback",
        action=_Numbers,
        nargs="*",
        number=float,
        metavar="D",
        help="discounts of counts 1, 2, and 3 or more for orders where none can be estimated, as in small or "
        "artificial texts (without values: 0.5 1 1.5)",
    )
    parser.add_argument("--vocabulary", metavar="FILE", help="drop n-grams with words that are not in this file")
    parser.add_argument(
        "--vocabulary-size",
        type=int,
        metavar="N",
        help="drop n-grams with words that are not among the N most frequent (of equally frequent words, the first "
        "in the text stays)",
    )
    options.add_escape(parser, "escape the words of the text and the vocabulary, as for the tables of a decoder")
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="sort on disk, beside the output, beyond this size: 500M, 8G (default: 80%% of the machine's); the "
        "vocabulary has to fit, and the file of --binary",
    )


class _Output(argparse.Action):
    """Append the option and its value: only ``-o`` was the order."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), (option, values)])


class _Numbers(argparse.Action):
    """Take the numbers behind an option; the one argument behind them is the text, another spelling of ``-i``."""

    def __init__(self, *, number: Callable[[str], float], **options: Any) -> None:
        super().__init__(**options)
        self._number = number

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        numbers = []
        for text in values:
            try:
                numbers.append(self._number(text))
            except ValueError:
                break
        rest = values[len(numbers) :]
        if len(rest) > 1 or (rest and self.nargs == "+" and not numbers):
            parser.error(f"argument {option}: expected numbers, found {rest[0]!r}")
        setattr(namespace, self.dest, numbers)
        if rest:
            options.take_input(parser, namespace, rest)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.host.methods.estimation import Estimation

    order, arpa = _order_and_output(args)
    if arpa is None and not args.binary:
        arpa = "-"
    # Installed plugins have no part in it; loading them takes longer than estimating a small model.
    host = options.load_host(args) if args.plugin else Estimation()
    text, memory = args.input or ["-"], options.memory_limit(args)
    options.call(host.estimate_lm, args, text=text, order=order, arpa=arpa, memory=memory)
    written = args.binary or (arpa if arpa != "-" else None)
    if written is not None:
        options.note_uses(args, [written])


def _order_and_output(args: argparse.Namespace) -> tuple[int, str | None]:
    """The order and the output, if there is one: without ``--order``, a first ``-o`` that is a number is the order."""
    order, files = args.order, [name for _, name in args.output]
    if order is None:
        if not files or args.output[0][0] != "-o" or not (files[0].isascii() and files[0].isdigit()):
            raise UsageError("expected the order of the model (--order N), found none")
        order = int(files.pop(0))
        options.notes(args)(f"-o {order} is taken for the order: write --order {order}, as -o is the output")
    files += args.old_output
    if len(files) > 1:
        raise UsageError(f"expected one output (-o ARPA), found {' and '.join(files)}")
    return order, files[0] if files else None
