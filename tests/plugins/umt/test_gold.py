"""Undirected decoding of real forests: German-English, cdec's grammars and a language model of order 4."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smtplugins as smt
from smtplugins.core.search.search_options import SearchOptions
from smtplugins.core.search.stateful_search import best as best_of
from smtplugins.core.search.stateful_search import forest_of_parse, lm_scorer, searcher
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.sentences import read_sentences
from smtplugins.host.decode.translator import make_translator
from smtplugins.plugins.umt.growing.search import Searcher, lm_part
from smtplugins.plugins.umt.growing.trees import GrownTree

from .made import bound_options
from .oracle import Cff, Lm, Oracle, Plain

pytestmark = pytest.mark.shared
COUNT = 40


@dataclass(frozen=True)
class Real:
    """A sentence's forest with the scores of its rules, and the language model."""

    forest: Any
    scores: Any
    model: Any
    weight: float

    def searcher(self, bounds: float, scale: float, joins: bool = False) -> Searcher:
        """Ready to grow trees, the bounds having that weight."""
        words = self.forest.tables.words
        scorer = lm_scorer(self.model, [words.word(i) for i in range(len(words))])
        made = Searcher([lm_part(scorer)], bound_options("sum", scale, joins))
        weights = [bounds, self.weight]
        made.begin(forest_of_parse(self.forest, self.scores), self.scores, self.scores, weights, [0.9 * joins])
        return made


@pytest.fixture(scope="module")
def real(shared: Path) -> Iterator[list[Real]]:
    from smtplugins.core.lm.ngram_model import read_lm

    before = Path.cwd()
    # As cdec takes them, paths are those of the working directory.
    os.chdir(shared / "gold/cdec")
    try:
        host = smt.load_plugins()
        config = load_config("cdec.ini", ["decoder={name: umt, max_span: 15}"])
        weights = host.read_weights("weights.tuned")
        translator: Any = make_translator(host, config, weights)
        system = translator.decoder.system(translator.model.weights)
        model = read_lm("lm/en.4.klm")
        found = []
        for sentence, _ in zip(read_sentences(host, "test300.in"), range(COUNT), strict=False):
            made, _ = system.forest(sentence)
            found.append(Real(made.forest, made.scores, model, weights["LanguageModel"]))
        yield found
    finally:
        os.chdir(before)


def test_with_exact_bounds_the_best_derivation_is_found(real: list[Real]) -> None:
    for one in real:
        exact = Real(one.forest, one.scores, one.model, 0.0)
        found = exact.searcher(1.0, 1.0).follow()
        given = forest_of_parse(one.forest, one.scores)
        best = best_of(searcher([]).search(given, SearchOptions(exact=True)), given)
        assert best is not None
        own = one.scores[one.forest.native.rules[found.actions[:, 0]]].sum(dtype=np.float64)
        assert own == pytest.approx(best.score, abs=1e-3)
        assert len(found) == len(best.edges)


def test_actions_make_a_derivation_whose_lm_values_are_its_score(real: list[Real]) -> None:
    for one in real:
        for joins in (False, True):
            found = one.searcher(1.0, 1.0, joins).follow()
            tree = GrownTree.of(one.forest, found.actions)
            # Every step is in the tree once, and every child leads to the node that it stands for.
            assert sorted(tree.upwards()) == list(range(len(found)))
            heads, native = tree.heads(), one.forest.native
            assert heads[tree.top] == one.forest.nodes - 1
            for step, edge in enumerate(tree.edges):
                bundle = int(np.searchsorted(native.rule_offsets, edge, side="right")) - 1
                tails = native.tails[native.tail_offsets[bundle] : native.tail_offsets[bundle + 1]]
                assert [heads[child] for child in tree.children[step]] == tails.tolist()
            (whole,), _ = one.model.score_sentences([tree.text()])
            assert found.values[:, 1].sum() == pytest.approx(whole, abs=1e-3)


def test_what_is_told_of_changes_is_all_that_changes(real: list[Real]) -> None:
    for one in real:
        search = one.searcher(1.0, 8.5, True)
        found = search.follow()
        for length in range(len(found)):
            # All candidates are scored anew here, and those of few places are on the way.
            actions, scores = search.ranked(found.actions[:length])
            assert scores[0] == pytest.approx(found.scores[length], abs=2e-5)
            assert actions[0].tolist() == found.actions[length].tolist()


def test_every_candidate_of_a_short_sentence_is_the_oracles(real: list[Real]) -> None:
    one = min(real, key=lambda one: one.forest.edges)
    plain = Plain.of_parsed(one.forest)
    plain.scores, plain.bounds = one.scores.tolist(), one.scores.tolist()
    oracle = Oracle(plain, [Cff(plain, 1, 8.5), Lm(one.model)], [1.0, one.weight])
    search = one.searcher(1.0, 8.5)
    found = search.follow()
    for length in range(0, len(found), 3):
        prefix = [tuple(row) for row in found.actions[:length].tolist()]
        rows, scores = search.ranked(prefix)
        own = dict(zip(map(tuple, rows.tolist()), scores.tolist(), strict=True))
        assert own == pytest.approx({action: score for score, action in oracle.ranked(prefix)}, abs=1e-3)
