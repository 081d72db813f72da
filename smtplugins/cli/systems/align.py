"""word alignments of a text, by a model of sil-thot, or out of the alignments of both directions"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def summary(name: str) -> str:
    """A line for the help page."""
    return "word alignments of a text, or out of alignments of both directions"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("-s", "--source", metavar="FILE", help="source sentences, tokenised, one a line")
    parser.add_argument("-t", "--target", metavar="FILE", help="their translations")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="where to write (default: standard output)")
    parser.add_argument(
        "--to",
        dest="to_format",
        metavar="FORMAT",
        help="format of the output (default: pharaoh, 0-0 1-2)",
    )
    parser.add_argument(
        "--heuristic",
        default="grow-diag-final-and",
        metavar="NAME",
        help="what is made of both directions: intersection, union, grow, grow-diag, grow-diag-final, "
        "grow-diag-final-and, as symal does it; forward or backward, one as it is (default: grow-diag-final-and)",
    )
    _add_models(parser)
    _add_directions(parser)
    options.add_common(parser)
    parser.set_defaults(command=run)


def _add_models(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("models", "They need the package sil-thot: pip install 'smtplugins[align]'.")
    group.add_argument(
        "--model",
        metavar="NAME[,key=value...]",
        help="ibm1, ibm2, hmm, ibm3, ibm4, fast-align or eflomal (default: fast-align); hmm,ibm1=10 begins with ten "
        "iterations of ibm1",
    )
    group.add_argument(
        "--iterations",
        type=int,
        metavar="N",
        help="of the model itself (default: 5; ibm3 and ibm4: 3; eflomal: as the size of the text asks for)",
    )
    group.add_argument("--seed", type=int, metavar="N", help="of eflomal, which samples (default: 1)")
    group.add_argument(
        "-j", "--jobs", type=int, default=1, metavar="N", help="2: both directions at once (same result)"
    )


def _add_directions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "directions",
        "Forward, each target word has one source word at most; backward, the other way round. Files whose words are "
        "those of the other side, as one of GIZA++'s, are turned around.",
    )
    group.add_argument("--forward", metavar="FILE", help="take this alignment, and need no model")
    group.add_argument("--backward", metavar="FILE", help="and this one")
    group.add_argument(
        "--from", dest="from_format", metavar="FORMAT", help="format of both: pharaoh, giza, bal (default: by shape)"
    )
    group.add_argument("--keep-forward", metavar="FILE", help="also write the forward alignment")
    group.add_argument("--keep-backward", metavar="FILE", help="also write the backward one")


def run(args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host.estimate.align import PHARAOH
    from smtplugins.host.files.conversion import write_records
    from smtplugins.host.files.opening import find_format

    host = options.load_host(args)
    note = (lambda text: None) if args.quiet else options.note
    record = find_format(args.to_format or PHARAOH, "alignment", host.formats())
    found = host.align(
        args.source,
        args.target,
        forward=args.forward,
        backward=args.backward,
        format=args.from_format,
        model=args.model,
        iterations=args.iterations,
        heuristic=args.heuristic,
        seed=args.seed,
        jobs=args.jobs,
        keep_forward=args.keep_forward,
        keep_backward=args.keep_backward,
        note=note,
        quiet=args.quiet,
    )
    # While models are trained they have bars of their own, and there is one at a time.
    write_records(host, found, record, args.output, None, note=note, quiet=args.quiet or args.forward is None)
