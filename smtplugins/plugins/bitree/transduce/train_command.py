"""``smt bitree train``: train a tree transducer on aligned text, and write a run.yaml that decodes with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.files import add_output, check_folder, new_folder
from smtplugins.contracts.tools.running import add_number, add_quiet, sayer
from smtplugins.plugins.bitree.trees.tree_making import SHAPES

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.tools.running import Host
    from smtplugins.plugins.bitree.words.material import Pair


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add = parser.add_argument
    add("-s", "--source", required=True, metavar="FILE", help="source side of the training text")
    add("-t", "--target", required=True, metavar="FILE", help="target side of the training text")
    add("-a", "--alignment", required=True, metavar="FILE", help="word alignments, 0-0 1-2")
    add("--trees", metavar="FILE", help="source trees in brackets or CoNLL-U")
    add("--shape", choices=SHAPES, help="instead of --trees: trees of this shape, built without a parser")
    add("--words", metavar="DIR", help="word model of `smt bitree words`: train a discriminative model")
    add("--generative", action="store_true", help="train a generative model")
    add_number(parser, "--iterations", 5, "iterations of Viterbi EM")
    add(
        "--least",
        type=float,
        metavar="X",
        help="lambda at which the path ends (default: a thousandth of the examples, >= 1)",
    )
    add_number(parser, "--eta", 0.9, "factor by which lambda falls", "X")
    add_number(parser, "--held-out", 0.1, "fraction of the text held out to choose lambda", "X")
    add_number(parser, "--seed", 1, "random seed")
    add("-j", "--jobs", type=int, default=1, metavar="N", help="threads (same result)")
    add_output(parser)
    add_quiet(parser)


def run(host: Host, args: argparse.Namespace) -> None:
    """Train the transducer and write it with a run.yaml."""
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

    say = sayer(args.quiet, "smt: train")
    if args.generative == (args.words is not None):
        raise UsageError("expected --words DIR or --generative, one of the two")
    check_folder(Path(args.output), RECORD, force=args.force)
    words = None if args.words is None else WordModel.load(Path(args.words))
    recipe = JoinRecipe(args.least, args.eta, args.held_out, args.seed, args.jobs)
    bitrees = bitrees_of(_pairs(host, args))
    linked = sum(place >= 0 for bitree in bitrees for place in bitree.places)
    words_total, loose = sum(len(bitree.tree) for bitree in bitrees), sum(bitree.loose for bitree in bitrees)
    say(
        f"{len(bitrees)} bitrees, {words_total} words, {linked} of them with a translation; "
        f"{loose} parts in positions that no joins produce"
    )
    if words is None:
        transducer = learn_generative(bitrees, iterations=args.iterations, seed=args.seed, say=say)
    else:
        transducer = learn_discriminative(bitrees, words, recipe, say)
    with new_folder(Path(args.output), RECORD, force=args.force) as aside:
        transducer.save(aside)
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
