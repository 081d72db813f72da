"""weights learnt from lists, forests or with a decoder"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from smtplugins.cli import options
from smtplugins.host import printing as tables

if TYPE_CHECKING:
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.host import Host
    from smtplugins.host.learn.tuning import Tuned
    from smtplugins.host.runs import RunDirectory

_LOOP = ("iterations", "epsilon", "select", "reach")


def summary(name: str) -> str:
    """A line for the help page."""
    return "learn weights from lists or forests, or with a decoder (-c) that is run again and again"


def add_learning(parser: argparse.ArgumentParser, learner: str | None) -> None:
    """How to learn: shared with ``rerank``."""
    group = parser.add_argument_group("learning")
    shown = "" if learner is None else f" (default: {learner})"
    group.add_argument(
        "--learner",
        default=learner,
        metavar="NAME[,key=value...]",
        help=f"a learner and its options{shown or '; mert, or the configuration says'} (`smt learners` lists them)",
    )
    group.add_argument(
        "-m", "--metric", metavar="NAME[,key=value...]", help="the metric, as bleu,tokenize=none (default: bleu)"
    )
    options.add_post(parser)
    group.add_argument("-w", "--weights", metavar="FILE", help="weights to begin with (default: as the totals suggest)")
    group.add_argument(
        "--keep", action="append", default=[], metavar="FEATURE", help="a weight that is not learnt (repeatable)"
    )
    group.add_argument("--runs", type=int, metavar="N", help="runs with as many seeds (default: 1)")
    group.add_argument(
        "--combine",
        choices=("average", "best"),
        default="average",
        help="what several runs amount to: the average of their weights, or those of the best (default: average)",
    )
    group.add_argument("--seed", type=int, metavar="N", help="seed of the first run (default: 1)")
    more = "" if learner is not None else "as `runner` of a configuration says, else "
    group.add_argument(
        "-j", "--jobs", type=int, metavar="N", help=f"processes, same weights for any N (default: {more}1)"
    )


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument(
        "-i",
        "--input",
        action="append",
        default=[],
        metavar="FILE",
        help="n-best lists, several files being joined, or features of Moses' extractor (repeatable; default: standard "
        "input)",
    )
    parser.add_argument("--from", dest="from_format", metavar="FORMAT", help="format of the input (default: by shape)")
    parser.add_argument("--scores", action="append", default=[], metavar="FILE", help="statistics of Moses' extractor")
    parser.add_argument("--forests", metavar="DIR", help="learn from the forests in this folder, a file a sentence")
    options.add_references(parser)
    parser.add_argument("-s", "--source", metavar="FILE", help="source sentences, to decode or for metrics")
    options.add_partial(parser)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="the weights (default: standard output)")
    parser.add_argument("--to", dest="to_format", metavar="FORMAT", help="their format (default: cdec-weights)")
    options.add_precision(parser)
    parser.add_argument(
        "--folds", type=int, default=0, metavar="K", help="also learn K times from all but one part of the lists"
    )
    parser.add_argument("--resorted", metavar="FILE", help="with --folds: lists sorted by weights learnt without them")
    parser.add_argument(
        "--dir", metavar="DIR", help="keep each step there, to resume from (with -c: default output.dir)"
    )
    parser.add_argument("--resume", action="store_true", help="go on with the run in that folder")
    add_learning(parser, None)
    group = parser.add_argument_group("with a decoder")
    group.add_argument("-c", "--config", metavar="FILE", help="run.yaml, cdec.ini, moses.ini or joshua.config")
    group.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key of it")
    options.add_ignore(group)
    group.add_argument("--decoder", metavar="NAME[,key=value...]", help="another one, which parses sentences as it did")
    group.add_argument("-k", "--nbest", type=int, metavar="N", help="length of lists (default: output.nbest, or 100)")
    group.add_argument("--whole", action="store_true", help="learn from forests rather than lists")
    group.add_argument("--iterations", type=int, metavar="N", help="at most so many (default: 10)")
    group.add_argument("--epsilon", type=float, metavar="X", help="a change of weights that is none (default: 1e-5)")
    group.add_argument(
        "--select",
        choices=("best", "last"),
        help="which iteration's weights are the result: with the best decoding, or the last (default: best)",
    )
    group.add_argument(
        "--reach",
        type=float,
        metavar="X",
        help="how far an iteration may move from the best weights so far: 0.01 hardly, 1.4 to unrelated weights, 0 any "
        "distance (default: 0.3 for lists, 0 for forests)",
    )
    options.add_cache(parser)
    options.add_table(parser)
    options.add_manifest(parser)
    options.add_common(parser)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host.errors import UsageError

    if args.config is not None:
        if args.input or args.scores or args.forests or args.folds or args.from_format or args.allow_partial:
            raise UsageError(
                "with -c lists come from the decoder: -i, --from, --scores, --forests, --folds, --allow-partial are "
                "not used"
            )
        _with_decoder(args)
    else:
        for name in ("set", "ignore", "decoder", "nbest", "whole", *_LOOP):
            value = getattr(args, name)
            # A number that is 0 was given.
            if value is not None and value is not False and value != []:
                raise UsageError(f"--{name} is for a decoder: name its configuration with -c")
        if args.resume and args.dir is None:
            raise UsageError("--resume goes on with the run in a folder: name it with --dir")
        _frozen(args)


def told(args: argparse.Namespace, text: str) -> None:
    """A table: to standard output, or beside the weights that are written there."""
    if args.output == "-":
        print(text, file=sys.stderr)
    else:
        options.show(text)


def _write(host: Host, args: argparse.Namespace, weights: Any) -> None:
    from smtplugins.host.files.opening import find_format, write_all

    record = find_format(args.to_format or "cdec-weights", "weights", host.formats())
    write_all(record, [dict(weights)], args.output, args.precision)


def _check_output(args: argparse.Namespace) -> None:
    """Before hours of work: whether what comes out has a format, and a place."""
    from smtplugins.host.errors import UsageError
    from smtplugins.host.files.opening import find_format

    record = find_format(args.to_format or "cdec-weights", "weights")
    if record.write is None:
        raise UsageError(f"{record.name} can only be read; put weights into such a file with `smt convert --into`")
    for path in (args.output, args.resorted):
        folder = os.path.dirname(path or "") or "."
        if not os.path.isdir(folder):
            raise UsageError(f"{path}: there is no folder {folder} to write to")
    if args.resorted and not args.folds:
        raise UsageError("--resorted writes lists sorted by weights of other folds: say how many with --folds K")


def _frozen(args: argparse.Namespace) -> None:
    from smtplugins.host.files.conversion import write_records

    _check_output(args)
    inputs = [*(args.input or ["-"] * (not args.forests)), *args.scores, *args.ref, args.source, args.weights]
    manifest = options.Manifest(args, inputs)
    host = options.load_host(args)
    note = (lambda text: None) if args.quiet else options.note
    with _folder(host, args, inputs) if args.dir else contextlib.nullcontext():
        result = _tuned(host, args, note)
    told(args, shown(result, args.format))
    _write(host, args, result)
    if args.resorted:
        record = host.read(args.input[0], format=args.from_format).format
        write_records(host, iter(result.resorted), record, args.resorted, None, quiet=args.quiet, note=note)
    manifest.write(host, seed=result.runs[0].seed, signatures=[result.signature])


def _tuned(host: Host, args: argparse.Namespace, note: Callable[[str], None]) -> Tuned:
    from pathlib import Path

    return host.tune(
        args.input or ["-"],
        args.ref,
        learner=args.learner or "mert",
        metric=args.metric or "bleu",
        seed=1 if args.seed is None else args.seed,
        runs=args.runs,
        start=args.weights,
        keep=args.keep,
        folds=args.folds,
        jobs=args.jobs,
        combine=args.combine,
        scores=args.scores,
        forests=args.forests,
        sources=args.source,
        post=args.post,
        format=args.from_format,
        allow_partial=args.allow_partial,
        folder=Path(args.dir) if args.dir else None,
        note=note,
    )


def _folder(host: Host, args: argparse.Namespace, inputs: list[str | None]) -> RunDirectory:
    from pathlib import Path

    from smtplugins.host import runs

    named = (
        *("input", "ref", "source", "learner", "metric", "post", "keep", "runs", "combine", "folds"),
        *("from_format", "allow_partial"),
    )
    record = runs.manifest(
        command=[one for one in runs.argv() if one != "--resume"],
        options={name: getattr(args, name) for name in named},
        inputs=runs.input_hashes([one for one in inputs if one]),
        plugins=host.plugins,
        seed=1 if args.seed is None else args.seed,
    )
    return runs.RunDirectory.create(Path(args.dir), record, resume=args.resume)


def shown(result: Any, style: str) -> str:
    """Steps and results of learning from lists."""
    rows, results = result.rows(), result.results()
    if style == "json":
        record = {"steps": rows, "results": results, "mean": result.spread()[0], "deviation": result.spread()[1]}
        return json.dumps(record, indent=1)
    names = list(dict.fromkeys(name for row in rows for name in row))
    if len(result.runs) == 1:
        names.remove("run")
    parts = [
        tables.render([{k: _number(v) for k, v in row.items()} for row in rows], names, style),
        tables.render([{**row, "score": f"{row['score']:.2f}"} for row in results], list(results[0]), style),
    ]
    if len(result.runs) > 1:
        mean, deviation = result.spread()
        parts.append(f"{len(result.runs)} runs: mean {mean:.2f}, standard deviation {deviation:.2f}")
    return "\n\n".join(parts)


def _number(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value


def _with_decoder(args: argparse.Namespace) -> None:
    from pathlib import Path

    from smtplugins.host import runs
    from smtplugins.host.config.override import with_decoder
    from smtplugins.host.config.run_yaml import load_config
    from smtplugins.host.errors import UsageError
    from smtplugins.host.learn import loop, policies
    from smtplugins.host.learn.tuning import plan_of

    _check_output(args)
    overrides = list(args.set)
    given = {
        "source": args.source and os.path.abspath(args.source),
        "references": [os.path.abspath(one) for one in args.ref] or None,
        "learner": args.learner,
        "metric": args.metric,
        "seed": args.seed,
        "output.dir": args.dir and os.path.abspath(args.dir),
    }
    overrides += [f"{name}={json.dumps(value)}" for name, value in given.items() if value is not None]
    config = load_config(args.config, overrides, ignore=args.ignore)
    for text in () if args.quiet else config.notes:
        options.note(text)
    args.plugin = [*args.plugin, *config.plugins]
    host = options.load_host(args)
    if args.decoder is not None:
        config = with_decoder(host, config, args.decoder)
    if config.output.dir is None:
        raise UsageError("name a folder for the run: --dir DIR, or output.dir in the configuration")
    learner = config.learner or "mert"
    plan = plan_of(host, learner, args.keep, args.runs, seed=config.seed, combine=args.combine, jobs=args.jobs)
    if policies.takes_tasks_only(host, plan.learner):
        _policy(host, config, args)
        return
    nbest = args.nbest or (config.output.nbest if config.output.nbest > 1 else 100)
    whole = args.whole or loop.takes_forests_only(host, plan.learner)
    given = {name: getattr(args, name) for name in _LOOP if getattr(args, name) is not None}
    chosen = loop.LoopPlan(plan, forests=whole, nbest=nbest, **given)
    start = host.read_weights(args.weights) if args.weights is not None else None
    manifest = options.Manifest(args, [args.config, args.weights])
    note = (lambda text: None) if args.quiet else options.note
    ended = loop.tune_decoder(
        host,
        config,
        chosen,
        Path(config.output.dir),
        start=start,
        resume=args.resume,
        command=runs.argv(),
        cache=args.cache,
        post=args.post,
        note=note,
        quiet=args.quiet,
        told=(lambda text: None) if args.quiet else lambda text: print(f"smt: {text}", file=sys.stderr),
    )
    if args.format == "json":
        told(args, json.dumps({"reason": ended.reason, "score": ended.score, "iterations": ended.iterations}, indent=1))
    else:
        rows = [{k: _number(v) for k, v in row.items()} for row in ended.iterations]
        columns = ["iteration", "decoded", "candidates", "new", "before", "learnt", "share", "expected", "change"]
        result = [{"metric": ended.metric, "score": f"{ended.score:.2f}", "signature": ended.signature}]
        told(args, tables.render(rows, columns, args.format))
        told(args, "\n" + tables.render(result, list(result[0]), args.format))
        told(args, ended.reason)
    _write(host, args, ended)
    manifest.write(host, seed=config.seed, signatures=[ended.signature])


def _policy(host: Host, config: RunConfig, args: argparse.Namespace) -> None:
    """Decisions of the decoder itself are learnt: it is not run again and again to make lists."""
    from smtplugins.host import runs
    from smtplugins.host.errors import UsageError

    assert config.learner is not None
    unused = ["whole"] * args.whole + [name for name in ("nbest", *_LOOP) if getattr(args, name) is not None]
    if unused:
        named = ", ".join(f"--{name}" for name in unused)
        raise UsageError(
            f"learner {config.learner.name!r} learns the decoder's own decisions, without lists or forests in between: "
            f"{named} cannot be used; its options are those of `smt learners show {config.learner.name}`"
        )
    manifest = options.Manifest(args, [args.config, args.weights])
    result = host.tune_policy(
        config,
        start=args.weights,
        keep=args.keep,
        runs=args.runs,
        combine=args.combine,
        jobs=args.jobs,
        resume=args.resume,
        command=runs.argv(),
        cache=args.cache,
        post=args.post,
        note=(lambda text: None) if args.quiet else options.note,
        quiet=args.quiet,
    )
    told(args, shown(result, args.format))
    _write(host, args, result)
    manifest.write(host, seed=config.seed, signatures=[result.signature])
