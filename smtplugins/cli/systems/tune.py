"""learn weights from n-best lists or forests, or in a loop around a decoder"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from smtplugins.cli import options
from smtplugins.contracts.errors import UsageError
from smtplugins.host import printing as tables
from smtplugins.host.command_options import add_jobs
from smtplugins.host.files.opening import find_format, installed_formats, write_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from smtformats import Format
    from smtplugins.host.config.run_yaml import Override, RunConfig
    from smtplugins.host.host import Host
    from smtplugins.host.learn.loop import Ended
    from smtplugins.host.learn.tuning import Tuned
    from smtplugins.host.runs import RunDirectory

_LOOP = ("iterations", "epsilon", "gain", "select", "rounds", "reach")


def add_learning(parser: argparse.ArgumentParser, learner: str, runner: str = "") -> None:
    """Add the learning options, shared with ``rerank``; ``learner`` and ``runner`` say what the defaults are."""
    group = parser.add_argument_group("learning")
    group.add_argument(
        "--learner",
        metavar="NAME[,key=value...]",
        help=f"learner with options (default: {learner}; `smt learners` lists them)",
    )
    options.add_metric(group)
    options.add_post(parser)
    group.add_argument(
        "-w", "--weights", metavar="FILE", help="start weights, or the folder of a run (default: estimated from totals)"
    )
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
    add_jobs(group, "processes, same weights for any N", runner)


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
    options.add_file(parser, several=True)
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
    options.add_output(parser, default="cdec-weights")
    parser.add_argument(
        "--folds",
        type=int,
        metavar="K",
        help="cross-validate: learn K times, each time without a part of the sentences, and judge by the parts left "
        "out; with -c, the parts left out say how far each step goes and when to stop (default with -c: 5 for lists "
        "of 50 sentences or more, else 0: learn from all sentences at once)",
    )
    parser.add_argument(
        "--resorted", metavar="FILE", help="with --folds: write lists sorted by weights learnt without them"
    )
    parser.add_argument(
        "--dir", metavar="DIR", help="folder for the run's steps, to resume from (default with -c: output.dir)"
    )
    parser.add_argument("--resume", action="store_true", help="resume the run in that folder")
    add_learning(
        parser,
        "minrisk for lists, mert for forests; with -c that of the configuration, else mert",
        "else `runner` of the configuration, ",
    )
    _add_decoder(parser)
    options.add_cache(parser)
    options.add_score_cache(parser)
    options.add_table(parser)
    options.add_manifest(parser)


def _add_decoder(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("with a decoder")
    options.add_config(group, required=False)
    options.add_escape(group, "escape input words and unescape translations, for tables made with it (sets escape)")
    group.add_argument("--decoder", metavar="NAME[,key=value...]", help="use this decoder; parsing options are kept")
    options.add_features(group, "learning begins with the weight 0, or that of -w")
    group.add_argument(
        "-k", "--nbest", type=int, metavar="N", help="length of n-best lists (default: output.nbest, or 100)"
    )
    group.add_argument("--whole", action="store_true", help="learn from forests instead of lists")
    group.add_argument("--iterations", type=int, metavar="N", help="maximum number of iterations (default: 10)")
    group.add_argument("--epsilon", type=float, metavar="X", help="stop if weights change by less (default: 1e-5)")
    group.add_argument(
        "--gain",
        type=float,
        metavar="X",
        help="stop if two iterations in a row together gain less than this share of the way from the score of empty "
        "output to that of the references; 0 for never (default: 0.001, 0.1 BLEU)",
    )
    group.add_argument(
        "--select",
        choices=("best", "last"),
        help="result: the weights with the best decoding score, or the last ones (default: best)",
    )
    group.add_argument(
        "--rounds", type=int, metavar="N", help="learn from what the last N iterations decoded, 0: all (default: 0)"
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
    if args.config is not None:
        if args.input or args.scores or args.forests or args.from_format or args.allow_partial:
            raise UsageError(
                "-i, --from, --scores, --forests and --allow-partial cannot be used with -c, where lists come from the "
                "decoder"
            )
        _tune_with_decoder(args)
    else:
        for name in ("set", "ignore", "escape", "decoder", "feature", "nbest", "whole", *_LOOP):
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
    write_all(_weights_format(args, host.formats), [dict(weights)], args.output, args.precision)


def _weights_format(args: argparse.Namespace, formats: Callable[[], Iterable[Format]]) -> Format:
    from smtplugins.host.files.conversion import output_format

    usual = find_format("cdec-weights", "weights")
    return output_format(args.to_format, "weights", usual, args.output, formats)


def _check_output(args: argparse.Namespace) -> None:
    """Check format and folder of the output before hours of work."""
    record = _weights_format(args, installed_formats)
    if record.write is None:
        raise UsageError(f"{record.name} can only be read; update weights in such a file with `smt convert --into`")
    for path in (args.output, args.resorted):
        folder = os.path.dirname(path or "") or "."
        if not os.path.isdir(folder):
            raise UsageError(f"{path}: expected an existing folder, found no {folder}")
    if args.resorted and (args.config is not None or not args.folds):
        raise UsageError("--resorted needs lists (-i) and cross-validation (--folds K)")


def _learn_from_lists(args: argparse.Namespace) -> None:
    from smtplugins.host.files.conversion import write_records

    _check_output(args)
    inputs = [*(args.input or ["-"] * (not args.forests)), *args.scores, *args.ref, args.source, args.weights]
    manifest = options.Manifest(args, inputs)
    host = options.load_host(args)
    given = {"lists": args.input or ["-"], "refs": args.ref, "sources": args.source, "folder": args.dir or None}
    with _folder(host, args, inputs) if args.dir else contextlib.nullcontext():
        result = options.call(host.tune, args, start=args.weights, **given)
    _show_result(args, result)
    _write(host, args, result)
    if args.resorted:
        record = host.read(args.input[0], format=args.from_format).format
        note = options.notes(args)
        write_records(host, iter(result.resorted), record, args.resorted, None, quiet=args.quiet, note=note)
    manifest.write(host, seed=result.runs[0].seed, signatures=[result.signature])


def _folder(host: Host, args: argparse.Namespace, inputs: list[str | None]) -> RunDirectory:
    from pathlib import Path

    from smtplugins.host import runs
    from smtplugins.host.learn.tuning import FORESTS, LISTS

    named = (
        *("input", "ref", "source", "metric", "post", "keep", "runs", "combine", "folds"),
        *("from_format", "allow_partial", "forests"),
    )
    record = runs.manifest(
        command=[item for item in runs.argv() if item != "--resume"],
        options={
            "learner": args.learner or (FORESTS if args.forests else LISTS),
            **{name: getattr(args, name) for name in named},
        },
        inputs=runs.input_hashes([item for item in inputs if item]),
        plugins=host.plugins,
        seed=1 if args.seed is None else args.seed,
    )
    return runs.RunDirectory.create(Path(args.dir), record, resume=args.resume)


def _show_result(args: argparse.Namespace, result: Tuned) -> None:
    """Print the results; with ``--verbose`` also the steps, and as text a chart of their objective."""
    drawn = ""
    if args.verbose and args.format == "text":
        objectives = [[row.objective for row in run.steps] for run in result.runs]
        drawn = _chart(args, f"objective by step{', all runs' * (len(objectives) > 1)}", objectives)
    print_table(args, render_result(result, args.format, steps=args.verbose > 0, drawn=drawn))


def _chart(args: argparse.Namespace, title: str, lines: Sequence[Sequence[float]]) -> str:
    """Draw a chart as wide as the terminal; without a terminal, in 80 columns of ASCII."""
    from smtformats.files import standard_output

    stream = sys.stderr if args.output == "-" else standard_output()
    try:
        width, plain = os.get_terminal_size(stream.fileno()).columns, not tables.prints_dots(stream.encoding)
    except (OSError, ValueError):
        width, plain = 80, True
    return f"{title}\n{tables.chart(lines, width, plain=plain)}"


def render_result(result: Tuned, style: str, *, steps: bool = True, drawn: str = "") -> str:
    """Render the results of learning from lists, after the steps and a chart; JSON always has the steps."""
    rows, results = result.rows(), result.results()
    if style == "json":
        mean, deviation = result.spread()
        record = {"steps": rows, "results": results, "mean": mean, "deviation": deviation, **_gain_record(result)}
        return json.dumps(record, indent=1)
    parts = []
    if steps:
        names = list(dict.fromkeys(name for row in rows for name in row))
        if len(result.runs) == 1:
            names.remove("run")
        parts.append(tables.render([{k: _number(v) for k, v in row.items()} for row in rows], names, style))
    if drawn:
        parts.append(drawn)
    if steps and result.left_out:
        parts.append(_render_left_out(result, style))
    parts.append(tables.render([{**row, "score": f"{row['score']:.2f}"} for row in results], list(results[0]), style))
    if len(result.runs) > 1:
        mean, deviation = result.spread()
        parts.append(f"{len(result.runs)} runs: mean {mean:.2f}, standard deviation {deviation:.2f}")
    if style == "text" and result.gain is not None:
        parts.append(str(result.gain))
    elif style == "text" and result.begun is None:
        parts.append("no start weights: nothing to compare the result with")
    return "\n\n".join(parts)


def _gain_record(result: Tuned | Ended) -> dict[str, Any]:
    gain, left_out = result.gain, [row.record() for row in result.left_out]
    return {"gain": None if gain is None else gain.record(), "left_out": left_out}


def _render_left_out(result: Tuned | Ended, style: str, where: str = "") -> str:
    """Render the scores without each feature."""
    rows = [{name: _number(value) for name, value in row.record().items()} for row in result.left_out]
    table = tables.render(rows, list(rows[0]), style)
    return f"{result.metric}{where} with the weight of one feature set to 0\n{table}" if style == "text" else table


def _number(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value


def _tune_with_decoder(args: argparse.Namespace) -> None:
    from smtplugins.contracts.spec import Spec
    from smtplugins.host.config.override import with_decoder, with_own
    from smtplugins.host.learn import policies
    from smtplugins.host.learn.tuning import LOOP, plan_of

    _check_output(args)
    decoder = None
    overrides: Sequence[Override] = _overrides(args)
    if args.decoder is not None:
        decoder, overrides = with_own(Spec.parse(args.decoder), overrides)
    host, config = options.load_configured(args, overrides)
    for text in config.notes:
        options.notes(args)(text)
    if decoder is not None:
        config = with_decoder(host, config, decoder)
    if config.output.dir is None:
        raise UsageError("expected a folder for the run (--dir DIR, or output.dir in the configuration), found none")
    plan = plan_of(host, config.learner or LOOP, args.keep, args.runs, seed=config.seed, combine=args.combine)
    tune = _tune_policy if policies.takes_tasks_only(host, plan.learner) else _tune_loop
    inputs = [config.source, *config.references, *config.paths, *options.feature_files(args)]
    manifest = options.Manifest(args, [args.config, args.weights, *(str(path) for path in inputs if path is not None)])
    result = tune(host, config, args)
    _write(host, args, result)
    manifest.write(host, seed=config.seed, signatures=[result.signature])


def _overrides(args: argparse.Namespace) -> list[Override]:
    """What ``--set`` and other options override in the configuration."""
    overriding = {
        "source": args.source and os.path.abspath(args.source),
        "escape": args.escape,
        "references": [os.path.abspath(path) for path in args.ref] or None,
        "learner": args.learner,
        "metric": args.metric,
        "seed": args.seed,
        "output.dir": args.dir and os.path.abspath(args.dir),
    }
    return [*args.set, *((name, value) for name, value in overriding.items() if value is not None)]


def _given(config: RunConfig, args: argparse.Namespace) -> dict[str, Any]:
    """The arguments of learning with a decoder; the learner and ``--ignore`` are in the configuration already."""
    from smtplugins.host import runs

    unchanged = {"learner": None, "ignore": None}
    return {"config": config, "start": args.weights, "command": runs.argv(), "features": args.feature, **unchanged}


def _tune_loop(host: Host, config: RunConfig, args: argparse.Namespace) -> Ended:
    """Learn in a loop around the decoder."""
    told = None if args.quiet else lambda text: print(f"smt: {text}", file=sys.stderr)
    ended = options.call(host.tune_decoder, args, **_given(config, args), forests=args.whole, told=told)
    if args.format == "json":
        record = {"reason": ended.reason, "score": ended.score, "iterations": ended.iterations, **_gain_record(ended)}
        print_table(args, json.dumps(record, indent=1))
    else:
        rows = [{k: _number(v) for k, v in row.items()} for row in ended.iterations]
        columns = ["iteration", "decoded", "candidates", "new", "before", "learnt", "share", "expected", "change"]
        result = [{"metric": ended.metric, "score": f"{ended.score:.2f}", "signature": ended.signature}]
        print_table(args, tables.render(rows, columns, args.format))
        if args.verbose and args.format == "text":
            decoded = [[row["decoded"] for row in ended.iterations]]
            print_table(args, "\n" + _chart(args, f"{ended.metric} by iteration", decoded))
        if args.verbose and ended.left_out:
            print_table(args, "\n" + _render_left_out(ended, args.format, " of the lists of all iterations"))
        print_table(args, "\n" + tables.render(result, list(result[0]), args.format))
        if args.format == "text" and ended.gain is not None:
            print_table(args, f"\n{ended.gain}")
        print_table(args, ended.reason)
    return ended


def _tune_policy(host: Host, config: RunConfig, args: argparse.Namespace) -> Tuned:
    """Learn the decoder's own decisions as a policy, without lists or forests."""
    assert config.learner is not None
    unused = ["whole"] * args.whole + [name for name in ("nbest", "folds", *_LOOP) if getattr(args, name) is not None]
    if unused:
        named = ", ".join(f"--{name}" for name in unused)
        raise UsageError(
            f"learner {config.learner.name!r} learns the decoder's own decisions, without lists or forests: "
            f"{named} cannot be used; `smt learners show {config.learner.name}` lists its options"
        )
    result = options.call(host.tune_policy, args, **_given(config, args))
    _show_result(args, result)
    return result
