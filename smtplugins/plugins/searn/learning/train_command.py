"""``smt searn train``: a policy from labelled items, and a configuration that decodes with it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.offers import Command
from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.contracts import Step
    from smtplugins.host.host import Host
    from smtplugins.host.runs import RunDirectory
    from smtplugins.plugins.searn.learning.searn import Searn
    from smtplugins.plugins.searn.learning.sequences import Sequences

_NOT_OPTIONS = ("input", "dev", "output", "resume", "quiet", "verbose", "table", "lm", "weights", "seed")
"""What a run may be resumed without, or is kept in its manifest elsewhere."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    add = parser.add_argument
    add("-i", "--input", required=True, metavar="DIR", help="what `smt searn label` made")
    add("-o", "--output", required=True, metavar="DIR", help="the folder to be written")
    add("--dev", metavar="DIR", help="labelled items that are judged, but not learnt from")
    add("--held-out", type=float, metavar="X", help="this part of the input is judged instead, its last sentences")
    add(
        "--history",
        default="none",
        metavar="NAMES",
        help="features of earlier labels, of label, label2, depth and fragment, with commas (default: none, the paper)",
    )
    add("--bias", action="store_true", help="a feature that every item has")
    add("--feature", action="append", default=[], metavar="NAME[,key=value]", help="a registered feature of items")
    add("--min-count", type=int, default=5, metavar="N", help="features found less often are left out (default: 5)")
    add("--iterations", type=int, default=3, metavar="N", help="of SEARN (default: 3)")
    add("--base", choices=("perceptron", "logistic"), default="perceptron", help="what classifiers are learnt with")
    add("--passes", type=int, default=5, metavar="N", help="of each classifier over its examples (default: 5)")
    add("--rate", type=float, default=0.1, metavar="R", help="steps of --base logistic (default: 0.1)")
    add("--beta", default="0.3", metavar="B", help="share of the newest classifier, or search (default: 0.3)")
    rolls = ("sampled", "policy", "optimal")
    add("--roll-in", choices=rolls, default="sampled", help="who labels on the way to an example (default: sampled)")
    add("--roll-out", choices=rolls, default="optimal", help="who labels the rest (default: optimal)")
    add("--samples", type=int, default=1, metavar="N", help="of --roll-out sampled (default: 1)")
    add("--loss", default="hamming", metavar="NAME", help="hamming, or a metric of label sequences (far slower)")
    add("--seed", type=int, default=1, metavar="N", help="of draws and of the order of examples (default: 1)")
    add("--resume", action="store_true", help="go on behind the last finished iteration")
    add("--table", metavar="FILE", help="for run.yaml: a phrase table (default: that of the input)")
    add("--lm", metavar="FILE", help="for run.yaml: a language model")
    add("-w", "--weights", metavar="FILE", help="for run.yaml: weights")
    add("-j", "--jobs", type=int, default=1, metavar="N", help="processes, where learning is not native (default: 1)")
    add("-q", "--quiet", action="store_true", help="no progress and no table")
    add("-v", "--verbose", action="count", default=0, help="tracebacks of failures")


def run(host: Host, args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host import runs
    from smtplugins.plugins.searn.learning.searn import Searn

    given, held = _sequences(host, args)
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
        command=[one for one in runs.argv() if one != "--resume"],
        options={key: value for key, value in sorted(vars(args).items()) if _option(key, value)},
        inputs=runs.input_hashes(_files(args)),
        plugins=host.plugins,
        seed=args.seed,
    )
    with runs.RunDirectory.create(folder, record, resume=args.resume) as kept:
        _publish(kept, _steps(host, args, learner, kept, given, _Told(given, held, args.quiet)), args)


def _steps(
    host: Host, args: argparse.Namespace, learner: Searn, kept: RunDirectory, given: Sequences, table: _Told
) -> int:
    """Learn, or go on with it; gives the number of steps."""
    from smtplugins.contracts.contracts import Task
    from smtplugins.host.host import default_runner
    from smtplugins.host.model import Model
    from smtplugins.host.progress import hushed

    done = kept.last_step()
    count, model, state = done if done is not None else (0, Model(), None)
    for number, (objective, metrics) in enumerate(kept.rows(), 1):
        table.row(number, objective, metrics)
    runner = host.registry.make("runners", default_runner(args.jobs))
    with hushed(args.quiet):
        task = Task(given, range(len(given)))
        for step in learner.learn(task, model, resume=state, seed=args.seed, runner=runner):
            count, model = count + 1, step.model
            table.step(count, step)
            kept.save_step(count, step)
            kept.forget_states()
    return count


def _sequences(host: Host, args: argparse.Namespace) -> tuple[Sequences, int]:
    """What is learnt from and, behind it, what is held out, and how many sequences that is."""
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
        raise UsageError(f"--held-out: expected a part between 0 and 1, found {args.held_out}")
    templates = (*PAPER, *(("bias",) if args.bias else ()), *read_history(args.history), *args.feature)
    folders = [ItemFolder.open(Path(one)) for one in (args.input, args.dev) if one is not None]
    held = len(folders[1]) if args.dev is not None else math.ceil((args.held_out or 0.0) * len(folders[0]))
    if args.beta == "search" and not held:
        raise UsageError("--beta search: expected something to judge by: --dev DIR, or --held-out 0.1")
    given = item_sequences(
        folders,
        templates,
        min_count=args.min_count,
        trained=sum(map(len, folders)) - held,
        columns=PairColumns(host, args.feature) if args.feature else None,
        loss="hamming" if args.loss == "hamming" else host.registry.make("metrics", args.loss),
    )
    return given, held


def read_history(text: str) -> tuple[str, ...]:
    """The features that --history names."""
    from smtplugins.contracts.spec import suggestion
    from smtplugins.plugins.searn.learning.policy import HISTORY

    names = [] if text == "none" else [one.strip() for one in text.split(",")]
    for name in names:
        if name not in HISTORY:
            raise UsageError(f"--history: there is no {name!r}{suggestion(name, (*HISTORY, 'none'))}")
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
    folders = [Path(one) for one in (args.input, args.dev) if one is not None]
    items = [one / "items" if (one / "items").is_dir() else one for one in folders]
    return [path for one in items for path in sorted(one.iterdir())]


class _Told:
    """The table of iterations, on standard output."""

    def __init__(self, given: Sequences, held: int, quiet: bool) -> None:
        self._quiet = quiet
        if quiet:
            return
        trained = len(given) - held
        items = int(given.offsets[trained])
        sys.stdout.write(
            f"{trained} sentences, {items} items, {len(given.labels)} labels, {len(given.names)} features; "
            f"held out: {held} sentences, {len(given.gold) - items} items\n"
        )
        sys.stdout.write(f"{'iteration':>9} {'beta':>5} {'accuracy':>9} {'loss':>8} {'held out':>9} {'loss':>8}\n")

    def step(self, number: int, step: Step) -> None:
        """What an iteration came to."""
        self.row(number, step.objective, dict(step.metrics))

    def row(self, number: int, objective: float, metrics: dict[str, float]) -> None:
        """The loss is that of a sentence's labels, as the objective is; held out that of an item."""
        if self._quiet:
            return
        cells = [f"{number:>9}", f"{metrics['beta']:>5.2g}", f"{metrics['accuracy']:>9.5f}", f"{metrics['loss']:>8.5f}"]
        for name, width in (("held_out_accuracy", 9), ("held_out_loss", 8)):
            cells.append(f"{metrics[name]:>{width}.5f}" if name in metrics else "-".rjust(width))
        sys.stdout.write(" ".join(cells) + "\n")
        sys.stdout.flush()


def _publish(kept: RunDirectory, count: int, args: argparse.Namespace) -> None:
    """The policy of the last iteration, what it is, and a configuration; files take their names when complete."""
    folder = kept.path
    last = folder / f"step-{count:04d}"
    aside = folder / ".policy.part"
    shutil.rmtree(aside, ignore_errors=True)
    shutil.copytree(last / "model" / "policy", aside)
    shutil.rmtree(folder / "policy", ignore_errors=True)
    os.replace(aside, folder / "policy")
    from smtplugins.host.learn.pools import write_json

    digest = json.loads((last / "model" / "model.json").read_text(encoding="utf-8"))["artefacts"]["policy"]
    metrics = json.loads((last / "step.json").read_text(encoding="utf-8"))["metrics"]
    write_json(folder / "model.json", {"policy": digest, "iterations": count, "metrics": metrics})
    (folder / "run.yaml").write_text(_configuration(args), encoding="utf-8")


def _configuration(args: argparse.Namespace) -> str:
    """A run.yaml; paths are seen from its folder."""
    here = Path(args.output).resolve()

    def seen(path: str | Path) -> str:
        return json.dumps(os.path.relpath(Path(path).resolve(), here), ensure_ascii=False)

    table = args.table or next(iter(_tables(Path(args.input))), None)
    lines = ["decoder: {name: amasis, policy_path: policy}", "model:"]
    if table is not None:
        lines.append(f"  grammar: {seen(table)}")
    features = [f"{{name: lm, path: {seen(args.lm)}}}"] if args.lm else []
    features += ["word-penalty", "{name: itg-history, path: policy}"]
    lines += ["  features:", *(f"    - {one}" for one in features)]
    if args.weights:
        lines.append(f"  weights: {seen(args.weights)}")
    return "\n".join(lines) + "\n"


def _tables(folder: Path) -> Sequence[Path]:
    return sorted(folder.glob("phrase-table*"))


TRAIN = Command(
    name="train",
    summary="a policy of labels from what `smt searn label` made, with a configuration that decodes with it",
    configure=configure,
    run=run,
)
