"""``smt bitree trees``: parse English text by Link Grammar's parser into bracketed source trees, one per line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from smtformats.files import open_write
from smtformats.tokens import blanks
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.running import add_number, add_quiet
from smtplugins.plugins.bitree.trees.link_parser import COMMAND, parse

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.tools.running import Host


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add = parser.add_argument
    add("-i", "--input", required=True, metavar="FILE", help="English sentences, tokenised, one per line")
    add("-o", "--output", required=True, metavar="FILE", help="output: a bracketed tree per line, () for no parse")
    add("--parser", default=" ".join(COMMAND), metavar="TEXT", help=f"parser command (default: {' '.join(COMMAND)})")
    add_number(parser, "--batch", 1000, "sentences per call of the parser")
    add_quiet(parser)


def run(host: Host, args: argparse.Namespace) -> None:
    """Parse the input and write the trees."""
    import itertools
    import shlex
    from pathlib import Path

    from smtplugins.contracts.tools.files import read_corpus

    if args.batch < 1:
        raise UsageError(f"batch: expected 1 or more, found {args.batch}")
    sentences = (blanks(str(line)) for line in read_corpus(Path(args.input)))
    count = without = 0
    with open_write(args.output) as out:
        while batch := list(itertools.islice(sentences, args.batch)):
            for line in parse(batch, shlex.split(args.parser)):
                out.write(line + "\n")
                count, without = count + 1, without + (line == "()")
    if not args.quiet:
        sys.stderr.write(f"smt: trees: {count} sentences, {without} without a tree\n")
