"""The nine rows of table 2: how the weights of each are learnt, and what it translates.

C. Tillmann and T. Zhang (ACL 2005), section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from smtplugins.contracts.models import Model
from smtplugins.contracts.tools.decoding import read_sentences
from smtplugins.contracts.tools.language_models import check_lm
from smtplugins.contracts.tools.running import hushed, progress
from smtplugins.contracts.tools.study import (
    Study,
    StudyColumn,
    StudyTable,
    check_least,
    judge_rows,
    score_columns,
)
from smtplugins.plugins.localized.decoding.block_system import BlockSystem, write_table
from smtplugins.plugins.localized.events.bitext import listed_of
from smtplugins.plugins.localized.events.devtest import Modified, Numbers, choose
from smtplugins.plugins.localized.events.event_lists import RECORD, EventList
from smtplugins.plugins.localized.learning import options
from smtplugins.plugins.localized.learning.material import (
    LETTERS,
    NEUTRAL_LETTERS,
    PassSettings,
    learn_bigrams,
    learn_floats,
)
from smtplugins.plugins.localized.learning.problem import NEUTRAL
from smtplugins.plugins.localized.model.bigrams import BigramWeights

TABLES = {"systems": "the paper's table 2"}


@dataclass(frozen=True)
class BlockRow:
    """A row of table 2: order of blocks, features, where float weights are learnt; the paper's BLEU and interval."""

    key: str
    order: str
    letters: str
    floats: str
    paper: float | None = None
    interval: float | None = None

    @property
    def title(self) -> str:
        """The paper's name for the order of blocks: monotone, swaps, or swaps with orientations."""
        return "MON" if self.order == "monotone" else "SWAP & OR" if "b" in self.letters else "SWAP"

    @property
    def order_in_words(self) -> str:
        """The order of blocks in words."""
        orders = {"MON": "no swaps", "SWAP": "swaps", "SWAP & OR": "swaps and orientations"}
        return orders[self.title]

    @property
    def components(self) -> str:
        """The features as the paper writes them."""
        several = len(self.letters) > 3
        shown = f"(a)-({self.letters[-1]})" if several else ",".join(f"({letter})" for letter in self.letters)
        return shown + {"devtest": " (devtest)", "test": " (test)"}.get(self.floats, "")


ROWS = (
    BlockRow("1", "monotone", "ac", "training", 32.3, 1.5),
    BlockRow("2", "swap", "ac", "training", 32.3, 1.5),
    BlockRow("3", "swap", "abc", "training", 33.9, 1.4),
    BlockRow("4", "swap", "abcde", "training", 37.7, 1.5),
    BlockRow("5", "swap", "abcdef", "together", 37.2, 1.6),
    BlockRow("6", "swap", "abcde", "devtest", 37.8, 1.5),
    BlockRow("7", "swap", "abcdef", "devtest", 38.2, 1.5),
    BlockRow("8", "swap", "abcde", "test", 39.0, 1.5),
    BlockRow("9", "swap", "abcdef", "test", 39.3, 1.6),
)


class BlockStudy(Study):
    """Table 2. Models are learnt when a row first needs them."""

    name = "localized compare"
    known_tables = TABLES
    reads = ("phrase_table", "lm", "source", "target", "alignment", "devtest", "devtest_ref", "test", "test_ref")
    learns_from = ("source", "devtest")

    def check(self) -> None:
        """Raise an error if an option or a text is wrong, before anything is written."""
        check_lm(self.args.lm)
        check_least(self.args, nbest=1, min_left=0, stack_size=0)
        self.read_references("devtest")
        assert self.references

    def begin(self) -> None:
        """Read the sets, and make the event list and the decoder's table."""
        self.sets = {name: list(read_sentences(self.host, getattr(self.args, name))) for name in ("devtest", "test")}
        folder, table = self.folder / "events", self.folder / "blocks.gz"
        made = (folder / RECORD).exists()
        events = EventList.open(folder) if made else listed_of(self.host, self.args, folder, self.say, self.quiet)
        self.material = options.material_of(self.args, events)
        if not table.exists():
            sentences = [sentence for sentences in self.sets.values() for sentence in sentences]
            write_table(events.blocks, events.counts.total, table, self.args.keep, sentences)
        self.decoder = BlockSystem(self.material, table, self.args.min_left, self.args.stack_size, self.jobs)
        self._models: dict[str, Model] = {}

    @property
    def rows(self) -> list[BlockRow]:
        """The rows asked for."""
        return [row for row in ROWS if not self.args.row or row.key in self.args.row]

    def systems(self) -> StudyTable:
        """Table 2."""
        rows = [
            {"key": row.key, "name": row.key, "order": row.title, "components": row.components, **self.row(row)}
            for row in self.rows
        ]
        outputs = [[self.read_text(f"row-{row.key}/test.txt")] for row in self.rows]
        rows = judge_rows(self.metric, rows, outputs, self.references)
        columns = [StudyColumn("order", "re-ordering"), StudyColumn("components", "components")]
        paper, margins = {row.key: row.paper for row in ROWS}, {row.key: row.interval for row in ROWS}
        columns += score_columns(self.metric.name, rows, paper, margins, "{:.1f}")
        title = "Table 2: 95 % intervals; p (bootstrap) that a row differs from the first"
        return StudyTable("systems", title, columns, rows, "row")

    def settings(self) -> dict[str, Any]:
        """Sizes of what was learnt from, and the metric."""
        names = dict.fromkeys(row.floats for row in self.rows if row.floats in self.sets)
        return {
            "events": dict(self.material.events.record),
            **self.step("events-sizes", self._sizes),
            "devtest events": {name: self.step(f"models/{name}-events", dict)["events"] for name in names},
            **self.scoring(),
        }

    def row(self, row: BlockRow) -> dict[str, Any]:
        """Translate the test text by a row's model; returns the weights that it uses."""
        return self.step(f"row-{row.key}/done", lambda: self._translate(row))

    def _translate(self, row: BlockRow) -> Mapping[str, Any]:
        sentences = self.sets["test"]
        with hushed(self.quiet):
            model = self._model(row)
            decodings = self.decoder.decode(model, sentences, row.order)
            texts = [result.best for result in progress(decodings, f"row {row.key}", total=len(sentences))]
        self.write_text(f"row-{row.key}/test.txt", texts)
        self.say(f"row {row.key}: {row.title}, {row.components}")
        used = {name: model.weights[name] for name in _weight_names(row.letters) if name in model.weights}
        return {"weights": used}

    def _sizes(self) -> Mapping[str, Any]:
        """Alternatives of an event, and the number of block bigrams."""
        training = self.material.floats.training
        alternatives = training.alternatives / max(len(training), 1)
        return {"alternatives": alternatives, "bigrams": len(self.material.bigrams)}

    def _model(self, row: BlockRow) -> Model:
        if row.floats == "training":
            return self._float_weights(row.letters)
        if row.floats == "together":
            return self._kept("together", lambda: self._with_bigrams(self._float_weights("abcde"), False))
        if row.letters == "abcde":
            return self._modified(row.floats)
        return self._kept(f"bigrams-{row.floats}", lambda: self._with_bigrams(self._modified(row.floats), True))

    def _kept(self, key: str, learn: Callable[[], Model]) -> Model:
        """A model from the folder, or learnt and saved there."""
        if key in self._models:
            return self._models[key]
        folder = self.folder / "models" / key

        def make() -> Mapping[str, Any]:
            self._models[key] = learn()
            self._models[key].save(folder)
            return {"digest": self._models[key].digest()}

        self.step(f"models/{key}-done", make)
        if key not in self._models:
            model = Model.load(folder)
            artefacts = {name: BigramWeights.load(folder / name) for name in model.artefacts}
            self._models[key] = replace(model, artefacts=artefacts)
        return self._models[key]

    def _float_weights(self, letters: str) -> Model:
        tell, recipe = options.teller(self.say, f"({letters})"), options.float_settings(self.args)
        return self._kept(letters, lambda: learn_floats(self.material, letters, recipe, seed=self.args.seed, tell=tell))

    def _with_bigrams(self, start: Model, fixed: bool) -> Model:
        tell = options.teller(self.say, "(abcdef)" + (", floats fixed" if fixed else ""))
        return learn_bigrams(
            self.material, start, options.bigram_settings(self.args), fixed=fixed, seed=self.args.seed, tell=tell
        )

    def _modified(self, name: str) -> Model:
        """Float weights from the best block sequences of a set's sentences: section 5.2."""

        def learn() -> Model:
            sentences, references = self.sets[name], self.read_references(name)
            decodings = self.decoder.decode(self._model(ROWS[4]), sentences, "swap", graphs=True)
            chosen = choose(decodings, references, self.metric, Numbers(self.material), self.args.nbest)
            problem = Modified.of(chosen, self.material)
            size = len(problem.floats.training) + len(problem.neutral.training)
            self.say(f"{name}: {size} events of the best of {self.args.nbest} translations of {len(chosen)} sentences")
            self.step(f"models/{name}-events", lambda: {"events": sum(len(best.steps) for best in chosen)})
            recipe = PassSettings(self.args.modified_passes, self.args.modified_rate)
            # The alternatives are those of equation 10; their weights are learnt as elsewhere.
            return learn_floats(problem, "abcde", recipe, seed=self.args.seed, tell=options.teller(self.say, name))

        return self._kept(f"floats-{name}", learn)


run = BlockStudy.run


def _weight_names(letters: str) -> tuple[str, ...]:
    own = tuple(LETTERS[letter] for letter in letters)
    return own + tuple(NEUTRAL + LETTERS[letter] for letter in letters if letter in NEUTRAL_LETTERS)
