"""Load what a configuration says about learning: decoder, sentences, references, metric, and the run folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.arguments import argument
from smtplugins.host.learn.training_data import Note, metric_of
from smtplugins.host.runs import RunDirectory

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.metrics import Metric
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.decode.translator import Translator
    from smtplugins.host.host import Host
    from smtplugins.host.judge.evaluation import Texts
    from smtplugins.host.learn.tuning import Plan


@dataclass(frozen=True)
class RunSettings:
    """Where a run is kept and how it goes; ``start`` are weights in place of the configuration's."""

    folder: Path
    start: Mapping[str, float] | None = None
    resume: bool = False
    command: Sequence[str] = ()
    cache: str | None = None
    post: str | None = None
    note: Note = lambda text: None
    quiet: bool = True


@dataclass(frozen=True)
class RunInputs:
    """Decoder, sentences, references and metric of a configuration."""

    translator: Translator
    sentences: Sequence[Sentence]
    references: Sequence[Texts]
    metric: Metric

    def run(
        self, host: Host, config: RunConfig, plan: Plan, settings: RunSettings, details: Mapping[str, Any]
    ) -> RunDirectory:
        """Create the folder of the run, or resume it.

        Its manifest names files relative to it, so that it can be moved together with them.
        """
        from smtplugins.host import runs

        assert config.source is not None
        folder = Path(os.path.abspath(settings.folder))
        hashes = runs.input_hashes([config.source, *config.references, *config.paths])
        record = runs.manifest(
            command=[part for part in settings.command if part != "--resume"],
            options={
                # A runner does not change results, so a run may be resumed with another one.
                "config": replace(config, runner=None).to_yaml(folder),
                "start": dict(sorted(self.translator.model.weights.items())),
                **({"start_from": "features and tables"} if self.translator.started else {}),
                "learner": str(plan.learner),
                "post": settings.post,
                "runs": plan.runs,
                "combine": plan.combine,
                **details,
            },
            inputs={os.path.relpath(path, folder): digest for path, digest in hashes.items()},
            plugins=host.plugins,
            seed=plan.seed,
        )
        return RunDirectory.create(settings.folder, record, resume=settings.resume)


def load_run_inputs(host: Host, config: RunConfig, settings: RunSettings) -> RunInputs:
    """Load decoder, sentences, references and metric; raises UsageError if source or references are missing."""
    from smtplugins.host.config.start_weights import listed_weights
    from smtplugins.host.config.weight_names import check_names
    from smtplugins.host.decode.sentences import read_source
    from smtplugins.host.decode.translator import make_translator
    from smtplugins.host.files.joining import by_line, references_of
    from smtplugins.host.spread.choice import make_runner

    if config.source is None or not config.references:
        absent, option = ("a source", "-s") if config.source is None else ("references", "-r")
        place = argument("in the configuration", f"({option}) in the configuration or on the command line")
        raise UsageError(f"learning needs {absent} {place}, found none")
    # Check the runner before loading tables.
    make_runner(host, None, config)
    for number, further in enumerate(config.model.passes):
        if further.weights is not None:
            with config.at("model", "passes", str(number), "weights"):
                raise UsageError(
                    f"expected a pass without weights, as learning changes those of the first; remove {further.weights}"
                )
    translator = make_translator(host, config, settings.start, settings.cache, settings.note)
    if translator.text is not None:
        with config.at("references"):
            translator.text.check_references(config.references)
    sentences = list(read_source(host, translator, config.source))
    translator = translator.loaded()
    if translator.started:
        listed = listed_weights(translator.model.weights)
        settings.note(f"no start weights: learning begins with those of the features and tables: {listed}")
    lacking = translator.unweighted()
    if translator.model.weights and lacking:
        settings.note(f"features without a weight start at 0: {', '.join(lacking)}")
    check_names(translator, sentences, settings.note)
    references = by_line(references_of(config.references, host.formats()))
    return RunInputs(translator, sentences, references, metric_of(host, config.metric or "bleu", settings.post))


def check_sentences(sentences: Sequence[Sentence], references: Sequence[Texts]) -> None:
    """Check that sentence ids are line numbers of the references, and every line has a sentence."""
    if not sentences:
        raise SmtError("expected sentences to decode, found none")
    longest = len(references[0]) if references else 0
    for sentence in sentences:
        if not sentence.id.isdigit() or int(sentence.id) >= longest:
            name = references[0].name if references else "the references"
            raise SmtError(f"expected line numbers of {name} as sentence ids (0 to {longest - 1}), found {sentence.id}")
    if len(sentences) != longest:
        raise SmtError(
            f"expected as many sentences as {references[0].name} has lines, {longest}, found {len(sentences)}"
        )
