"""how good the best hypotheses of lists are"""

from __future__ import annotations

import argparse

from smtplugins.cli import options
from smtplugins.host import printing as tables


def summary(name: str) -> str:
    """A line for the help page."""
    return "scores of the best hypothesis among the first 1, 2, 4, 8 .. of each list: the room there is"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    options.add_input(parser)
    options.add_references(parser)
    parser.add_argument("-s", "--source", metavar="FILE", help="source sentences, for metrics that read them")
    parser.add_argument(
        "-m",
        "--metric",
        action="append",
        metavar="NAME[,key=value...]",
        help="a metric and its options, as bleu,tokenize=none (repeatable; default: bleu)",
    )
    options.add_post(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="write the best texts of whole lists (first metric)")
    options.add_partial(parser)
    options.add_table(parser)
    options.add_manifest(parser)
    options.add_common(parser)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Do it."""
    from dataclasses import asdict

    from smtplugins.host.files.lists import ListStream, candidates, write_best
    from smtplugins.host.judge.oracles import oracles
    from smtplugins.host.judge.postprocess import make_post

    manifest = options.Manifest(args, [args.input, *args.ref, args.source])
    host = options.load_host(args)
    metrics = [host.metric(one) for one in args.metric or ["bleu"]]
    lists = host.read(args.input, format=args.from_format)
    found = oracles(
        lists,
        args.ref,
        metrics,
        sources=args.source,
        post=make_post(args.post),
        allow_partial=args.allow_partial,
        formats=host.formats(),
    )
    if args.output is not None:
        best = ListStream(lambda: (candidates([text], id=key) for key, text in found.texts), lists.name)
        write_best(best, args.output, fill=None)
    rows = [asdict(one) for one in found.rows]
    if args.format != "json":
        rows = [{**row, "score": f"{row['score']:.2f}", "gain": f"{row['gain']:.2f}"} for row in rows]
    options.show(tables.render(rows, ["best_at", "metric", "score", "gain", "signature"], args.format))
    manifest.write(host, signatures=list(dict.fromkeys(one.signature for one in found.rows)))
