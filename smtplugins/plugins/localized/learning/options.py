"""Options of learning that ``train`` and ``compare`` share, and what they say while they learn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import UsageError
from smtplugins.plugins.localized.learning.material import Material, Recipe
from smtplugins.plugins.localized.learning.problem import KEEP
from smtplugins.plugins.localized.model.features import Estimates

if TYPE_CHECKING:
    import argparse

    from smtplugins.plugins.localized.events.event_lists import EventList


def add_learning(parser: argparse.ArgumentParser) -> None:
    """How the features are made and the weights are learnt."""
    parser.add_argument("--lm", required=True, metavar="FILE", help="a language model: ARPA or KenLM probing file")
    parser.add_argument(
        "--threshold", type=int, default=3, metavar="N", help="block bigrams are those found more often (default: 3)"
    )
    parser.add_argument(
        "--keep", type=int, default=KEEP, metavar="N", help=f"alternatives of a source phrase (default: {KEEP})"
    )
    parser.add_argument(
        "--float-rate", type=float, default=1e-4, metavar="R", help="rate for the float features (default: 1e-4)"
    )
    parser.add_argument(
        "--float-portion",
        type=float,
        default=1.0,
        metavar="P",
        help="of the events, for these (default: 1; the paper 0.1)",
    )
    parser.add_argument("--float-passes", type=int, default=1, metavar="N", help="over that portion (default: 1)")
    parser.add_argument("--rate", type=float, default=1e-4, metavar="R", help="rate with block bigrams (default: 1e-4)")
    parser.add_argument("--passes", type=int, default=40, metavar="N", help="with block bigrams (default: 40)")
    parser.add_argument(
        "--smoothing", type=float, default=0.5, metavar="A", help="added to counts of orientations (default: 0.5)"
    )
    parser.add_argument(
        "--floor",
        type=float,
        default=1e-7,
        metavar="P",
        help="the least probability of orientations and words (default: 1e-7)",
    )
    parser.add_argument(
        "--lex-norm",
        choices=("paper", "koehn"),
        default="paper",
        help="p(s|t) is relative to the pairs of s, as the paper prints it, or to those of t",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the order of events (default: 1)")


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """What all commands have."""
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress and no notes on standard error")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="tracebacks of failures")


def material_of(args: argparse.Namespace, listed: EventList) -> Material:
    """What is learnt from."""
    from smtplugins.core.lm.ngram_model import read_native_lm

    for name, least in (("threshold", 0), ("keep", 1), ("seed", 0)):
        if getattr(args, name) < least:
            raise UsageError(f"{name}: expected {least} or more, found {getattr(args, name)}")
    estimates = Estimates(args.smoothing, args.floor, args.lex_norm)
    return Material(listed, read_native_lm(args.lm), args.threshold, args.keep, estimates)


def float_recipe(args: argparse.Namespace) -> Recipe:
    """For the float features."""
    return Recipe(args.float_passes, args.float_rate, args.float_portion)


def bigram_recipe(args: argparse.Namespace) -> Recipe:
    """For all of them."""
    return Recipe(args.passes, args.rate)


def sayer(quiet: bool) -> Callable[[str], None]:
    """Says something on standard error, or nothing."""

    def say(text: str) -> None:
        if not quiet:
            sys.stderr.write(f"smt: {text}\n")
            sys.stderr.flush()

    return say


def teller(say: Callable[[str], None], name: str) -> Callable[..., Any]:
    """Says what a pass of learning came to."""

    def tell(part: str, number: int, objective: float, rate: float) -> None:
        say(f"{name}: {part}, pass {number}: loss {objective:.5f}, rate {rate:g}")

    return tell
