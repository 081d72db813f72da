"""``smt cdlm pick``: evaluate models on the confusion sets of a text (table 2, with n-best lists also table 4)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.running import add_number, sayer
from smtplugins.contracts.tools.study import add_metric, add_printing, judge_rows, render_tables
from smtplugins.plugins.cdlm.sets.confuse_command import add_setting, add_text, add_work, setting_of, there

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.tools.running import Host
    from smtplugins.plugins.cdlm.picking.picking import Contender, NgramOverlap, Picked
    from smtplugins.plugins.cdlm.sets.confusing import ConfusionSetting

METRIC = "bleu,tokenize=none"


def add_judging(parser: argparse.ArgumentParser) -> None:
    """Add the options of evaluation, shared with ``compare``."""
    add_metric(parser, METRIC)
    add_number(parser, "--nbest", 100, "size of the n-best lists whose n-grams are compared")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add_text(parser, "held-out sentences")
    add("--model", action="append", default=[], metavar="DIR", help="a model of `smt cdlm train` (repeatable)")
    add("--same-sets", action="store_true", help="also let all models pick from the baseline language model's sets")
    add("--lists", metavar="FILE", help="the system's n-best lists for the source sentences, for table 4")
    add("-o", "--output", metavar="DIR", help="write each model's picks to a file in this folder")
    add_judging(parser)
    add_printing(parser)
    add_setting(parser)
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="threads (same output for any N)")
    add_work(parser)


def pick_all(
    host: Host,
    setting: ConfusionSetting,
    sentences: Sequence[Sentence],
    contenders: Sequence[Contender],
    same: bool,
    jobs: int,
    cache: str | None,
    say: Callable[[str], None],
) -> list[tuple[Picked, Picked | None]]:
    """Return each model's picks from its own sets and, if ``same``, from the first model's sets."""
    from smtplugins.plugins.cdlm.picking import picking

    shared: dict[str, Picked] = {}
    if same:
        graphs = picking.sets_of(host, setting, sentences, contenders[0], jobs, cache)
        shared = picking.same_sets(graphs, sentences, contenders, setting.cost)
    picks = []
    for model in contenders:
        say(f"{model.name} picks from the sets of {len(sentences)} sentences")
        graphs = picking.sets_of(host, setting, sentences, model, jobs, cache)
        picks.append((picking.picked(graphs, sentences), shared.get(model.name)))
    return picks


def rows_of(
    contenders: Sequence[Contender],
    picks: Sequence[tuple[Picked, Picked | None]],
    metric: Any,
    references: Sequence[Sequence[str]],
) -> list[dict[str, Any]]:
    """Return the rows of table 2."""
    names = [{"name": model.name} for model in contenders]
    rows = judge_rows(metric, names, [[own.texts] for own, _ in picks], references)
    same: list[dict[str, Any]] = [{} for _ in picks]
    if all(shared is not None for _, shared in picks):
        same = judge_rows(metric, same, [[shared.texts] for _, shared in picks if shared is not None], references)
    words = max(sum(len(text.split()) for text in references[0]), 1)
    return [
        {
            **row,
            "features": list(model.features),
            "same": other.get("score"),
            "words": sum(len(text.split()) for text in own.texts) / words,
            "own": own.own,
        }
        for model, (own, _), row, other in zip(contenders, picks, rows, same, strict=True)
    ]


def compared_ngrams(
    host: Host,
    setting: ConfusionSetting,
    sentences: Sequence[Sentence],
    maker: Contender,
    real: Sequence[Sequence[str]],
    count: int,
    jobs: int,
    cache: str | None,
) -> list[NgramOverlap]:
    """Return the rows of table 4: n-gram overlap of one model's sets with a system's n-best lists."""
    from smtplugins.plugins.cdlm.picking import picking

    graphs = picking.sets_of(host, setting, sentences, maker, jobs, cache)
    simulated = (picking.ngram_types(picking.best_strings(graph, count)) for graph in graphs)
    return picking.overlaps(simulated, map(picking.ngram_types, real))


def run(host: Host, args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.contracts.tools.files import find_format, write_all
    from smtplugins.plugins.cdlm.picking import picking
    from smtplugins.plugins.cdlm.sets.confusing import read_text
    from smtplugins.plugins.cdlm.study.tables import ngrams_table, picking_table

    say = sayer(args.quiet, "smt cdlm pick")
    if args.nbest < 1:
        raise UsageError(f"--nbest: expected 1 or more, found {args.nbest}")
    setting = setting_of(args)
    sentences = read_text(host, there(args.input))
    references = picking.references_of(host, there(args.input), list(map(there, args.ref)))
    contenders = [picking.baseline(), *(picking.contender(there(path)) for path in args.model)]
    names = [model.name for model in contenders]
    if len(set(names)) < len(names):
        raise UsageError(f"--model: expected folders with different names, found {', '.join(sorted(names))}")
    metric = host.metric(args.metric)
    picks = pick_all(host, setting, sentences, contenders, args.same_sets, args.jobs, args.cache, say)
    if args.output:
        Path(args.output).mkdir(parents=True, exist_ok=True)
        record = find_format("text", "corpus", host.formats())
        for model, (own, _) in zip(contenders, picks, strict=True):
            write_all(record, list(own.texts), Path(args.output) / f"{model.name.replace(' ', '-')}.txt")
    rows = rows_of(contenders, picks, metric, references)
    tables = [picking_table(rows, metric.name, len(sentences), len(references))]
    if args.lists:
        real = picking.strings_of_lists(host, there(args.lists), args.nbest, len(sentences))
        overlap = compared_ngrams(host, setting, sentences, contenders[-1], real, args.nbest, args.jobs, args.cache)
        tables.append(ngrams_table(overlap, args.nbest, len(sentences)))
    perplexity, unknown = picking.perplexity(setting.lm, [sentence.text for sentence in sentences])
    settings = {"signature": metric.signature(), "perplexity": perplexity, "unknown": unknown}
    say(f"perplexity of {args.input} under the baseline LM: {perplexity:.1f}, {unknown} unknown words")
    sys.stdout.write(render_tables(tables, args.format, args.paper, settings) + "\n")
