"""``smt cdlm pick``: what models pick from the confusion sets of a text: table 2, and with a system's lists table 4."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.offers import Command

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from smtplugins.contracts.contracts import Sentence
    from smtplugins.host.host import Host
    from smtplugins.plugins.cdlm.picking.picking import Contender, Overlap, Picked
    from smtplugins.plugins.cdlm.sets.confusing import Setting

METRIC = "bleu,tokenize=none"


def add_tables(parser: argparse.ArgumentParser) -> None:
    """How picks are judged and tables printed: shared with ``compare``."""
    parser.add_argument(
        "-m", "--metric", default=METRIC, metavar="NAME[,key=value...]", help=f"the metric (default: {METRIC})"
    )
    parser.add_argument(
        "--nbest", type=int, default=100, metavar="N", help="strings of each set whose n-grams count (default: 100)"
    )
    parser.add_argument(
        "-f", "--format", choices=("text", "json", "tsv", "latex"), default="text", help="how to print the tables"
    )
    import argparse

    parser.add_argument(
        "--paper",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="the paper's figures beside ours (default: in text)",
    )


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    from smtplugins.plugins.cdlm.sets.confuse_command import add_setting

    parser.add_argument("-i", "--input", required=True, metavar="TEXT", help="sentences that no model was learnt from")
    parser.add_argument(
        "-r", "--ref", action="append", default=[], metavar="FILE", help="paraphrases of them: further references"
    )
    parser.add_argument(
        "--model", action="append", default=[], metavar="DIR", help="a model of `smt cdlm train` (repeatable)"
    )
    parser.add_argument(
        "--same-sets", action="store_true", help="let all pick from the sets that the language model made, too"
    )
    parser.add_argument(
        "--lists", metavar="FILE", help="what the system says for the source sentences, n-best lists: table 4"
    )
    parser.add_argument("-o", "--output", metavar="DIR", help="write what was picked into this folder, a file for each")
    add_tables(parser)
    add_setting(parser)


def pick_all(
    host: Host,
    setting: Setting,
    sentences: Sequence[Sentence],
    contenders: Sequence[Contender],
    same: bool,
    jobs: int,
    cache: str | None,
    say: Callable[[str], None],
) -> list[tuple[Picked, Picked | None]]:
    """What each one picks, searching by itself, and from the sets of the first one if that is wanted, too."""
    from smtplugins.plugins.cdlm.picking import picking

    shared: dict[str, Picked] = {}
    if same:
        graphs = picking.sets_of(host, setting, sentences, contenders[0], jobs, cache)
        shared = picking.same_sets(graphs, sentences, contenders, setting.cost)
    found = []
    for one in contenders:
        say(f"{one.name} picks from the sets of {len(sentences)} sentences")
        graphs = picking.sets_of(host, setting, sentences, one, jobs, cache)
        found.append((picking.picked(graphs, sentences), shared.get(one.name)))
    return found


def rows_of(
    contenders: Sequence[Contender],
    found: Sequence[tuple[Picked, Picked | None]],
    metric: Any,
    references: Sequence[Sequence[str]],
) -> list[dict[str, Any]]:
    """The rows of table 2."""
    from smtplugins.plugins.cdlm.picking.picking import judged

    scores = judged(metric, [own.texts for own, _ in found], references)
    same: list[dict[str, Any]] = [{} for _ in found]
    if all(shared is not None for _, shared in found):
        same = judged(metric, [shared.texts for _, shared in found if shared is not None], references)
    words = max(sum(len(text.split()) for text in references[0]), 1)
    return [
        {
            "name": one.name,
            "features": list(one.features),
            **score,
            "same": other.get("score"),
            "words": sum(len(text.split()) for text in own.texts) / words,
            "own": own.own,
        }
        for one, (own, _), score, other in zip(contenders, found, scores, same, strict=True)
    ]


def compared_ngrams(
    host: Host,
    setting: Setting,
    sentences: Sequence[Sentence],
    maker: Contender,
    real: Sequence[Sequence[str]],
    count: int,
    jobs: int,
    cache: str | None,
) -> list[Overlap]:
    """Table 4: the best strings of the sets by one model against a system's."""
    from smtplugins.plugins.cdlm.picking import picking

    graphs = picking.sets_of(host, setting, sentences, maker, jobs, cache)
    simulated = (picking.ngram_types(picking.best_strings(graph, count)) for graph in graphs)
    return picking.overlaps(simulated, map(picking.ngram_types, real))


def run(host: Host, args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host.errors import UsageError
    from smtplugins.host.files.opening import find_format, write_all
    from smtplugins.plugins.cdlm.picking import picking
    from smtplugins.plugins.cdlm.sets.confuse_command import sayer, setting_of, there
    from smtplugins.plugins.cdlm.sets.confusing import read_text
    from smtplugins.plugins.cdlm.study import tables as compare_tables

    say = sayer(args.quiet, "pick")
    if args.nbest < 1:
        raise UsageError(f"--nbest: expected 1 or more, found {args.nbest}")
    setting = setting_of(args)
    sentences = read_text(host, there(args.input))
    references = picking.references_of(host, there(args.input), list(map(there, args.ref)))
    contenders = [picking.baseline(), *(picking.contender(there(path)) for path in args.model)]
    names = [one.name for one in contenders]
    if len(set(names)) < len(names):
        raise UsageError(f"--model: expected folders with different names, found {', '.join(sorted(names))}")
    metric = host.metric(args.metric)
    found = pick_all(host, setting, sentences, contenders, args.same_sets, args.jobs, args.cache, say)
    if args.output:
        Path(args.output).mkdir(parents=True, exist_ok=True)
        record = find_format("text", "corpus", host.formats())
        for one, (own, _) in zip(contenders, found, strict=True):
            write_all(record, list(own.texts), Path(args.output) / f"{one.name.replace(' ', '-')}.txt")
    rows = rows_of(contenders, found, metric, references)
    tables = [compare_tables.picking(rows, metric.name, len(sentences), len(references))]
    if args.lists:
        real = picking.strings_of_lists(host, there(args.lists), args.nbest, len(sentences))
        overlap = compared_ngrams(host, setting, sentences, contenders[-1], real, args.nbest, args.jobs, args.cache)
        tables.append(compare_tables.ngrams(overlap, args.nbest, len(sentences)))
    perplexity, unknown = picking.perplexity(setting.lm, [one.text for one in sentences])
    settings = {"signature": metric.signature(), "perplexity": perplexity, "unknown": unknown}
    say(f"perplexity of {args.input} under the baseline LM: {perplexity:.1f}, {unknown} unknown words")
    paper = args.format == "text" if args.paper is None else args.paper
    sys.stdout.write(compare_tables.shown(tables, args.format, paper, settings) + "\n")


PICK = Command(
    name="pick",
    summary="what the baseline language model and trained ones pick from the confusion sets of a text",
    configure=configure,
    run=run,
)
