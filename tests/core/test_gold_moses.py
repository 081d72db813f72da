"""Moses' hierarchical decoder: what core makes of its tables, with the features and options that it has.

Moses puts ``<s>`` and ``</s>`` around a sentence; its glue grammar holds them, and words are counted with them. A rule
counts for PhrasePenalty whatever table it is from; LM0 is a natural logarithm.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats.caching.folders import cached_load
from smtformats.grammar import moses_rules
from smtplugins.core.grammar.parsing import Lattice, Options, PassThrough, parse
from smtplugins.core.grammar.tables import Grammar, ScoredGrammar, Tables, fragment_scores
from smtplugins.core.graph import inference
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.search.stateful_search import Stateful, lm_scorer, refine

from .golds import MARKERS, counts_of, lines_of, model_of, weighted, with_columns

pytestmark = pytest.mark.shared
LM = "LM0"
LOG10 = math.log(10)
TABLE_LIMIT = 20  # of target sides for each source side, where the table does not say otherwise
UNKNOWN = PassThrough({"X": {"UnknownWordPenalty0": -100.0}}, unknown_only=True, except_for=MARKERS)


def sections(path: Path) -> dict[str, list[str]]:
    lines_by_section: dict[str, list[str]] = {}
    for line in map(str.strip, lines_of(path)):
        if line.startswith("["):
            here = lines_by_section.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            here.append(line)
    return lines_by_section


@dataclass
class Decoder:
    weights: dict[str, float]
    grammars: list[ScoredGrammar]
    model: Any

    def graph(self, source: str) -> Hypergraph:
        forest = parse(Lattice.of_words(source.split()).between(), self.grammars, Options("S", UNKNOWN), self.weights)
        graph = weighted(forest, self.weights)
        rules = np.array([graph.grammar.rule(i).lhs != "Goal" for i in range(len(graph.grammar))])
        penalties = {"WordPenalty0": -counts_of(graph), "PhrasePenalty0": rules}
        return with_columns(graph, penalties, self.weights)

    def search(self, graph: Hypergraph, **options: Any) -> Hypergraph:
        scorer = lm_scorer(self.model, graph.words, markers=True, scale=LOG10)
        return refine(graph, [Stateful(scorer, (LM,), (self.weights[LM],))], **options).graph


@cache
def decoder(folder: Path) -> Decoder:
    """Tables, weights and limits of the tuned model."""
    told = sections(folder / "model/moses.hiero.tuned.ini")
    weights: dict[str, float] = {}
    for name, values in (line.split("=") for line in told["weight"]):
        several = [float(value) for value in values.split()]
        weights |= {name: several[0]} if len(several) == 1 else {f"{name}[{i}]": w for i, w in enumerate(several)}
    model = model_of(folder / "../cdec/lm/en.4.arpa.gz")
    tables = Tables()
    columns, joining = (
        cached_load(folder / "model" / name, moses_rules.FORMAT, None, table=table)
        for name, table in (("rule-table.gz", "TranslationModel0"), ("glue-grammar", "TranslationModel1"))
    )
    spans = [int(limit) for limit in told["max-chart-span"]]
    rules = Grammar(columns, tables, span_limit=spans[0])
    # The limit looks at all that a rule costs without context: the model's part is that of its own words.
    words = np.diff(np.concatenate([[0], np.cumsum(columns.target >= 0)])[columns.target_offsets])
    scores = rules.scores(weights)
    own = weights["PhrasePenalty0"] - weights["WordPenalty0"] * words
    estimates = scores + own + weights[LM] * LOG10 * fragment_scores(model, columns)
    best = rules.limited(estimates.astype(np.float32), TABLE_LIMIT)
    glue = Grammar(joining, tables, span_limit=spans[1])
    return Decoder(weights, [ScoredGrammar(best, scores), glue.scored(weights)], model)


def listed(path: Path, only: int) -> dict[int, list[tuple[str, dict[str, float], float]]]:
    """Texts, features and totals of the first sentences."""
    lists: dict[int, list[tuple[str, dict[str, float], float]]] = {}
    for line in lines_of(path):
        number, text, features, total = line.split("|||")[:4]
        if int(number) >= only:
            break
        values: dict[str, float] = {}
        for name, numbers in re.findall(r"(\S+)= ((?:[-+.\de]+ ?)+)", features):
            several = [float(value) for value in numbers.split()]
            values |= {name: several[0]} if len(several) == 1 else {f"{name}[{i}]": v for i, v in enumerate(several)}
        lists.setdefault(int(number), []).append((text.strip(), values, float(total)))
    return lists


@pytest.mark.parametrize("number", [0, 1, 2, 4, 6, 7, 9])
def test_lists_are_those_of_moses(shared: Path, number: int) -> None:
    """The same list, or a better one; and each derivation of Moses' has the same features here."""
    folder = shared / "gold/moses"
    moses = decoder(folder)
    source = lines_of(folder / "in/test300.de")[number]
    wanted = listed(folder / "hiero/nbest100.labeled.txt.gz", 10)[number]
    graph = moses.graph(source)
    made = moses.search(graph, pop_limit=1000)
    derivations = inference.kbest(made, None, 100)
    totals = np.array([total for *_, total in wanted])
    assert (derivations.scores > totals - 6e-4).all()  # with an unknown word they are below -100, with three digits
    assert derivations.scores[0] == pytest.approx(totals[0], abs=6e-4)
    assert derivations.texts()[0] == f"<s> {wanted[0][0]} </s>"

    features = {name: at for at, name in enumerate(graph.names)}
    forced: dict[str, np.ndarray[Any, Any]] = {}
    logs, _ = moses.model.score_sentences([text for text, *_ in wanted])
    for (text, values, _), log in zip(wanted, logs.tolist(), strict=True):
        assert values.pop(LM) == pytest.approx(log * LOG10, rel=1e-5)
        if text not in forced:
            part = inference.intersect(graph, f"<s> {text} </s>").graph
            forced[text] = inference.kbest(part, None, 500).features()
        sums = forced[text][:, [features[name] for name in values]]
        same = np.isclose(sums, list(values.values()), rtol=1e-5, atol=1e-5).all(axis=1)
        assert same.any(), (text, values)


def test_totals_are_those_of_moses(shared: Path) -> None:
    """All of the first 50: the totals hold what an unknown word costs, which the features do not show."""
    folder = shared / "gold/moses"
    moses = decoder(folder)
    lists = listed(folder / "hiero/nbest100.labeled.txt.gz", 50)
    sources = lines_of(folder / "in/test300.de")
    for number in range(10, 50, 3):
        text, values, total = lists[number][0]
        made = moses.search(moses.graph(sources[number]), pop_limit=1000)
        best = inference.viterbi(made)
        assert best is not None and best.text == f"<s> {text} </s>"
        assert best.score == pytest.approx(total, abs=6e-4)
        sums = dict(zip(made.names, best.features().tolist(), strict=True))
        assert {name: sums[name] for name in values} == pytest.approx(values, rel=1e-5, abs=1e-5)
        shown = sum(moses.weights[name] * value for name, value in values.items())
        assert total == pytest.approx(shown + sums.get("UnknownWordPenalty0", 0.0), abs=6e-4)


@pytest.mark.parametrize("number", [0, 3, 8])
def test_translations_of_source_sides_are_those_of_moses(shared: Path, number: int) -> None:
    """Its search graph has rules without gaps that are the twentieth of their source sides: all are ours."""
    folder = shared / "gold/moses"
    graph = decoder(folder).graph(lines_of(folder / "in/test300.de")[number])
    names = [f"TranslationModel0[{i}]" for i in range(4)]
    ours: dict[tuple[str, int], list[list[float]]] = {}
    words = np.flatnonzero(np.diff(graph.tail_offsets) == 0)
    for rule, size in {(int(graph.rules[e]), int(np.diff(graph.spans[e])[0])) for e in words}:
        values = graph.rule_features(rule)
        text = " ".join(map(str, graph.grammar.rule(rule).target))
        ours.setdefault((text, size), []).append([values.get(name, 0.0) for name in names])
    count = 0
    for line in lines_of(folder / f"hiero/hg_txt/{number}.txt.gz")[2:]:
        text, *fields = line.split(" ||| ")
        if fields and "[" not in text:
            wanted = [float(value) for value in re.findall(r"TranslationModel0_\d=(\S+)", fields[0])]
            known = ours.get((text.strip(), int(fields[1])), [])
            assert any(np.allclose(values, wanted, atol=6e-4) for values in known), line
            count += 1
    assert count > 100


def test_unknown_words_are_those_of_moses(shared: Path) -> None:
    folder = shared / "gold/moses"
    moses = decoder(folder)
    unknown = lines_of(folder / "hiero/unknowns.txt")
    assert len(unknown) == 50
    for number in range(0, 50, 4):
        graph = moses.graph(lines_of(folder / "in/test300.de")[number])
        rules = map(graph.grammar.rule, range(len(graph.grammar)))
        words = [str(rule.target[0]) for rule in rules if "UnknownWordPenalty0" in rule.names]
        assert sorted(words) == sorted(unknown[number].split())
