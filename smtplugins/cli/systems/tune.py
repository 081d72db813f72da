"""learn weights from n-best lists or forests, or in a loop around a decoder"""

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
    """The summary on the help page."""
    return "learn weights from n-best lists or forests, or in a loop around a decoder (-c)"


def add_learning(parser: argparse.ArgumentParser, learner: str | None) -> None:
    """Add the learning options, shared with ``rerank``."""
    group = parser.add_argument_group("learning")
    group.add_argument(
        "--learner",
        default=learner,
        metavar="NAME[,key=value...]",
        help=f"learner with options (default: {learner or 'that of the configuration, else mert'}; `smt learners` "
        "lists them)",
    )
    group.add_argument(
        "-m",
        "--metric",
        metavar="NAME[,key=value...]",
        help="metric with options, such as bleu,tokenize=none (default: bleu)",
    )
    options.add_post(parser)
    group.add_argument("-w", "--weights", metavar="FILE", help="start weights (default: estimated from totals)")
    group.add_argument(
        "--keep", action="append", default=[], metavar="FEATURE", help="keep this feature's weight fixed (repeatable)"
    )
    group.add_argument("--runs", type=int, metavar="N", help="number of runs, each with its own seed (default: 1)")
    group.add_argument(
        "--combine",
        choices=("average", "best"),
        default="average",
        help="result of several runs: the average of their weights, or the weights of the best run (default: average)",
    )
    group.add_argument("--seed", type=int, metavar="N", help="seed of the first run (default: 1)")
    more = "" if learner is not None else "`runner` of the configuration, else "
    group.add_argument(
        "-j", "--jobs", type=int, metavar="N", help=f"processes, same weights for any N (default: {more}1)"
    )


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "-i",
        "--input",
        action="append",
        default=[],
        metavar="FILE",
        help="n-best lists, or feature files of Moses' extractor; several are merged (repeatable; default: standard "
        "input)",
    )
    parser.add_argument("--from", dest="from_format", metavar="FORMAT", help="input format (default: detected)")
    parser.add_argument(
        "--scores",
        action="append",
        default=[],
        metavar="FILE",
        help="statistics files of Moses' extractor (repeatable)",
    )
    parser.add_argument("--forests", metavar="DIR", help="learn from the forests in this folder, a file per sentence")
    options.add_references(parser)
    parser.add_argument(
        "-s", "--source", metavar="FILE", help="source sentences, to decode or for metrics that read them"
    )
    options.add_partial(parser)
    parser.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="file for the weights (default: standard output)"
    )
    parser.add_argument(
        "--to", dest="to_format", metavar="FORMAT", help="format of the weights (default: cdec-weights)"
    )
    options.add_precision(parser)
    parser.add_argument(
        "--folds", type=int, default=0, metavar="K", help="also cross-validate: learn K times from all folds but one"
    )
    parser.add_argument(
        "--resorted", metavar="FILE", help="with --folds: write lists sorted by weights learnt without them"
    )
    parser.add_argument(
        "--dir", metavar="DIR", help="folder for the run's steps, to resume from (default with -c: output.dir)"
    )
    parser.add_argument("--resume", action="store_true", help="resume the run in that folder")
    add_learning(parser, None)
    _add_decoder(parser)
    options.add_cache(parser)
    options.add_table(parser)
    options.add_manifest(parser)
    options.add_common(parser)
    parser.set_defaults(command=run)


def _add_decoder(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("with a decoder")
    group.add_argument("-c", "--config", metavar="FILE", help="run.yaml, cdec.ini, moses.ini or joshua.config")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a key of the configuration (repeatable)",
    )
    options.add_ignore(group)
    group.add_argument("--decoder", metavar="NAME[,key=value...]", help="use this decoder; parsing options are kept")
    group.add_argument(
        "-k", "--nbest", type=int, metavar="N", help="length of n-best lists (default: output.nbest, or 100)"
    )
    group.add_argument("--whole", action="store_true", help="learn from forests instead of lists")
    group.add_argument("--iterations", type=int, metavar="N", help="maximum number of iterations (default: 10)")
    group.add_argument("--epsilon", type=float, metavar="X", help="stop if weights change by less (default: 1e-5)")
    group.add_argument(
        "--select",
        choices=("best", "last"),
        help="result: the weights with the best decoding score, or the last ones (default: best)",
    )
    group.add_argument(
        "--reach",
        type=float,
        metavar="X",
        help="trust region: how far an iteration may move from the best weights so far, from 0.01 (hardly) to 1.4 "
        "(unrelated weights); 0 for no limit (default: 0.3 for lists, 0 for forests)",
    )


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.contracts.errors import UsageError

    if args.config is not None:
        if args.input or args.scores or args.forests or args.folds or args.from_format or args.allow_partial:
            raise UsageError(
                "-i, --from, --scores, --forests, --folds and --allow-partial cannot be used with -c, where lists come "
                "from the decoder"
            )
        _tune_with_decoder(args)
    else:
        for name in ("set", "ignore", "decoder", "nbest", "whole", *_LOOP):
            value = getattr(args, name)
            # 0 is a value, though it is false.
            if value is not None and value is not False and value != []:
                raise UsageError(f"--{name} needs a decoder's configuration (-c)")
        if args.resume and args.dir is None:
            raise UsageError("--resume needs the folder of the run (--dir)")
        _learn_from_lists(args)


def print_table(args: argparse.Namespace, text: str) -> None:
    """Print a table to standard output, or to standard error if the weights go to standard output."""
    if args.output == "-":
        print(text, file=sys.stderr)
    else:
        options.show(text)


def _write(host: Host, args: argparse.Namespace, weights: Any) -> None:
    from smtplugins.host.files.opening import find_format, write_all

    record = find_format(args.to_format or "cdec-weights", "weights", host.formats())
    write_all(record, [dict(weights)], args.output, args.precision)


def _check_output(args: argparse.Namespace) -> None:
    """Check format and folder of the output before hours of work."""
    from smtplugins.contracts.errors import UsageError
    from smtplugins.host.files.opening import find_format

    record = find_format(args.to_format or "cdec-weights", "weights")
    if record.write is None:
        raise UsageError(f"{record.name} can only be read; update weights in such a file with `smt convert --into`")
    for path in (args.output, args.resorted):
        folder = os.path.dirname(path or "") or "."
        if not os.path.isdir(folder):
            raise UsageError(f"{path}: expected an existing folder, found no {folder}")
    if args.resorted and not args.folds:
        raise UsageError("--resorted needs cross-validation (--folds K)")


def _learn_from_lists(args: argparse.Namespace) -> None:
    from smtplugins.host.files.conversion import write_records

    _check_output(args)
    inputs = [*(args.input or ["-"] * (not args.forests)), *args.scores, *args.ref, args.source, args.weights]
    manifest = options.Manifest(args, inputs)
    host = options.load_host(args)
    note = (lambda text: None) if args.quiet else options.note
    with _folder(host, args, inputs) if args.dir else contextlib.nullcontext():
        result = _tune_lists(host, args, note)
    print_table(args, render_result(result, args.format))
    _write(host, args, result)
    if args.resorted:
        record = host.read(args.input[0], format=args.from_format).format
        write_records(host, iter(result.resorted), record, args.resorted, None, quiet=args.quiet, note=note)
    manifest.write(host, seed=result.runs[0].seed, signatures=[result.signature])


def _tune_lists(host: Host, args: argparse.Namespace, note: Callable[[str], None]) -> Tuned:
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
        folder=args.dir or None,
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
        command=[item for item in runs.argv() if item != "--resume"],
        options={name: getattr(args, name) for name in named},
        inputs=runs.input_hashes([item for item in inputs if item]),
        plugins=host.plugins,
        seed=1 if args.seed is None else args.seed,
    )
    return runs.RunDirectory.create(Path(args.dir), record, resume=args.resume)


def render_result(result: Any, style: str) -> str:
    """Render steps and results of learning from lists."""
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


def _tune_with_decoder(args: argparse.Namespace) -> None:
    from smtplugins.contracts.errors import UsageError
    from smtplugins.host.config.override import with_decoder
    from smtplugins.host.learn import policies
    from smtplugins.host.learn.tuning import plan_of

    _check_output(args)
    config = _load_config(args)
    for text in () if args.quiet else config.notes:
        options.note(text)
    args.plugin = [*args.plugin, *config.plugins]
    host = options.load_host(args)
    if args.decoder is not None:
        config = with_decoder(host, config, args.decoder)
    if config.output.dir is None:
        raise UsageError("expected a folder for the run (--dir DIR, or output.dir in the configuration), found none")
    plan = plan_of(host, config.learner or "mert", args.keep, args.runs, seed=config.seed, combine=args.combine)
    if policies.takes_tasks_only(host, plan.learner):
        _tune_policy(host, config, args)
    else:
        _tune_loop(host, config, args)


def _load_config(args: argparse.Namespace) -> RunConfig:
    """The configuration, with keys overridden by ``--set`` and by options."""
    from smtplugins.host.config.run_yaml import Override, load_config

    overriding = {
        "source": args.source and os.path.abspath(args.source),
        "references": [os.path.abspath(path) for path in args.ref] or None,
        "learner": args.learner,
        "metric": args.metric,
        "seed": args.seed,
        "output.dir": args.dir and os.path.abspath(args.dir),
    }
    overrides: list[Override] = list(args.set)
    overrides += [(name, value) for name, value in overriding.items() if value is not None]
    return load_config(args.config, overrides, ignore=args.ignore)


def _tune_loop(host: Host, config: RunConfig, args: argparse.Namespace) -> None:
    """Learn in a loop around the decoder."""
    from smtplugins.host import runs

    manifest = options.Manifest(args, [args.config, args.weights])
    ended = host.tune_decoder(
        config,
        start=args.weights,
        keep=args.keep,
        runs=args.runs,
        combine=args.combine,
        jobs=args.jobs,
        nbest=args.nbest,
        forests=args.whole,
        resume=args.resume,
        command=runs.argv(),
        cache=args.cache,
        post=args.post,
        note=(lambda text: None) if args.quiet else options.note,
        told=(lambda text: None) if args.quiet else lambda text: print(f"smt: {text}", file=sys.stderr),
        quiet=args.quiet,
        **{name: getattr(args, name) for name in _LOOP if getattr(args, name) is not None},
    )
    if args.format == "json":
        print_table(
            args, json.dumps({"reason": ended.reason, "score": ended.score, "iterations": ended.iterations}, indent=1)
        )
    else:
        rows = [{k: _number(v) for k, v in row.items()} for row in ended.iterations]
        columns = ["iteration", "decoded", "candidates", "new", "before", "learnt", "share", "expected", "change"]
        result = [{"metric": ended.metric, "score": f"{ended.score:.2f}", "signature": ended.signature}]
        print_table(args, tables.render(rows, columns, args.format))
        print_table(args, "\n" + tables.render(result, list(result[0]), args.format))
        print_table(args, ended.reason)
    _write(host, args, ended)
    manifest.write(host, seed=config.seed, signatures=[ended.signature])


def _tune_policy(host: Host, config: RunConfig, args: argparse.Namespace) -> None:
    """Learn the decoder's own decisions as a policy, without lists or forests."""
    from smtplugins.contracts.errors import UsageError
    from smtplugins.host import runs

    assert config.learner is not None
    unused = ["whole"] * args.whole + [name for name in ("nbest", *_LOOP) if getattr(args, name) is not None]
    if unused:
        named = ", ".join(f"--{name}" for name in unused)
        raise UsageError(
            f"learner {config.learner.name!r} learns the decoder's own decisions, without lists or forests: "
            f"{named} cannot be used; `smt learners show {config.learner.name}` lists its options"
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
    print_table(args, render_result(result, args.format))
    _write(host, args, result)
    manifest.write(host, seed=config.seed, signatures=[result.signature])
