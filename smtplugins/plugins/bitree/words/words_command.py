"""``smt bitree words``: learn word transduction from aligned text, and write a run.yaml that decodes with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.contracts.tools.running import add_quiet, sayer
from smtplugins.plugins.bitree.words.word_model import RECORD
from smtplugins.plugins.bitree.words.word_training import (
    add_path,
    chosen_configurations,
    path_of,
    train_words,
    weights_of,
)

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.tools.running import Host
    from smtplugins.plugins.bitree.words.material import Pair


def add_text(parser: argparse.ArgumentParser) -> None:
    """Add options for aligned text to learn from and to tune on."""
    add = parser.add_argument
    add(
        "-s",
        "--source",
        required=True,
        metavar="FILE",
        help="source side of the training text, tokenised, a sentence per line",
    )
    add("-t", "--target", required=True, metavar="FILE", help="target side of the training text")
    add("-a", "--alignment", required=True, metavar="FILE", help="word alignments, 0-0 1-2")
    add("--trees", metavar="FILE", help="source trees in brackets or CoNLL-U, for dependency atoms")
    add_set(parser, "tune", "to choose lambda and the mixture on")


def add_set(parser: argparse.ArgumentParser, name: str, what: str, *, aligned: bool = True) -> None:
    """Add options for another text."""
    add = parser.add_argument
    add(f"--{name}", required=True, metavar="FILE", help=f"source sentences {what}")
    add(f"--{name}-ref", required=True, metavar="FILE", help=f"references of --{name}")
    add(f"--{name}-alignment", required=aligned, metavar="FILE", help=f"word alignments of --{name}")
    add(f"--{name}-trees", metavar="FILE", help=f"source trees of --{name}")


def read_set(host: Host, args: argparse.Namespace, name: str | None = None) -> list[Pair]:
    """Read the text of :func:`add_text`, or the named set of :func:`add_set`."""
    from smtplugins.plugins.bitree.words.texts import read_text

    names = ("source", "target", "alignment", "trees")
    if name is not None:
        names = (name, f"{name}_ref", f"{name}_alignment", f"{name}_trees")
    source, target, alignment, trees = (
        None if (path := getattr(args, option)) is None else Path(path) for option in names
    )
    assert source is not None and target is not None
    return read_text(host, source, target, alignment, trees)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    from smtplugins.contracts.tools.files import add_output

    add_text(parser)
    parser.add_argument(
        "--configuration",
        action="append",
        metavar="LETTERS",
        help="W window, D dependency (needs trees), C co-occurrence, as in W+C (repeatable; default: the paper's)",
    )
    add_path(parser)
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="threads (same result)")
    add_output(parser)
    add_quiet(parser)


def run(host: Host, args: argparse.Namespace) -> None:
    """Learn the model and write it with a run.yaml."""
    from smtplugins.contracts.tools.files import check_folder, new_folder
    from smtplugins.plugins.bitree.words.bag import COLUMN

    check_folder(Path(args.output), RECORD, force=args.force)
    letters = chosen_configurations(args.configuration, args.trees is not None and args.tune_trees is not None)
    model = train_words(read_set(host, args), read_set(host, args, "tune"), letters, path_of(args), sayer(args.quiet))
    with new_folder(Path(args.output), RECORD, force=args.force) as aside:
        model.save(aside)
        (aside / "weights").write_text(weights_of({COLUMN: 1.0}), encoding="utf-8")
        configuration = "decoder: {name: bag, model_path: .}\nmodel: {weights: weights}\n"
        (aside / "run.yaml").write_text(configuration, encoding="utf-8")
