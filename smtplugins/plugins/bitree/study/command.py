"""``smt bitree compare``: tables 7.2 to 7.5 of Wellington, Turian and Melamed (2009) for a bitext of one's own."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.offers import Command
from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from smtplugins.host.host import Host
    from smtplugins.plugins.bitree.study.steps import Classifiers
    from smtplugins.plugins.bitree.study.systems import PhraseSystems

KINDS = {"l2": "and pruned l2", "svm": "the online SVM", "phrase": "phrases (with --lm)", "trees": "table 7.5"}
_UNSAID = {"output", "resume", "format", "quiet", "verbose", "jobs", "cache", "paper"}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    from smtplugins.plugins.bitree.study.tables import SIZES
    from smtplugins.plugins.bitree.trees.tree_making import SHAPES
    from smtplugins.plugins.bitree.words.word_training import add_path
    from smtplugins.plugins.bitree.words.words_command import add_set, add_text

    add_text(parser)
    add_set(parser, "dev", "for tables 7.2 and 7.3")
    add_set(parser, "test", "for tables 7.4 and 7.5", aligned=False)
    add = parser.add_argument
    add("--shape", choices=SHAPES, help="for table 7.5 without a parser: trees of this shape, the same for each length")
    add("--lm", metavar="FILE", help="language model of the target language: for phrase-based translation")
    add("--tuner", metavar="NAME[,key=value...]", help="tune its weights, as mert; default: Moses' initial ones")
    what = "; ".join(f"{name}: {text}" for name, text in KINDS.items())
    add("--without", action="append", default=[], choices=list(KINDS), help=f"leave out (repeatable). {what}")
    add("--configuration", action="append", metavar="LETTERS", help="as in `smt bitree words` (repeatable)")
    add("--penalty", type=float, action="append", metavar="X", help="of l2 (repeatable; default: 3, 1, 0.3, 0.1)")
    add("--cost", type=float, action="append", metavar="X", help="of the SVM (repeatable; default: 1, 0.1, 0.01)")
    add("--seed", type=int, default=1, metavar="N", help="of the SVM's order and of inferences (default: 1)")
    add_path(parser)
    add("--cache", metavar="DIR|off", help="where columns of tables are kept between runs")
    add("--paper", choices=SIZES, help="the paper's numbers shown (default: 10k up to 50,000 pairs)")
    add("-f", "--format", choices=("text", "json", "tsv", "latex"), default="text", help="how to print the tables")
    add("-o", "--output", required=True, metavar="DIR", help="everything goes there")
    add("--resume", action="store_true", help="go on there: what is complete is not made again")
    add("-q", "--quiet", action="store_true", help="no notes")
    add("-v", "--verbose", action="count", default=0, help="tracebacks of failures")


def run(host: Host, args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.core.lm.ngram_model import check_lm
    from smtplugins.host import runs
    from smtplugins.host.learn.pools import write_json
    from smtplugins.plugins.bitree.study.tables import shown

    if any(value <= 0 for value in [*(args.penalty or []), *(args.cost or [])]):
        raise UsageError("expected penalties and costs above 0")
    if args.tuner is not None and args.lm is None:
        raise UsageError("--tuner is for phrases: expected --lm, too")
    sets = ("tune", "dev", "test")
    names = ["source", "target", "alignment", "trees", "lm"]
    names += [f"{one}{end}" for one in sets for end in ("", "_ref", "_alignment", "_trees")]
    record = runs.manifest(
        command=[one for one in runs.argv() if one != "--resume"],
        options={name: value for name, value in sorted(vars(args).items()) if name not in _UNSAID and _plain(value)},
        inputs=runs.input_hashes([Path(path) for one in names if (path := getattr(args, one)) is not None]),
        plugins=host.plugins,
        seed=args.seed,
    )
    record["tuned_on"] = [str(args.source), str(args.tune)]
    classifiers = _classifiers(host, args)
    if args.lm is not None:
        check_lm(args.lm)
    with runs.RunDirectory.create(classifiers.folder, record, resume=args.resume) as made:
        result = compared(host, args, classifiers)
        write_json(made.path / "result.json", result)
    sys.stdout.write(shown(result, args.format) + "\n")


def _plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, list))


def _classifiers(host: Host, args: argparse.Namespace) -> Classifiers:
    from smtplugins.plugins.bitree.study.steps import SETS, Classifiers, Grids
    from smtplugins.plugins.bitree.words.word_training import chosen_configurations, path_of
    from smtplugins.plugins.bitree.words.words_command import read_set, sayer

    trees = [args.trees, args.tune_trees, args.dev_trees, args.test_trees]
    if None in trees and trees != [None] * 4:
        raise UsageError(
            "expected source trees of all texts (--trees, --tune-trees, --dev-trees, --test-trees) or none"
        )
    letters = chosen_configurations(args.configuration, args.trees is not None)
    default = Grids()
    return Classifiers(
        Path(args.output).absolute(),
        read_set(host, args),
        {name: read_set(host, args, name) for name in SETS},
        letters,
        path_of(args),
        Grids(args.penalty or default.penalties, args.cost or default.costs, args.seed),
        sayer(args.quiet),
    )


def compared(host: Host, args: argparse.Namespace, classifiers: Classifiers) -> dict[str, Any]:
    """All tables."""
    from smtplugins.plugins.bitree.study.steps import L1, L2, PRUNED, SVM

    letters = classifiers.letters
    kinds = [L1, *([] if "l2" in args.without else [L2, PRUNED]), *([] if "svm" in args.without else [SVM])]
    baseline = classifiers.accuracies({name: classifiers.baseline(name) for name in classifiers.sets})
    rows: dict[str, Any] = {"baseline": {one: {"accuracy": baseline, "size": 0} for one in letters}}
    for kind in kinds:
        rows[kind] = {one: classifiers.record(kind, one) for one in letters}
    order = ("baseline", L2, L1, SVM, PRUNED)
    phrases = None if args.lm is None or "phrase" in args.without else _phrases(host, args, classifiers)
    training = classifiers.rows["training"]
    pairs = len(classifiers.training)
    return {
        "settings": {
            "pairs": {"training": pairs, **{name: len(one) for name, one in classifiers.sets.items()}},
            "rows": {name: len(one) for name, one in classifiers.rows.items()},
            "source words": len(training.words),
            "classifiers": sum(map(len, training.translations)),
            "configurations": list(letters),
            "mixture": {"best": classifiers.mixture.best, "others": len(classifiers.mixture.words)},
            "trees": _tree_kind(args, classifiers),
            "paper": args.paper or ("10k" if pairs <= 50_000 else "100k"),
        },
        "classifiers": {name: rows[name] for name in order if name in rows},
        "dev bags": _bag_rows(classifiers, "dev", ["baseline", *letters, "mixture"], phrases),
        "test bags": _bag_rows(classifiers, "test", [_best(classifiers), "mixture"], phrases),
        "transducers": [] if "trees" in args.without else _transducers(host, args, classifiers, phrases),
    }


def _best(classifiers: Classifiers) -> str:
    """The configuration that is best on the development text."""
    from smtplugins.plugins.bitree.study.steps import L1

    accuracies = {one: classifiers.record(L1, one)["accuracy"]["dev"] for one in classifiers.letters}
    return max(accuracies, key=lambda one: accuracies[one])


def _bag_rows(
    classifiers: Classifiers, name: str, systems: Sequence[str], phrases: PhraseSystems | None
) -> list[dict[str, Any]]:
    from smtplugins.plugins.bitree.study.steps import L1
    from smtplugins.plugins.bitree.study.systems import WITH, WITHOUT
    from smtplugins.plugins.bitree.words.predicting import BagOverlap, bags, upper_bound

    rows, pairs = classifiers.rows[name], classifiers.sets[name]
    references = [one.target for one in pairs]
    found = []
    for system in systems:
        if system == "baseline":
            classes = classifiers.baseline(name)
        elif system == "mixture":
            classes = classifiers.mixed(name)
        else:
            classes = classifiers.predictions(L1, system)[name]
        found.append({"system": system, **BagOverlap.of(bags(rows, classes, len(pairs)), references).shown()})
    if phrases is not None:
        for system in (WITHOUT, WITH):
            found.append({"system": system, **BagOverlap.of(phrases.translations(system, name), references).shown()})
    if name == "dev":
        found.append({"system": "bound", **upper_bound([one.source for one in pairs], references).shown()})
    return found


def _phrases(host: Host, args: argparse.Namespace, classifiers: Classifiers) -> PhraseSystems:
    from smtplugins.plugins.bitree.study.systems import Files, PhraseSystems

    names = ("source", "target", "alignment", "tune", "tune_ref", "dev", "test", "lm")
    files = Files(*(Path(getattr(args, one)).absolute() for one in names))
    folder = classifiers.folder
    return PhraseSystems(host, folder, files, args.tuner, args.jobs, args.cache, classifiers.say)


def _tree_kind(args: argparse.Namespace, classifiers: Classifiers) -> str | None:
    first = next((one.tree.kind for one in classifiers.training if one.tree is not None), None)
    return first if first is not None else args.shape


def _transducers(
    host: Host, args: argparse.Namespace, classifiers: Classifiers, phrases: PhraseSystems | None
) -> list[dict[str, Any]]:
    """Table 7.5, if there are trees or a shape of trees."""
    from smtplugins.plugins.bitree.study.systems import WITHOUT
    from smtplugins.plugins.bitree.study.transducers import judged, transduced
    from smtplugins.plugins.bitree.transduce.transducing import (
        JoinRecipe,
        bitrees_of,
        learn_discriminative,
        learn_generative,
        shaped,
    )

    if args.trees is None and args.shape is None:
        return []
    training, test = classifiers.training, classifiers.sets["test"]
    if args.trees is None:
        training, test = shaped(training, args.shape), shaped(test, args.shape)
    path, say = classifiers.path, classifiers.say

    @functools.cache
    def bitrees() -> Any:
        return bitrees_of(training)

    def made(kind: str) -> dict[str, Any]:
        if kind == "generative":
            model = learn_generative(bitrees(), seed=args.seed, say=say)
        else:
            recipe = JoinRecipe(eta=path.eta, seed=args.seed, threads=path.jobs)
            model = learn_discriminative(bitrees(), classifiers.word_model(), recipe, say)
        say(f"{kind} transducer: {len(test)} sentences")
        return {"texts": transduced(model, test, threads=path.jobs), "trained": dict(model.trained)}

    kinds = ("generative", "discriminative")
    systems = {kind: classifiers.once(f"transducer-{kind}", functools.partial(made, kind))["texts"] for kind in kinds}
    if phrases is not None:
        systems[WITHOUT] = [" ".join(one) for one in phrases.translations(WITHOUT, "test")]
    return judged(host, systems, [" ".join(one.target) for one in test])


COMPARE = Command(
    name="compare",
    summary="the paper's tables for your bitext: l1, l2 and SVM classifiers of words, bags, transducers of trees",
    configure=configure,
    run=run,
)
