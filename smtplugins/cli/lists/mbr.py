"""minimum Bayes-risk decoding of n-best lists or forests"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from smtplugins.cli import options
from smtplugins.contracts.errors import UsageError
from smtplugins.host.command_options import add_jobs

if TYPE_CHECKING:
    from smtplugins.host.files.lists import ListStream
    from smtplugins.host.host import Host


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    options.add_input(parser, "n-best lists, a forest or a folder of forests")
    options.add_output(parser)
    parser.add_argument(
        "--lists",
        action="store_true",
        help="write lists sorted by expected score, with these scores as totals (default: only the best text)",
    )
    parser.add_argument(
        "--fill", action="store_true", help="write an empty line for each id without a list (text only)"
    )
    options.add_metric(parser, default="bleu")
    options.add_metric_source(parser)
    parser.add_argument(
        "--references",
        metavar="FILE",
        help="n-best lists with the same ids, to judge hypotheses against, by the posterior probabilities of their own "
        "totals (default: the hypotheses themselves)",
    )
    _add_savings(parser)
    parser.add_argument(
        "--scale",
        type=float,
        default=1.0,
        metavar="X",
        help="posterior probabilities are proportional to exp(X * total); 0 makes all equal (default: 1)",
    )
    parser.add_argument(
        "--top", type=int, default=0, metavar="N", help="consider only the N texts of highest total (default: all)"
    )
    parser.add_argument(
        "--samples", type=int, metavar="N", help="sample N derivations from each forest (default: take the best, -k)"
    )
    parser.add_argument(
        "--linear",
        action="store_true",
        help="search the whole forest with the metric's linear form, with n-gram probabilities from the samples",
    )
    options.add_derivations(parser)
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="random seed (default: 1)")
    options.add_post(parser)
    add_jobs(parser)
    options.add_score_cache(parser)
    options.add_partial(parser)
    options.add_manifest(parser)


def _add_savings(parser: argparse.ArgumentParser) -> None:
    """Add the options that save time on long lists."""
    parser.add_argument(
        "--utilities",
        metavar="FILE",
        help="npz file of the scores of all pairs of texts: read if it exists (for other totals, --scale or a smaller "
        "--top), else written",
    )
    parser.add_argument(
        "--aggregate",
        action="store_true",
        help="average the n-gram counts and lengths of all references, by probability, into one reference and score "
        "each hypothesis once against it (DeNero et al. 2009, Vamvas and Sennrich 2024): time is linear in the length "
        "of a list. Approximate; for metrics that can, such as bleu and chrf",
    )
    parser.add_argument(
        "--shortlist",
        metavar="N[,BY]",
        help="choose only among the N texts of each list with the highest BY, judged against all references; BY is "
        "`total` (default), `aggregate` (the score of --aggregate) or the name of a feature",
    )
    parser.add_argument(
        "--prune",
        nargs="?",
        type=float,
        const=0.99,
        metavar="CONFIDENCE",
        help="drop hypotheses early (Cheng and Vlachos 2023), for metrics that are slow on all pairs: each is judged "
        "against 16, 32 .. references drawn by probability, and dropped if it beats or equals the best so far in fewer "
        "than 1 - CONFIDENCE of bootstrap resamples (default: 0.99). For lists of 32 references or more. Approximate: "
        "the best may be dropped by chance",
    )


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    if args.samples is None and args.linear:
        raise UsageError("--linear needs forests (--samples N)")
    for name in ("references", "utilities", "prune", "derivations", "unique", "missing_weight"):
        if args.samples is not None and getattr(args, name) not in (None, False):
            shown = name.replace("_", "-")
            raise UsageError(f"--{shown} needs lists, found --samples; use `smt mbr` without it")
    if args.references == "-" == args.input:
        raise UsageError("--references: expected a file, as the lists are read from standard input")
    if not args.lists and args.to_format is not None:
        raise UsageError("--to needs --lists; without it, text is written")
    args.shortlist = _read_shortlist(args.shortlist)
    known = args.utilities if args.utilities is not None and os.path.exists(args.utilities) else None
    manifest = options.Manifest(args, [args.input, args.references, known, args.source, args.weights])
    host = options.load_host(args)
    stream = _choose(host, args)
    if args.lists:
        options.write_lists(host, stream, args)
    else:
        options.write_best(host, stream, args)
    manifest.write(host, seed=args.seed)


def _choose(host: Host, args: argparse.Namespace) -> ListStream:
    if args.samples is None:
        lists = options.searched(host, options.open_lists(host, args), args)
        return options.call(host.mbr, args, lists=lists, whole=args.lists)
    return options.call(host.mbr_forests, args, forests=args.input, whole=args.lists)


def _read_shortlist(text: str | None) -> tuple[int, str] | int | None:
    if text is None:
        return None
    number, comma, by = text.partition(",")
    if not number.isdecimal() or (comma and not by):
        raise UsageError(f"--shortlist: expected N or N,BY, such as 20 or 20,aggregate, found {text!r}")
    return (int(number), by) if comma else int(number)
