"""Parsing cdec's 300 sentences, each with a grammar of its own: forests with all arrays, and tries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measure import interleaved


def parsing(shared: Path) -> dict[str, Any]:
    """CPU time of the parser alone, of parsing from Python, of grammars into tries and of their scores."""
    from smtformats import open_lines
    from smtformats.caching.folders import cached_load
    from smtformats.corpus import cdec as corpus
    from smtformats.grammar import cdec
    from smtplugins.core.grammar import parsing as core
    from smtplugins.core.grammar.tables import Grammar, Tables, glue

    folder = shared / "gold/cdec"
    lines = (folder / "weights.tuned").read_text(encoding="utf-8").splitlines()
    weights = {name: float(value) for name, value in map(str.split, lines)}
    with open_lines(folder / "test300.in") as opened:
        segments = list(corpus.parse(opened))
    columns = [cached_load(folder / one.attributes["grammar"], cdec.FORMAT, None) for one in segments]
    sentences = [one.source.split() for one in segments]
    options = core.Options(pass_through=core.PassThrough())
    tables = Tables()
    joined = glue(tables).scored(weights)

    def tries() -> list[Grammar]:
        return [Grammar(one, tables, span_limit=15) for one in columns]

    grammars = tries()
    scored = [one.scored(weights) for one in grammars]

    def parsed() -> list[core.Forest]:
        both = zip(sentences, scored, strict=True)
        return [core.parse(sentence, [one, joined], options, weights) for sentence, one in both]

    forests = parsed()
    calls = [
        core.prepared(*both, options, weights)
        for both in zip(sentences, ([one, joined] for one in scored), strict=True)
    ]
    runs = {
        "tries": tries,
        "scores": lambda: [one.scores(weights) for one in grammars],
        "parser alone": lambda: [call() for call in calls],
        "parser, three times each": lambda: [(call(), call(), call()) for call in calls],
        "parse": parsed,
    }
    found = interleaved(runs, rounds=15)
    # Other sentences' grammars drive one out of the cache; a decoder has just read or searched it.
    found["parser in cache"] = (found.pop("parser, three times each") - found["parser alone"]) / 2
    rules = sum(map(len, columns))
    count = len(sentences)
    return {
        "sentences": count,
        "rules": rules,
        "nodes": sum(one.nodes for one in forests) / count,
        "bundles": sum(one.bundles for one in forests) / count,
        "edges": sum(one.edges for one in forests) / count,
        "ms_per_sentence": {name: 1000 * seconds / count for name, seconds in found.items()},
        "trie_ns_per_rule": 1e9 * found["tries"] / rules,
        "score_ns_per_rule": 1e9 * found["scores"] / rules,
        "parser_ns_per_edge": 1e9 * found["parser alone"] / sum(one.edges for one in forests),
    }
