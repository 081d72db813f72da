"""Learning options and progress notes shared by ``train`` and ``compare``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.running import add_number
from smtplugins.plugins.localized.learning.material import BlockMaterial, PassSettings
from smtplugins.plugins.localized.learning.problem import KEEP
from smtplugins.plugins.localized.model.features import Estimates

if TYPE_CHECKING:
    import argparse

    from smtplugins.plugins.localized.events.event_lists import EventList


def add_learning(parser: argparse.ArgumentParser) -> None:
    """Add the options of features and learning."""
    add = parser.add_argument
    add("--lm", required=True, metavar="FILE", help="a language model: ARPA or KenLM file")
    add_number(parser, "--threshold", 3, "use block bigrams with more than N events")
    add_number(parser, "--keep", KEEP, "alternatives per source phrase")
    add_number(parser, "--float-rate", 1e-4, "learning rate of the float features", "R")
    add(
        "--float-portion",
        type=float,
        default=1.0,
        metavar="P",
        help="portion of the events for the float features (default: 1; the paper 0.1)",
    )
    add_number(parser, "--float-passes", 1, "passes over --float-portion")
    add_number(parser, "--rate", 1e-4, "learning rate with block bigrams", "R")
    add_number(parser, "--passes", 40, "passes with block bigrams")
    add_number(parser, "--smoothing", 0.5, "added to orientation counts", "A")
    add_number(parser, "--floor", 1e-7, "minimum orientation and lexical probability", "P")
    add(
        "--lex-norm",
        choices=("paper", "koehn"),
        default="paper",
        help="denominator of p(s|t): the count of s (paper, as printed) or of t (koehn) (default: paper)",
    )
    add_number(parser, "--seed", 1, "random seed of the order of events")


def material_of(args: argparse.Namespace, listed: EventList) -> BlockMaterial:
    """Make the training material from the command line."""
    from smtplugins.contracts.tools.language_models import read_lm

    for name, least in (("threshold", 0), ("keep", 1), ("seed", 0)):
        if getattr(args, name) < least:
            raise UsageError(f"{name}: expected {least} or more, found {getattr(args, name)}")
    estimates = Estimates(args.smoothing, args.floor, args.lex_norm)
    return BlockMaterial(listed, read_lm(args.lm), args.threshold, args.keep, estimates)


def float_settings(args: argparse.Namespace) -> PassSettings:
    """Return the recipe of the float features."""
    return PassSettings(args.float_passes, args.float_rate, args.float_portion)


def bigram_settings(args: argparse.Namespace) -> PassSettings:
    """Return the recipe of learning with block bigrams."""
    return PassSettings(args.passes, args.rate)


def teller(say: Callable[[str], None], name: str) -> Callable[..., Any]:
    """Return a callback that reports the loss of each pass."""

    def tell(part: str, number: int, objective: float, rate: float) -> None:
        say(f"{name}: {part}, pass {number}: loss {objective:.5f}, rate {rate:g}")

    return tell
