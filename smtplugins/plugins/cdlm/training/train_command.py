"""``smt cdlm train``: train a language model to prefer sentences to their confusion sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.tools.running import Host


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    from smtplugins.plugins.cdlm.sets.confuse_command import add_setting, add_work

    parser.add_argument("-i", "--input", required=True, metavar="TEXT", help="sentences, one per line, tokenised")
    parser.add_argument(
        "-r",
        "--ref",
        action="append",
        default=[],
        metavar="FILE",
        help="paraphrases of the sentences, line by line, as further references (repeatable)",
    )
    parser.add_argument(
        "-w", "--weights", metavar="FILE", help="start weights: a file or a model's folder (default: blm 1)"
    )
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder of the model")
    parser.add_argument(
        "--dir",
        metavar="DIR",
        help="folder of sets and steps, to resume from (default: `training` in the model's folder)",
    )
    parser.add_argument("--resume", action="store_true", help="resume the run in that folder")
    _add_learning(parser)
    add_setting(parser)
    add_work(parser)


def _add_learning(parser: argparse.ArgumentParser) -> None:
    from smtplugins.plugins.cdlm.training.rounds import LEARNER

    group = parser.add_argument_group("learning")
    group.add_argument(
        "--learner",
        default=LEARNER,
        metavar="NAME[,key=value...]",
        help=f"a learner that accepts forests (default: {LEARNER})",
    )
    group.add_argument(
        "--iterations", type=int, default=5, metavar="N", help="maximum number of iterations (default: 5)"
    )
    group.add_argument(
        "--epsilon",
        type=float,
        default=1e-5,
        metavar="X",
        help="stop if no weight changes by more than this (default: 1e-5)",
    )
    group.add_argument(
        "--rounds",
        type=int,
        default=1,
        metavar="N",
        help="learn from the sets of the last N iterations, 0: of all (default: 1)",
    )
    group.add_argument(
        "--select",
        choices=("best", "last"),
        default="best",
        help="result: the iteration's weights with the best score on the sets of the text, or the last (default: best)",
    )
    group.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="FEATURE",
        help="keep this weight fixed, such as blm (repeatable)",
    )
    group.add_argument("--seed", type=int, default=1, metavar="N", help="random seed of the learner (default: 1)")


def run(host: Host, args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.contracts.spec import Spec
    from smtplugins.contracts.tools.running import runs
    from smtplugins.plugins.cdlm.sets.confuse_command import sayer, setting_of, there
    from smtplugins.plugins.cdlm.sets.confusing import read_weights
    from smtplugins.plugins.cdlm.training.rounds import Training, save, train

    say = sayer(args.quiet, "train")
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
        jobs=args.jobs,
        command=runs.argv(),
        cache=args.cache,
        quiet=args.quiet,
        told=say,
        note=say,
    )
    say(ended.reason)
    save(training, ended, output)
