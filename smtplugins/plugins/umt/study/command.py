"""``smt umt compare``: the tables of Gesmundo and Henderson (2014) for a configuration and sentences of one's own.

``umt`` with ``drl`` beside cube pruning with K=1 and K=30, ``hiero`` with ``mert``, in one process: learning, decoding,
translations judged. The other plugins' offers are asked for by name.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.offers import Command

if TYPE_CHECKING:
    from smtplugins.host.host import Host
    from smtplugins.plugins.umt.study.runs import Judged, Learnt, Loop, Trial
    from smtplugins.plugins.umt.study.systems import Case, System
    from smtplugins.plugins.umt.study.tables import Table

TABLES = ("decoding", "training", "quality", "cff")
_OWN = ("umt", "hiero", "drl", "mert")


def add_case(parser: argparse.ArgumentParser) -> None:
    """What is compared on: shared by the commands of this plugin."""
    parser.add_argument(
        "-c", "--config", required=True, metavar="FILE", help="run.yaml, cdec.ini, moses.ini or joshua.config"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key of it")
    parser.add_argument("-s", "--source", metavar="FILE", help="sentences to learn from (default: the configuration's)")
    parser.add_argument(
        "-r", "--ref", action="append", default=[], metavar="FILE", help="their references (repeatable; default: same)"
    )
    parser.add_argument("--test", metavar="FILE", help="sentences to be tested on")
    parser.add_argument("--test-ref", action="append", default=[], metavar="FILE", help="their references (repeatable)")
    parser.add_argument("-w", "--weights", metavar="FILE", help="weights to begin with, and to make bounds with")
    parser.add_argument(
        "-m", "--metric", metavar="NAME[,key=value...]", help="the metric, as bleu,tokenize=none (default: bleu)"
    )
    parser.add_argument("--post", metavar="none|bpe|spm|detok:LANG|CMD", help="done to translations before any metric")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of learning (default: 1)")
    parser.add_argument(
        "-j", "--jobs", type=int, default=1, metavar="N", help="processes for learning (same result for any N)"
    )
    parser.add_argument("--cache", metavar="DIR|off", help="where columns of grammars are kept between runs")
    for name in ("umt", "drl"):
        _add_options(parser, name)


def _add_options(parser: argparse.ArgumentParser, name: str) -> None:
    kind = "decoder" if name in ("umt", "hiero") else "learner"
    parser.add_argument(
        f"--{name}", default="", metavar="KEY=VALUE,...", help=f"options of {name} (`smt {kind}s show {name}`)"
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Where results go, and how: shared, too."""
    parser.add_argument(
        "-f", "--format", choices=("text", "json", "tsv", "latex"), default="text", help="how to print the tables"
    )
    parser.add_argument("-o", "--output", metavar="DIR", help="keep weights, translations, runs and results there")
    parser.add_argument("--resume", action="store_true", help="do not learn again what was learnt in that folder")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress and no notes on standard error")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="tracebacks of failures")


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    add_case(parser)
    for name in ("hiero", "mert"):
        _add_options(parser, name)
    parser.add_argument(
        "--nbest", type=int, metavar="N", help="mert learns from lists of N rather than from forests, as cdec does"
    )
    parser.add_argument("--iterations", type=int, default=10, metavar="N", help="of mert, at most (default: 10)")
    parser.add_argument(
        "--table",
        action="append",
        default=[],
        choices=(*TABLES, "passes"),
        help="make this table (repeatable; default: all): decoding, training and quality are the paper's 1, 2, 3, cff "
        "is without context-free-factor features; passes is training without times",
    )
    parser.add_argument(
        "--rounds", type=int, default=5, metavar="N", help="decode so often for times, the best counts (default: 5)"
    )
    parser.add_argument(
        "--paper",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="the paper's figures beside ours (default: in text)",
    )
    add_output(parser)


def case_of(host: Host, args: argparse.Namespace) -> Case:
    """The case of a command line, with the plugins that its configuration names."""
    from smtplugins.contracts.spec import Spec
    from smtplugins.host.config.run_yaml import load_config
    from smtplugins.host.loading.manager import load_plugins
    from smtplugins.plugins.umt.study.systems import Case

    plugins = load_config(args.config, args.set).plugins if args.config != "-" else ()
    texts = {name: getattr(args, name, "") for name in _OWN}
    return Case(
        load_plugins(plugins) if plugins else host,
        args.config,
        tuple(args.set),
        args.source,
        tuple(args.ref),
        args.test,
        tuple(args.test_ref),
        args.weights,
        args.metric,
        args.seed,
        args.post,
        args.cache,
        args.jobs,
        {name: Spec.parse(f"{name},{text}") for name, text in texts.items() if text},
    )


@dataclass
class Work:
    """One comparison in a folder: what is asked for is made when it is."""

    case: Case
    loop: Loop
    folder: Path
    rounds: int
    say: Callable[[str], None]
    note: Callable[[str], None]
    quiet: bool
    learnt: dict[str, Learnt] = field(default_factory=dict)
    trials: dict[str, Trial] = field(default_factory=dict)
    signature: str | None = None

    def learn(self, systems: list[System]) -> None:
        """Weights for each system."""
        from smtplugins.plugins.umt.study.runs import learnt

        for one in systems:
            self.learnt[one.key] = learnt(
                self.case, one, self.loop, self.folder / one.key, self.say, self.note, self.quiet
            )

    def decode(self, systems: list[System], rounds: int) -> None:
        """Translations of the test set by each system, in turn."""
        from smtplugins.host.files.opening import find_format, write_all
        from smtplugins.plugins.umt.study.runs import tried

        self.trials |= tried(self.case, [(one, self.learnt[one.key]) for one in systems], rounds, self.say)
        record = find_format("text", "corpus", self.case.host.formats())
        for one in systems:
            write_all(record, list(self.trials[one.key].texts), self.folder / one.key / "test.txt")
            lost = int(self.trials[one.key].counts["failed"])
            if lost:
                self.note(f"{one.name}: {lost} sentences have no translation: they count as empty ones")

    def judge(self, against: str, keys: list[str]) -> dict[str, Judged]:
        """Scores, and tests that one system is better than the others."""
        from smtplugins.plugins.umt.study.runs import judged

        found = judged(self.case, self.trials, against, keys)
        self.signature = found[against].signature
        return found


def compared(work: Work, wanted: list[str]) -> list[Table]:
    """The tables asked for, in the paper's order."""
    from smtplugins.host.errors import UsageError
    from smtplugins.plugins.umt.study import tables as tables
    from smtplugins.plugins.umt.study.runs import loop_plan

    if work.rounds < 1:
        raise UsageError(f"rounds: expected 1 or more, found {work.rounds}")
    umt = work.case.umt()
    without = umt.but("umt-without-cff", f"{umt.name}, without CFF", cff="none")
    main = [umt, work.case.hiero(1), work.case.hiero(30)] if set(wanted) - {"cff"} else []
    ablated = [umt, without] if "cff" in wanted else []
    everything = list({one.key: one for one in [*main, *ablated]}.values())
    loop_plan(work.case, work.case.hiero(30), work.loop)
    work.case.check(everything)
    work.case.warm(umt)
    work.learn(everything)
    names = {one.key: one.name for one in main}
    made: list[Table] = []
    if "decoding" in wanted or "quality" in wanted:
        # In turn with nobody else: what is not in table 1 would have others' memory in its caches.
        work.decode(main, work.rounds if "decoding" in wanted else 1)
    if "decoding" in wanted:
        made.append(tables.speed(names, work.trials, work.rounds))
    if "training" in wanted or "passes" in wanted:
        table = tables.training(names, work.learnt)
        made.append(table if "training" in wanted else tables.passes(table))
    metric = work.case.host.metric(work.case.metric_name)
    if "quality" in wanted:
        found = work.judge("hiero-30", list(names))
        count = len(work.trials["umt"].texts)
        made.append(tables.quality(names, found, metric.name, metric.higher_is_better, count))
    if ablated:
        work.decode([one for one in ablated if one.key not in work.trials], 1)
        found = work.judge(umt.key, [one.key for one in ablated])
        shown = {one.key: one.name for one in ablated}
        made.append(tables.ablation(shown, found, metric.name, len(work.trials["umt"].texts)))
    return made


@contextlib.contextmanager
def folder_of(case: Case, args: argparse.Namespace, details: dict[str, Any]) -> Iterator[Path]:
    """The folder of a run with its manifest, or one that is gone afterwards."""
    from smtplugins.host import runs
    from smtplugins.host.errors import UsageError

    if args.output is None:
        if args.resume:
            raise UsageError("--resume goes on with a run in a folder: name it with -o")
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
        return
    config = case.loaded
    assert config.source is not None and case.test is not None
    learnt_from = [str(one) for one in (config.source, *config.references)]
    others = [case.test, *case.test_references, *map(str, config.model.grammar)]
    record = runs.manifest(
        command=[one for one in runs.argv() if one != "--resume"],
        options={"config": config.to_yaml(), "post": case.post, "cache": case.cache} | details,
        inputs=runs.input_hashes([*learnt_from, *others, *([config.model.weights] if config.model.weights else [])]),
        plugins=case.host.plugins,
        seed=config.seed,
    )
    record["tuned_on"] = learnt_from
    with runs.RunDirectory.create(Path(args.output), record, resume=args.resume) as run:
        yield run.path


def run(host: Host, args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host.learn.pools import write_json
    from smtplugins.plugins.umt.study import tables as compare_tables
    from smtplugins.plugins.umt.study.runs import Loop

    case = case_of(host, args)
    details = {name: getattr(args, name) for name in (*_OWN, "nbest", "iterations")}
    with folder_of(case, args, details) as folder:
        loop = Loop(args.nbest, args.iterations)
        work = Work(case, loop, folder, args.rounds, *talk(args.quiet), args.quiet)
        tables = compared(work, args.table or list(TABLES))
        settings = {
            **{f"decoder {one.key}": str(one.decoder) for one in (case.umt(), case.hiero(1), case.hiero(30))},
            "drl": str(case.umt().learner),
            "mert": str(case.hiero(30).learner),
            "mert learns from": "forests" if loop.nbest is None else f"lists of {loop.nbest}",
            "iterations": loop.iterations,
            "seed": case.loaded.seed,
            "metric": str(case.metric_name),
            "signature": work.signature,
            "rounds": args.rounds,
        }
        paper = args.format == "text" if args.paper is None else args.paper
        if args.output is not None:
            whole = [one.kept(True) for one in tables]
            record = {one.key: {"title": one.title, "rows": [dict(row) for row in one.rows]} for one in whole}
            write_json(folder / "result.json", {"settings": settings, "tables": record})
            trials = {key: {**asdict(one), "texts": len(one.texts)} for key, one in sorted(work.trials.items())}
            write_json(folder / "stats.json", trials)
        sys.stdout.write(compare_tables.shown(tables, args.format, paper, settings) + "\n")


def talk(quiet: bool) -> tuple[Callable[[str], None], Callable[[str], None]]:
    """What is said of progress, and remarks; nothing if quiet."""

    def say(text: str) -> None:
        if not quiet:
            sys.stderr.write(f"smt: {text}\n")
            sys.stderr.flush()

    return say, lambda text: say(f"note: {text}")


COMPARE = Command(
    name="compare",
    summary="the paper's tables for your data: umt with drl beside hiero with mert; times and translations",
    configure=configure,
    run=run,
)
