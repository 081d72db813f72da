"""The systems of ``smt umt compare``, each a decoder with a learner, on one configuration and its sentences."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.contracts.tools.decoding import Translator, holds_both, kept_options, read_sentences
from smtplugins.contracts.tools.files import by_line, references_of
from smtplugins.contracts.tools.judging import Texts
from smtplugins.contracts.tools.running import Host, RunConfig, load_plugins
from smtplugins.contracts.tools.study import read_config
from smtplugins.contracts.tools.tuning import check_sentences, plan_of

OWN = ("umt", "hiero", "drl", "mert")
"""The decoders and learners that take options on the command line."""
_CFF = {
    "cff": "mode",
    "cff_scale": "scale",
    "cff_lm": "lm",
    "cff_joins": "joins",
    "first_pass_path": "first_pass_path",
}
"""The decoder's options for bounds by their names in the feature ``cff``, which takes precedence."""


@dataclass(frozen=True)
class LearntSystem:
    """A decoder and the learner of its weights; ``learning`` is the decoder to learn with, if that is another one."""

    key: str
    name: str
    decoder: Spec
    learner: Spec
    learning: Spec | None = None

    def but(self, key: str, name: str, **options: Any) -> LearntSystem:
        """The same system with other options of its decoder."""
        return LearntSystem(key, name, Spec(self.decoder.name, {**self.decoder.options, **options}), self.learner)


class UmtCase:
    """The configuration of a command line with its overrides, and the files to learn from and to be tested on."""

    def __init__(self, host: Host, args: argparse.Namespace) -> None:
        if args.config == "-":
            raise UsageError("a configuration that is read several times has to be a file, not standard input")
        self.args = args
        self.test: str = args.test
        self.test_references: list[str] = args.test_references
        self.host = load_plugins(self.loaded.plugins) if self.loaded.plugins else host
        needs = {
            "source sentences to learn from (-s, or `source` in the configuration)": self.loaded.source,
            "references of the source (-r, or `references` in the configuration)": self.loaded.references,
            "sentences to be tested on (--test)": self.test,
            "references of the test sentences (--test-ref)": self.test_references,
        }
        lacking = [text for text, given in needs.items() if not given]
        if lacking:
            raise UsageError(f"a comparison needs {' and '.join(lacking)}")
        self.options = {name: Spec.with_options(name, getattr(args, name, "")).options for name in OWN}

    @cached_property
    def loaded(self) -> RunConfig:
        """The configuration with the texts, weights, metric and seed of the command line."""
        return self._load({})

    def _load(self, more: Mapping[str, Any]) -> RunConfig:
        args = self.args
        values = {
            "source": args.source and os.path.abspath(args.source),
            "references": [os.path.abspath(path) for path in args.references] or None,
            "model.weights": args.weights and os.path.abspath(args.weights),
            "metric": args.metric,
            "seed": args.seed,
        }
        return read_config(args.config, args.overrides, {**values, **more})

    def with_metric(self, metric: Spec) -> UmtCase:
        """The same case with another metric; a wrong option of it is an error."""
        self.host.metric(metric)
        return UmtCase(self.host, argparse.Namespace(**{**vars(self.args), "metric": metric}))

    @property
    def metric_name(self) -> str | Spec:
        """The metric, of learning and of tests."""
        return self.loaded.metric or "bleu"

    def umt(self) -> LearntSystem:
        """The undirected decoder with its learner."""
        decoder = Spec("umt", {**kept_options(self.host, self.loaded, "umt"), **self.options["umt"]})
        return LearntSystem("umt", "umt + drl", decoder, Spec("drl", self.options["drl"]))

    def hiero(self, pops: int) -> LearntSystem:
        """Cube pruning with a pop limit.

        With K=1 a search leaves one derivation, from which mert learns nothing: it learns with K=2.
        """
        own = {**kept_options(self.host, self.loaded, "hiero"), **self.options["hiero"]}
        options = {**own, "search": "cube_pruning", "pop_limit": pops}
        learning = Spec("hiero", {**options, "pop_limit": max(pops, 2)})
        mert = Spec("mert", self.options["mert"])
        return LearntSystem(f"hiero-{pops}", f"hiero K={pops} + mert", Spec("hiero", options), mert, learning)

    def config_of(self, system: LearntSystem, *, learning: bool = False) -> RunConfig:
        """The configuration with the decoder of a system, or with the one that it learns with."""
        used = system.learning if learning and system.learning is not None else system.decoder
        options: dict[str, Any] = dict(used.options)
        changed: dict[str, Any] = {}
        if used.name == "umt":
            features = [self._with_bounds(feature, options) for feature in self.loaded.model.features]
            if any(feature.name == "cff" for feature in features):
                changed["model.features"] = features
                options = {key: value for key, value in options.items() if key not in _CFF}
        return self._load({**changed, "decoder": Spec(used.name, options)})

    @staticmethod
    def _with_bounds(feature: Spec, options: Mapping[str, Any]) -> Spec:
        """Move the decoder's options for bounds to a feature ``cff``, which takes precedence over them."""
        if feature.name != "cff":
            return feature
        own = {_CFF[key]: value for key, value in options.items() if key in _CFF}
        return Spec("cff", {**feature.options, **own})

    def check(self, systems: Sequence[LearntSystem]) -> None:
        """Raise an error if plugins, options or files are missing, before hours of work."""
        for system in systems:
            self.host.registry.make("learners", plan_of(self.host, system.learner).learner)
            translator = self.translator(system)
            assert self.loaded.source is not None
            for path, references in ((self.loaded.source, self.loaded.references), (self.test, self.test_references)):
                check_sentences(self.sentences(path, translator), self.texts(references))

    def warm(self, system: LearntSystem) -> None:
        """Read the grammars into the cache, so that its time is not counted for the system that learns first."""
        translator = self.translator(system)
        assert self.loaded.source is not None
        for _ in translator.decode(self.sentences(self.loaded.source, translator)):
            pass

    def translator(self, system: LearntSystem, weights: Mapping[str, float] | None = None) -> Translator:
        """The decoder of a system with its grammars loaded."""
        made = self.host.translator(self.config_of(system), weights=weights, cache=self.args.cache)
        getattr(made.decoder, "load", lambda model: {})(made.model)
        return made

    def sentences(self, path: str | Path, translator: Translator | None = None) -> list[Sentence]:
        """Read the sentences of a file as the configuration says; for a decoder, numbers of arcs get names."""
        decoder = self.loaded.decoder
        lattice = bool(decoder and decoder.options.get("input") == "lattice")
        arcs = None if translator is None else translator.arc_name
        named, both = self.loaded.source_format, holds_both(self.loaded)
        return list(read_sentences(self.host, path, named, lattice=lattice, both=both, arc_name=arcs))

    @cached_property
    def test_sources(self) -> list[str]:
        """The test sentences in the order of the references, for metrics that need the source."""
        return [sentence.text for sentence in sorted(self.sentences(self.test), key=lambda sentence: int(sentence.id))]

    def texts(self, references: Sequence[str | Path]) -> list[Texts]:
        """Read references by line."""
        return by_line(references_of(references, self.host.formats()))
