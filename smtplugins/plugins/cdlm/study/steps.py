"""The steps of ``smt cdlm compare``: each leaves files in the folder, the last of them says that it is complete.

Grammar, class map, two models (with and without rule bigrams), what is picked, n-grams, and the effect in a decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.spec import Spec
from smtplugins.host.errors import UsageError
from smtplugins.plugins.cdlm.picking import picking as choosing
from smtplugins.plugins.cdlm.sets.confusing import ConfusionSetting, read_text

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Metric, Sentence
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.host import Host
    from smtplugins.plugins.cdlm.grammar.choices import Choices

Say = Callable[[str], None]
PLAIN, FULL = "blm-wp", "tsrb"
"""The folders of the two models."""
CONFUSIONS, CLASSES = "confusions.gz", "classes.txt"


@dataclass(frozen=True)
class Decoding:
    """A system: its configuration, the source sentences of the test text, and how its weights are tuned anew."""

    config: RunConfig
    source: Path | None = None
    learner: Spec = field(default_factory=lambda: Spec("mert"))
    nbest: int = 100
    iterations: int = 5
    seeds: int = 3


@dataclass(frozen=True)
class Texts:
    """What is learnt from and what is judged on, each with its paraphrases."""

    text: Path
    paraphrases: tuple[Path, ...]
    test: Path
    test_paraphrases: tuple[Path, ...]


@dataclass(frozen=True)
class Study:
    """A comparison in a folder: what is there already is read."""

    host: Host
    folder: Path
    setting: ConfusionSetting
    texts: Texts
    metric_name: str
    choices: Choices
    scope: Any = "item"
    grammars: tuple[Path, ...] = ()
    system: Decoding | None = None
    learner: Spec = field(default_factory=lambda: Spec("minrisk"))
    gains: str = "measured"
    iterations: int = 5
    rounds: int = 0
    seed: int = 1
    nbest: int = 100
    jobs: int = 1
    cache: str | None = None
    quiet: bool = True
    say: Say = lambda text: None

    @cached_property
    def metric(self) -> Metric:
        """The metric of all tables."""
        return self.host.metric(self.metric_name)

    @cached_property
    def test(self) -> list[Sentence]:
        """The sentences that are confused to judge models."""
        return read_text(self.host, self.texts.test)

    @cached_property
    def references(self) -> list[list[str]]:
        """They and their paraphrases."""
        return choosing.references_of(self.host, self.texts.test, self.texts.test_paraphrases)

    def check(self) -> None:
        """Whether texts have words and as many lines as they should, before anything is made."""
        from smtplugins.core.lm.ngram_model import check_lm
        from smtplugins.host.decode.decoding import make_translator, read_source

        check_lm(self.setting.lm)
        choosing.references_of(self.host, self.texts.text, self.texts.paraphrases)
        count = len(self.references[0])
        source = None if self.system is None else self.system.source
        if self.system is not None and source is not None:
            translator = make_translator(self.host, self.system.config, None, self.cache)
            found = sum(1 for _ in read_source(self.host, translator, source))
            if found != count:
                raise UsageError(f"{source}: expected {count} sentences as in {self.texts.test}, found {found}")

    def signature(self) -> str:
        """The metric's, which may ask how many references there are, also where all scores are there already."""
        self.metric.stats(self.references[0][:1], [stream[:1] for stream in self.references])
        return self.metric.signature()

    def once(self, name: str, make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """A record that a file of the folder has, or that is made now."""
        from smtplugins.host.study.steps import once

        return once(self.folder, name, make, self.say)

    # Grammar and classes.

    def confusions(self) -> dict[str, Any]:
        """The confusion grammar, if none was given."""
        if self.setting.grammar != self.folder / CONFUSIONS:
            return {}
        return self.once("confusions", self._confusions)

    def _confusions(self) -> Mapping[str, Any]:
        from smtformats.files import open_binary_write
        from smtplugins.host.files.opening import load_grammar
        from smtplugins.plugins.cdlm.grammar.confusion_grammar import Confusions

        with Confusions(self.choices, folder=self.folder) as confusions:
            for path in self.grammars:
                self.say(f"grammar: confusions of {path}")
                confusions.add(load_grammar(path, cache=self.cache, formats=self.host.formats()))
            if not self.grammars:
                self._add_searches(confusions)
            with open_binary_write(self.setting.grammar) as out:
                for piece in confusions.lines("cdec-grammar"):
                    out.write(piece)
            report = asdict(confusions.report)
        self.say("grammar: {rules} rules, {capped} pairs, {pairs} confusion rules".format(**report))
        return report

    def _add_searches(self, confusions: Any) -> None:
        """Rules that competed in what the system's searches kept of what it is tuned on and tested on."""
        assert self.system is not None
        config = self.system.config
        for path in filter(None, (config.source, self.system.source)):
            self.say(f"grammar: the system decodes {path}")
            for graph in self._graphs(config, path, None):
                if len(graph):
                    confusions.add_graph(graph, self.scope)

    def _graphs(self, config: RunConfig, source: Path, weights: Mapping[str, float] | None) -> Any:
        from smtplugins.host.decode.decoding import make_translator, read_source

        translator = make_translator(self.host, config, weights, self.cache)
        sentences = list(read_source(self.host, translator, source))
        for one in translator.decode(sentences, threads=self.jobs, graphs=True):
            assert one.graph is not None
            yield one.graph()

    def classes(self, given: Path | None, frequent: int) -> Path:
        """The class map: the one given, or the most frequent words of the text and one class of all others."""
        if given is not None:
            return given
        from smtplugins.plugins.cdlm.features.class_making import make_classes, word_counts

        path = self.folder / CLASSES
        if not path.exists():
            texts = [one.text for one in read_text(self.host, self.texts.text)]
            make_classes(word_counts(texts), frequent=frequent, source=self.texts.text.name).write(path)
        return path

    # Learning.

    def learner_of(self) -> Spec:
        """The learner, with the gains that were asked for."""
        if self.gains == "published":
            return self.learner
        if self.gains == "measured":
            found = self.once("gains", self._gains)
            given: Mapping[str, Any] = {"gain_precision": found["precision"], "gain_decay": found["decay"]}
        else:
            precision, _, decay = self.gains.partition(",")
            try:
                given = {"gain_precision": float(precision), "gain_decay": float(decay)}
            except ValueError:
                raise UsageError(
                    f"--gains: expected measured, published or P,R as 0.85,0.7, found {self.gains!r}"
                ) from None
        return Spec(self.learner.name, {**self.learner.options, **given})

    def _gains(self) -> Mapping[str, Any]:
        """The shape of what the baseline picks for the text that is learnt from."""
        sentences = read_text(self.host, self.texts.text)
        references = choosing.references_of(self.host, self.texts.text, self.texts.paraphrases)
        graphs = choosing.sets_of(self.host, self.setting, sentences, choosing.baseline(), self.jobs, self.cache)
        precision, decay = choosing.gain_shape(choosing.picked(graphs, sentences).texts, references)
        self.say(f"gains: what the baseline LM picks for the text has precision {precision:.3f}, decay {decay:.3f}")
        return {"precision": round(precision, 3), "decay": round(decay, 3)}

    def learnt(self, key: str, classes: Path | None) -> Path:
        """The folder of a model."""
        folder = self.folder / key
        self.once(f"{key}/done", lambda: self._learnt(folder, key, classes))
        return folder

    def _learnt(self, folder: Path, key: str, classes: Path | None) -> Mapping[str, Any]:
        from smtplugins.plugins.cdlm.training.rounds import Training, save, train

        training = Training(
            replace(self.setting, classes=classes),
            self.texts.text,
            self.texts.paraphrases,
            learner=self.learner_of(),
            iterations=self.iterations,
            rounds=self.rounds,
            seed=self.seed,
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
            note=lambda text: self.say(f"{key}: note: {text}"),
        )
        save(training, ended, folder)
        self.say(f"{key}: {ended.reason}")
        return {"stopped": ended.reason, "iterations": [dict(row) for row in ended.iterations]}

    # Tables.

    def contenders(self, classes: Path) -> list[choosing.Contender]:
        """The three models of table 2."""
        plain = choosing.contender(self.learnt(PLAIN, None), "CDLM")
        return [choosing.baseline(), plain, choosing.contender(self.learnt(FULL, classes), "CDLM + TsRB")]

    def picking(self, contenders: Sequence[choosing.Contender]) -> list[dict[str, Any]]:
        """Table 2."""
        found = self.once("picking", lambda: {"rows": self._picking(contenders)})
        return list(found["rows"])

    def _picking(self, contenders: Sequence[choosing.Contender]) -> list[dict[str, Any]]:
        from smtplugins.host.files.opening import find_format, write_all
        from smtplugins.plugins.cdlm.picking.pick_command import pick_all, rows_of

        found = pick_all(self.host, self.setting, self.test, contenders, True, self.jobs, self.cache, self.say)
        record = find_format("text", "corpus", self.host.formats())
        (self.folder / "picked").mkdir(exist_ok=True)
        for key, (own, _) in zip(("baseline", PLAIN, FULL), found, strict=True):
            write_all(record, list(own.texts), self.folder / "picked" / f"{key}.txt")
        return rows_of(contenders, found, self.metric, self.references)

    def ngrams(self, maker: choosing.Contender) -> list[choosing.NgramOverlap]:
        """Table 4."""
        found = self.once("ngrams", lambda: self._ngrams(maker))
        return [choosing.NgramOverlap(*row) for row in found["rows"]]

    def _ngrams(self, maker: choosing.Contender) -> Mapping[str, Any]:
        from smtplugins.plugins.cdlm.picking.pick_command import compared_ngrams

        assert self.system is not None and self.system.source is not None
        self.say(f"n-grams: the system's {self.nbest} best for {self.system.source}")
        graphs = self._graphs(self.system.config, self.system.source, None)
        real = [choosing.best_strings(graph, self.nbest) for graph in graphs]
        found = compared_ngrams(self.host, self.setting, self.test, maker, real, self.nbest, self.jobs, self.cache)
        return {"rows": [[one.simulated, one.real, one.both] for one in found]}

    def perplexities(self) -> dict[str, Any]:
        """Of each text under the baseline language model, and its unknown words."""
        found = {}
        for name, path in (("text", self.texts.text), ("test", self.texts.test)):
            texts = [one.text for one in read_text(self.host, path)]
            value, unknown = choosing.perplexity(self.setting.lm, texts)
            found[name] = {"sentences": len(texts), "perplexity": value, "unknown": unknown}
        return found
