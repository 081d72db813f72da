"""What ``smt umt compare`` compares: systems, each a decoder with a learner, on one configuration and its sentences."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.spec import Spec
from smtplugins.host.config.override import kept_options
from smtplugins.host.errors import UsageError
from smtplugins.host.study.steps import refuse_runner

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.decode.decoding import Translator
    from smtplugins.host.host import Host
    from smtplugins.host.judge.evaluation import Texts

_CFF = {
    "cff": "mode",
    "cff_scale": "scale",
    "cff_lm": "lm",
    "cff_joins": "joins",
    "first_pass_path": "first_pass_path",
}
"""Options of the decoder, and what the feature ``cff``, which goes before them, calls the same."""


@dataclass(frozen=True)
class System:
    """A decoder whose weights a learner found. ``key`` is for files and JSON, ``name`` for tables.

    ``learning`` is the decoder with which it learns, if that is another one.
    """

    key: str
    name: str
    decoder: Spec
    learner: Spec
    learning: Spec | None = None

    def but(self, key: str, name: str, **options: Any) -> System:
        """Another one, whose decoder has some options of its own."""
        return System(key, name, Spec(self.decoder.name, {**self.decoder.options, **options}), self.learner)


@dataclass(frozen=True)
class Case:
    """A configuration with overrides, and the files to learn from and to be tested on."""

    host: Host
    config: str
    overrides: tuple[str, ...] = ()
    source: str | None = None
    references: tuple[str, ...] = ()
    test: str | None = None
    test_references: tuple[str, ...] = ()
    weights: str | None = None
    metric: str | None = None
    seed: int | None = None
    post: str | None = None
    cache: str | None = None
    jobs: int = 1
    options: Mapping[str, Spec] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.config == "-":
            raise UsageError("a configuration that is read several times has to be a file, not standard input")
        refuse_runner(self.loaded)
        lacking = [
            text
            for text, given in (
                ("source sentences to learn from (-s, or `source` in the configuration)", self.loaded.source),
                ("their references (-r, or `references` in the configuration)", self.loaded.references),
                ("sentences to be tested on (--test)", self.test),
                ("their references (--test-ref)", self.test_references),
            )
            if not given
        ]
        if lacking:
            raise UsageError(f"a comparison needs {' and '.join(lacking)}")

    @cached_property
    def loaded(self) -> RunConfig:
        """The configuration as it stands, with what was given in place of its own."""
        return self._load(())

    def _load(self, more: Sequence[str]) -> RunConfig:
        from smtplugins.host.config.run_yaml import load_config

        given = {
            "source": self.source and os.path.abspath(self.source),
            "references": [os.path.abspath(one) for one in self.references] or None,
            "model.weights": self.weights and os.path.abspath(self.weights),
            "metric": self.metric,
            "seed": self.seed,
        }
        own = [f"{name}={json.dumps(value)}" for name, value in given.items() if value is not None]
        return load_config(self.config, [*self.overrides, *own, *more])

    @property
    def metric_name(self) -> str | Spec:
        """The metric, of learning and of tests."""
        return self.loaded.metric or "bleu"

    def umt(self) -> System:
        """The undirected decoder with its learner."""
        decoder = Spec("umt", {**self._kept("umt"), **self._options("umt")})
        return System("umt", "umt + drl", decoder, Spec("drl", self._options("drl")))

    def hiero(self, pops: int) -> System:
        """Cube pruning with a pop limit.

        With K=1 a search leaves one derivation, in which mert finds nothing to choose: it learns with K=2.
        """
        own = {**self._kept("hiero"), **self._options("hiero")}
        options = {**own, "search": "cube_pruning", "pop_limit": pops}
        learning = Spec("hiero", {**options, "pop_limit": max(pops, 2)})
        mert = Spec("mert", self._options("mert"))
        return System(f"hiero-{pops}", f"hiero K={pops} + mert", Spec("hiero", options), mert, learning)

    def _kept(self, name: str) -> dict[str, Any]:
        return kept_options(self.host, self.loaded, name)

    def _options(self, name: str) -> dict[str, Any]:
        return dict(self.options[name].options) if name in self.options else {}

    def config_of(self, system: System, *, learning: bool = False) -> RunConfig:
        """The configuration with the decoder of a system, or with that which it learns with."""
        used = system.learning if learning and system.learning is not None else system.decoder
        options, overrides = dict(used.options), []
        if used.name == "umt":
            features = [self._with_bounds(one, options) for one in self.loaded.model.features]
            if any(one.name == "cff" for one in features):
                overrides.append(f"model.features={json.dumps(list(map(str, features)))}")
                options = {key: value for key, value in options.items() if key not in _CFF}
        decoder = json.dumps({"name": used.name, **options}, default=os.fspath)
        return self._load([*overrides, f"decoder={decoder}"])

    @staticmethod
    def _with_bounds(feature: Spec, options: Mapping[str, Any]) -> Spec:
        """The feature ``cff`` of a configuration counts, not the decoder's options: these become its own."""
        if feature.name != "cff":
            return feature
        own = {_CFF[key]: value for key, value in options.items() if key in _CFF}
        return Spec("cff", {**feature.options, **own})

    def check(self, systems: Sequence[System]) -> None:
        """Whether all that is needed is there, before hours of work: plugins, options, files."""
        from smtplugins.host.learn.run_inputs import check_sentences
        from smtplugins.host.learn.tuning import plan_of

        for system in systems:
            self.host.registry.make("learners", plan_of(self.host, system.learner).learner)
            translator = self.translator(system)
            assert self.loaded.source is not None and self.test is not None
            for path, references in ((self.loaded.source, self.loaded.references), (self.test, self.test_references)):
                check_sentences(self.sentences(path, translator), self.texts(references))

    def warm(self, system: System) -> None:
        """Have grammars read once, so that who learns first does not pay for the cache of all."""
        translator = self.translator(system)
        assert self.loaded.source is not None
        for _ in translator.decode(self.sentences(self.loaded.source, translator)):
            pass

    def translator(self, system: System, weights: Mapping[str, float] | None = None) -> Translator:
        """The decoder of a system, ready to work."""
        made = self.host.translator(self.config_of(system), weights=weights, cache=self.cache)
        getattr(made.decoder, "load", lambda model: {})(made.model)
        return made

    def sentences(self, path: str | Path, translator: Translator | None = None) -> list[Sentence]:
        """The sentences of a file, as the configuration has them read; for a decoder, numbers of arcs have names."""
        from smtplugins.host.decode.decoding import read_sentences
        from smtplugins.host.decode.lattices import holds_both

        decoder = self.loaded.decoder
        lattice = bool(decoder and decoder.options.get("input") == "lattice")
        arcs = None if translator is None else translator.arc_name
        named, both = self.loaded.source_format, holds_both(self.loaded)
        return list(read_sentences(self.host, path, named, lattice=lattice, both=both, arc_name=arcs))

    @cached_property
    def test_sources(self) -> list[str]:
        """What was to be translated, in the order of the references, for metrics that ask."""
        assert self.test is not None
        return [one.text for one in sorted(self.sentences(self.test), key=lambda one: int(one.id))]

    def texts(self, references: Sequence[str | Path]) -> list[Texts]:
        """References of either set."""
        from smtplugins.host.files.joining import by_line, references_of

        return by_line(references_of(references, self.host.formats()))
