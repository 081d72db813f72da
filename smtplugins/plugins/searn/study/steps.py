"""The steps of ``smt searn compare``: links, tables, policies, and the systems made of them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.contracts.tools.decoding import RuleTable
from smtplugins.contracts.tools.extraction import Bitext
from smtplugins.contracts.tools.files import find_format, write_all
from smtplugins.contracts.tools.language_models import check_lm
from smtplugins.contracts.tools.running import ModelConfig, RunConfig
from smtplugins.contracts.tools.study import (
    Study,
    StudyColumn,
    StudySystem,
    StudyTable,
    check_least,
    paper_column,
    score_columns,
)
from smtplugins.plugins.searn.labels.labelling import NULLS, STATISTICS, TABLE, AlignedFiles, label_text
from smtplugins.plugins.searn.labels.table import shares, table_lengths
from smtplugins.plugins.searn.learning import train_command
from smtplugins.plugins.searn.study.rows import HISTORY, KINDS, OOV, PAPER, RATIOS, SCORES, TABLES, AmasisRow, rows_of

LINKS, LABELS = "links.gz", "labels"


class AmasisStudy(Study):
    """Table 1 and figures 4 and 5."""

    name = "searn compare"
    known_tables = TABLES
    unrecorded = ("pair",)
    reads = ("source", "target", "alignment", "lm", "tune", "tune_ref", "test", "test_ref")
    learns_from = ("source", "tune")
    fixed = (OOV,)

    def check(self) -> None:
        """Raise an error if an option is wrong or a reference is missing, before anything is written."""
        args = self.args
        if (args.alignment is None) == (args.align is None):
            raise UsageError("expected the links (-a FILE) or a model to make them (--align NAME), one of both")
        for names in args.history or [HISTORY]:
            train_command.read_history(names)
        if args.length and min(args.length) < 1:
            raise UsageError(f"--length: expected 1 or more, found {min(args.length)}")
        check_least(args, labels=0)
        assert self.plan.learner is not None
        offers = [*(("decoders", name) for name in ("amasis", "phrase")), ("learners", self.plan.learner.name)]
        for kind, name in offers:
            self.host.registry.entry(kind, name)
        check_lm(args.lm)
        self.read_references("tune")
        assert self.references

    def settings(self) -> dict[str, Any]:
        """Metric, learner, seeds, and how often each label stands in the text."""
        counts = self.labelled()["labels"]
        return {
            "pair": self.pair,
            **self.scoring(),
            "learner": str(self.plan.learner),
            "seeds": list(self.plan.seeds),
            "test sentences": len(self.references[0]),
            "labels": counts,
            "most frequent label": max(counts.values(), default=0) / max(sum(counts.values()), 1),
        }

    @cached_property
    def rows(self) -> list[AmasisRow]:
        """The rows asked for."""
        lengths, histories = self.args.length or [1, 2, 3], self.args.history or [HISTORY]
        kinds, distortion = self.args.row or list(KINDS), self.args.distortion_limit
        return rows_of(kinds, lengths, histories, labels=self.args.labels, distortion=distortion)

    @cached_property
    def pair(self) -> str | None:
        """The paper's language pair whose figures are shown: that of --pair, or of the files' endings."""
        if self.args.pair is not None:
            return str(self.args.pair)
        source, target = (Path(path.name.removesuffix(".gz")).suffix for path in (self.args.source, self.args.target))
        letter = {".fr": "F", ".de": "G", ".es": "S"}.get(source)
        return f"{letter}-E" if letter is not None and target == ".en" else None

    @property
    def links(self) -> Path:
        """The file of word alignments; they are made if none is named."""
        if self.args.alignment is not None:
            return Path(self.args.alignment)
        path = self.folder / LINKS
        if not path.exists():
            host, say = self.host, self.say
            say(f"links: {self.args.align}")
            links = host.align(self.args.source, self.args.target, model=self.args.align, jobs=self.jobs, note=say)
            write_all(find_format("pharaoh-alignment", "alignment", host.formats()), links, path)
        return path

    # Tables and policies.

    def labelled(self) -> dict[str, Any]:
        """Write labels, items and the table of leaves; returns their statistics."""
        folder = self.folder / LABELS
        if not (folder / STATISTICS).exists():
            self.say("labels and their table")
            files = AlignedFiles(str(self.args.source), str(self.args.target), str(self.links))
            label_text(self.host, files, folder, quiet=self.quiet)
        statistics: dict[str, Any] = json.loads((folder / STATISTICS).read_text(encoding="utf-8"))
        return statistics

    def table(self, row: AmasisRow) -> Path:
        """The table of a row."""
        if row.length:
            return self.phrase_table(row.table, Bitext(self.args.source, self.args.target, self.links), row.length)
        self.labelled()
        return self.folder / LABELS / TABLE

    def policy(self, history: str) -> tuple[Path, dict[str, Any]]:
        """The folder of the policy with these history features, and its record."""
        name = f"policies/{history.replace(',', '-')}"
        folder = self.folder / name
        return folder, self.step(f"{name}-done", lambda: self._learn_policy(folder, history))

    def _learn_policy(self, folder: Path, history: str) -> Mapping[str, Any]:
        self.labelled()
        self.say(f"policy with history {history}")
        # As the command does it.
        parser = argparse.ArgumentParser()
        train_command.configure(parser)
        args = parser.parse_args(["-i", str(self.folder / LABELS), "-o", str(folder)])
        vars(args).update(history=history, resume=True, quiet=True, seed=self.args.seed)
        vars(args).update(iterations=self.args.searn_iterations, passes=self.args.passes)
        vars(args).update(min_count=self.args.min_count, held_out=self.args.held_out or None)
        train_command.run(self.host, args)
        record: dict[str, Any] = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        return record

    def prepare(self, row: AmasisRow) -> tuple[RunConfig, Mapping[str, float]]:
        """The configuration of a row and its initial weights."""
        options: dict[str, Any] = {
            "stack_size": self.args.stack_size,
            "max_options": self.args.max_options,
            **row.options,
        }
        policy = None if row.history is None else str(self.policy(row.history)[0])
        if policy is not None:
            options["policy_path"] = policy
        if row.kind == "nulls":
            options["nulls_path"] = str(self.folder / LABELS / NULLS)
        # A table with a name has its scores in lists also where they are 0; they stand after the language model's.
        table = RuleTable(self.table(row), name=SCORES, position=1)
        config = RunConfig(
            source=self.args.tune,
            references=tuple(self.args.tune_ref),
            decoder=Spec(row.decoder, options),
            model=ModelConfig((table,), features=row.specs(str(self.args.lm), policy)),
            metric=Spec.parse(self.args.metric),
        )
        return config, row.weights()

    # The paper's tables.

    def systems(self) -> StudyTable:
        """Table 1: scores, and how many labels of held-out sentences the policies predict."""
        tuned = self.tuned_rows(StudySystem(row.key, row.title, partial(self.prepare, row)) for row in self.rows)
        rows = []
        for row, record in zip(self.rows, tuned, strict=True):
            metrics = {} if row.history is None else self.policy(row.history)[1]["metrics"]
            rows.append({**record, "table": row.table, "labels": metrics.get("held_out_accuracy")})
        paper = {} if self.pair is None else PAPER[self.pair]
        inside, outside = (paper_column(paper, at) for at in (0, 1))
        columns = [StudyColumn("table", "table"), *score_columns(self.metric.name, rows, inside)]
        columns.append(StudyColumn("out_of_domain", "out of domain", paper=outside, ours=False))
        columns.append(StudyColumn("labels", "labels right", "{:.1%}"))
        runs = len(self.plan.seeds)
        seeds = "" if runs == 1 else f"; means of {runs} optimiser runs"
        title = f"Table 1: 95 % intervals, p (bootstrap) that a row differs from the first{seeds}{self._beside}"
        return StudyTable("systems", title, columns, rows)

    def sizes(self) -> StudyTable:
        """Figures 4 and 5: entries of each table, and those with one source word."""
        tables = {row.table: row for row in self.rows}
        rows: list[dict[str, Any]] = []
        for name, row in tables.items():
            size = self.step(f"sizes-{name}", lambda row=row: shares(table_lengths(self.table(row))))  # type: ignore[misc]
            rows.append({"key": name, "name": name, "length": row.length, **size})
        leaves = next((row["entries"] for row in rows if not row["length"]), None)
        for own in rows:
            own["leaves"] = leaves / own["entries"] if leaves is not None and own["length"] and own["entries"] else None
        longest = max(rows, key=lambda row: int(row["length"]))
        paper = {longest["key"]: RATIOS[self.pair]} if self.pair is not None and longest["leaves"] is not None else {}
        columns = [
            StudyColumn("entries", "entries"),
            StudyColumn("leaves", "leaves are", "{:.2%}", paper, "{:.2f}%"),
            StudyColumn("single_word_share", "one source word", "{:.1%}"),
            StudyColumn("longest", "longest"),
        ]
        return StudyTable("sizes", f"Figures 4 and 5: tables{self._beside}", columns, rows, "table")

    @property
    def _beside(self) -> str:
        return "" if self.pair is None else f"; the paper's {self.pair}"


run = AmasisStudy.run
