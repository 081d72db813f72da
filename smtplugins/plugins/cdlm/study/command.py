"""``smt cdlm compare``: the tables of Li, Wang, Khudanpur and Eisner (2010) for a system and texts of one's own.

From a system's grammar, or from its searches, a confusion grammar; of a text that neither it nor the language model was
made from, confusion sets; two models learnt from these; and what they are good for: table 2 on the confusion sets of
another text, table 3 in the system, table 4 on n-grams of confusion sets and of the system's lists.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.offers import Command
from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from smtplugins.host.host import Host
    from smtplugins.plugins.cdlm.study.steps import Decoding, Study
    from smtplugins.plugins.cdlm.study.tables import Table


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    from smtplugins.plugins.cdlm.picking.pick_command import add_tables
    from smtplugins.plugins.cdlm.sets.confuse_command import add_setting
    from smtplugins.plugins.cdlm.training.rounds import LEARNER

    parser.add_argument(
        "-i", "--input", required=True, metavar="TEXT", help="sentences to learn from, in the target language"
    )
    parser.add_argument(
        "-r", "--ref", action="append", default=[], metavar="FILE", help="paraphrases of them (repeatable)"
    )
    parser.add_argument("--test", required=True, metavar="TEXT", help="sentences to be judged on")
    parser.add_argument(
        "--test-ref", action="append", default=[], metavar="FILE", help="paraphrases of these (repeatable)"
    )
    group = parser.add_argument_group("the confusion grammar, unless -g names one")
    group.add_argument(
        "--system", nargs="+", default=[], metavar="GRAMMAR", help="from grammars: all target sides of a source side"
    )
    group.add_argument("--cap", type=int, default=0, metavar="N", help="at most N target sides of a source side")
    group.add_argument(
        "--best",
        default="order",
        metavar="order|count|[-]FEATURE",
        help="which: as `smt cdlm grammar` (default: order)",
    )
    group.add_argument("--no-identity", dest="identity", action="store_false", help="no rules whose sides are the same")
    group.add_argument(
        "--scope",
        choices=("item", "cell"),
        default="item",
        help="without --system, from the searches of -c: rules that compete at a node, or over a span",
    )
    group = parser.add_argument_group("the system (tables 3 and 4)")
    group.add_argument(
        "-c", "--config", metavar="FILE", help="run.yaml, cdec.ini, moses.ini or joshua.config, with what to tune on"
    )
    group.add_argument("--config-set", action="append", default=[], metavar="KEY=VALUE", help="override a key of it")
    group.add_argument("-w", "--weights", metavar="FILE", help="its weights (default: the configuration's)")
    group.add_argument("--source", metavar="FILE", help="the source sentences of the test text")
    group.add_argument("--tuner", default="mert", metavar="NAME[,key=value...]", help="what tunes it (default: mert)")
    group.add_argument(
        "--tune-nbest", type=int, default=100, metavar="N", help="it learns from lists of N, 0: forests (default: 100)"
    )
    group.add_argument("--tune-iterations", type=int, default=5, metavar="N", help="at most (default: 5)")
    group.add_argument("--seeds", type=int, default=3, metavar="N", help="it is tuned so often (default: 3)")
    group = parser.add_argument_group("learning")
    group.add_argument(
        "--learner", default=LEARNER, metavar="NAME[,key=value...]", help=f"of the models (default: {LEARNER})"
    )
    group.add_argument(
        "--gains",
        default="measured",
        metavar="measured|published|P,R",
        help="precision and decay of the linear gains: those of what the baseline LM picks, 0.85,0.7, or others",
    )
    group.add_argument(
        "--iterations", type=int, default=5, metavar="N", help="rounds of confusing and learning (default: 5)"
    )
    group.add_argument(
        "--rounds", type=int, default=0, metavar="N", help="learn from the sets of the last N, 0: of all (default: 0)"
    )
    group.add_argument(
        "--frequent",
        type=int,
        default=250,
        metavar="N",
        help="without --classes: words that are classes of their own (default: 250)",
    )
    group.add_argument("--seed", type=int, default=1, metavar="N", help="the first seed (default: 1)")
    parser.add_argument(
        "--table",
        type=int,
        action="append",
        choices=(2, 3, 4),
        metavar="N",
        help="make table 2, 3 or 4 (repeatable; default: those that what is given allows)",
    )
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="everything goes there")
    parser.add_argument("--resume", action="store_true", help="go on there: what is complete is not made again")
    add_tables(parser)
    add_setting(parser, required=False)


def study_of(host: Host, args: argparse.Namespace) -> Study:
    """The comparison of a command line, before anything is made."""
    from smtplugins.contracts.spec import Spec
    from smtplugins.host.loading.manager import load_plugins
    from smtplugins.plugins.cdlm.grammar.choices import Choices
    from smtplugins.plugins.cdlm.sets.confuse_command import sayer, setting_of, there
    from smtplugins.plugins.cdlm.study.steps import CONFUSIONS, Study, Texts

    folder = Path(args.output).absolute()
    if args.grammar is not None and args.system:
        raise UsageError("name one of -g (a confusion grammar) and --system (grammars to make one from)")
    if args.grammar is None and not args.system and args.config is None:
        raise UsageError("expected something to make a confusion grammar from: -g, --system or -c")
    if args.nbest < 1:
        raise UsageError(f"--nbest: expected 1 or more, found {args.nbest}")
    setting = setting_of(args, folder / CONFUSIONS)
    best: Any = args.best
    if best not in ("order", "count"):
        best = {best.removeprefix("-"): -1.0 if best.startswith("-") else 1.0}
    system = system_of(args)
    if system is not None and system.config.plugins:
        host = load_plugins(system.config.plugins)
    return Study(
        host,
        folder,
        setting,
        Texts(
            there(args.input),
            tuple(map(there, args.ref)),
            there(args.test),
            tuple(map(there, args.test_ref)),
        ),
        args.metric,
        Choices(cap=args.cap, best=best, identity=args.identity),
        args.scope,
        tuple(map(there, args.system)),
        system,
        Spec.parse(args.learner),
        args.gains,
        args.iterations,
        args.rounds,
        args.seed,
        args.nbest,
        args.jobs,
        args.cache,
        args.quiet,
        sayer(args.quiet, "compare"),
    )


def system_of(args: argparse.Namespace) -> Decoding | None:
    """The system of a command line, if there is one."""
    from smtplugins.contracts.spec import Spec
    from smtplugins.host.config.run_yaml import load_config
    from smtplugins.host.study.steps import refuse_runner
    from smtplugins.plugins.cdlm.sets.confuse_command import there
    from smtplugins.plugins.cdlm.study.steps import Decoding

    if args.config is None:
        for option in ("weights", "source"):
            if getattr(args, option) is not None:
                raise UsageError(f"--{option} is of a system: name it with -c")
        return None
    overrides = list(args.config_set)
    if args.weights is not None:
        import json

        overrides.append(f"model.weights={json.dumps(str(there(args.weights)))}")
    source = None if args.source is None else there(args.source)
    config = load_config(args.config, overrides)
    refuse_runner(config)
    return Decoding(
        config,
        source,
        Spec.parse(args.tuner),
        args.tune_nbest,
        args.tune_iterations,
        args.seeds,
    )


def wanted(study: Study, asked: list[int] | None) -> list[int]:
    """The tables to make."""
    from smtplugins.plugins.cdlm.study import decoder as compare_decoder

    possible = study.system is not None and study.system.source is not None
    found = asked or ([2, 3, 4] if possible else [2])
    if 4 in found and not possible:
        raise UsageError("table 4 needs a system (-c) and the source sentences of the test text (--source)")
    if 3 in found:
        compare_decoder.check(study)
    return sorted(set(found))


def compared(study: Study, tables: list[int], given: Path | None, frequent: int) -> list[Table]:
    """The tables."""
    from smtplugins.plugins.cdlm.study import decoder as compare_decoder
    from smtplugins.plugins.cdlm.study import tables as compare_tables
    from smtplugins.plugins.cdlm.study.steps import FULL

    study.confusions()
    contenders = study.contenders(study.classes(given, frequent))
    name, made = study.metric.name, []
    if 2 in tables:
        made.append(compare_tables.picking(study.picking(contenders), name, len(study.test), len(study.references)))
    if 3 in tables:
        assert study.system is not None
        rows = compare_decoder.effect(study, study.folder / FULL)
        made.append(compare_tables.decoder(rows, name, len(study.test), study.system.seeds))
    if 4 in tables:
        made.append(compare_tables.ngrams(study.ngrams(contenders[0]), study.nbest, len(study.test)))
    return made


def run(host: Host, args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host import runs
    from smtplugins.host.learn.pools import write_json
    from smtplugins.plugins.cdlm.sets.confuse_command import there
    from smtplugins.plugins.cdlm.study import tables as compare_tables

    study = study_of(host, args)
    tables = wanted(study, args.table)
    study.check()
    given = None if args.classes is None else there(args.classes)
    unsaid = {"output", "resume", "format", "paper", "quiet", "verbose", "jobs", "table", "cache"}
    options = {
        name: value
        for name, value in sorted(vars(args).items())
        if name not in unsaid and isinstance(value, (bool, int, float, str, list, type(None)))
    }
    if study.system is not None:
        options["system"] = study.system.config.to_yaml()
    texts = study.texts
    inputs = [texts.text, texts.test, *texts.paraphrases, *texts.test_paraphrases, study.setting.lm, *study.grammars]
    record = runs.manifest(
        command=[one for one in runs.argv() if one != "--resume"],
        options=options,
        inputs=runs.input_hashes(inputs),
        plugins=study.host.plugins,
        seed=args.seed,
    )
    record["tuned_on"] = [str(texts.text)]
    with runs.RunDirectory.create(study.folder, record, resume=args.resume):
        made = compared(study, tables, given, args.frequent)
        perplexities = study.perplexities()
    for name, one in perplexities.items():
        study.say(
            f"{name}: {one['sentences']} sentences, perplexity {one['perplexity']:.1f} under the baseline LM, "
            f"{one['unknown']} unknown words"
        )
    settings = {
        "learner": str(study.learner_of()),
        "gains": study.gains,
        "iterations": study.iterations,
        "rounds": study.rounds,
        "confusions": study.confusions(),
        "metric": study.metric.name,
        "signature": study.signature(),
        "perplexity": perplexities,
    }
    kept = {one.key: {"title": one.title, "rows": [dict(row) for row in one.rows]} for one in made}
    write_json(study.folder / "result.json", {"settings": settings, "tables": kept})
    paper = args.format == "text" if args.paper is None else args.paper
    sys.stdout.write(compare_tables.shown(made, args.format, paper, settings) + "\n")


COMPARE = Command(
    name="compare",
    summary="the paper's tables for your system and texts: models learnt from confusion sets, and their effect",
    configure=configure,
    run=run,
)
