"""Cube pruning on cdec's 300 sentences: mean model score against CPU time, and what the options are worth."""

from __future__ import annotations

import itertools
import math
import re
import time
from pathlib import Path
from typing import Any

# By pop limit: where cdec's own K = 30 and K = 200 lie is between these.
LIMITS = (1, 30, 50, 100, 200, 300, 450)
PLAIN = {"adapt": 0.0, "beam": math.inf, "early_begin": True, "all_edges": False}
TUNED = {**PLAIN, "adapt": 0.5, "beam": 5.0}
KINDS: dict[str, tuple[dict[str, Any], bool]] = {
    "plain": (PLAIN, True),
    "adapt": ({**PLAIN, "adapt": 0.5}, True),
    "adapt, beam": (TUNED, True),
    "adapt, beam, <s> at the goal": ({**TUNED, "early_begin": False}, True),
    "adapt, beam, all edges": ({**TUNED, "all_edges": True}, True),
    "adapt, beam, no memo": (TUNED, False),
}


def search(shared: Path, rounds: int = 3) -> dict[str, Any]:
    """For each kind of search and each limit: ms a sentence (best of several rounds), mean score, edges scored."""
    from smtplugins.core.lm.ngram_model import read_lm
    from smtplugins.core.search.search_options import SearchOptions
    from smtplugins.core.search.stateful_search import Stateful, lm_scorer, searcher

    gold = shared / "gold/cdec"
    if not gold.exists():
        return {}
    pairs = (line.split() for line in (gold / "weights.tuned").read_text().splitlines())
    weights = {name: float(value) for name, value in pairs}
    model: Any = read_lm(gold / "lm/en.4.arpa.gz")
    forests = parsed_sentences(gold, weights, model)
    found: dict[str, dict[str, Any]] = {}
    for limit in LIMITS:
        best: dict[str, tuple[float, float, float]] = {}
        for _ in range(rounds):
            for kind, (options, memo) in KINDS.items():
                # A new scorer: one limit must not profit from the joins that another one kept.
                scorer = lm_scorer(model, (), memo=memo)
                one = searcher([Stateful(scorer, ("LanguageModel",), (weights["LanguageModel"],))])
                seconds, score, evaluated = 0.0, 0.0, 0
                for forest, vocabulary in forests:
                    scorer.set_words(model.ids([vocabulary.word(i) for i in range(len(vocabulary))]))
                    begun = time.process_time()
                    refined = one.search(forest, SearchOptions(pop_limit=limit, **options))
                    seconds += time.process_time() - begun
                    score += float(refined.best[-1])
                    evaluated += refined.evaluated
                count = len(forests)
                now = (1000 * seconds / count, score / count, evaluated / count)
                best[kind] = min(best.get(kind, now), now)
        for kind, (ms, mean, edges) in best.items():
            found.setdefault(kind, {})[str(limit)] = {"ms": ms, "mean_score": mean, "edges_scored": edges}
    reached = {}
    for k in (30, 200):
        rows = (gold / f"decode/k{k}.tsv").read_text().splitlines()
        at = rows[0].split("\t").index("lm1_score")
        reached[f"K={k}"] = sum(float(row.split("\t")[at]) for row in rows[1:]) / (len(rows) - 1)
    times = {kind: {key: _time_at(curve, score) for key, score in reached.items()} for kind, curve in found.items()}
    return {"cdec_mean_score": reached, "ms_at_cdec_score": times, "curves": found}


def _time_at(curve: dict[str, Any], score: float) -> float | None:
    """Where the curve, straight between its points, reaches a score."""
    points = [(one["mean_score"], one["ms"]) for one in curve.values()]
    for (low, before), (high, after) in itertools.pairwise(points):
        if low < score <= high:
            return float(before + (after - before) * (score - low) / (high - low))
    return None


def parsed_sentences(
    gold: Path, weights: dict[str, float], model: Any, chosen: slice = slice(None)
) -> list[tuple[Any, Any]]:
    """Forests with word penalties and unknown words in the scores of rules, and their words."""
    import numpy as np

    from smtformats.grammar.cdec import FORMAT
    from smtplugins.core.grammar.parsing import Options, PassThrough, parse
    from smtplugins.core.grammar.tables import Grammar, Tables, glue
    from smtplugins.core.search.stateful_search import forest_of_parse

    load = FORMAT.load
    assert load is not None
    forests = []
    for line in (gold / "test300.in").read_text().splitlines()[chosen]:
        told = re.fullmatch(r'<seg grammar="(.*?)" id="\d+">(.*)</seg>', line)
        assert told is not None
        with (gold / told[1]).open("rb", buffering=0) as stream:
            columns = load(stream, told[1])
        tables = Tables()
        grammars = [Grammar(columns, tables, span_limit=15), glue(tables)]
        forest = parse(told[2].split(), grammars, Options(pass_through=PassThrough()), weights)
        native = forest.native
        words = model.ids([tables.words.word(i) for i in range(len(tables.words))])
        target, offsets = native.targets, native.target_offsets
        is_word = target >= 0
        is_unknown = is_word & (words[np.maximum(target, 0)] == 0)
        sums = (np.concatenate([[0], np.cumsum(one)]) for one in (is_word, is_unknown))
        counts, unknown = (one[offsets[1:]] - one[offsets[:-1]] for one in sums)
        extra = unknown * weights["LanguageModel_OOV"] - counts / math.log(10) * weights["WordPenalty"]
        forests.append((forest_of_parse(forest, native.scores + extra), tables.words))
    return forests
