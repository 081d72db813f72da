"""The tables of ``smt bitree compare``, made of classifiers, phrase-based systems and transducers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property, partial
from typing import Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.language_models import check_lm
from smtplugins.contracts.tools.study import Study, StudyTable, choose
from smtplugins.plugins.bitree.study import tables
from smtplugins.plugins.bitree.study.classifiers import L1, L2, PRUNED, SVM, Classifiers, Grids
from smtplugins.plugins.bitree.study.systems import WITH, WITHOUT, PhraseSystems
from smtplugins.plugins.bitree.study.transducers import judge_by_gtm, transduce
from smtplugins.plugins.bitree.transduce import transducing
from smtplugins.plugins.bitree.words.predicting import BagOverlap, bags, upper_bound
from smtplugins.plugins.bitree.words.word_training import chosen_configurations, path_of
from smtplugins.plugins.bitree.words.words_command import read_set

SETS = ("tune", "dev", "test")


class BitreeStudy(Study):
    """Tables 7.2 to 7.5."""

    name = "bitree compare"
    known_tables = tables.TABLES
    unrecorded = ("figures",)
    reads = (
        *("source", "target", "alignment", "trees", "lm"),
        *(f"{name}{end}" for name in SETS for end in ("", "_ref", "_alignment", "_trees")),
    )
    learns_from = ("source", "tune")
    fixed = ("oov",)

    def check(self) -> None:
        """Raise an error if an option or a text is wrong, before anything is written."""
        args = self.args
        if any(value <= 0 for value in [*(args.penalty or []), *(args.cost or [])]):
            raise UsageError("expected penalties and costs above 0")
        if args.tuner is not None and args.lm is None:
            raise UsageError("--tuner tunes phrase-based systems, which need a language model (--lm)")
        trees = [args.trees, args.tune_trees, args.dev_trees, args.test_trees]
        if None in trees and trees != [None] * 4:
            names = "--trees, --tune-trees, --dev-trees, --test-trees"
            raise UsageError(f"expected source trees of all texts ({names}) or none")
        assert self.classifiers
        if args.lm is not None:
            check_lm(args.lm)
            self.check_plan()

    def chosen_tables(self) -> list[str]:
        """The tables asked for; table 7.5 if there are trees or a shape."""
        return [name for name in super().chosen_tables() if self.shape is not None or name != "transducers"]

    def settings(self) -> dict[str, Any]:
        """Sizes of the texts and what was learnt from them."""
        learnt, training = self.classifiers, self.classifiers.rows["training"]
        return {
            "pairs": {"training": len(learnt.training), **{name: len(own) for name, own in learnt.sets.items()}},
            "rows": {name: len(own) for name, own in learnt.rows.items()},
            "source words": len(training.words),
            "classifiers": sum(map(len, training.translations)),
            "configurations": list(learnt.letters),
            "mixture": {"best": learnt.mixture.best, "others": len(learnt.mixture.words)},
            "trees": self.shape,
            "paper": self.size,
        }

    def extras(self) -> dict[str, Any]:
        """The records of all classifiers."""
        return {"classifiers": self.records}

    @cached_property
    def classifiers(self) -> Classifiers:
        """The classifiers of the texts."""
        letters = chosen_configurations(self.args.configuration, self.args.trees is not None)
        sets = {name: read_set(self.host, self.args, name) for name in SETS}
        default = Grids()
        grids = Grids(self.args.penalty or default.penalties, self.args.cost or default.costs, self.args.seed)
        return Classifiers(self, read_set(self.host, self.args), sets, letters, path_of(self.args), grids)

    @cached_property
    def size(self) -> str:
        """The size of the paper's training text whose figures are shown."""
        return str(self.args.figures or ("10k" if len(self.classifiers.training) <= 50_000 else "100k"))

    @cached_property
    def shape(self) -> str | None:
        """The kind of the source trees, or the shape of trees made without a parser."""
        kinds = (pair.tree.kind for pair in self.classifiers.training if pair.tree is not None)
        return next(kinds, None) or self.args.shape

    @cached_property
    def phrases(self) -> PhraseSystems | None:
        """The phrase-based systems, with a language model."""
        wanted = self.args.lm is not None and "phrase" in choose(self.args.row, tables.ROWS)
        return PhraseSystems(self) if wanted else None

    @cached_property
    def records(self) -> dict[str, dict[str, Any]]:
        """The record of each kind of classifiers and configuration, in the paper's order."""
        learnt, chosen = self.classifiers, choose(self.args.row, tables.ROWS)
        kinds = [L1, *([L2, PRUNED] if "l2" in chosen else []), *([SVM] if "svm" in chosen else [])]
        records = {kind: {letters: learnt.record(kind, letters) for letters in learnt.letters} for kind in kinds}
        frequent = learnt.accuracies({name: learnt.baseline(name) for name in learnt.sets})
        records["baseline"] = {letters: {"accuracy": frequent, "size": 0} for letters in learnt.letters}
        return {kind: records[kind] for kind in ("baseline", L2, L1, SVM, PRUNED) if kind in records}

    # The paper's tables.

    def accuracy(self) -> StudyTable:
        """The accuracies of table 7.2."""
        return tables.accuracy_table(self.records, self.classifiers.letters, self.size)

    def sizes(self) -> StudyTable:
        """The parameters of table 7.2."""
        return tables.sizes_table(self.records, self.classifiers.letters, self.size)

    def dev_bags(self) -> StudyTable:
        """Table 7.3."""
        rows = self._bags("dev", ["baseline", *self.classifiers.letters, "mixture"])
        return tables.bags_table("dev-bags", rows, self.size)

    def test_bags(self) -> StudyTable:
        """Table 7.4: the configuration that is best on the development text, and the mixture."""
        learnt = self.classifiers
        best = max(learnt.letters, key=lambda letters: learnt.record(L1, letters)["accuracy"]["dev"])
        return tables.bags_table("test-bags", self._bags("test", [best, "mixture"]), self.size)

    def _bags(self, name: str, keys: Sequence[str]) -> list[dict[str, Any]]:
        learnt = self.classifiers
        rows, pairs = learnt.rows[name], learnt.sets[name]
        references = [pair.target for pair in pairs]
        overlaps = {}
        for key in keys:
            if key == "baseline":
                classes = learnt.baseline(name)
            elif key == "mixture":
                classes = learnt.predict_mixture(name)
            else:
                classes = learnt.predictions(L1, key)[name]
            overlaps[key] = BagOverlap.of(bags(rows, classes, len(pairs)), references)
        if self.phrases is not None:
            for key in (WITHOUT, WITH):
                overlaps[key] = BagOverlap.of(self.phrases.translations(key, name), references)
        if name == "dev":
            overlaps["bound"] = upper_bound([pair.source for pair in pairs], references)
        return [{"key": key, **overlap.shown()} for key, overlap in overlaps.items()]

    def transducers(self) -> StudyTable:
        """Table 7.5."""
        training, test = self.classifiers.training, self.classifiers.sets["test"]
        if self.args.trees is None:
            training, test = (transducing.shaped(pairs, self.args.shape) for pairs in (training, test))

        @cache
        def bitrees() -> Any:
            return transducing.bitrees_of(training)

        def learn(kind: str) -> dict[str, Any]:
            if kind == "generative":
                model = transducing.learn_generative(bitrees(), seed=self.args.seed, say=self.say)
            else:
                recipe = transducing.JoinRecipe(eta=self.args.eta, seed=self.args.seed, threads=self.jobs)
                model = transducing.learn_discriminative(bitrees(), self.classifiers.word_model(), recipe, self.say)
            self.say(f"{kind} transducer: {len(test)} sentences")
            return {"texts": transduce(model, test, threads=self.jobs), "trained": dict(model.trained)}

        kinds = ("generative", "discriminative")
        systems = {kind: self.step(f"transducer-{kind}", partial(learn, kind))["texts"] for kind in kinds}
        if self.phrases is not None:
            systems[WITHOUT] = [" ".join(words) for words in self.phrases.translations(WITHOUT, "test")]
        rows = judge_by_gtm(self.host, systems, [" ".join(pair.target) for pair in test])
        return tables.transducers_table(rows, self.shape)


run = BitreeStudy.run
