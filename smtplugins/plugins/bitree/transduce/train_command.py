"""``smt bitree train``: a transducer of trees from aligned text, and a configuration that decodes with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.contracts.offers import Command
from smtplugins.host.errors import UsageError
from smtplugins.plugins.bitree.trees.tree_making import SHAPES

if TYPE_CHECKING:
    import argparse

    from smtplugins.host.host import Host
    from smtplugins.plugins.bitree.words.material import Pair


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    from smtplugins.host.files.array_folders import add_output

    add = parser.add_argument
    add("-s", "--source", required=True, metavar="FILE", help="source sentences")
    add("-t", "--target", required=True, metavar="FILE", help="their translations")
    add("-a", "--alignment", required=True, metavar="FILE", help="their links, 0-0 1-2")
    add("--trees", metavar="FILE", help="source trees, in brackets or CoNLL-U")
    add("--shape", choices=SHAPES, help="trees of this shape instead, made without a parser")
    add("--words", metavar="DIR", help="the word model, which `smt bitree words` made: for a discriminative model")
    add("--generative", action="store_true", help="the generative model instead")
    add("--iterations", type=int, default=5, metavar="N", help="of Viterbi EM (default: 5)")
    add(
        "--least",
        type=float,
        metavar="X",
        help="where lambda's path ends (default: a thousandth of the examples, >= 1)",
    )
    add("--eta", type=float, default=0.9, metavar="X", help="factor by which lambda falls (default: 0.9)")
    add("--held-out", type=float, default=0.1, metavar="X", help="part of the text that chooses lambda (default: 0.1)")
    add("--seed", type=int, default=1, metavar="N", help="of random sequences of inferences (default: 1)")
    add("-j", "--jobs", type=int, default=1, metavar="N", help="threads that learn (same result)")
    add_output(parser)
    add("-q", "--quiet", action="store_true", help="no notes on standard error")
    add("-v", "--verbose", action="count", default=0, help="tracebacks of failures")


def run(host: Host, args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host.files.array_folders import check_folder, new_folder
    from smtplugins.plugins.bitree.transduce.bitree_graphs import COLUMN
    from smtplugins.plugins.bitree.transduce.transducer import RECORD
    from smtplugins.plugins.bitree.transduce.transducing import (
        JoinRecipe,
        bitrees_of,
        learn_discriminative,
        learn_generative,
    )
    from smtplugins.plugins.bitree.words.word_model import WordModel
    from smtplugins.plugins.bitree.words.word_training import weights_of

    def say(text: str) -> None:
        if not args.quiet:
            sys.stderr.write(f"smt: train: {text}\n")

    if args.generative == (args.words is not None):
        raise UsageError("expected --words DIR or --generative, one of the two")
    check_folder(Path(args.output), RECORD, force=args.force)
    words = None if args.words is None else WordModel.load(Path(args.words))
    recipe = JoinRecipe(args.least, args.eta, args.held_out, args.seed, args.jobs)
    bitrees = bitrees_of(_pairs(host, args))
    linked = sum(place >= 0 for one in bitrees for place in one.places)
    say(
        f"{len(bitrees)} bitrees, {sum(len(one.tree) for one in bitrees)} words, {linked} of them with a translation; "
        f"{sum(one.loose for one in bitrees)} parts stand where no joins can put them"
    )
    if words is None:
        made = learn_generative(bitrees, iterations=args.iterations, seed=args.seed, say=say)
    else:
        made = learn_discriminative(bitrees, words, recipe, say)
    with new_folder(Path(args.output), RECORD, force=args.force) as aside:
        made.save(aside)
        (aside / "weights").write_text(weights_of({COLUMN: 1.0}), encoding="utf-8")
        (aside / "run.yaml").write_text("decoder: {name: bitree, model_path: .}\nmodel: {weights: weights}\n", "utf-8")


def _pairs(host: Host, args: argparse.Namespace) -> list[Pair]:
    from smtplugins.plugins.bitree.transduce.transducing import shaped
    from smtplugins.plugins.bitree.words.texts import read_text

    if (args.trees is None) == (args.shape is None):
        raise UsageError("expected --trees FILE or --shape, one of the two")
    trees = None if args.trees is None else Path(args.trees)
    pairs = read_text(host, Path(args.source), Path(args.target), Path(args.alignment), trees)
    return pairs if args.shape is None else shaped(pairs, args.shape)


TRAIN = Command(
    name="train",
    summary="a transducer of trees from aligned text, with a configuration that decodes with it",
    configure=configure,
    run=run,
)
