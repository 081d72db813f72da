"""pool the candidates of several systems, joined by id, with each system's scores"""

from __future__ import annotations

import argparse
import os

from smtplugins.cli import options
from smtplugins.cli.lists.systems import add_formats, formats_of
from smtplugins.contracts.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "systems",
        nargs="+",
        metavar="[NAME=]FILE",
        help="the candidates of a system: n-best lists, a forest, a folder of forests, or a text with one candidate "
        "for each sentence; NAME is the file's name up to the first dot if not given",
    )
    add_formats(parser, "all files")
    parser.add_argument(
        "--missing",
        choices=("flag", "min", "0", "error"),
        default="flag",
        help="what stands for the scores of a system that lacks the candidate: min, the smallest values of its list; "
        "flag, these and a feature NAME.missing of 1; 0; error, nothing (default: flag)",
    )
    parser.add_argument(
        "--scores",
        choices=("all", "totals"),
        default="all",
        help="what each system's scores are: all, its features and its total; totals, the total alone, to learn "
        "weights from few sentences (default: all)",
    )
    parser.add_argument("--ranks", action="store_true", help="add ranks as features NAME.rank, the best is 1")
    parser.add_argument(
        "--no-dedup", dest="dedup", action="store_false", help="keep equal texts as candidates of their own"
    )
    options.add_source(parser)
    options.add_partial(parser)
    options.add_derivations(parser, weights=False)
    parser.add_argument(
        "-w",
        "--weights",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="weights for the totals of a system, and to search its forests with (repeatable)",
    )
    options.add_missing_weight(parser)
    options.add_output(parser, default="jsonl")


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    systems: dict[str, str] = {}
    unnamed: list[str] = []
    for argument in args.systems:
        name, equals, path = argument.partition("=")
        if not equals or os.path.exists(argument):
            unnamed.append(argument)
        elif not name or not path:
            raise UsageError(f"system {argument!r}: expected FILE or NAME=FILE")
        elif name in systems:
            raise UsageError(f"expected different system names, found {name!r} twice")
        else:
            systems[name] = path
    if systems and unnamed:
        raise UsageError(f"expected NAME=FILE for all systems or for none, found {unnamed[0]!r}")
    host = options.load_host(args)
    given = {"systems": systems or unnamed, "format": formats_of(args.from_formats, systems)}
    pool = options.call(host.merge, args, **given, weights=_weights(args.weights))
    options.write_lists(host, pool, args)


def _weights(given: list[str]) -> dict[str, str]:
    """The files of weights by system."""
    by_name: dict[str, str] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals or not name or not path or name in by_name:
            raise UsageError(f"--weights: expected NAME=FILE, once for each system, found {text!r}")
        by_name[name] = path
    return by_name
