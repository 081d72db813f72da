"""``smt cdlm classes``: make a class map from a text, for features over pairs of classes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.running import Host, add_number
from smtplugins.plugins.cdlm.features.class_making import (
    FREQUENT,
    OTHERS,
    dominant_tags,
    make_classes,
    read_tagged,
    word_counts,
)
from smtplugins.plugins.cdlm.features.classes import read_classes


def _frequent(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isascii() or not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number or `all`, found {text!r}")
    return int(text)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("-i", "--input", metavar="FILE", help="the text to count words in, a sentence per line")
    add(
        "--tagged",
        metavar="FILE",
        help="a tagged text, word/TAG or CoNLL-U: the class of a word is its most frequent tag "
        "(without --input words are counted in this text)",
    )
    add(
        "--tags",
        metavar="FILE",
        help="like --tagged, from a file of words and tags: a part-of-speech lexicon or Brown clusters",
    )
    add(
        "--frequent",
        type=_frequent,
        default=FREQUENT,
        metavar="N",
        help="number of most frequent words with their own class or, with tags, the class of their tag; "
        "`all` for all words (default: %(default)s)",
    )
    add(
        "--other",
        choices=OTHERS,
        default="one",
        help="classes of other words: one class, by suffix, or by frequency (default: %(default)s)",
    )
    add_number(parser, "--suffix", 3, "--other suffix: length in letters", "K")
    add_number(parser, "--suffixes", 50, "--other suffix: number of most frequent suffixes that are classes")
    add("--separator", default="/", metavar="MARK", help="--tagged: separator of word and tag (default: %(default)s)")
    add(
        "--column",
        choices=("upos", "xpos"),
        default="upos",
        help="--tagged: tag column of CoNLL-U (default: %(default)s)",
    )
    add("-o", "--output", default="-", metavar="FILE", help="the class map (default: standard output)")


def run(host: Host, args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.contracts.tools.files import read_corpus

    if args.input is None and args.tagged is None:
        raise UsageError("expected a text (--input) or a tagged text (--tagged)")
    if args.tagged is not None and args.tags is not None:
        raise UsageError("expected --tagged or --tags, found both")
    counts: dict[str, int] = {}
    tags: Mapping[str, str] | None = None
    if args.tagged is not None:
        counts, tags = dominant_tags(read_tagged(args.tagged, separator=args.separator, column=args.column))
    elif args.tags is not None:
        tags = read_classes(args.tags).classes
    if args.input is not None:
        counts = word_counts(read_corpus(args.input))
    if not counts:
        raise UsageError(f"{args.input or args.tagged}: expected words, found none")
    files = [Path(path).name for path in (args.input, args.tagged, args.tags) if path is not None]
    made = make_classes(
        counts,
        frequent=args.frequent,
        other=args.other,
        suffix=args.suffix,
        suffixes=args.suffixes,
        tags=tags,
        source=", ".join(files),
    )
    made.write(args.output)
