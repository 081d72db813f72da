"""build a system from a text and its translation: run.yaml in the output folder decodes with it"""

from __future__ import annotations

import argparse
import os
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from smtplugins.cli import options
from smtplugins.cli.systems.prepare import add_limits, add_words
from smtplugins.host.command_options import add_jobs

if TYPE_CHECKING:
    from smtplugins.host.train.build_folder import StepCost
    from smtplugins.host.train.training import TrainedSystem


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("-s", "--source", required=True, metavar="FILE", help="source sentences, one per line")
    parser.add_argument("-t", "--target", required=True, metavar="FILE", help="their translations, in the same order")
    parser.add_argument(
        "--dev",
        required=True,
        nargs="+",
        metavar=("SOURCE", "REFERENCE"),
        help="text to learn weights from: a source file and its references",
    )
    parser.add_argument("--test", nargs="+", default=[], metavar=("SOURCE", "REFERENCE"), help="text to judge by")
    parser.add_argument(
        "--model",
        default="phrase",
        metavar="NAME[,key=value...]",
        help="what to build, with options (default: phrase; `smt recipes` lists them)",
    )
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="folder for the system")
    parser.add_argument("--resume", action="store_true", help="go on after the last complete step in that folder")
    parser.add_argument("--dry-run", action="store_true", help="print the commands of all steps, and run none")
    add_words(parser)
    add_limits(parser)
    _add_models(parser)
    options.add_table(parser)


def _add_models(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("models")
    group.add_argument(
        "--lm-text",
        action="append",
        default=[],
        metavar="FILE",
        help="further text of the target language, for the language model (repeatable)",
    )
    group.add_argument("--align", metavar="NAME[,key=value...]", help="model of `smt align` (default: fast-align)")
    group.add_argument("--order", type=int, default=5, metavar="N", help="order of the language model (default: 5)")
    group.add_argument(
        "-m",
        "--metric",
        default="bleu",
        metavar="NAME[,key=value...]",
        help="what to tune and judge by (default: bleu)",
    )
    group.add_argument("--learner", metavar="NAME[,key=value...]", help="learner of the loop (default: mert)")
    group.add_argument("--iterations", type=int, metavar="N", help="maximum number of iterations (default: 10)")
    group.add_argument("--seed", type=int, default=1, metavar="N", help="random seed (default: 1)")
    add_jobs(group, "processes, same result for any N")
    group.add_argument("--memory", metavar="SIZE", help="sort on disk beyond this size: 500M, 8G")


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    host = options.load_host(args)
    given: dict[str, Any] = {"folder": args.output, "dry": args.dry_run, "plugins": args.plugin}
    given["memory"] = options.memory_limit(args)
    system = options.call(host.train, args, **given)
    if args.dry_run:
        _show_plan(system, args.plugin)
    else:
        _show_result(system, args.format)


def _show_plan(system: TrainedSystem, plugins: list[str]) -> None:
    """Print the plan as a script."""
    from smtplugins.host.spread.choice import RUNNER
    from smtplugins.host.train.build_folder import PLUGINS, all_plugins, shell_line

    folder = shlex.quote(str(system.folder))
    # In a list of commands, `-e` sees the last one only.
    options.show(f"set -e\nmkdir -p {folder}\ncd {folder}")
    if names := all_plugins(plugins):
        options.show(f"export {PLUGINS}={shlex.quote(','.join(names))}")
    if system.runner is not None:
        options.show(f"export {RUNNER}={shlex.quote(system.runner)}")
    made: set[str] = set()
    for step in system.steps:
        parents = sorted({os.path.dirname(name) for name in step.makes if os.path.dirname(name)} - made)
        made.update(parents)
        if parents:
            options.show(f"mkdir -p {' '.join(map(shlex.quote, parents))}")
        options.show(shell_line(step))


def _show_result(system: TrainedSystem, style: str) -> None:
    """Print scores and, in text, what the steps took."""
    from smtplugins.host import printing
    from smtplugins.host.train.build_folder import total_cost

    rows = [{**row, "text": text} for text, scores in system.scores.items() for row in scores]
    references = "raw" if system.raw else "prepared"
    if style == "json":
        steps = [asdict(one) for one in system.costs]
        shown = {"scores": rows, "references": references, "steps": steps, "config": str(system.config)}
        options.show(printing.render([shown], [], "json"))
        return
    if system.costs and style == "text":
        rows_of_costs = list(map(_cost_row, (*system.costs, total_cost(system.costs))))
        options.show(printing.render(rows_of_costs, ["step", "time", "CPU", "memory"], style))
        options.show()
    options.show(printing.render(rows, ["text", "metric", "score", "low", "high", "signature"], style))
    if style == "text":
        options.show()
        if not system.raw:
            options.show("Prepared text was judged, not raw text: compare such scores with their like only.")
        options.show(f"smt decode -c {shlex.quote(str(system.config))} translates with it.")


def _cost_row(cost: StepCost) -> dict[str, str]:
    memory = f"{cost.memory >> 20} MB"
    return {"step": cost.name, "time": f"{cost.seconds:.1f} s", "CPU": f"{cost.cpu:.1f} s", "memory": memory}
