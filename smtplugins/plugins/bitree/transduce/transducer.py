"""Models of tree transduction and their folders: discriminative (equation 7.5) or generative (equation 7.14).

A model folder has ``transducer.json`` with the kind of model and of its training trees; a discriminative model has the
word model in ``words`` and permutation classifiers in ``joins``, a generative one its counts in ``generative``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.tools.files import read_record
from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel, costs
from smtplugins.plugins.bitree.transduce.generative import Generative
from smtplugins.plugins.bitree.transduce.joins import JoinCosts
from smtplugins.plugins.bitree.transduce.search import Costs
from smtplugins.plugins.bitree.trees.bitrees import Join
from smtplugins.plugins.bitree.trees.source_trees import SourceTree
from smtplugins.plugins.bitree.trees.tree_making import KINDS, SHAPES
from smtplugins.plugins.bitree.words.word_model import MIXTURE, WordModel

Array = NDArray[Any]

RECORD, VERSION = "transducer.json", 1
WORDS, JOINS, GENERATIVE = "words", "joins", "generative"


@dataclass(frozen=True, eq=False)
class Transducer:
    """A model with either ``generative``, or ``words`` and ``joins``; ``trees`` is the kind of its training trees."""

    trees: str
    words: WordModel | None = None
    joins: BoostedModel | None = None
    generative: Generative | None = None
    trained: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def _join_costs(self) -> JoinCosts:
        assert self.joins is not None
        return JoinCosts(self.joins)

    def start(self, tree: SourceTree, configuration: str = MIXTURE) -> Costs:
        """The costs of a sentence; ``configuration`` selects the word classifiers by their atoms."""
        if self.generative is not None:
            return self.generative.start(tree)
        assert self.words is not None
        return _Discriminative(self.words, self._join_costs, tree, configuration)

    def save(self, folder: Path) -> None:
        """Write the model into an existing folder."""
        parts = ((WORDS, self.words), (JOINS, self.joins), (GENERATIVE, self.generative))
        for name, part in parts:
            if part is not None:
                (folder / name).mkdir()
                part.save(folder / name)
        record = {"version": VERSION, "kind": self.kind, "trees": self.trees, "trained": dict(self.trained)}
        (folder / RECORD).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @property
    def kind(self) -> str:
        """``generative`` or ``discriminative``."""
        return "generative" if self.generative is not None else "discriminative"

    @classmethod
    def load(cls, folder: Path) -> Transducer:
        """Load a model written by save()."""
        folder = Path(folder)
        record = read_record(folder, RECORD, "transducers", VERSION)
        kind, trees = record.get("kind"), record.get("trees")
        if kind not in ("discriminative", "generative") or trees not in KINDS:
            raise SmtError(f"{folder / RECORD}: expected a kind of model and of trees, found {kind!r} and {trees!r}")
        trained = record.get("trained") or {}
        if kind == "generative":
            return cls(trees, generative=Generative.load(folder / GENERATIVE), trained=trained)
        return cls(trees, WordModel.load(folder / WORDS), BoostedModel.load(folder / JOINS), trained=trained)


class _Discriminative:
    """``Costs`` of a sentence by word classifiers and permutation classifiers."""

    def __init__(self, words: WordModel, joins: JoinCosts, tree: SourceTree, configuration: str) -> None:
        self._words = words
        self._joins = joins
        self._tree = tree
        self._configuration = configuration
        self._atoms = joins.atoms(tree)

    def words(self) -> list[tuple[Sequence[str], Array]]:
        parsed = None if self._tree.kind in SHAPES else self._tree
        confidences = self._words.confidences(self._tree.words, parsed, self._configuration)
        return [(names, costs(confidence)) for names, confidence in confidences]

    def orders(self, join: Join, heads: Sequence[str], siblings: Sequence[str]) -> Array:
        return self._joins.orders(self._atoms, join, heads, siblings)

    def attached(self, join: Join, heads: Sequence[str], siblings: Sequence[str]) -> None:
        return None

    def roots(self, names: Sequence[str]) -> None:
        return None

    def guesses(self, word: int, names: Sequence[str]) -> None:
        return None
