"""Constrained decoding: the derivations of an exact search, of which each constituent is judged by its words."""

from __future__ import annotations

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
[X] ||| [X,1] b [X,2] ||| [X,2] B [X,1] ||| 1.5
[X] ||| a [X,1] ||| [X,1] C ||| 2.5
"""
ARPA = """\
\\data\\
ngram 1=7
ngram 2=2

\\1-grams:
-1\t<unk>
0\t<s>\t-0.5
-1\t</s>
-0.7\tA\t-0.2
-0.9\tB\t-0.1
-1.2\tC
-2\tD

\\2-grams:
-0.2\tA B
-0.3\tB </s>

\\end\\
"""
CONFIG = """\
tm = thrax -owner pt -maxspan 10 -path rules
feature-function = LanguageModel -lm_order {order} -lm_file en.arpa
pop-limit = 0
use-unique-nbest = false
lm_0 1
tm_pt_0 0.5
tm_glue_0 0.1
"""


def make(folder: Path, order: int) -> Translator:
    (folder / "rules").write_text(RULES)
    (folder / "en.arpa").write_text(ARPA)
    config = folder / f"joshua{order}.config"
    config.write_text(CONFIG.format(order=order))
    return make_translator(smt.load_plugins(), load_config(config), None, "off").loaded()


@pytest.fixture(scope="module")
def translators(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Translator]:
    return {order: make(tmp_path_factory.mktemp(f"order{order}"), order) for order in (2, 3)}


def texts(graph: Hypergraph, edges: list[int]) -> list[str]:
    """The words of every constituent of a derivation, the whole last."""
    made: list[str] = []
    stack: list[str] = []
    grammar = graph.grammar
    for edge in reversed(edges):
        tails = [stack.pop() for _ in range(int(graph.tail_offsets[edge + 1] - graph.tail_offsets[edge]))]
        rule = int(graph.rules[edge])
        symbols = grammar.target[grammar.target_offsets[rule] : grammar.target_offsets[rule + 1]].tolist()
        stack.append(" ".join(graph.words[x] if x >= 0 else tails[-1 - x] for x in symbols))
        made.append(stack[-1])
    return made


def legal(text: str, target: str, width: int) -> bool:
    """As Joshua's ``StateConstraint``: first and last words as strings with blanks around them."""
    words, inside = text.split(), f" <s> <s> {target} </s> </s> "
    first, last = inside.find(f" {' '.join(words[:width])} "), inside.rfind(f" {' '.join(words[-width:])} ")
    return first != -1 and first <= last


@pytest.mark.parametrize("order", [2, 3])
@settings(max_examples=30, deadline=None)
@given(source=st.text("ab", min_size=1, max_size=4), target=st.lists(st.sampled_from("ABCD"), min_size=1, max_size=5))
def test_derivations_are_those_of_legal_constituents(
    translators: dict[int, Translator], order: int, source: str, target: list[str]
) -> None:
    made, wanted = translators[order], " ".join(target)
    plain = Sentence("0", tuple(source))
    constrained = Sentence("1", tuple(source), annotations={"target": wanted})
    one, other, again = made.decode([plain, constrained, plain], graphs=True)
    assert (again.best, again.score) == (one.best, one.score)
    assert one.graph is not None
    graph = one.graph()
    expected = sorted(
        (round(derivation.score, 4), derivation.text)
        for derivation in kbest(graph, k=100_000)
        if all(legal(text, wanted, order - 1) for text in texts(graph, derivation.edges.tolist()))
    )
    assert other.graph is not None
    found = sorted((round(x.score, 4), x.text) for x in kbest(other.graph(), k=100_000)) if len(other.graph()) else []
    assert [text for _, text in found] == [text for _, text in expected]
    assert [score for score, _ in found] == pytest.approx([score for score, _ in expected], abs=2e-4)
    assert other.found == bool(expected)
    if expected:
        assert other.score == pytest.approx(expected[-1][0], abs=2e-4)
        assert not any(name.startswith("target") and value for name, value in other.features.items())
    else:
        # Joshua gives back what it cannot translate.
        assert (other.best, other.score) == (" ".join(source), None)


def test_a_sentence_that_is_cut_has_no_translation(tmp_path: Path) -> None:
    made = make(tmp_path, 2)
    config = load_config(tmp_path / "joshua2.config", ["decoder.max_length=2"])
    made = make_translator(smt.load_plugins(), config, None, "off").loaded()
    whole, cut = made.decode([Sentence(str(n), ("a",) * n, annotations={"target": "A A A"}) for n in (2, 3)])
    assert (whole.best, cut.found) == ("A A", False)
