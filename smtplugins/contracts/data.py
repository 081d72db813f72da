"""Sentences to be translated, and the scores that features return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from smtformats.corpus.segments import Mark
from smtformats.hypergraph.graph import GraphColumns
from smtformats.records import dataclass

Scores = Any
"""Columns, an array (rows, or rows x components), or a sequence of floats: one row for each item scored."""


@dataclass(frozen=True)
class Sentence:
    """A source sentence: an id, tokens or a lattice, references and annotations.

    ``grammars`` are files of rules for this sentence alone; ``marks`` are tags on its words, as in Moses' XML markup.
    A sentence is ``raw`` if its words were made from raw text (``text`` of a run.yaml), as its translation will be.
    """

    id: str
    tokens: tuple[str, ...]
    references: tuple[str, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    lattice: GraphColumns | None = None
    grammars: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()
    raw: bool = False

    @property
    def text(self) -> str:
        """The tokens joined by blanks."""
        return " ".join(self.tokens)
