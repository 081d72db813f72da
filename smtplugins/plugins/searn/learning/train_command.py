"""``smt searn train``: learn a policy from labelled items, and write a run.yaml that decodes with it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import suggestion
from smtplugins.contracts.tools.running import add_jobs, add_number, add_quiet, hushed, jobs_of, make_runner, runs

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.learners import LearnerStep
    from smtplugins.contracts.tools.running import Host, RunDirectory
    from smtplugins.plugins.searn.learning.searn import Searn
    from smtplugins.plugins.searn.learning.sequences import Sequences

_NOT_OPTIONS = ("input", "dev", "output", "resume", "quiet", "verbose", "table", "lm", "weights", "seed")
"""Options that may change on resuming, or that the manifest records elsewhere."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add = parser.add_argument
    add("-i", "--input", required=True, metavar="DIR", help="folder written by `smt searn label`")
    add("-o", "--output", required=True, metavar="DIR", help="output folder")
    add("--dev", metavar="DIR", help="folder of labelled items to evaluate on")
    add("--held-out", type=float, metavar="X", help="instead of --dev: hold out this fraction of the input, at its end")
    add(
        "--history",
        default="none",
        metavar="NAMES",
        help="history features, any of label,label2,depth,fragment (default: none, as in the paper)",
    )
    add("--bias", action="store_true", help="add a bias feature")
    add(
        "--feature",
        action="append",
        default=[],
        metavar="NAME[,key=value]",
        help="add a registered feature, scored on items",
    )
    add_number(parser, "--min-count", 5, "drop features that occur less often")
    add_number(parser, "--iterations", 3, "iterations of SEARN")
    add(
        "--base",
        choices=("perceptron", "logistic"),
        default="perceptron",
        help="base learner of the classifiers (default: perceptron)",
    )
    add_number(parser, "--passes", 5, "passes of each classifier over its examples")
    add_number(parser, "--rate", 0.1, "learning rate of --base logistic", "R")
    add("--beta", default="0.3", metavar="B", help="share of the newest classifier, or 'search' (default: 0.3)")
    rolls = ("sampled", "policy", "optimal")
    add("--roll-in", choices=rolls, default="sampled", help="policy that leads to examples (default: sampled)")
    add("--roll-out", choices=rolls, default="optimal", help="policy that completes an action (default: optimal)")
    add_number(parser, "--samples", 1, "roll-outs per action for --roll-out sampled")
    add("--loss", default="hamming", metavar="NAME", help="hamming, or a metric of label sequences (much slower)")
    add_number(parser, "--seed", 1, "random seed")
    add("--resume", action="store_true", help="continue after the last finished iteration")
    add("--table", metavar="FILE", help="phrase table for run.yaml (default: that of the input)")
    add("--lm", metavar="FILE", help="language model for run.yaml")
    add("-w", "--weights", metavar="FILE", help="weights for run.yaml")
    add_jobs(parser, "processes for parts that are not native")
    add_quiet(parser, "no progress and no table")


def run(host: Host, args: argparse.Namespace) -> None:
    """Learn the policy and write it with its configuration."""
    from smtplugins.plugins.searn.learning.searn import Searn

    sequences, held = _sequences(host, args)
    beta: Any = args.beta if args.beta == "search" else _number(args.beta)
    learner = Searn(
        iterations=args.iterations,
        base=args.base,
        passes=args.passes,
        rate=args.rate,
        beta=beta,
        roll_in=args.roll_in,
        roll_out=args.roll_out,
        samples=args.samples,
        held_out=float(held),
    )
    folder = Path(args.output)
    record = runs.manifest(
        command=[arg for arg in runs.argv() if arg != "--resume"],
        options={key: value for key, value in sorted(vars(args).items()) if _option(key, value)},
        inputs=runs.input_hashes(_files(args)),
        plugins=host.plugins,
        seed=args.seed,
    )
    with runs.RunDirectory.create(folder, record, resume=args.resume) as run_folder:
        _publish(
            run_folder,
            _steps(host, args, learner, run_folder, sequences, _ProgressTable(sequences, held, args.quiet)),
            args,
        )


def _steps(
    host: Host,
    args: argparse.Namespace,
    learner: Searn,
    run_folder: RunDirectory,
    sequences: Sequences,
    table: _ProgressTable,
) -> int:
    """Learn, or continue learning; return the number of steps."""
    from smtplugins.contracts.models import Model
    from smtplugins.contracts.tasks import TaskProblem

    done = run_folder.last_step()
    count, model, state = done if done is not None else (0, Model(), None)
    for number, (objective, metrics) in enumerate(run_folder.rows(), 1):
        table.row(number, objective, metrics)
    runner = make_runner(host, jobs_of(args))
    with hushed(args.quiet):
        task = TaskProblem(sequences, range(len(sequences)))
        for step in learner.learn(task, model, resume=state, seed=args.seed, runner=runner):
            count, model = count + 1, step.model
            table.step(count, step)
            run_folder.save_step(count, step)
            run_folder.forget_states()
    return count


def _sequences(host: Host, args: argparse.Namespace) -> tuple[Sequences, int]:
    """The training sequences followed by the held-out ones, and the number of the latter."""
    import math

    from smtplugins.plugins.searn.labels.item_files import ItemFolder
    from smtplugins.plugins.searn.labels.item_sequences import item_sequences
    from smtplugins.plugins.searn.labels.pair_columns import PairColumns
    from smtplugins.plugins.searn.learning.policy import PAPER

    if args.min_count < 1 or args.seed < 0:
        raise UsageError(f"expected --min-count of 1 and --seed of 0 or more, found {args.min_count}, {args.seed}")
    if args.dev is not None and args.held_out is not None:
        raise UsageError("expected --dev or --held-out, found both")
    if args.held_out is not None and not 0 < args.held_out < 1:
        raise UsageError(f"--held-out: expected a fraction between 0 and 1, found {args.held_out}")
    templates = (*PAPER, *(("bias",) if args.bias else ()), *read_history(args.history), *args.feature)
    folders = [ItemFolder.open(Path(path)) for path in (args.input, args.dev) if path is not None]
    held = len(folders[1]) if args.dev is not None else math.ceil((args.held_out or 0.0) * len(folders[0]))
    if args.beta == "search" and not held:
        raise UsageError("--beta search: expected held-out sentences: --dev DIR, or --held-out 0.1")
    sequences = item_sequences(
        folders,
        templates,
        min_count=args.min_count,
        trained=sum(map(len, folders)) - held,
        columns=PairColumns(host, args.feature) if args.feature else None,
        loss="hamming" if args.loss == "hamming" else host.registry.make("metrics", args.loss),
    )
    return sequences, held


def read_history(text: str) -> tuple[str, ...]:
    """Parse the value of --history."""
    from smtplugins.plugins.searn.learning.policy import HISTORY

    names = [] if text == "none" else [name.strip() for name in text.split(",")]
    for name in names:
        if name not in HISTORY:
            raise UsageError(f"--history: unknown feature {name!r}{suggestion(name, (*HISTORY, 'none'))}")
    return tuple(names)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--beta: expected a number or search, found {text!r}") from None


def _option(key: str, value: Any) -> bool:
    plain = isinstance(value, (str, int, float, bool, list)) or value is None
    return plain and key not in _NOT_OPTIONS and key != "jobs"


def _files(args: argparse.Namespace) -> list[Path]:
    folders = [Path(path) for path in (args.input, args.dev) if path is not None]
    items = [folder / "items" if (folder / "items").is_dir() else folder for folder in folders]
    return [path for folder in items for path in sorted(folder.iterdir())]


class _ProgressTable:
    """Prints a table of iterations to standard output."""

    def __init__(self, sequences: Sequences, held: int, quiet: bool) -> None:
        self._quiet = quiet
        if quiet:
            return
        trained = len(sequences) - held
        items = int(sequences.offsets[trained])
        sys.stdout.write(
            f"{trained} sentences, {items} items, {len(sequences.labels)} labels, {len(sequences.names)} features; "
            f"held out: {held} sentences, {len(sequences.gold) - items} items\n"
        )
        sys.stdout.write(f"{'iteration':>9} {'beta':>5} {'accuracy':>9} {'loss':>8} {'held out':>9} {'loss':>8}\n")

    def step(self, number: int, step: LearnerStep) -> None:
        """Print the row of an iteration."""
        self.row(number, step.objective, dict(step.metrics))

    def row(self, number: int, objective: float, metrics: dict[str, float]) -> None:
        """Print a row; losses are per item."""
        if self._quiet:
            return
        cells = [f"{number:>9}", f"{metrics['beta']:>5.2g}", f"{metrics['accuracy']:>9.5f}", f"{metrics['loss']:>8.5f}"]
        for name, width in (("held_out_accuracy", 9), ("held_out_loss", 8)):
            cells.append(f"{metrics[name]:>{width}.5f}" if name in metrics else "-".rjust(width))
        sys.stdout.write(" ".join(cells) + "\n")
        sys.stdout.flush()


def _publish(run_folder: RunDirectory, count: int, args: argparse.Namespace) -> None:
    """Write the last iteration's policy, its record and a run.yaml; files are renamed into place when complete."""
    folder = run_folder.path
    last = folder / f"step-{count:04d}"
    aside = folder / ".policy.part"
    shutil.rmtree(aside, ignore_errors=True)
    shutil.copytree(last / "model" / "policy", aside)
    shutil.rmtree(folder / "policy", ignore_errors=True)
    os.replace(aside, folder / "policy")
    from smtplugins.contracts.tools.files import write_json

    digest = json.loads((last / "model" / "model.json").read_text(encoding="utf-8"))["artefacts"]["policy"]
    metrics = json.loads((last / "step.json").read_text(encoding="utf-8"))["metrics"]
    write_json(folder / "model.json", {"policy": digest, "iterations": count, "metrics": metrics})
    (folder / "run.yaml").write_text(_configuration(args), encoding="utf-8")


def _configuration(args: argparse.Namespace) -> str:
    """The text of run.yaml; paths are relative to its folder."""
    here = Path(args.output).resolve()

    def seen(path: str | Path) -> str:
        return json.dumps(os.path.relpath(Path(path).resolve(), here), ensure_ascii=False)

    table = args.table or next(iter(_tables(Path(args.input))), None)
    lines = ["decoder: {name: amasis, policy_path: policy}", "model:"]
    if table is not None:
        lines.append(f"  tables: {seen(table)}")
    features = [f"{{name: lm, path: {seen(args.lm)}}}"] if args.lm else []
    features += ["word-penalty", "{name: itg-history, path: policy}"]
    lines += ["  features:", *(f"    - {feature}" for feature in features)]
    if args.weights:
        lines.append(f"  weights: {seen(args.weights)}")
    return "\n".join(lines) + "\n"


def _tables(folder: Path) -> Sequence[Path]:
    return sorted(folder.glob("phrase-table*"))
