"""Learning options and progress notes shared by ``train`` and ``compare``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.plugins.localized.learning.material import BlockMaterial, Recipe
from smtplugins.plugins.localized.learning.problem import KEEP
from smtplugins.plugins.localized.model.features import Estimates

if TYPE_CHECKING:
    import argparse

    from smtplugins.plugins.localized.events.event_lists import EventList


def add_learning(parser: argparse.ArgumentParser) -> None:
    """Add the options of features and learning."""
    parser.add_argument("--lm", required=True, metavar="FILE", help="a language model: ARPA or KenLM probing file")
    parser.add_argument(
        "--threshold", type=int, default=3, metavar="N", help="use block bigrams with more than N events (default: 3)"
    )
    parser.add_argument(
        "--keep", type=int, default=KEEP, metavar="N", help=f"alternatives per source phrase (default: {KEEP})"
    )
    parser.add_argument(
        "--float-rate",
        type=float,
        default=1e-4,
        metavar="R",
        help="learning rate of the float features (default: 1e-4)",
    )
    parser.add_argument(
        "--float-portion",
        type=float,
        default=1.0,
        metavar="P",
        help="portion of the events for the float features (default: 1; the paper 0.1)",
    )
    parser.add_argument(
        "--float-passes", type=int, default=1, metavar="N", help="passes over --float-portion (default: 1)"
    )
    parser.add_argument(
        "--rate", type=float, default=1e-4, metavar="R", help="learning rate with block bigrams (default: 1e-4)"
    )
    parser.add_argument("--passes", type=int, default=40, metavar="N", help="passes with block bigrams (default: 40)")
    parser.add_argument(
        "--smoothing", type=float, default=0.5, metavar="A", help="added to orientation counts (default: 0.5)"
    )
    parser.add_argument(
        "--floor",
        type=float,
        default=1e-7,
        metavar="P",
        help="minimum orientation and lexical probability (default: 1e-7)",
    )
    parser.add_argument(
        "--lex-norm",
        choices=("paper", "koehn"),
        default="paper",
        help="denominator of p(s|t): the count of s (paper, as printed) or of t (koehn) (default: paper)",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="random seed of the order of events (default: 1)"
    )


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Add --quiet and --verbose."""
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress and no notes on standard error")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="tracebacks of failures")


def material_of(args: argparse.Namespace, listed: EventList) -> BlockMaterial:
    """Make the training material from the command line."""
    from smtplugins.contracts.tools.language_models import read_native_lm

    for name, least in (("threshold", 0), ("keep", 1), ("seed", 0)):
        if getattr(args, name) < least:
            raise UsageError(f"{name}: expected {least} or more, found {getattr(args, name)}")
    estimates = Estimates(args.smoothing, args.floor, args.lex_norm)
    return BlockMaterial(listed, read_native_lm(args.lm), args.threshold, args.keep, estimates)


def float_recipe(args: argparse.Namespace) -> Recipe:
    """Return the recipe of the float features."""
    return Recipe(args.float_passes, args.float_rate, args.float_portion)


def bigram_recipe(args: argparse.Namespace) -> Recipe:
    """Return the recipe of learning with block bigrams."""
    return Recipe(args.passes, args.rate)


def sayer(quiet: bool) -> Callable[[str], None]:
    """Return a function that prints notes on standard error, unless ``quiet``."""

    def say(text: str) -> None:
        if not quiet:
            sys.stderr.write(f"smt: {text}\n")
            sys.stderr.flush()

    return say


def teller(say: Callable[[str], None], name: str) -> Callable[..., Any]:
    """Return a callback that reports the loss of each pass."""

    def tell(part: str, number: int, objective: float, rate: float) -> None:
        say(f"{name}: {part}, pass {number}: loss {objective:.5f}, rate {rate:g}")

    return tell
