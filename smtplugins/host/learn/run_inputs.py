"""What a configuration gives to learn with: decoder, sentences, references, metric, and the folder of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.learn.training_data import metric_of
from smtplugins.host.runs import RunDirectory

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Metric, Sentence
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.decode.decoding import Translator
    from smtplugins.host.host import Host
    from smtplugins.host.judge.evaluation import Texts
    from smtplugins.host.learn.tuning import Plan


@dataclass(frozen=True)
class Given:
    """What a configuration gives to learn with."""

    translator: Translator
    sentences: Sequence[Sentence]
    references: Sequence[Texts]
    metric: Metric
    post: str | None

    def run(
        self,
        host: Host,
        config: RunConfig,
        plan: Plan,
        folder: Path,
        resume: bool,
        command: Sequence[str],
        details: Mapping[str, Any],
    ) -> RunDirectory:
        """The folder of the run, begun or gone on with."""
        from smtplugins.host import runs

        assert config.source is not None
        record = runs.manifest(
            command=[one for one in command if one != "--resume"],
            options={
                # A runner changes nothing in what comes out: a run may go on with another one.
                "config": replace(config, runner=None).to_yaml(),
                "start": dict(sorted(self.translator.model.weights.items())),
                "learner": str(plan.learner),
                "post": self.post,
                "runs": plan.runs,
                "combine": plan.combine,
                **details,
            },
            inputs=runs.input_hashes([config.source, *config.references, *config.model.grammar]),
            plugins=host.plugins,
            seed=plan.seed,
        )
        return RunDirectory.create(folder, record, resume=resume)


def given_by(
    host: Host,
    config: RunConfig,
    start: Mapping[str, float] | None,
    cache: str | None,
    post: str | None,
    note: Callable[[str], None] = lambda text: None,
) -> Given:
    """Decoder, sentences, references and metric of a configuration; whatever lacks is an error."""
    from smtplugins.host.config.weight_names import check_names
    from smtplugins.host.decode.decoding import make_translator, read_source
    from smtplugins.host.files.joining import by_line, references_of
    from smtplugins.host.host import runner_of

    if config.source is None or not config.references:
        missing = "source (-s)" if config.source is None else "references (-r)"
        raise UsageError(f"the configuration names no {missing} to learn with")
    # An unknown runner is said before tables are loaded.
    runner_of(host, None, config)
    translator = make_translator(host, config, start, cache)
    sentences = list(read_source(host, translator, config.source))
    translator = translator.loaded()
    lacking = translator.unweighted()
    if translator.model.weights and lacking:
        note(f"features without a weight begin at 0: {', '.join(lacking)}")
    check_names(translator, sentences, note)
    references = by_line(references_of(config.references, host.formats()))
    metric = metric_of(host, config.metric or "bleu", post)
    return Given(translator, sentences, references, metric, post)


def check_sentences(sentences: Sequence[Sentence], references: Sequence[Texts]) -> None:
    """The id of a sentence is the line of its references; each line has one."""
    if not sentences:
        raise SmtError("expected sentences to decode, found none")
    longest = len(references[0]) if references else 0
    for one in sentences:
        if not one.id.isdigit() or int(one.id) >= longest:
            name = references[0].name if references else "the references"
            raise SmtError(f"expected ids of sentences that are lines of {name} (0 to {longest - 1}), found {one.id}")
    if len(sentences) != longest:
        raise SmtError(
            f"expected as many sentences as {references[0].name} has lines, {longest}, found {len(sentences)}"
        )
