"""``smt searn compare``: table 1 and figures 4 and 5 of Zhang, Sun and Li (2008) for a bitext of one's own.

Amasis beside phrase-based systems with phrases of up to one, two and three words, as the paper's Pharaoh; then what
features of earlier labels, more than one label, and words left out bring, and what is left without labels.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.contracts.offers import Command
from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from smtplugins.host.host import Host
    from smtplugins.plugins.searn.study.steps import Study

DECODERS = ("amasis", "phrase")
_PATHS = ("source", "target", "alignment", "lm", "tune", "test")
_HISTORY = "label,label2,depth,fragment"
_UNSAID = {"output", "resume", "format", "quiet", "verbose", "jobs", "cache", "pair"}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    from smtplugins.plugins.searn.study.rows import KINDS, PAIRS

    add = parser.add_argument
    add("-s", "--source", required=True, metavar="FILE", help="source sentences to learn from, tokenised, one a line")
    add("-t", "--target", required=True, metavar="FILE", help="their translations")
    add("-a", "--alignment", metavar="FILE", help="their links, 0-0 1-2")
    add("--align", metavar="NAME[,key=value...]", help="make the links by this model, as `smt align` does")
    add("--lm", required=True, metavar="FILE", help="language model of the target language, ARPA or KenLM")
    for name, what in (("tune", "to tune weights on"), ("test", "to be tested on")):
        add(f"--{name}", required=True, metavar="FILE", help=f"source sentences {what}")
        add(f"--{name}-ref", action="append", required=True, metavar="FILE", help="their references (repeatable)")
    group = parser.add_argument_group("rows")
    rows = "; ".join(f"{name}: {text}" for name, text in KINDS.items())
    group.add_argument(
        "--row",
        action="append",
        choices=list(KINDS),
        metavar="NAME",
        help=f"rows to make (repeatable; default: all). {rows}",
    )
    group.add_argument(
        "--length", type=int, action="append", metavar="N", help="of Pharaoh's phrases (repeatable; default: 1, 2, 3)"
    )
    group.add_argument(
        "--history",
        action="append",
        metavar="NAMES",
        help=f"features of earlier labels, as `smt searn train` has them (repeatable; default: {_HISTORY})",
    )
    group.add_argument("--labels", type=int, default=3, metavar="N", help="that are tried in that row (default: 3)")
    group = parser.add_argument_group("learning")
    group.add_argument("--searn-iterations", type=int, default=3, metavar="N", help="of SEARN (default: 3)")
    group.add_argument("--passes", type=int, default=5, metavar="N", help="of the perceptron (default: 5)")
    group.add_argument("--min-count", type=int, default=5, metavar="N", help="of features (default: 5)")
    group.add_argument(
        "--held-out", type=float, default=0.05, metavar="X", help="part that labels are judged on (default: 0.05)"
    )
    group.add_argument("--tuner", default="mert", metavar="NAME[,key=value...]", help="of weights (default: mert)")
    group.add_argument("--nbest", type=int, default=100, metavar="N", help="lists that it learns from (default: 100)")
    group.add_argument("--iterations", type=int, default=5, metavar="N", help="of decoding and learning (default: 5)")
    group.add_argument("--seeds", type=int, default=1, metavar="N", help="weights are learnt so often (default: 1)")
    group.add_argument("--seed", type=int, default=1, metavar="N", help="the first seed (default: 1)")
    group = parser.add_argument_group("decoding")
    group.add_argument("--stack-size", type=int, default=100, metavar="N", help="hypotheses in a stack (default: 100)")
    group.add_argument("--max-options", type=int, default=20, metavar="N", help="for the same words (default: 20)")
    group.add_argument("--distortion-limit", type=int, default=6, metavar="N", help="of Pharaoh's search (default: 6)")
    group.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="threads (same result)")
    group.add_argument("--cache", metavar="DIR|off", help="where columns of tables are kept between runs")
    add("-m", "--metric", default="bleu", metavar="NAME[,key=value...]", help="as bleu,tokenize=none (default: bleu)")
    add("--pair", choices=PAIRS, help="show the paper's numbers for this pair (default: by the endings .fr, .de, .es)")
    add("-f", "--format", choices=("text", "json", "tsv", "latex"), default="text", help="how to print the tables")
    add("-o", "--output", required=True, metavar="DIR", help="everything goes there")
    add("--resume", action="store_true", help="go on there: what is complete is not made again")
    add("-q", "--quiet", action="store_true", help="no progress and no notes")
    add("-v", "--verbose", action="count", default=0, help="tracebacks of failures")


def study_of(host: Host, args: argparse.Namespace) -> Study:
    """The comparison of a command line, before anything is made."""
    from smtplugins.contracts.spec import Spec
    from smtplugins.plugins.searn.learning.train_command import read_history
    from smtplugins.plugins.searn.study.rows import KINDS, rows_of
    from smtplugins.plugins.searn.study.steps import Study, Texts, Tuning

    if (args.alignment is None) == (args.align is None):
        raise UsageError("expected the links (-a FILE), or a model to make them (--align NAME), one of both")
    lengths, histories = args.length or [1, 2, 3], args.history or [_HISTORY]
    for one in histories:
        read_history(one)
    for option, value, least in (
        ("--length", min(lengths), 1),
        ("--labels", args.labels, 0),
        ("--seeds", args.seeds, 1),
        ("--seed", args.seed, 0),
        ("--iterations", args.iterations, 1),
        ("--nbest", args.nbest, 2),
    ):
        if value < least:
            raise UsageError(f"{option}: expected {least} or more, found {value}")
    paths = {name: Path(value).absolute() for name, value in vars(args).items() if name in _PATHS and value is not None}
    references = [tuple(Path(one).absolute() for one in given) for given in (args.tune_ref, args.test_ref)]
    texts = Texts(
        paths["source"],
        paths["target"],
        paths.get("alignment"),
        paths["tune"],
        references[0],
        paths["test"],
        references[1],
    )
    learner = Spec.parse(args.tuner)
    for kind, name in (*(("decoders", one) for one in DECODERS), ("learners", learner.name)):
        host.registry.entry(kind, name)
    rows = rows_of(args.row or list(KINDS), lengths, histories, labels=args.labels, distortion=args.distortion_limit)
    training = ["--iterations", args.searn_iterations, "--passes", args.passes, "--min-count", args.min_count]
    training += ["--seed", args.seed, *(["--held-out", args.held_out] if args.held_out else [])]

    def say(text: str) -> None:
        if not args.quiet:
            sys.stderr.write(f"smt searn compare: {text}\n")

    return Study(
        host,
        Path(args.output).absolute(),
        texts,
        paths["lm"],
        rows,
        Tuning(learner, args.nbest, args.iterations, range(args.seed, args.seed + args.seeds)),
        args.metric,
        args.align,
        [str(one) for one in training],
        args.stack_size,
        args.max_options,
        args.jobs,
        args.cache,
        args.quiet,
        say,
    )


def pair_of(args: argparse.Namespace) -> str | None:
    """The paper's language pair that the files' endings say, if no other was named."""
    if args.pair is not None:
        return str(args.pair)
    source, target = (Path(one.removesuffix(".gz")).suffix for one in (args.source, args.target))
    letter = {".fr": "F", ".de": "G", ".es": "S"}.get(source)
    return f"{letter}-E" if letter is not None and target == ".en" else None


def run(host: Host, args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host import runs
    from smtplugins.host.learn.pools import write_json
    from smtplugins.plugins.searn.study.tables import shown

    study = study_of(host, args)
    study.check()
    record = runs.manifest(
        command=[one for one in runs.argv() if one != "--resume"],
        options={name: value for name, value in sorted(vars(args).items()) if name not in _UNSAID and _plain(value)},
        inputs=runs.input_hashes([*study.texts.files(), study.lm]),
        plugins=host.plugins,
        seed=args.seed,
    )
    record["tuned_on"] = [str(study.texts.source), str(study.texts.tune)]
    with runs.RunDirectory.create(study.folder, record, resume=args.resume) as made:
        sizes, rows, labelled = study.sizes(), study.judged(), study.labelled()
    counts = labelled["labels"]
    settings = {
        "pair": pair_of(args),
        "metric": study.metric.name,
        "signature": study.signature(),
        "learner": str(study.tuning.learner),
        "seeds": list(study.tuning.seeds),
        "test sentences": len(study.references[0]),
        "labels": counts,
        "most frequent label": max(counts.values(), default=0) / max(sum(counts.values()), 1),
    }
    write_json(made.path / "result.json", {"settings": settings, "rows": rows, "tables": sizes})
    sys.stdout.write(shown(rows, sizes, settings, args.format) + "\n")


def _plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, list))


COMPARE = Command(
    name="compare",
    summary="the paper's table for your bitext: amasis beside phrases of up to one, two and three words, tuned",
    configure=configure,
    run=run,
)
