"""The steps of ``smt cdlm compare``: grammar, classes, two models, picking, n-grams, and a model in a decoder."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from smtformats.files import open_binary_write
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec, parameters
from smtplugins.contracts.tools.decoding import make_translator, read_source
from smtplugins.contracts.tools.files import load_grammar
from smtplugins.contracts.tools.language_models import check_lm
from smtplugins.contracts.tools.running import Host, RunConfig, load_plugins
from smtplugins.contracts.tools.study import (
    Study,
    StudySystem,
    StudyTable,
    check_least,
    choose,
    read_config,
    tune_system,
)
from smtplugins.plugins.cdlm.features.class_making import make_classes, word_counts
from smtplugins.plugins.cdlm.grammar.choices import Choices, read_best
from smtplugins.plugins.cdlm.grammar.confusion_grammar import Confusions
from smtplugins.plugins.cdlm.picking import picking as picks
from smtplugins.plugins.cdlm.picking.pick_command import compared_ngrams, pick_all, rows_of
from smtplugins.plugins.cdlm.sets.confuse_command import setting_of
from smtplugins.plugins.cdlm.sets.confusing import read_text
from smtplugins.plugins.cdlm.study.tables import PICKERS, SYSTEMS, TABLES, decoder_table, ngrams_table, picking_table
from smtplugins.plugins.cdlm.training.rounds import Training, save, train

PLAIN, FULL = "blm-wp", "tsrb"
"""The folders of the two models."""
CONFUSIONS, CLASSES = "confusions.gz", "classes.txt"
FEATURE = "cdlm"
_NAMES = {"without": "the system", "with": "with cdlm (TsRB)"}


class CdlmStudy(Study):
    """Tables 2 to 4.

    The system is the configuration ``-c``, tuned anew, which translates ``--source``; without ``--source`` it is only
    used for the confusion grammar.
    """

    name = "cdlm compare"
    known_tables = TABLES
    learns_from = ("input",)

    def __init__(self, host: Host, args: argparse.Namespace) -> None:
        self.config = _config_of(args)
        super().__init__(load_plugins(self.config.plugins) if self.config and self.config.plugins else host, args)
        self.setting = setting_of(args, self.folder / CONFUSIONS)
        self.rows = choose(args.row, [*PICKERS, *SYSTEMS])

    @property
    def test_source(self) -> Path:
        """The source sentences of the test text."""
        path: Path = self.args.source
        return path

    @cached_property
    def test(self) -> list[Sentence]:
        """The sentences that are confused to judge models."""
        return read_text(self.host, self.args.test)

    @cached_property
    def references(self) -> list[list[str]]:
        """The test sentences and their paraphrases."""
        return picks.references_of(self.host, self.args.test, self.args.test_ref)

    def check(self) -> None:
        """Raise an error if texts lack words or lines, before anything is written."""
        check_least(self.args, nbest=1)
        self.check_plan()
        self.chosen_tables()
        check_lm(self.setting.lm)
        picks.references_of(self.host, self.args.input, self.args.ref)
        count = len(self.references[0])
        if self.config is not None and self.args.source is not None:
            translator = make_translator(self.host, self.config, None, self.cache)
            lines = sum(1 for _ in read_source(self.host, translator, self.args.source))
            if lines != count:
                raise UsageError(
                    f"{self.args.source}: expected {count} sentences as in {self.args.test}, found {lines}"
                )

    def chosen_tables(self) -> list[str]:
        """The tables asked for; by default those that the options allow and that have a chosen row."""
        config, source = self.config, self.args.source
        chosen = choose(self.args.table or (["picking"] if config is None or source is None else None), TABLES)
        for name, number in (("decoder", 3), ("ngrams", 4)):
            if name in chosen and (config is None or source is None):
                raise UsageError(
                    f"table {number} needs a system (-c) and the source sentences of the test text (--source)"
                )
        rows = {"picking": PICKERS, "decoder": SYSTEMS}
        chosen = [name for name in chosen if name not in rows or any(row in self.rows for row in rows[name])]
        if "decoder" in chosen and config is not None:
            if config.source is None or not config.references:
                raise UsageError("table 3 needs a configuration with source and references to tune on")
            if any(str(feature.options.get("name", feature.name)) == FEATURE for feature in config.model.features):
                raise UsageError(f"the configuration has a feature {FEATURE} already")
        return chosen

    def inputs(self) -> list[Path]:
        """The texts, the language model and the grammars."""
        args = self.args
        return [args.input, args.test, *args.ref, *args.test_ref, self.setting.lm, *args.system]

    def details(self) -> Mapping[str, Any]:
        """The system's configuration."""
        return {} if self.config is None else {"system": self.config.to_yaml()}

    def begin(self) -> None:
        """Make the confusion grammar, if none was named."""
        self.confusions()

    def settings(self) -> dict[str, Any]:
        """How models were learnt, from what, and the metric."""
        return {
            "learner": str(self.learner()),
            "gains": self.args.gains,
            "iterations": self.args.iterations,
            "rounds": self.args.rounds,
            "confusions": self.confusions(),
            **self.scoring(),
            "perplexity": self.perplexities(),
        }

    # Grammar and classes.

    def confusions(self) -> dict[str, Any]:
        """Make the confusion grammar, if none was named; returns its counts."""
        if self.setting.grammar != self.folder / CONFUSIONS:
            return {}
        return self.step("confusions", self._make_confusions)

    def _make_confusions(self) -> Mapping[str, Any]:
        args = self.args
        choices = Choices(cap=args.cap, best=read_best(args.best), identity=args.identity)
        with Confusions(choices, folder=self.folder) as confusions:
            for path in self.args.system:
                self.say(f"grammar: confusions of {path}")
                confusions.add(load_grammar(path, cache=self.cache, formats=self.host.formats()))
            if not self.args.system:
                self._add_searches(confusions)
            with open_binary_write(self.setting.grammar) as out:
                for piece in confusions.lines("cdec-grammar"):
                    out.write(piece)
            report = asdict(confusions.report)
        self.say("grammar: {rules} rules, {capped} pairs, {pairs} confusion rules".format(**report))
        return report

    def _add_searches(self, confusions: Any) -> None:
        """Add rules that competed when the system decoded its tuning text and the test text."""
        assert self.config is not None
        for path in filter(None, (self.config.source, self.args.source)):
            self.say(f"grammar: the system decodes {path}")
            for graph in self._graphs(path):
                if len(graph):
                    confusions.add_graph(graph, self.args.scope)

    def _graphs(self, source: Path) -> Any:
        assert self.config is not None
        translator = make_translator(self.host, self.config, None, self.cache)
        sentences = list(read_source(self.host, translator, source))
        for decoding in translator.decode(sentences, threads=self.jobs, graphs=True):
            assert decoding.graph is not None
            yield decoding.graph()

    def classes(self) -> Path:
        """The class map: the one named, or the most frequent words of the text and one class of all others."""
        if self.args.classes is not None:
            return Path(self.args.classes)
        path = self.folder / CLASSES
        if not path.exists():
            texts = [sentence.text for sentence in read_text(self.host, self.args.input)]
            made = make_classes(word_counts(texts), frequent=self.args.frequent, source=self.args.input.name)
            made.write(path)
        return path

    # Learning.

    def learner(self) -> Spec:
        """The learner with the gains of ``--gains``."""
        learner, gains = Spec.parse(self.args.learner), self.args.gains
        if gains == "published":
            known = parameters(self.host.registry.factory("learners", learner.name))
            published = {"gain_precision": 0.85, "gain_decay": 0.7}
            return Spec(learner.name, {**{key: published[key] for key in published if key in known}, **learner.options})
        if gains == "measured":
            shape = self.step("gains", self._measure_gains)
            options: Mapping[str, Any] = {"gain_precision": shape["precision"], "gain_decay": shape["decay"]}
        else:
            precision, _, decay = gains.partition(",")
            try:
                options = {"gain_precision": float(precision), "gain_decay": float(decay)}
            except ValueError:
                raise UsageError(f"--gains: expected measured, published or P,R as 0.85,0.7, found {gains!r}") from None
        return Spec(learner.name, {**learner.options, **options})

    def _measure_gains(self) -> Mapping[str, Any]:
        """Precision and decay of what the baseline picks for the text to learn from."""
        host = self.host
        sentences = read_text(host, self.args.input)
        references = picks.references_of(host, self.args.input, tuple(self.args.ref))
        graphs = picks.sets_of(host, self.setting, sentences, picks.baseline(), self.jobs, self.cache)
        precision, decay = picks.gain_shape(picks.picked(graphs, sentences).texts, references)
        self.say(f"gains: what the baseline LM picks for the text has precision {precision:.3f}, decay {decay:.3f}")
        return {"precision": round(precision, 3), "decay": round(decay, 3)}

    def learn(self, key: str) -> Path:
        """Learn the model ``PLAIN`` or ``FULL``; returns its folder."""
        folder = self.folder / key
        self.step(f"{key}/done", lambda: self._learn(folder, key, self.classes() if key == FULL else None))
        return folder

    def _learn(self, folder: Path, key: str, classes: Path | None) -> Mapping[str, Any]:
        training = Training(
            replace(self.setting, classes=classes),
            self.args.input,
            tuple(self.args.ref),
            learner=self.learner(),
            iterations=self.args.iterations,
            rounds=self.args.rounds,
            seed=self.args.seed,
        )
        ended = train(
            self.host,
            training,
            folder / "training",
            resume=True,
            jobs=self.jobs,
            cache=self.cache,
            quiet=self.quiet,
            told=lambda text: self.say(f"{key}: {text}"),
            note=lambda text: self.note(f"{key}: {text}"),
        )
        save(training, ended, folder)
        self.say(f"{key}: {ended.reason}")
        return {"stopped": ended.reason, "iterations": [dict(row) for row in ended.iterations]}

    # The paper's tables.

    def picking(self) -> StudyTable:
        """Table 2."""
        makers: dict[str, Callable[[], picks.Contender]] = {
            "blm": picks.baseline,
            "blm+wp": lambda: picks.contender(self.learn(PLAIN), "CDLM"),
            "blm+wp+tsrb": lambda: picks.contender(self.learn(FULL), "CDLM + TsRB"),
        }
        contenders = {key: make() for key, make in makers.items() if key in self.rows}
        name = "picking" if len(contenders) == len(makers) else f"picking-{'-'.join(contenders)}"
        record = self.step(name, lambda: {"rows": self._pick(contenders)})
        return picking_table(record["rows"], self.metric.name, len(self.test), len(self.references))

    def _pick(self, contenders: Mapping[str, picks.Contender]) -> list[dict[str, Any]]:
        models = list(contenders.values())
        results = pick_all(self.host, self.setting, self.test, models, True, self.jobs, self.cache, self.say)
        for key, (own, _) in zip(contenders, results, strict=True):
            self.write_text(f"picked/{key}.txt", own.texts)
        return rows_of(models, results, self.metric, self.references)

    def decoder(self) -> StudyTable:
        """Table 3: the system tuned anew with the model as one more feature, and without."""
        keys = [key for key in SYSTEMS if key in self.rows]
        systems = [StudySystem(key, _NAMES[key], partial(self._prepare, key)) for key in keys]
        rows = self.tuned_rows(systems)
        for system, row in zip(systems, rows, strict=True):
            if system.key == "with":
                row["change"] = row["score"] - rows[0]["score"] if len(rows) > 1 else None
                row["weight"] = self._share(system)
        return decoder_table(rows, self.metric.name, len(self.test), len(self.plan.seeds))

    def _prepare(self, key: str) -> tuple[RunConfig, Mapping[str, float]]:
        """The system's configuration and weights, with the model as one more feature or without."""
        assert self.config is not None
        config = self.config
        if key == "with":
            features = (*config.model.features, Spec(FEATURE, {"path": str(self.learn(FULL))}))
            config = replace(config, model=replace(config.model, features=features))
        start = dict(make_translator(self.host, config, None, self.cache).model.weights)
        return config, {FEATURE: 0.0, **start} if key == "with" else start

    def _share(self, system: StudySystem) -> float:
        """The weight of the model relative to the sum of all absolute weights, a mean over seeds."""
        shares: list[float] = []
        for seed in self.plan.seeds:
            weights = tune_system(self, system, self.plan, seed, {"test": self.test_source})["weights"]
            shares.append(weights.get(FEATURE, 0.0) / (sum(map(abs, weights.values())) or 1.0))
        return sum(shares) / len(shares)

    def ngrams(self) -> StudyTable:
        """Table 4."""
        record = self.step("ngrams", self._compare_ngrams)
        return ngrams_table([picks.NgramOverlap(*counts) for counts in record["rows"]], self.args.nbest, len(self.test))

    def _compare_ngrams(self) -> Mapping[str, Any]:
        self.say(f"n-grams: the system's {self.args.nbest} best for {self.args.source}")
        real = [picks.best_strings(graph, self.args.nbest) for graph in self._graphs(self.args.source)]
        maker, count = picks.baseline(), self.args.nbest
        overlaps = compared_ngrams(self.host, self.setting, self.test, maker, real, count, self.jobs, self.cache)
        return {"rows": [[overlap.simulated, overlap.real, overlap.both] for overlap in overlaps]}

    def perplexities(self) -> dict[str, Any]:
        """The perplexity of each text under the baseline language model, and its unknown words."""
        records = {}
        for name, path in (("text", self.args.input), ("test", self.args.test)):
            texts = [sentence.text for sentence in read_text(self.host, path)]
            value, unknown = picks.perplexity(self.setting.lm, texts)
            records[name] = {"sentences": len(texts), "perplexity": value, "unknown": unknown}
            self.say(
                f"{name}: {len(texts)} sentences, perplexity {value:.1f} under the baseline LM, {unknown} unknown words"
            )
        return records


run = CdlmStudy.run


def _config_of(args: argparse.Namespace) -> RunConfig | None:
    """The system's configuration, if there is one."""
    if args.grammar is not None and args.system:
        raise UsageError("name one of -g (a confusion grammar) and --system (grammars to make one from)")
    if args.grammar is None and not args.system and args.config is None:
        raise UsageError("expected something to make a confusion grammar from: -g, --system or -c")
    if args.config is None:
        for option in ("weights", "source"):
            if getattr(args, option) is not None:
                raise UsageError(f"--{option} needs a system (-c)")
        return None
    return read_config(args.config, args.config_set, {"model.weights": args.weights and str(args.weights)})
