"""Parsing, exact search and inference together, against cdec's searches that prune nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtplugins.core.grammar.parsing import Options, PassThrough, parse
from smtplugins.core.grammar.tables import Tables, glue
from smtplugins.core.graph import inference

from .golds import (
    assert_listed,
    assert_said,
    cdec_grammar_of,
    lines_of,
    lists_of,
    model_of,
    said,
    text_of,
    weighted,
    weights_of,
    with_lm,
)

pytestmark = pytest.mark.shared


@pytest.mark.parametrize(("name", "lm"), [("full", "exact_lm/en.2.arpa.gz"), ("full.4gram", "lm/en.4.arpa.gz")])
def test_exact_searches_of_our_own_forests_are_cdecs(shared: Path, name: str, lm: str) -> None:
    gold = shared / "gold/cdec"
    folder = gold / "exact_lm"
    weights = weights_of(folder / "weights.tuned")
    model = model_of(gold / lm)
    tables = Tables()
    grammars = [cdec_grammar_of(folder / "small.scfg.gz", tables, span_limit=15), glue(tables)]
    logs = said(text_of(folder / f"{name}.log"))
    lists, unique = (lists_of(folder / f"{name}.kbest100{kind}.txt") for kind in ("", ".unique"))
    sentences = zip(lines_of(folder / "input.txt"), lines_of(folder / f"{name}.onebest.txt"), logs, strict=True)
    for number, (source, translation, log) in enumerate(sentences):
        forest = parse(source.split(), grammars, Options(pass_through=PassThrough()), weights)
        graph = weighted(forest, weights, str(number))
        assert_said(graph, log["first"])
        # cdec's states: what begins a sentence is known at the end alone.
        exact = with_lm(graph, weights, model, exact=True, early_begin=False)
        assert_said(exact, log["second"])
        best = inference.viterbi(exact)
        assert best is not None and best.text == translation
        early = with_lm(graph, weights, model, exact=True, early_begin=True)
        assert inference.paths(early) == inference.paths(exact)
        assert inference.inside(early)[-1] == pytest.approx(inference.inside(exact)[-1], abs=1e-4)
        for refined in (exact, early):
            assert_listed(refined, lists[str(number)])
            assert_listed(refined, unique[str(number)], unique=True)
        # New weights on the search's result are as good as a search with them.
        again = {feature: 0.5 * weight for feature, weight in weights.items()}
        anew = with_lm(weighted(forest, again), again, model, exact=True, early_begin=False)
        assert inference.inside(exact.reweighted(again))[-1] == pytest.approx(inference.inside(anew)[-1], abs=1e-4)
