"""Forests and lists of the 100 best, with and without a language model, against cdec's of 50 sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtplugins.core.graph import inference

from .golds import (
    LM,
    OOV,
    assert_listed,
    assert_said,
    cdec_forest,
    edge_rows,
    graph_of,
    lines_of,
    lists_of,
    model_of,
    said,
    segments,
    text_of,
    weighted,
    weights_of,
    with_lm,
    with_words,
)

pytestmark = pytest.mark.shared
PARSED = (0, 1, 2, 3, 4, 6, 8, 9)  # the sentences whose forests without a language model are kept


@pytest.mark.parametrize("number", PARSED)
def test_forests_without_lm_are_cdecs(shared: Path, number: int) -> None:
    gold = shared / "gold/cdec"
    weights = weights_of(gold / "weights.tuned")
    ours = weighted(cdec_forest(gold, segments(gold / "test300.in")[number], weights), weights)
    theirs = graph_of(gold / f"first50/forest.nolm/{number}.bin.gz")
    assert (ours.nodes, len(ours)) == (theirs.nodes, len(theirs))
    numbers: dict[Any, int] = {}
    our_rows, their_rows = (edge_rows(graph, sorted(weights), numbers) for graph in (ours, theirs))
    assert (our_rows == their_rows).all()
    assert_said(ours, said(text_of(gold / "first50/onebest.log.gz"))[number]["first"])


@pytest.mark.parametrize("kind", ["", ".unique"])
def test_lists_without_lm_are_cdecs(shared: Path, kind: str) -> None:
    gold = shared / "gold/cdec"
    weights = weights_of(gold / "weights.tuned")
    lists = lists_of(gold / f"first50/nolm.kbest100{kind}.txt.gz")
    best = lines_of(gold / "first50/nolm.onebest.txt")
    for segment in segments(gold / "test300.in")[:50:4]:
        assert segment.id is not None
        graph = weighted(cdec_forest(gold, segment, weights), weights)
        wanted = lists[str(segment.id)]
        assert len(wanted) == 100
        assert_listed(graph, wanted, unique=kind != "")
        # Of the best ones, which are as good, cdec shows one.
        derivations = inference.kbest(graph, None, 100, unique=True)
        least = derivations.scores[0] - 1e-6
        texts = [text for text, score in zip(derivations.texts(), derivations.scores, strict=True) if score > least]
        assert best[segment.id] in texts


@pytest.mark.parametrize("number", PARSED)
def test_searches_of_cdec_lie_in_our_forests(shared: Path, number: int) -> None:
    """Its search is not exact: but its edges are ours, states apart, and its lists' scores are our model's."""
    gold = shared / "gold/cdec"
    weights = weights_of(gold / "weights.tuned")
    model = model_of(gold / "lm/en.4.arpa.gz")
    graph = weighted(cdec_forest(gold, segments(gold / "test300.in")[number], weights), weights)
    whole = with_words(graph, weights, model)
    numbers: dict[Any, int] = {}
    names = sorted(weights.keys() - {LM})
    ours = edge_rows(whole, names, numbers)
    theirs = edge_rows(graph_of(gold / f"first50/forest.lm/{number}.bin.gz"), names, numbers)
    assert np.isin(theirs, ours).all()

    wanted = lists_of(gold / "first50/kbest100.txt.gz")[str(number)]
    texts = [line.text for line in wanted]
    logs, unknown = model.score_sentences(texts)
    forced: dict[str, list[float]] = {}
    for line, log, count in zip(wanted, logs.tolist(), unknown.tolist(), strict=True):
        assert (line.features[LM], line.features.get(OOV, 0)) == (pytest.approx(log, rel=1e-5), count)
        if line.text not in forced:
            part = inference.intersect(whole, line.text).graph
            forced[line.text] = (inference.kbest(part, None, 1000).scores + weights[LM] * log).tolist()
        assert min(abs(line.score - score) for score in forced[line.text]) < 1e-4, line
    # With a limit that is large enough, our search has no worse list.
    searched = with_lm(graph, weights, model, pop_limit=1000)
    for kind in ("", ".unique"):
        limits = [line.score for line in lists_of(gold / f"first50/kbest100{kind}.txt.gz")[str(number)]]
        best = inference.kbest(searched, None, len(limits), unique=kind != "").scores
        assert (best > np.array(limits) - 1e-4).all()


def test_a_list_of_an_exact_search_is_not_worse_than_cdecs(shared: Path) -> None:
    """A sentence that is short enough: 2 million edges with all states of a 4-gram model."""
    gold = shared / "gold/cdec"
    weights = weights_of(gold / "weights.tuned")
    model = model_of(gold / "lm/en.4.arpa.gz")
    graph = weighted(cdec_forest(gold, segments(gold / "test300.in")[32], weights), weights)
    exact = with_lm(graph, weights, model, exact=True)
    assert inference.paths(exact) == pytest.approx(inference.paths(graph))
    derivations = inference.kbest(exact, None, 200)
    ours: dict[str, list[float]] = {}
    for text, score in zip(derivations.texts(), derivations.scores.tolist(), strict=True):
        ours.setdefault(text, []).append(score)
    wanted = lists_of(gold / "first50/kbest100.txt.gz")["32"]
    assert (derivations.scores[:100] > np.array([line.score for line in wanted]) - 1e-4).all()
    for line in wanted:
        same = [score for score in ours.get(line.text, ()) if abs(score - line.score) < 1e-4]
        assert same or line.score < derivations.scores[-1] + 1e-3, line
        if same:
            ours[line.text].remove(same[0])
    pruned = inference.kbest(with_lm(graph, weights, model, pop_limit=2000), None, 100)
    assert pruned.scores == pytest.approx(derivations.scores[:100], abs=1e-4)
