"""Phrase-based translation in Pharaoh's role, by the decoder ``phrase``: the baseline of bags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from smtformats.tokens import blanks
from smtplugins.contracts.spec import Spec
from smtplugins.contracts.tools.decoding import RuleTable
from smtplugins.contracts.tools.extraction import Bitext
from smtplugins.contracts.tools.running import ModelConfig, RunConfig
from smtplugins.contracts.tools.study import Study, StudySystem, tune_system

WITHOUT, WITH = "phrase-without-lm", "phrase-with-lm"
_WEIGHTS = {"distortion": 0.3, "word-penalty": -1.0, "phrase-penalty": 0.2, "oov": 1.0}
_LM, _SCORES = 0.5, 0.2
TABLE = "table"


@dataclass(frozen=True)
class PhraseSystems:
    """The decoder ``phrase`` with a language model and without, with Moses' initial weights or tuned ones."""

    study: Study

    def translations(self, key: str, name: str) -> list[list[str]]:
        """The words of a system's translations of ``dev`` or ``test``."""
        system = StudySystem(key, key.replace("-", " "), partial(self._prepare, key))
        tests = {"dev": self._path("dev"), "test": self._path("test")}
        plan = self.study.plan
        tune_system(self.study, system, plan, plan.seeds[0], tests)
        return [blanks(text) for text in self.study.read_text(f"{system.place(plan.seeds[0])}/{name}.txt")]

    def _path(self, option: str) -> Path:
        return Path(getattr(self.study.args, option)).absolute()

    def _prepare(self, key: str) -> tuple[RunConfig, Mapping[str, float]]:
        features = [Spec("distortion"), Spec("word-penalty"), Spec("phrase-penalty"), Spec("oov", {"value": -100})]
        weights = {f"{TABLE}[{k}]": _SCORES for k in range(4)} | _WEIGHTS
        if key == WITH:
            features.insert(0, Spec("lm", {"path": str(self._path("lm"))}))
            weights["lm"] = _LM
        bitext = Bitext(self._path("source"), self._path("target"), self._path("alignment"))
        table = RuleTable(self.study.phrase_table("phrases", bitext), name=TABLE, position=int(key == WITH))
        config = RunConfig(
            source=self._path("tune"),
            references=(self._path("tune_ref"),),
            decoder=Spec("phrase", {"max_options": 20}),
            model=ModelConfig((table,), features=tuple(features)),
            metric=Spec("bleu", {"tokenize": "none"}),
        )
        return config, weights
