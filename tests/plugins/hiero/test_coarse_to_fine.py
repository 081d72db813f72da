"""Coarse-to-fine parsing against all fine derivations, and the case of cdec's."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.graph.inference import kbest
from smtplugins.host.config.run_yaml import load_config

GRAMMAR = """\
[S] ||| [X,1] ||| [1]
 [S] ||| [X1,1] ||| [1]
 [S] ||| [X2,1] ||| [1]
[S] ||| [S,1] [X,2] ||| [1] [2]
 [S] ||| [S,1] [X1,2] ||| [1] [2]
 [S] ||| [S,1] [X2,2] ||| [1] [2]
[S] ||| [S,1] [X,2] ||| [2] [1]
 [S] ||| [S,1] [X2,2] ||| [2] [1]
[X] ||| a ||| A
 [X1] ||| a ||| A
 [X2] ||| a ||| A
[X] ||| a ||| AA AA
 [X1] ||| a ||| AA AA
[X] ||| b ||| B
 [X2] ||| b ||| B
[X] ||| [X,1] b ||| B [1]
 [X1] ||| [X1,1] b ||| B [1]
 [X2] ||| [X1,1] b ||| B [1]
 [X2] ||| [X2,1] b ||| B [1]
"""
SOURCES = ("a b a", "b b", "a b b a")
WEIGHTS = {"s": 1.0, "W": -0.7}
Rule = tuple[str, str, str]


def scored(seed: int) -> tuple[str, dict[Rule, float], dict[Rule, Rule]]:
    """The grammar with scores, those of each rule, and the coarse rule of each fine one."""
    chance = random.Random(seed)
    lines, scores, coarse_of = [], {}, {}
    coarse: Rule = ("", "", "")
    for line in GRAMMAR.splitlines():
        lhs, source, target = line.split(" ||| ")
        rule = (lhs.strip(), source, target)
        coarse = coarse if line.startswith(" ") else rule
        scores[rule] = chance.randint(-8, 8) / 4
        coarse_of[rule] = coarse
        lines.append(f"{line} ||| s={scores[rule]}\n")
    return "".join(lines), scores, coarse_of


def decoded(folder: Path, grammar: str, words: str, *features: str, **options: Any) -> Decoding:
    (folder / "rules").write_text(grammar)
    (folder / "run.yaml").write_text("{}")
    decoder = {"name": "hiero", "search": "full", "glue": False, "pass_through": "none", **options}
    model = {
        "tables": str(folder / "rules"),
        "grammar_format": "cdec-grammar",
        "features": ["word-penalty,value=1,name=W", *features],
    }
    config = load_config(folder / "run.yaml", [("decoder", decoder), ("model", model)])
    translator = smt.load_plugins().translator(config, weights={**WEIGHTS, "Glue": -0.5}, cache="off")
    return translator.decode_one(Sentence("0", tuple(words.split())), graphs=True)


def graph_of(decoding: Decoding) -> Hypergraph:
    assert decoding.graph is not None
    return decoding.graph()


def listed(graph: Hypergraph) -> list[tuple[float, str]]:
    found = kbest(graph, None, 100_000) if len(graph) else None
    if found is None:
        return []
    return sorted(
        (round(score, 4) + 0.0, text) for score, text in zip(found.scores.tolist(), found.texts(), strict=True)
    )


def keys_of(graph: Hypergraph, coarse_of: dict[Rule, Rule]) -> list[Any]:
    """The coarse rule of each edge, its span and those of its tails; None for the edge into the goal."""
    spans = dict(zip(graph.heads.tolist(), map(tuple, graph.spans.tolist()), strict=True))
    keys: list[Any] = []
    for edge, number in enumerate(graph.rules.tolist()):
        rule = graph.grammar.rule(number)
        sides = [
            " ".join(one if isinstance(one, str) else f"[{one.label},{one.index}]" for one in side)
            for side in (rule.source, rule.target)
        ]
        target = " ".join(one if isinstance(one, str) else f"[{one.index}]" for one in rule.target)
        own = (f"[{rule.lhs}]", sides[0], target)
        below = [spans[tail] for tail in graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()]
        keys.append((coarse_of[own], tuple(graph.spans[edge].tolist()), tuple(below)) if own in coarse_of else None)
    return keys


@pytest.mark.parametrize("words", SOURCES)
@pytest.mark.parametrize("seed", range(4))
def test_fine_derivations_are_those_of_edges_within_the_beam(tmp_path: Path, words: str, seed: int) -> None:
    grammar, scores, coarse_of = scored(seed)
    plain = graph_of(decoded(tmp_path, grammar, words))
    keys = keys_of(plain, coarse_of)
    through: dict[Any, float] = {}
    for derivation in kbest(plain, None, 100_000):
        used = [keys[edge] for edge in derivation.edges.tolist() if keys[edge] is not None]
        # The word penalty does not count in the coarse forest.
        total = sum(scores[rule] for rule, _, _ in used)
        for key in used:
            through[key] = max(through.get(key, total), total)
    best = max(through.values())

    finest = "".join(f"{line[1:]}\n" for line in grammar.splitlines() if line.startswith(" "))
    fine = graph_of(decoded(tmp_path, finest, words))
    fine_keys = keys_of(fine, coarse_of)
    every = kbest(fine, None, 100_000)
    assert len(every) > 1
    sizes = set()
    for beam in (0.1, 1.0, 2.5, 100.0):
        wanted: list[tuple[float, str]] = []
        for wide in (beam, 2 * beam, 4 * beam, 1e9):
            wanted = sorted(
                (round(one.score, 4) + 0.0, one.text)
                for one in every
                if all(
                    through[fine_keys[e]] >= best - wide - 1e-9 for e in one.edges.tolist() if fine_keys[e] is not None
                )
            )
            if wanted:
                break
        assert listed(graph_of(decoded(tmp_path, grammar, words, coarse_beam=beam))) == wanted
        sizes.add(len(wanted))
    assert len(every) in sizes
    # With the word penalty in the coarse forest, too, all is still there in the end.
    last = decoded(tmp_path, grammar, words, coarse_beam=100.0, coarse_features="W")
    assert listed(graph_of(last)) == listed(fine)


def test_two_levels_and_glue(tmp_path: Path) -> None:
    """Glue and copied words refine to themselves, and have their features."""
    grammar = (
        "[X] ||| a ||| A ||| s=1\n [X] ||| a ||| A ||| s=2\n  [X] ||| a ||| A ||| s=4\n  [X] ||| a ||| A ||| s=5\n"
        "[X] ||| b ||| B ||| s=1\n [Y] ||| b ||| B ||| s=2\n  [Y] ||| b ||| B ||| s=9\n"
    )
    options: dict[str, Any] = {"glue": True, "pass_through": "all", "coarse_beam": 9.0}
    found = decoded(tmp_path, grammar, "a x b", "glue,value=1,name=Glue", **options)
    # "b" is copied, as its fine label has no place in glue; two pieces of glue cost 1, three words 2.1.
    assert listed(graph_of(found)) == [(-3.1, "a x b"), (0.9, "A x b"), (1.9, "A x b")]
    assert found.features["s"] == 5.0
    assert found.features["Glue"] == 2.0
    # Grammars without levels are as they were.
    plain = "".join(line for line in grammar.splitlines(keepends=True) if not line.startswith(" "))
    wanted, same = decoded(tmp_path, plain, "a b"), decoded(tmp_path, plain, "a b", coarse_beam=1.0)
    assert listed(graph_of(wanted)) == listed(graph_of(same))


def test_no_fine_derivation(tmp_path: Path) -> None:
    grammar = "[S] ||| a ||| A ||| s=1\n [T] ||| a ||| A ||| s=1\n"
    found = decoded(tmp_path, grammar, "a", coarse_beam=1.0)
    assert (found.found, found.best) == (False, "")
    # The fine derivation is not within the beam: only an exhaustive search finds it.
    grammar = "[S] ||| a ||| A ||| s=9\n [T] ||| a ||| A ||| s=1\n[S] ||| a ||| B ||| s=1\n [S] ||| a ||| B ||| s=1\n"
    assert decoded(tmp_path, grammar, "a", coarse_beam=1.0).best == "B"
    for more, text in (({"coarse_widenings": 2}, ""), ({"coarse_widenings": 3}, "B"), ({"coarse_widening": 3.0}, "B")):
        assert decoded(tmp_path, grammar, "a", coarse_beam=1.0, coarse_exhaustive=False, **more).best == text


def test_faults(tmp_path: Path) -> None:
    grammar = "[S] ||| a ||| A ||| s=1\n [S] ||| a ||| A ||| s=1\n[S] ||| b ||| B ||| s=1\n"
    with pytest.raises(
        SmtError, match=r"sentence 0: coarse_beam: expected rules that refine \[S\] \|\|\| b, found none"
    ):
        decoded(tmp_path, grammar, "b", coarse_beam=1.0)
    with pytest.raises(UsageError, match="expected reach or coarse_beam, found both"):
        decoded(tmp_path, grammar, "a", coarse_beam=1.0, reach=1)
    with pytest.raises(UsageError, match=r"coarse_widening: expected 1 or more, found 0.5"):
        decoded(tmp_path, grammar, "a", coarse_beam=1.0, coarse_widening=0.5)


@pytest.mark.shared
def test_cdecs_own_case(shared: Path, tmp_path: Path) -> None:
    """Its fine labels have no place in glue: cdec finds no parse, and one without the beam."""
    grammar = (shared / "gold/cdec/quirks/ctf.scfg").read_text()
    assert "NO PARSE FOUND" in (shared / "gold/cdec/quirks/ctf.err").read_text()
    assert not decoded(tmp_path, grammar, "a", glue=True, coarse_beam=10.0).found
    assert (shared / "gold/cdec/quirks/ctf0.out").read_text() == "0 ||| A ||| F=1 ||| 0\n"
    found = decoded(tmp_path, grammar, "a", glue=True)
    assert (found.best, found.features["F"]) == ("A", 1.0)
