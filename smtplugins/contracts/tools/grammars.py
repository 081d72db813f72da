"""Rules, grammars, reordering tables, vocabularies, and the forests that parsing makes of them."""

from __future__ import annotations

from smtformats.columns import gathered
from smtplugins.core.grammar.lattice_distances import distances
from smtplugins.core.grammar.parsed_forest import TOP, Forest
from smtplugins.core.grammar.reordering import (
    CompactReorderingTable,
    ProbingReorderingTable,
    ReorderingTable,
    load_reordering,
)
from smtplugins.core.grammar.rules import GLUE, MINTED, Edges, Origins, Rules
from smtplugins.core.grammar.tables import Tables, fragment_scores, own_label, row_scores
from smtplugins.core.vocabulary import Vocabulary

__all__ = [
    "GLUE",
    "MINTED",
    "TOP",
    "CompactReorderingTable",
    "Edges",
    "Forest",
    "Origins",
    "ProbingReorderingTable",
    "ReorderingTable",
    "Rules",
    "Tables",
    "Vocabulary",
    "distances",
    "fragment_scores",
    "gathered",
    "load_reordering",
    "own_label",
    "row_scores",
]
