"""What bags are compared with: phrase-based translation in Pharaoh's role, by the decoder that is called ``phrase``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.spec import Spec
from smtplugins.host.study.steps import TRANSLATIONS, once, tune_and_test

if TYPE_CHECKING:
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.host import Host

WITHOUT, WITH = "phrase-without-lm", "phrase-with-lm"
_WEIGHTS = {"distortion": 0.3, "word-penalty": -1.0, "phrase-penalty": 0.2, "oov": 1.0}
_LM, _SCORES = 0.5, 0.2
TABLE = "table"


@dataclass(frozen=True)
class Files:
    """Texts on disk, as decoders read them; ``lm`` is a language model of the target language."""

    source: Path
    target: Path
    alignment: Path
    tune: Path
    tune_reference: Path
    dev: Path
    test: Path
    lm: Path


@dataclass(frozen=True, eq=False)
class PhraseSystems:
    """The decoder ``phrase``, with Moses' weights to begin with or tuned, with a language model and without."""

    host: Host
    folder: Path
    files: Files
    tuner: str | None = None
    jobs: int = 1
    cache: str | None = None
    say: Callable[[str], None] = lambda text: None

    def translations(self, name: str, which: str) -> list[list[str]]:
        """Words of the set ``which`` (``dev`` or ``test``) by one of the two systems."""
        from smtformats.tokens import blanks
        from smtplugins.host.files.lists import read_corpus

        # That it is there is not told for each table that shows it.
        once(self.folder, f"{name}-done", lambda: self._made(name))
        return [blanks(one) for one in read_corpus(self.folder / f"{name}.{which}")]

    @cached_property
    def _table(self) -> Path:
        from smtplugins.host.estimate.phrase_tables import PHRASE_TABLE, Bitext, PhraseSettings, extract_phrases

        folder = self.folder / "phrases"
        if not (folder / PHRASE_TABLE).exists():
            self.say("table of phrases")
            bitext = Bitext(self.files.source, self.files.target, self.files.alignment)
            extract_phrases(self.host, bitext, folder, PhraseSettings())
        return folder / PHRASE_TABLE

    def _config(self, name: str) -> RunConfig:
        from smtplugins.host.config.run_yaml import ModelConfig, RunConfig

        features = [Spec("translation-model", {"path": str(self._table), "name": TABLE}), Spec("distortion")]
        features += [Spec("word-penalty"), Spec("phrase-penalty"), Spec("oov", {"value": -100})]
        if name == WITH:
            features.insert(0, Spec("lm", {"path": str(self.files.lm)}))
        return RunConfig(
            source=self.files.tune,
            references=(self.files.tune_reference,),
            decoder=Spec("phrase", {"max_options": 20}),
            model=ModelConfig(grammar=(self._table,), features=tuple(features)),
            metric=Spec.parse("bleu,tokenize=none"),
        )

    def _made(self, name: str) -> Mapping[str, Any]:
        """Both sets translated; they are decoded with the same weights."""
        from smtplugins.host.decode.decoding import make_translator, read_source
        from smtplugins.host.files.opening import find_format, write_all

        config = self._config(name)
        weights = {f"{TABLE}[{k}]": _SCORES for k in range(4)} | _WEIGHTS | ({"lm": _LM} if name == WITH else {})
        if self.tuner is not None:
            weights = self._tuned(name, config, weights)
        self.say(f"{name}: decoding")
        translator = make_translator(self.host, config, weights, self.cache)
        for which in ("dev", "test"):
            sentences = list(read_source(self.host, translator, getattr(self.files, which)))
            texts = [one.best if one.found else "" for one in translator.decode(sentences, threads=self.jobs)]
            write_all(find_format("text", "corpus", self.host.formats()), texts, self.folder / f"{name}.{which}")
        return {"weights": weights, "tuner": self.tuner}

    def _tuned(self, name: str, config: RunConfig, start: Mapping[str, float]) -> dict[str, float]:
        from smtplugins.host.learn.loop import LoopPlan
        from smtplugins.host.learn.tuning import plan_of

        assert self.tuner is not None
        plan = plan_of(self.host, Spec.parse(self.tuner), ["oov"], seed=1, jobs=self.jobs)
        folder = self.folder / f"{name}-tuned"
        self.say(f"{name}: tuning")
        ended = tune_and_test(
            self.host, config, LoopPlan(plan, 5, nbest=100), folder, self.files.dev, start=start, cache=self.cache
        )
        assert (folder / TRANSLATIONS).exists()
        return dict(ended.weights)
