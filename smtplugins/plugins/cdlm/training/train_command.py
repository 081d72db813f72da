"""``smt cdlm train``: a language model that prefers sentences to their confusion sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.contracts.offers import Command

if TYPE_CHECKING:
    import argparse

    from smtplugins.host.host import Host


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    from smtplugins.plugins.cdlm.sets.confuse_command import add_setting
    from smtplugins.plugins.cdlm.training.rounds import LEARNER

    parser.add_argument("-i", "--input", required=True, metavar="TEXT", help="sentences, one on each line, tokenised")
    parser.add_argument(
        "-r",
        "--ref",
        action="append",
        default=[],
        metavar="FILE",
        help="paraphrases of the sentences, line by line: further references (repeatable)",
    )
    parser.add_argument("-w", "--weights", metavar="FILE", help="weights, or a model, to begin with (default: blm 1)")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder of the model")
    parser.add_argument(
        "--dir", metavar="DIR", help="where sets and steps are kept, to resume from (default: `training` in the model)"
    )
    parser.add_argument("--resume", action="store_true", help="go on with the run in that folder")
    group = parser.add_argument_group("learning")
    group.add_argument(
        "--learner", default=LEARNER, metavar="NAME[,key=value...]", help=f"a learner from forests (default: {LEARNER})"
    )
    group.add_argument("--iterations", type=int, default=5, metavar="N", help="at most so many rounds (default: 5)")
    group.add_argument(
        "--epsilon", type=float, default=1e-5, metavar="X", help="a change of weights that is none (default: 1e-5)"
    )
    group.add_argument(
        "--rounds",
        type=int,
        default=1,
        metavar="N",
        help="learn from the sets of the last N rounds, 0: of all (default: 1)",
    )
    group.add_argument(
        "--select",
        choices=("best", "last"),
        default="best",
        help="which round's weights are the result: those that pick best from the sets of the text, or the last ones",
    )
    group.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="FEATURE",
        help="a weight that is not learnt, as blm (repeatable)",
    )
    group.add_argument("--seed", type=int, default=1, metavar="N", help="for learners that draw (default: 1)")
    add_setting(parser)


def run(host: Host, args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.contracts.spec import Spec
    from smtplugins.host import runs
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


TRAIN = Command(
    name="train",
    summary="a discriminative language model from plain text and a confusion grammar",
    configure=configure,
    run=run,
)
