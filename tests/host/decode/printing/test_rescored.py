"""Lists by scores with references: all derivations of small forests, in the order of a greedy search."""

from __future__ import annotations

from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import smtplugins as smt
from smtplugins.contracts.errors import SentenceError, UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.graph.inference import kbest
from smtplugins.host.decode.printing.rescored import ReferenceRescoring, rescoring_of, sentence_bleu
from smtplugins.host.decode.translator import Translator

RULES = """\
[X] ||| a ||| A ||| 1
[X] ||| a ||| B C ||| 2
[X] ||| b ||| B ||| 1
[X] ||| a b ||| A C B ||| 1.5
[X] ||| [X,1] b [X,2] ||| [X,2] B [X,1] ||| 1.5
[X] ||| a [X,1] ||| [X,1] C ||| 2.5
"""
ARPA = """\
\\data\\
ngram 1=6

\\1-grams:
-1\t<unk>
0\t<s>
-1\t</s>
-0.7\tA
-0.9\tB
-1.2\tC

\\end\\
"""
CONFIG = """\
tm = thrax -owner pt -maxspan 10 -path rules
feature-function = LanguageModel -lm_order 3 -lm_file en.arpa
pop-limit = 0
use-unique-nbest = false
rescore-forest = true
lm_0 1
tm_pt_0 0.5
tm_glue_0 0.1
"""


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    folder = tmp_path_factory.mktemp("rescored")
    for name, text in (("rules", RULES), ("en.arpa", ARPA), ("joshua.config", CONFIG)):
        (folder / name).write_text(text)
    return smt.load_plugins().translator(Path(folder / "joshua.config"), cache="off").loaded()


def graph_of(translator: Translator, source: str) -> Hypergraph:
    (decoding,) = translator.decode([" ".join(source)], graphs=True)
    assert decoding.graph is not None
    return decoding.graph()


@settings(max_examples=20, deadline=None)
@given(
    source=st.text("ab", min_size=1, max_size=4),
    reference=st.lists(st.sampled_from("ABC"), min_size=1, max_size=5).map(" ".join),
    weight=st.sampled_from([-20.0, 0.0, 20.0]),
)
def test_lists_of_all_derivations(translator: Translator, source: str, reference: str, weight: float) -> None:
    """Each derivation once, with its own score, as its tails have no better ones: boundary words keep all apart."""
    graph = graph_of(translator, source)
    options = ReferenceRescoring(weight=weight, context=2)
    found = options.list(graph, references=[reference], k=10_000, unique=False)
    expected = kbest(graph, k=10_000)
    assert sorted(map(tuple, (one.edges.tolist() for one in found))) == sorted(
        map(tuple, (one.edges.tolist() for one in expected))
    )
    if not weight:
        assert found.scores.tolist() == pytest.approx(expected.scores.tolist(), abs=1e-4)
    texts = options.list(graph, references=[reference], k=10_000, unique=True).texts()
    assert sorted(texts) == sorted(set(expected.texts()))
    assert options.list(graph, references=[reference], k=2, unique=True).texts() == texts[:2]


def test_a_reference_is_far_behind_or_first(translator: Translator) -> None:
    """Joshua subtracts BLEU; with a weight below 0 the reference itself comes first."""
    graph = graph_of(translator, "ab")
    for weight, place in ((1000.0, -1), (-1000.0, 0)):
        options = ReferenceRescoring(weight=weight, context=2)
        texts = options.list(graph, references=["A C B"], k=100, unique=True).texts()
        assert len(texts) > 3
        assert texts[place] == "<s> A C B </s>"


def test_bleu() -> None:
    assert sentence_bleu((5, 4, 3, 2), 5, 5) == pytest.approx(1.0)
    # Half of a match for the first order without one, a quarter for the next; short translations cost.
    assert sentence_bleu((2, 1, 0, 0), 4, 8) == pytest.approx(
        (2 / 4 * 1 / 3 * 0.5 / 2 * 0.25) ** 0.25 * 2.718281828**-1
    )
    assert sentence_bleu((1, 0, 0, 0), 1, 1) == pytest.approx(1.0)
    assert sentence_bleu((0, 0, 0, 0), 0, 1) == 1.0


def test_wrong_calls(translator: Translator) -> None:
    graph = graph_of(translator, "a")
    with pytest.raises(SentenceError, match=r"^sentence 0: expected references for output\.rescored"):
        ReferenceRescoring().list(graph, references=[], k=1, unique=False)
    assert rescoring_of(Spec("bleu", {"weight": 3})) == ReferenceRescoring(weight=3.0)
    for spec in (Spec("ter"), Spec("bleu", {"context": 0}), Spec("bleu", {"scale": 1})):
        with pytest.raises(UsageError):
            rescoring_of(spec)
