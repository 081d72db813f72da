"""``smt localized compare``: the nine rows of table 2 of Tillmann and Zhang (2005) for a bitext of one's own."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.offers import Command

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.contracts import Metric, Sentence
    from smtplugins.host.host import Host
    from smtplugins.plugins.localized.study.rows import Row


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    from smtplugins.plugins.localized.events.bitext import add_bitext
    from smtplugins.plugins.localized.learning.options import add_learning, add_quiet

    add_bitext(parser)
    parser.set_defaults(min_count=2)
    add_learning(parser)
    for name, what in (("devtest", "that rows 6 and 7 learn float weights from"), ("test", "to be tested on")):
        parser.add_argument(f"--{name}", required=True, metavar="FILE", help=f"source sentences {what}")
        parser.add_argument(
            f"--{name}-ref", action="append", required=True, metavar="FILE", help="their references (repeatable)"
        )
    parser.add_argument(
        "--row",
        type=int,
        action="append",
        choices=range(1, 10),
        metavar="N",
        help="a row (repeatable; default: all)",
    )
    parser.add_argument(
        "--nbest", type=int, default=1000, metavar="N", help="translations of a sentence of the devtest (default: 1000)"
    )
    parser.add_argument(
        "--modified-rate", type=float, default=1e-3, metavar="R", help="rate for floats from these (default: 1e-3)"
    )
    parser.add_argument("--modified-passes", type=int, default=50, metavar="N", help="over these (default: 50)")
    parser.add_argument(
        "--min-left",
        type=int,
        default=3,
        metavar="N",
        help="blocks go left that did so often in the events (default 3)",
    )
    parser.add_argument("--stack-size", type=int, default=100, metavar="N", help="hypotheses in a stack (default: 100)")
    parser.add_argument(
        "-m", "--metric", default="bleu", metavar="NAME[,key=value...]", help="as bleu,tokenize=none (default: bleu)"
    )
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="threads that decode (same result)")
    parser.add_argument(
        "-f", "--format", choices=("text", "json", "tsv", "latex"), default="text", help="how to print the table"
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="keep events, weights, translations and results in this new folder"
    )
    add_quiet(parser)


def run(host: Host, args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.core.lm.ngram_model import check_lm
    from smtplugins.host import runs

    check_lm(args.lm)
    with ExitStack() as after:
        if args.output is None:
            folder = Path(after.enter_context(tempfile.TemporaryDirectory()))
        else:
            inputs = [args.table, args.source, args.target, args.lm, args.devtest, args.test]
            inputs += [*args.devtest_ref, *args.test_ref, *([args.alignment] if args.alignment else [])]
            options = {name: value for name, value in vars(args).items() if isinstance(value, (int, float, str))}
            record = runs.manifest(
                command=runs.argv(),
                options=options,
                inputs=runs.input_hashes(inputs),
                plugins=host.plugins,
                seed=args.seed,
            )
            record["tuned_on"] = [args.source, args.devtest]
            folder = after.enter_context(runs.RunDirectory.create(Path(args.output), record)).path
        rows, settings = compared(host, args, folder)
        if args.output is not None:
            text = json.dumps({"settings": settings, "rows": rows}, indent=1, ensure_ascii=False)
            (folder / "result.json").write_text(text + "\n", encoding="utf-8")
        sys.stdout.write(shown(rows, settings, args.format) + "\n")


def compared(host: Host, args: argparse.Namespace, folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows, and how they were made."""
    from smtplugins.host.errors import UsageError
    from smtplugins.host.files.opening import find_format, write_all
    from smtplugins.host.progress import hushed, progress
    from smtplugins.plugins.localized.events.bitext import listed_of
    from smtplugins.plugins.localized.learning import options as learning
    from smtplugins.plugins.localized.learning.material import Recipe
    from smtplugins.plugins.localized.study.rows import ROWS, Work, shown_weights
    from smtplugins.plugins.localized.study.systems import System, write_table

    if args.nbest < 1 or args.min_left < 0 or args.stack_size < 0:
        raise UsageError("expected an nbest of 1 or more, min-left and stack-size of 0 or more")
    say = learning.sayer(args.quiet)
    sets = {name: _set(host, getattr(args, name), getattr(args, f"{name}_ref")) for name in ("devtest", "test")}
    metric = host.metric(args.metric)
    material = learning.material_of(args, listed_of(host, args, folder / "events", say, args.quiet))
    table = folder / "blocks.gz"
    everything = [one for sentences, _ in sets.values() for one in sentences]
    write_table(material.events.blocks, material.events.counts.total, table, args.keep, everything)
    work = Work(
        material,
        System(material, table, args.min_left, args.stack_size, args.jobs),
        sets,
        metric,
        learning.float_recipe(args),
        Recipe(args.modified_passes, args.modified_rate),
        learning.bigram_recipe(args),
        args.nbest,
        args.seed,
        say,
    )
    sentences, references = sets["test"]
    stats, found = [], []
    text = find_format("text", "corpus", host.formats())
    for row in [one for one in ROWS if not args.row or one.number in args.row]:
        with hushed(args.quiet):
            model = work.model(row)
            decodings = work.system.decode(model, sentences, row.order)
            texts = [one.best for one in progress(decodings, f"row {row.number}", total=len(sentences))]
        (folder / f"row-{row.number}").mkdir()
        write_all(text, texts, folder / f"row-{row.number}" / "test.txt")
        model.save(folder / f"row-{row.number}" / "model")
        stats.append(metric.stats(texts, references))
        found.append((row, shown_weights(row, model)))
        say(f"row {row.number}: {row.title}, {row.components}: {float(metric.score(stats[-1].sum(axis=0))):.2f}")
    training = material.floats.training
    settings: dict[str, Any] = {
        "events": dict(material.events.record),
        "alternatives": training.alternatives / max(len(training), 1),
        "bigrams": len(material.bigrams),
        "devtest events": {name: sum(len(one.steps) for one in chosen) for name, chosen in work.chosen.items()},
        "metric": metric.name,
        "signature": metric.signature(),
    }
    return _judged(metric, found, stats), settings


def _set(host: Host, source: str, references: Sequence[str]) -> tuple[list[Sentence], list[list[str]]]:
    """Sentences to translate with their reference streams."""
    from smtplugins.host.decode.decoding import read_sentences
    from smtplugins.host.errors import SmtError
    from smtplugins.host.files.lists import read_corpus

    sentences = list(read_sentences(host, Path(source)))
    streams = [list(read_corpus(Path(one))) for one in references]
    for name, one in zip(references, streams, strict=True):
        if len(one) != len(sentences):
            raise SmtError(f"{name}: expected {len(sentences)} references, one for each of {source}, found {len(one)}")
    return sentences, streams


def _judged(
    metric: Metric, found: Sequence[tuple[Row, Mapping[str, float]]], stats: Sequence[Any]
) -> list[dict[str, Any]]:
    """Each row's score with its interval, and tests of its difference from the first one."""
    from smtplugins.host.judge.significance import Plan, judge

    plan = Plan(tests=("bootstrap",) if len(stats) > 1 else (), level=0.95)
    judged = judge(metric, [[one] for one in stats], plan)
    rows = []
    for (row, weights), one in zip(found, judged, strict=True):
        assert one.low is not None and one.high is not None
        rows.append(
            {
                "row": row.number,
                "order": row.title,
                "components": row.components,
                "score": one.score,
                "interval": (one.high - one.low) / 2,
                "p": one.p.get("bootstrap"),
                "paper": row.paper,
                "paper_interval": row.interval,
                "weights": dict(weights),
            }
        )
    return rows


def shown(rows: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], style: str) -> str:
    """The table as text, TSV, LaTeX or JSON."""
    from smtplugins.host.printing import render

    if style == "json":
        return json.dumps({"settings": settings, "rows": list(rows)}, indent=1, ensure_ascii=False)
    name = str(settings["metric"])
    cells = [
        {
            "": str(row["row"]),
            "re-ordering": row["order"],
            "components": row["components"],
            name: f"{row['score']:.2f} ± {row['interval']:.2f}",
            "p": "" if row["p"] is None else f"{row['p']:.3g}",
            "paper": f"{row['paper']} ± {row['paper_interval']}",
        }
        for row in rows
    ]
    table = render(cells, list(cells[0]), style)
    title = "Table 2: 95 % intervals; p (bootstrap) that a row differs from the first"
    return table if style == "tsv" else f"{'% ' if style == 'latex' else ''}{title}\n{table}"


COMPARE = Command(
    name="compare",
    summary="the paper's nine systems for your bitext: orders of blocks, features, where weights are learnt",
    configure=configure,
    run=run,
)
