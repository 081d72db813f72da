"""The steps of ``smt searn compare``: links, tables, policies, tuned systems; what is complete is not made again.

Tuning is the host's loop of decoding and learning, decoders and learners are asked for by name.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.spec import Spec
from smtplugins.host.errors import UsageError
from smtplugins.host.study.steps import TRANSLATIONS, once, tune_and_test
from smtplugins.plugins.searn.study.rows import OOV, Row

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Metric
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.host import Host

LINKS, LABELS, PHRASES = "links.gz", "labels", "phrases-{}"


@dataclass(frozen=True)
class Texts:
    """Sentence pairs to learn from, with their links or without; sentences to tune on and to test on."""

    source: Path
    target: Path
    links: Path | None
    tune: Path
    tune_references: tuple[Path, ...]
    test: Path
    test_references: tuple[Path, ...]

    def files(self) -> list[Path]:
        """All of them."""
        links = [] if self.links is None else [self.links]
        pair = [self.source, self.target, *links, self.tune, *self.tune_references]
        return [*pair, self.test, *self.test_references]


@dataclass(frozen=True)
class Tuning:
    """How weights are learnt."""

    learner: Spec
    nbest: int
    iterations: int
    seeds: range


@dataclass(frozen=True)
class Study:
    """A comparison in a folder: what is there already is read."""

    host: Host
    folder: Path
    texts: Texts
    lm: Path
    rows: Sequence[Row]
    tuning: Tuning
    metric_name: str
    aligner: str | None = None
    training: Sequence[str] = ()
    stack_size: int = 100
    max_options: int = 20
    jobs: int = 1
    cache: str | None = None
    quiet: bool = True
    say: Callable[[str], None] = lambda text: None

    @cached_property
    def metric(self) -> Metric:
        """What systems are judged by, and tuned for."""
        return self.host.metric(self.metric_name)

    @cached_property
    def references(self) -> list[list[str]]:
        """Those of the test sentences."""
        from smtplugins.host.files.lists import read_corpus

        return [list(read_corpus(one)) for one in self.texts.test_references]

    def check(self) -> None:
        """Whether files are there, and references have as many lines as their sentences, before anything is made."""
        from smtplugins.core.lm.ngram_model import check_lm
        from smtplugins.host.files.lists import read_corpus

        texts = self.texts
        for path in texts.files():
            path.stat()
        check_lm(self.lm)
        for sentences, references in ((texts.tune, texts.tune_references), (texts.test, texts.test_references)):
            count = sum(1 for _ in read_corpus(sentences))
            if not count:
                raise UsageError(f"{sentences}: expected sentences, found none")
            for one in references:
                found = sum(1 for _ in read_corpus(one))
                if found != count:
                    raise UsageError(f"{one}: expected {count} references, one for each of {sentences}, found {found}")

    def once(self, name: str, make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """A record that a file of the folder has, or that is made now."""
        return once(self.folder, name, make, self.say)

    @property
    def links(self) -> Path:
        """The links, made if none were given."""
        if self.texts.links is not None:
            return self.texts.links
        path = self.folder / LINKS
        if not path.exists():
            from smtplugins.host.files.opening import find_format, write_all

            self.say(f"links: {self.aligner}")
            found = self.host.align(
                self.texts.source, self.texts.target, model=self.aligner, jobs=self.jobs, note=self.say
            )
            write_all(find_format("pharaoh-alignment", "alignment", self.host.formats()), found, path)
        return path

    # Tables and policies.

    def labelled(self) -> dict[str, Any]:
        """Labels, items and the table of leaves: what is told of them."""
        import json

        from smtplugins.plugins.searn.labels.labelling import STATISTICS, AlignedFiles, label_text

        folder = self.folder / LABELS
        if not (folder / STATISTICS).exists():
            self.say("labels and their table")
            files = AlignedFiles(str(self.texts.source), str(self.texts.target), str(self.links))
            label_text(self.host, files, folder, quiet=self.quiet)
        found: dict[str, Any] = json.loads((folder / STATISTICS).read_text(encoding="utf-8"))
        return found

    def table(self, row: Row) -> Path:
        """The table of a row."""
        from smtplugins.host.estimate.phrase_tables import PHRASE_TABLE, Bitext, PhraseSettings, extract_phrases
        from smtplugins.plugins.searn.labels.labelling import TABLE

        if not row.length:
            self.labelled()
            return self.folder / LABELS / TABLE
        folder = self.folder / PHRASES.format(row.length)
        if not (folder / PHRASE_TABLE).exists():
            self.say(f"table of phrases of up to {row.length} words")
            bitext = Bitext(self.texts.source, self.texts.target, self.links)
            extract_phrases(self.host, bitext, folder, PhraseSettings(row.length), quiet=self.quiet)
        return folder / PHRASE_TABLE

    def sizes(self) -> list[dict[str, Any]]:
        """What figures 4 and 5 show: entries of each table, and those with one source word."""
        from smtplugins.plugins.searn.labels.table import shares, table_lengths

        found = []
        for row in {one.table: one for one in self.rows}.values():
            size = self.once(f"sizes-{row.table}", lambda row=row: shares(table_lengths(self.table(row))))  # type: ignore[misc]
            found.append({"table": row.table, "length": row.length, **size})
        return found

    def policy(self, history: str) -> tuple[Path, dict[str, Any]]:
        """The policy that knows this of earlier labels, and how many labels it has right."""
        folder = self.folder / "policies" / history.replace(",", "-")
        return folder, self.once(f"{folder.relative_to(self.folder)}-done", lambda: self._policy(folder, history))

    def _policy(self, folder: Path, history: str) -> Mapping[str, Any]:
        import json

        from smtplugins.plugins.searn.learning.train_command import TRAIN

        self.labelled()
        self.say(f"policy with history {history}")
        # As the command does it.
        parser = argparse.ArgumentParser()
        TRAIN.configure(parser)
        given = ["-i", str(self.folder / LABELS), "-o", str(folder), "--history", history, "--resume", "-q"]
        TRAIN.run(self.host, parser.parse_args([*given, *self.training]))
        record: dict[str, Any] = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        return record

    # Systems.

    def config(self, row: Row) -> RunConfig:
        """The configuration of a row."""
        from smtplugins.host.config.run_yaml import ModelConfig, RunConfig
        from smtplugins.plugins.searn.labels.labelling import NULLS

        options: dict[str, Any] = {"stack_size": self.stack_size, "max_options": self.max_options, **row.options}
        policy = None if row.history is None else str(self.policy(row.history)[0])
        if policy is not None:
            options["policy_path"] = policy
        if row.kind == "nulls":
            options["nulls_path"] = str(self.folder / LABELS / NULLS)
        table = self.table(row)
        return RunConfig(
            source=self.texts.tune,
            references=self.texts.tune_references,
            decoder=Spec(row.decoder, options),
            model=ModelConfig(grammar=(table,), features=row.specs(str(table), str(self.lm), policy)),
            metric=Spec.parse(self.metric_name),
        )

    def tuned(self, row: Row, seed: int) -> dict[str, Any]:
        """A row tuned with a seed, with the test sentences translated."""
        return self.once(f"systems/{row.key}-{seed}/done", lambda: self._tuned(row, seed))

    def _tuned(self, row: Row, seed: int) -> Mapping[str, Any]:
        from smtplugins.host.learn.loop import LoopPlan
        from smtplugins.host.learn.tuning import plan_of

        plan = plan_of(self.host, self.tuning.learner, [OOV], seed=seed, jobs=self.jobs)
        said = f"{row.title}, seed {seed}"
        self.say(f"{said}: tuning")
        ended = tune_and_test(
            self.host,
            replace(self.config(row), seed=seed),
            LoopPlan(plan, self.tuning.iterations, nbest=self.tuning.nbest),
            self.folder / "systems" / f"{row.key}-{seed}",
            self.texts.test,
            start=row.weights(),
            cache=self.cache,
            quiet=self.quiet,
            told=lambda text: self.say(f"{said}: {text}"),
        )
        return {"tuned": ended.score, "weights": dict(ended.weights), "reason": ended.reason}

    def judged(self) -> list[dict[str, Any]]:
        """Each row's score, a mean over seeds, with its interval, and p of the difference from the first."""
        from smtplugins.host.files.lists import read_corpus
        from smtplugins.host.judge.significance import Plan, judge

        stats, rows = [], []
        for row in self.rows:
            runs, tuned = [], []
            for seed in self.tuning.seeds:
                tuned.append(self.tuned(row, seed)["tuned"])
                texts = list(read_corpus(self.folder / "systems" / f"{row.key}-{seed}" / TRANSLATIONS))
                runs.append(self.metric.stats(texts, self.references))
            stats.append(runs)
            metrics = {} if row.history is None else self.policy(row.history)[1]["metrics"]
            own = {"key": row.key, "name": row.title, "table": row.table, "paper": row.paper}
            rows.append({**own, "tuned": sum(tuned) / len(tuned), "labels": metrics.get("held_out_accuracy")})
        found = judge(self.metric, stats, Plan(("bootstrap",) if len(stats) > 1 else (), level=0.95))
        return [
            {**row, "score": one.score, "deviation": one.deviation, "low": one.low, "high": one.high}
            | {"p": one.p.get("bootstrap")}
            for row, one in zip(rows, found, strict=True)
        ]

    def signature(self) -> str:
        """The metric's, which may ask how many references there are, also where all scores are there already."""
        self.metric.stats(self.references[0][:1], [stream[:1] for stream in self.references])
        return self.metric.signature()
