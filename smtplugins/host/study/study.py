"""A study: the folder where a paper's tables are made, step by step."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.host import runs
from smtplugins.host.files.lists import read_corpus
from smtplugins.host.files.opening import find_format, write_all
from smtplugins.host.study.options import choose, tuning_plan
from smtplugins.host.study.study_tables import StudyTable, render_tables, tables_record
from smtplugins.host.study.tuned_systems import (
    StudySystem,
    TuningPlan,
    judge_rows,
    read_references,
    signature_of,
    tune_system,
)

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.metrics import Metric
    from smtplugins.host.estimate.phrase_tables import Bitext
    from smtplugins.host.host import Host

RESULT = "result.json"
_NO_MATTER = {"output", "resume", "row", "table", "format", "paper", "quiet", "verbose", "jobs", "cache"}
"""Options that change nothing in the folder but how much of it there is."""
_PLAIN = (bool, int, float, str, list, Path, type(None))


class Study:
    """The tables of a paper, made step by step in the folder of a ``compare`` command.

    A plugin's study has a method for each table, and declares its inputs, tuning texts and settings; its command runs
    ``ItsStudy.run``. A step's record is a JSON file that takes its name when the step is complete; its other files lie
    beside it.
    """

    name = "study"
    """The command, for notes."""
    known_tables: Mapping[str, str] = {}
    """The tables in the paper's order, and what they are; a table ``a-b`` is made by the method ``a_b``."""
    unrecorded: tuple[str, ...] = ()
    """Options of its own that may differ with ``--resume``."""
    reads: tuple[str, ...] = ()
    """The options that name files it reads: with ``--resume`` they have to be the same."""
    learns_from: tuple[str, ...] = ()
    """Those of texts that it learns from: scores on them are marked as in-sample."""
    fixed: tuple[str, ...] = ()
    """The weights that are not tuned."""
    unasked: tuple[str, ...] = ()
    """The tables that are made only if they are named."""

    def __init__(self, host: Host, args: argparse.Namespace) -> None:
        self.host, self.args = host, args
        self.folder = Path(args.output).absolute()
        self.jobs: int = args.jobs
        self.cache: str | None = args.cache
        self.quiet: bool = args.quiet
        self._records: dict[str, dict[str, Any]] = {}

    @cached_property
    def metric(self) -> Metric:
        """The metric of ``--metric``."""
        return self.host.metric(self.args.metric)

    @cached_property
    def plan(self) -> TuningPlan:
        """How weights are tuned."""
        return tuning_plan(self.args, self.fixed)

    def check_plan(self) -> None:
        """Raise an error if the options of tuning are wrong, or its learner is not known."""
        if self.plan.learner is not None:
            self.host.registry.check("learners", self.plan.learner)

    @cached_property
    def references(self) -> list[list[str]]:
        """The reference streams of the test text."""
        return self.read_references("test")

    @property
    def test_source(self) -> Path:
        """The text that systems are tested on."""
        path: Path = self.args.test
        return path

    def check(self) -> None:
        """Raise an error if an option or a text is wrong, before anything is written."""

    def inputs(self) -> Iterable[Path | str]:
        """The files that the study reads."""
        return self._named(self.reads)

    def tuned_on(self) -> Iterable[Path | str]:
        """The texts that it learns from."""
        return self._named(self.learns_from)

    def _named(self, options: Iterable[str]) -> list[Path | str]:
        values = [getattr(self.args, option) for option in options]
        return [path for value in values if value for path in (value if isinstance(value, list) else [value])]

    def details(self) -> Mapping[str, Any]:
        """Options in the manifest besides those of the command line."""
        return {}

    def chosen_tables(self) -> list[str]:
        """The tables to make: those of ``--table``, by default all but the ``unasked``."""
        return choose(
            self.args.table or [name for name in self.known_tables if name not in self.unasked], self.known_tables
        )

    def begin(self) -> None:
        """Make what all tables need."""

    def settings(self) -> Mapping[str, Any]:
        """How the tables were made, for JSON."""
        return {}

    def extras(self) -> Mapping[str, Any]:
        """Further entries of JSON beside settings and tables."""
        return {}

    @classmethod
    def run(cls, host: Host, args: argparse.Namespace) -> None:
        """Make the tables, as the ``run`` of a command."""
        cls(host, args).make()

    def make(self) -> None:
        """Make the tables asked for and print them; ``result.json`` has all figures and how they were made."""
        from smtplugins.host.learn.pools import write_json

        self.check()
        with self.opened():
            self.begin()
            tables: list[StudyTable] = [getattr(self, name.replace("-", "_"))() for name in self.chosen_tables()]
            settings, extras = self.settings(), self.extras()
            write_json(self.folder / RESULT, tables_record(tables, settings, extras))
        paper = getattr(self.args, "paper", False)
        sys.stdout.write(render_tables(tables, self.args.format, paper, settings, extras) + "\n")

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Make the folder with its manifest, or with ``--resume`` check that options and inputs are the same."""
        left_out = {*_NO_MATTER, *self.unrecorded}
        options = {name: value for name, value in sorted(vars(self.args).items()) if name not in left_out}
        plain = {name: value for name, value in options.items() if isinstance(value, _PLAIN)}
        plain = json.loads(json.dumps(plain, default=str))
        record = runs.manifest(
            command=[word for word in runs.argv() if word != "--resume"],
            options={**plain, **self.details()},
            inputs=runs.input_hashes(self.inputs()),
            plugins=self.host.plugins,
            seed=self.args.seed,
        )
        record["tuned_on"] = list(map(str, self.tuned_on()))
        with runs.RunDirectory.create(self.folder, record, resume=self.args.resume, learns=False):
            yield

    def say(self, text: str) -> None:
        """Write a note to standard error, unless quiet."""
        if not self.quiet:
            sys.stderr.write(f"smt {self.name}: {text}\n")
            sys.stderr.flush()

    def note(self, text: str) -> None:
        """Write a remark on the data to standard error, unless quiet."""
        self.say(f"note: {text}")

    def step(self, name: str, make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """The record of a step, from ``name.json`` in the folder if the step is complete, else made and written."""
        from smtplugins.host.learn.pools import write_json

        if name not in self._records:
            path = self.folder / f"{name}.json"
            if path.exists():
                self.say(f"{name}: complete, not repeated")
            else:
                record = dict(make())
                path.parent.mkdir(parents=True, exist_ok=True)
                write_json(path, record)
            self._records[name] = json.loads(path.read_text(encoding="utf-8"))
        return self._records[name]

    def phrase_table(self, name: str, bitext: Bitext, longest: int = 7) -> Path:
        """The phrase table of a text, extracted to a folder of the study unless it is there."""
        from smtplugins.host.estimate.phrase_tables import PHRASE_TABLE, PhraseSettings, extract_phrases

        folder = self.folder / name
        if not (folder / PHRASE_TABLE).exists():
            self.say(f"table of phrases of up to {longest} words")
            extract_phrases(self.host, bitext, folder, PhraseSettings(longest), quiet=self.quiet)
        return folder / PHRASE_TABLE

    def read_references(self, name: str) -> list[list[str]]:
        """The reference streams ``--NAME-ref`` of the text ``--NAME``, which must not be empty."""
        source = getattr(self.args, name)
        count = sum(1 for _ in read_corpus(source))
        if not count:
            raise UsageError(f"{source}: expected sentences, found none")
        return read_references(getattr(self.args, f"{name}_ref"), source, count)

    def scoring(self) -> dict[str, Any]:
        """The metric and its signature, for the settings."""
        return {"metric": self.metric.name, "signature": signature_of(self.metric, self.references)}

    def tuned_rows(self, systems: Iterable[StudySystem]) -> list[dict[str, Any]]:
        """Rows of the systems, tuned with each seed of the plan; ``tuned`` is the mean score on the tuning text."""
        rows, outputs = [], []
        for system in systems:
            runs = [tune_system(self, system, self.plan, seed, {"test": self.test_source}) for seed in self.plan.seeds]
            scores = [run["tuned"] for run in runs]
            tuned = None if None in scores else sum(scores) / len(scores)
            rows.append({"key": system.key, "name": system.name, "tuned": tuned})
            outputs.append([self.read_text(f"{system.place(seed)}/test.txt") for seed in self.plan.seeds])
        return judge_rows(self.metric, rows, outputs, self.references)

    def write_text(self, name: str, sentences: Iterable[str]) -> None:
        """Write a text into the folder, a sentence on each line."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_all(find_format("text", "corpus", self.host.formats()), list(sentences), path)

    def read_text(self, name: str) -> list[str]:
        """The sentences of a text in the folder."""
        return list(read_corpus(self.folder / name))
