"""Linear BLEU against its definition: n-grams of whole outputs, counted one by one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtplugins.core.graph import inference
from smtplugins.core.search.linear_gain import LinearGain, published_gains
from smtplugins.core.search.search_options import SearchOptions
from smtplugins.core.search.stateful_search import Stateful, contract_scorer, refine
from smtplugins.core.vocabulary import Vocabulary
from tests.core.forests import WORDS, glue_forest, random_forest, refined_derivations, same, searcher
from tests.core.graphs import random_case

SEEDS = st.integers(0, 1 << 30)


Shares = dict[tuple[str, ...], float]


def direct(
    references: Sequence[Sequence[str]], gains: Sequence[float], words: Sequence[str], shares: Shares | None = None
) -> float:
    """The definition: every n-gram of the output that stands in some reference."""
    total = gains[0] * len(words)
    for n in range(1, len(gains)):
        for i in range(len(words) - n + 1):
            gram = list(words[i : i + n])
            present = any(list(words[k : k + n]) == gram for words in references for k in range(len(words) - n + 1))
            share = 1.0 if shares is None else shares.get(tuple(gram), 0.0)
            total += gains[n] * share * present
    return total


def random_feature(rng: random.Random) -> tuple[list[list[str]], LinearGain]:
    alphabet = [*WORDS[: rng.randint(1, 4)], "z"]
    references = [[rng.choice(alphabet) for _ in range(rng.choice([0, 1, 3, 8]))] for _ in range(rng.randint(1, 3))]
    order = rng.choice([1, 2, 3, 4, 6])
    gains = published_gains(order) if rng.random() < 0.5 else tuple(rng.uniform(-1, 2) for _ in range(order + 1))
    return references, LinearGain(references, gains)


@settings(max_examples=40)
@given(SEEDS, st.booleans(), st.booleans())
def test_every_derivation_gains_what_its_words_do(seed: int, native: bool, glue: bool) -> None:
    rng = random.Random(seed)
    made = glue_forest(rng) if glue else random_forest(rng)
    references, feature = random_feature(rng)
    words = Vocabulary(WORDS)
    scorer: Any = feature.scorer_for(WORDS) if native else contract_scorer(feature.start(None), words)
    refined = searcher(scorer, [0.7]).search(made.native(), SearchOptions(exact=True))
    expected = [
        (score + 0.7 * direct(references, feature.gains, [WORDS[i] for i in output]), output)
        for score, output in made.derivations()
    ]
    same(refined_derivations(refined, made), expected)


@given(SEEDS, st.booleans())
def test_shares_of_ngrams(seed: int, native: bool) -> None:
    rng = random.Random(seed)
    made = random_forest(rng)
    references, plain = random_feature(rng)
    shares = {gram: rng.random() for gram in plain.ngrams if rng.random() < 0.7}
    feature = LinearGain(references, plain.gains, shares=shares)
    scorer: Any = feature.scorer_for(WORDS) if native else contract_scorer(feature.start(None), Vocabulary(WORDS))
    refined = searcher(scorer).search(made.native(), SearchOptions(exact=True))
    expected = [
        (score + direct(references, feature.gains, [WORDS[i] for i in output], shares), output)
        for score, output in made.derivations()
    ]
    same(refined_derivations(refined, made), expected)


@given(SEEDS)
def test_native_states_are_no_finer_than_those_of_words(seed: int) -> None:
    rng = random.Random(seed)
    made = random_forest(rng)
    _, feature = random_feature(rng)
    native = searcher(feature.scorer_for(WORDS)).search(made.native(), SearchOptions(exact=True))
    plain = searcher(contract_scorer(feature.start(None), Vocabulary(WORDS))).search(
        made.native(), SearchOptions(exact=True)
    )
    assert len(native.node_of) <= len(plain.node_of)


@given(SEEDS)
def test_refined_graph_has_the_gain_as_a_feature(seed: int) -> None:
    rng = random.Random(seed)
    graph, _ = random_case(seed)
    if len(graph) == 0 or graph.rules.min() < 0:
        return
    references, feature = random_feature(rng)
    scores = np.array([rng.gauss(0, 1) for _ in range(len(graph))])
    scorer = feature.scorer_for(graph.grammar.words[:])
    made = refine(graph.with_scores(scores), [Stateful(scorer, ("gain",), (0.0,))], exact=True).graph
    column = list(made.names[:]).index("gain")
    for derivation in inference.kbest(made, None, 20):
        wanted = direct(references, feature.gains, derivation.text.split())
        assert derivation.features()[column] == pytest.approx(wanted, abs=1e-5)
    assert inference.inside(made)[-1:] == pytest.approx(inference.inside(graph, scores)[-1:], abs=1e-5)


def test_published_gains() -> None:
    assert published_gains() == pytest.approx((-1, 0.2941, 0.4202, 0.6002, 0.8575), abs=1e-4)
    assert published_gains(2, 0.5, 0.5) == pytest.approx((-1, 1, 2))
    with pytest.raises(ValueError, match="expected an order of 1 or more"):
        published_gains(0)


def test_words_are_folded_as_those_of_references() -> None:
    feature = LinearGain([["the", "cat"]], (-1.0, 1.0, 5.0), str.lower)
    assert feature.gain(["The", "CAT", "x"]) == -3 + 2 + 5
    assert feature.numbers(Vocabulary(["CAT", "x", "tHe"])).tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("references", "gains", "message"),
    [
        ([[-1]], [0.0, 1.0], "words of references are numbers from 0"),
        ([[0]], [0.0], "expected a gain for a word and for each order"),
        ([[0]], [0.0, float("nan")], "gains must be finite"),
    ],
)
def test_native_scorer_checks_what_it_is_given(references: Any, gains: list[float], message: str) -> None:
    from smtplugins.core._core import GainScorer

    with pytest.raises(ValueError, match=message):
        GainScorer([np.array(words, dtype=np.int32) for words in references], np.array(gains))


def test_gains_are_set_of_ngrams_that_are_there() -> None:
    scorer = LinearGain([["a", "b"]], (-1.0, 1.0, 2.0)).native()
    for ngram, gain, message in (
        ([1, 0], 1.0, "no reference has this n-gram"),
        ([], 1.0, "an n-gram has a word at least"),
        ([0, 1], float("inf"), "gains must be finite"),
    ):
        with pytest.raises(ValueError, match=message):
            scorer.set_gain(np.array(ngram, dtype=np.int32), gain)
