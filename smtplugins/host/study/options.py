"""The command-line options of ``smt PLUGIN compare``: one spelling for the tables of all papers."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.command_options import add_number, add_quiet
from smtplugins.host.study.tuned_systems import TuningPlan

PRINTED = ("text", "json", "tsv", "latex")


def add_printing(parser: argparse.ArgumentParser, *, paper: bool = True) -> None:
    """Add ``-f`` and, where there are figures of a paper, ``--paper``."""
    parser.add_argument("-f", "--format", choices=PRINTED, default="text", help="how to print the tables")
    if paper:
        parser.add_argument(
            "--paper", action=argparse.BooleanOptionalAction, default=True, help="show the paper's figures beside ours"
        )


def file(text: str) -> Path:
    """The absolute path of an existing file, as the ``type`` of an option."""
    path = Path(text).absolute()
    path.stat()
    return path


def add_texts(parser: Any, name: str, what: str) -> None:
    """Add a text to translate with its references, as ``--test`` and ``--test-ref``."""
    parser.add_argument(f"--{name}", required=True, type=file, metavar="FILE", help=f"source sentences {what}")
    ref = f"references of --{name} (repeatable)"
    parser.add_argument(f"--{name}-ref", action="append", required=True, type=file, metavar="FILE", help=ref)


def add_metric(parser: Any, default: str | None = "bleu") -> None:
    """Add ``-m``; None leaves it to the configuration."""
    usual = default or "that of the configuration, else bleu"
    shown = f"metric to tune for and to judge by, such as bleu,tokenize=none (default: {usual})"
    parser.add_argument("-m", "--metric", default=default, metavar="NAME[,key=value...]", help=shown)


def add_study(
    parser: argparse.ArgumentParser, tables: Mapping[str, str], rows: Mapping[str, str], *, paper: bool = True
) -> None:
    """Add the options of a study; ``tables`` and ``rows`` describe the names that can be chosen."""
    group = parser.add_argument_group("study")
    group.add_argument("-o", "--output", required=True, metavar="DIR", help="folder of the study")
    group.add_argument("--resume", action="store_true", help="resume in that folder; complete steps are not repeated")
    for name, known in (("row", rows), ("table", tables)):
        shown = f"{name}s to make (default: all). " + "; ".join(f"{key}: {what}" for key, what in known.items())
        if known:
            group.add_argument(f"--{name}", action="extend", nargs="+", choices=known, metavar="NAME", help=shown)
        else:
            parser.set_defaults(**{name: None})
    add_printing(parser, paper=paper)
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="threads or processes (same result)")
    parser.add_argument("--cache", metavar="DIR|off", help="cache of loaded tables (default: $SMT_CACHE)")
    add_quiet(parser)


def add_loop(parser: Any, *, nbest: int = 100, iterations: int = 5) -> None:
    """Add the options of a loop of decoding and learning."""
    add_number(parser, "--tune-nbest", nbest, "tune on lists of N, 0: on forests")
    add_number(parser, "--tune-iterations", iterations, "maximum number of tuning iterations")


def add_tuning(parser: Any, learner: str | None = "mert", *, seeds: int | None = 1) -> None:
    """Add the options of :class:`TuningPlan`: by default no tuning if ``learner`` is None, one run if ``seeds`` is."""
    shown = f"learner to tune with (default: {learner or 'none, keep the initial weights'})"
    parser.add_argument("--tuner", default=learner, metavar="NAME[,key=value...]", help=shown)
    add_loop(parser)
    if seeds is None:
        parser.set_defaults(seeds=1)
    else:
        add_number(parser, "--seeds", seeds, "tuning runs to average")
    add_number(parser, "--seed", 1, "the first seed")


def tuning_plan(args: argparse.Namespace, fixed: Sequence[str] = ()) -> TuningPlan:
    """The plan of :func:`add_tuning`; the weights named in ``fixed`` are not tuned."""
    check_least(args, seeds=1, seed=0, tune_iterations=1, tune_nbest=0)
    if args.tune_nbest == 1:
        raise UsageError("--tune-nbest: expected 2 or more, or 0 for forests, found 1")
    learner = None if args.tuner is None else Spec.parse(args.tuner)
    return TuningPlan(
        learner, args.tune_nbest, args.tune_iterations, range(args.seed, args.seed + args.seeds), tuple(fixed)
    )


def add_renamed(parser: argparse.ArgumentParser, names: Mapping[str, str]) -> None:
    """Make old spellings errors that say what to write instead."""
    for old, new in names.items():
        parser.add_argument(
            old, action=_Renamed, nargs="?", const=new, default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )


class _Renamed(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        raise UsageError(f"{option_string} is now {self.const}")


def choose(names: Sequence[str] | None, known: Iterable[str]) -> list[str]:
    """The names of a ``--row`` or ``--table`` in the paper's order; all of them by default."""
    return [name for name in known if not names or name in names]


def check_least(args: argparse.Namespace, **least: int) -> None:
    """Raise UsageError if an option's number is below the smallest that makes sense."""
    for name, smallest in least.items():
        value = getattr(args, name)
        if value < smallest:
            raise UsageError(f"--{name.replace('_', '-')}: expected {smallest} or more, found {value}")
