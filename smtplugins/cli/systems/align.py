"""align words: train a model of sil-thot on a text, or symmetrise alignments of both directions"""

from __future__ import annotations

import argparse

from smtplugins.cli import options
from smtplugins.host.command_options import add_jobs
from smtplugins.host.files.opening import find_format


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("-s", "--source", metavar="FILE", help="source sentences, tokenised, one per line")
    parser.add_argument("-t", "--target", metavar="FILE", help="target sentences, in the same order")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="output file (default: standard output)")
    parser.add_argument(
        "--to",
        dest="to_format",
        metavar="FORMAT",
        help="output format (default: pharaoh, 0-0 1-2)",
    )
    parser.add_argument(
        "--heuristic",
        default="grow-diag-final-and",
        metavar="NAME",
        help="symmetrisation, as in symal: intersection, union, grow, grow-diag, grow-diag-final, grow-diag-final-and; "
        "or forward or backward, one direction alone (default: grow-diag-final-and)",
    )
    _add_models(parser)
    _add_directions(parser)


def _add_models(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("models", "Training needs the package sil-thot: pip install 'smtplugins[align]'.")
    group.add_argument(
        "--model",
        metavar="NAME[,key=value...]",
        help="ibm1, ibm2, hmm, ibm3, ibm4, fast-align or eflomal (default: fast-align); hmm,ibm1=10 starts with 10 "
        "iterations of ibm1",
    )
    group.add_argument(
        "--iterations",
        type=int,
        metavar="N",
        help="training iterations of the model itself (default: 5; ibm3 and ibm4: 3; eflomal: by the size of the text)",
    )
    group.add_argument("--seed", type=int, metavar="N", help="random seed of eflomal, which samples (default: 1)")
    add_jobs(group, "2 trains both directions in parallel, with the same result")


def _add_directions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "directions",
        "Forward: each target word has at most one source word; backward: each source word has at most one target "
        "word. Files with source and target exchanged, such as one of GIZA++'s, are swapped back.",
    )
    group.add_argument(
        "--forward", metavar="FILE", help="read the forward alignment from this file instead of training"
    )
    group.add_argument("--backward", metavar="FILE", help="read the backward alignment from this file")
    group.add_argument(
        "--from", dest="from_format", metavar="FORMAT", help="their format: pharaoh, giza, bal (default: detected)"
    )
    group.add_argument("--keep-forward", metavar="FILE", help="also write the forward alignment")
    group.add_argument("--keep-backward", metavar="FILE", help="also write the backward alignment")


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.host.estimate.align import PHARAOH
    from smtplugins.host.files.conversion import output_format, write_records

    host = options.load_host(args)
    usual = find_format(PHARAOH, "alignment")
    record = output_format(args.to_format, "alignment", usual, args.output, host.formats)
    alignments = options.call(host.align, args)
    # Training shows its own progress bars, and only one can be shown at a time.
    quiet = args.quiet or args.forward is None
    write_records(host, alignments, record, args.output, None, note=options.notes(args), quiet=quiet)
