"""Constrained decoding of phrases: the derivations of an exact search, of which every two neighbours are judged."""

from __future__ import annotations

import itertools
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import smtplugins as smt
from smtplugins.contracts.data import Sentence
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.graph.inference import kbest
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.translator import Translator, make_translator

RULES = """\
[X] ||| a ||| A ||| 1
[X] ||| a ||| B ||| 2
[X] ||| b ||| B ||| 1
[X] ||| b ||| A B ||| 2
[X] ||| b ||| AC ||| 2
[X] ||| a b ||| C B ||| 1.5
[X] ||| b a ||| B ||| 2.5
"""
CONFIG = """\
tm = phrase -owner pt -maxspan 0 -path rules
search = stack
feature-function = Distortion
pop-limit = 100000
reordering-limit = 4
use-unique-nbest = false
Distortion 0.1
tm_pt_0 0.5
"""


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    folder = tmp_path_factory.mktemp("stacks")
    (folder / "rules").write_text(RULES)
    (folder / "joshua.config").write_text(CONFIG)
    return make_translator(smt.load_plugins(), load_config(folder / "joshua.config"), None, "off").loaded()


def phrases(graph: Hypergraph, edges: list[int]) -> list[str]:
    """The words of the phrases of a derivation, in their order."""
    sides = []
    for edge in reversed(edges):
        rule = int(graph.rules[edge])
        if rule >= 0:
            symbols = graph.grammar.target[graph.grammar.target_offsets[rule] : graph.grammar.target_offsets[rule + 1]]
            sides.append(" ".join(graph.words[symbol] for symbol in symbols.tolist() if symbol >= 0))
    return [side for side in sides if side]


def legal(parts: list[str], target: str) -> bool:
    """As Joshua's ``Stack.addCandidate``: characters, not words."""
    return all(f"{a} {b}" in f"<s> {target} </s>" for a, b in itertools.pairwise(["<s>", *parts, "</s>"]))


@settings(max_examples=60, deadline=None)
@given(
    source=st.text("ab", min_size=1, max_size=4),
    target=st.lists(st.sampled_from(["A", "B", "C", "AC", "D"]), min_size=1, max_size=5),
)
def test_derivations_are_those_of_legal_neighbours(translator: Translator, source: str, target: list[str]) -> None:
    wanted = " ".join(target)
    plain = Sentence("0", tuple(source))
    constrained = Sentence("1", tuple(source), annotations={"target": wanted})
    one, other, again = translator.decode([plain, constrained, plain], graphs=True)
    assert (again.best, again.score) == (one.best, one.score)
    assert one.graph is not None and other.graph is not None
    graph = one.graph()
    expected = sorted(
        (round(derivation.score, 4), derivation.text)
        for derivation in kbest(graph, k=100_000)
        if legal(phrases(graph, derivation.edges.tolist()), wanted)
    )
    shown = other.graph()
    found = sorted((round(x.score, 4), x.text) for x in kbest(shown, k=100_000)) if len(shown) else []
    assert [text for _, text in found] == [text for _, text in expected]
    assert [score for score, _ in found] == pytest.approx([score for score, _ in expected], abs=2e-4)
    assert other.found == bool(expected)
    if expected:
        assert other.score == pytest.approx(expected[-1][0], abs=2e-4)
        assert not any(name.startswith("target") and value for name, value in other.features.items())
    else:
        assert (other.best, other.score, dict(other.features)) == (" ".join(source), None, {})
        assert other.trace is not None and list(other.trace()) == ["no derivation"]


@pytest.mark.parametrize(
    ("source", "target", "best"),
    [
        ("a b", "A B", "A B"),
        ("a b", "C B A C B", "C B"),
        ("a b", "B A B", "B A B"),
        # Repeated, and a part of a word.
        ("a a", "A A", "A A"),
        ("a b", "AA BA", None),
        ("a b", "A", None),
    ],
)
def test_translations(translator: Translator, source: str, target: str, best: str | None) -> None:
    (found,) = translator.decode([Sentence("0", tuple(source.split()), annotations={"target": target})])
    assert (found.best if found.found else None) == best


def test_a_sentence_that_is_cut_has_no_translation(translator: Translator, tmp_path: Path) -> None:
    """Joshua drops the words of its target."""
    config = translator.config
    assert config.decoder is not None and config.decoder.options["max_length"] == 200
    (long,) = translator.decode([Sentence("0", ("a",) * 201, annotations={"target": "A"})])
    assert not long.found
