"""Native searches with stateful features over forests and phrase options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtplugins.core.search.coarse_to_fine import CoarseToFine, NoRefinement
from smtplugins.core.search.linear_gain import LinearGain, published_gains
from smtplugins.core.search.phrase_forests import PhraseOrders, TooManySteps
from smtplugins.core.search.phrase_spans import NoPhrases, phrase_spans
from smtplugins.core.search.phrases import hypergraph_of_spans
from smtplugins.core.search.refining import hypergraph_of
from smtplugins.core.search.search_options import PhraseSearchOptions, SearchOptions
from smtplugins.core.search.stateful_search import (
    BestDerivation,
    SearchLimit,
    Stateful,
    best,
    contract_scorer,
    forest_of_parse,
    is_lm_scorer,
    joint_scorer,
    lm_scorer,
    native_scorer,
    refine,
    searcher,
)

if TYPE_CHECKING:
    from smtplugins.core.search.stateful_search import Refined, Searcher, SearchForest

__all__ = [
    "BestDerivation",
    "CoarseToFine",
    "LinearGain",
    "NoPhrases",
    "NoRefinement",
    "PhraseOrders",
    "PhraseSearchOptions",
    "Refined",
    "SearchForest",
    "SearchLimit",
    "SearchOptions",
    "Searcher",
    "Stateful",
    "TooManySteps",
    "best",
    "contract_scorer",
    "forest_of_parse",
    "hypergraph_of",
    "hypergraph_of_spans",
    "is_lm_scorer",
    "joint_scorer",
    "lm_scorer",
    "native_scorer",
    "phrase_spans",
    "published_gains",
    "refine",
    "searcher",
]
