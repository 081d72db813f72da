"""``smt cdlm train``: train a language model to prefer sentences to their confusion sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.contracts.spec import Spec
from smtplugins.contracts.tools.running import add_jobs, add_number, jobs_of, runs, sayer
from smtplugins.plugins.cdlm.sets.confuse_command import add_setting, add_text, add_work, setting_of, there
from smtplugins.plugins.cdlm.sets.confusing import read_weights
from smtplugins.plugins.cdlm.training.rounds import LEARNER, Training, save, train

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.tools.running import Host


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add_text(parser, "sentences")
    add("-w", "--weights", metavar="FILE", help="start weights: a file or a model's folder (default: blm 1)")
    add("-o", "--output", required=True, metavar="DIR", help="the folder of the model")
    add(
        "--dir",
        metavar="DIR",
        help="folder of sets and steps, to resume from (default: `training` in the model's folder)",
    )
    add("--resume", action="store_true", help="resume the run in that folder")
    _add_learning(parser)
    add_setting(parser)
    add_jobs(parser)
    add_work(parser)


def _add_learning(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("learning")
    add = group.add_argument
    add(
        "--learner",
        default=LEARNER,
        metavar="NAME[,key=value...]",
        help=f"a learner that accepts forests (default: {LEARNER})",
    )
    add_number(group, "--iterations", 5, "maximum number of iterations")
    add_number(group, "--epsilon", 1e-5, "stop if no weight changes by more than this", "X")
    add_number(group, "--rounds", 1, "learn from the sets of the last N iterations, 0: of all")
    add(
        "--select",
        choices=("best", "last"),
        default="best",
        help="result: the iteration's weights with the best score on the sets of the text, or the last (default: best)",
    )
    kept = "keep this weight fixed, such as blm (repeatable)"
    add("--keep", action="append", default=[], metavar="FEATURE", help=kept)
    add_number(group, "--seed", 1, "random seed of the learner")


def run(host: Host, args: argparse.Namespace) -> None:
    """Run the command."""
    say = sayer(args.quiet, "smt cdlm train")
    training = Training(
        setting_of(args),
        there(args.input),
        tuple(map(there, args.ref)),
        learner=Spec.parse(args.learner),
        iterations=args.iterations,
        epsilon=args.epsilon,
        rounds=args.rounds,
        select=args.select,
        keep=tuple(args.keep),
        seed=args.seed,
    )
    output = Path(args.output)
    ended = train(
        host,
        training,
        output / "training" if args.dir is None else Path(args.dir),
        start=None if args.weights is None else read_weights(host, there(args.weights)),
        resume=args.resume,
        jobs=jobs_of(args),
        command=runs.argv(),
        cache=args.cache,
        quiet=args.quiet,
        told=say,
        note=say,
    )
    say(ended.reason)
    save(training, ended, output)
