"""Language models in searches: markers in the rules, natural logarithms, words that come later."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.core.search.search_options import SearchOptions
from smtplugins.core.search.stateful_search import best, lm_scorer
from tests.core.forests import (
    WORDS,
    Made,
    Words,
    glue_forest,
    language_model,
    lm_score,
    random_forest,
    refined_derivations,
    same,
    searcher,
)

MARKED = [*WORDS, "<s>", "</s>"]
BOS, EOS = len(WORDS), len(WORDS) + 1
SEEDS = st.integers(0, 1 << 30)


def with_markers(made: Made, rng: random.Random) -> Made:
    """A goal above the goal whose rule holds the markers: all of them, or <s> as a phrase of its own."""
    made = Made(list(made.nodes), list(made.targets), list(made.scores))
    top, first = len(made.nodes) - 1, len(made.targets)
    kind = rng.randrange(3)
    if kind == 0:
        made.targets += [(BOS, -1, EOS)]
        made.nodes += [[((top,), [first])]]
    elif kind == 1:
        made.targets += [(BOS,), (EOS,), (-1, -2, -3)]
        made.nodes += [[((), [first])], [((), [first + 1])], [((top + 1, top, top + 2), [first + 2])]]
    else:
        made.targets += [(BOS, 0, -1), (-1, EOS)]
        made.nodes += [[((top,), [first])], [((top + 1,), [first + 1])]]
    made.scores += [0.0] * (len(made.targets) - first)
    return made


def bare(words: Words) -> Words:
    """The words between markers."""
    assert (words[0], words[-1]) == (BOS, EOS)
    return words[1:-1]


def forest_for(rng: random.Random) -> Made:
    return glue_forest(rng, rng.randint(1, 3)) if rng.random() < 0.5 else random_forest(rng, 150)


@given(SEEDS, st.sampled_from([2, 3, 4, 5, 7]), st.booleans(), st.booleans())
def test_rules_with_markers_score_strings(seed: int, order: int, early: bool, memo: bool) -> None:
    rng = random.Random(seed)
    made = with_markers(forest_for(rng), rng)
    model = language_model(rng, order)
    search = searcher(lm_scorer(model, MARKED, memo=memo, markers=True), [2.3])
    expected = [(score + 2.3 * lm_score(model, bare(words)), words) for score, words in made.derivations()]
    refined = search.search(made.native(), SearchOptions(exact=True, early_begin=early))
    same(refined_derivations(refined, made), expected)
    pruned = search.search(forest := made.native(), SearchOptions(pop_limit=3, early_begin=early))
    derivation = best(pruned, forest)
    assert (derivation is None) == (not expected)
    if derivation is not None:
        own = np.float32(made.scores)[pruned.rules[derivation.edges]].sum(dtype=np.float64)
        words = tuple(derivation.words.tolist())
        assert derivation.score == pytest.approx(own + 2.3 * lm_score(model, bare(words)), abs=1e-5)
        (value,) = search.score_words(derivation.words).tolist()
        assert value == pytest.approx(lm_score(model, bare(words)), abs=1e-5)


@given(SEEDS, st.sampled_from([2, 3, 4]), st.booleans())
def test_a_marker_elsewhere_is_a_word(seed: int, order: int, markers: bool) -> None:
    rng = random.Random(seed)
    made = random_forest(rng, 150)
    # Behind something else, be it a gap that may turn out empty.
    made.targets = [
        tuple(BOS if k and symbol >= 0 and rng.random() < 0.3 else symbol for k, symbol in enumerate(target))
        for target in made.targets
    ]
    model = language_model(rng, order, begin="-1.5")
    ids = model.ids(MARKED)
    search = searcher(lm_scorer(model, MARKED, markers=markers))

    def score(words: Words) -> float:
        text = ids[list(words)].astype(np.int32)
        ends = np.array([0, len(text)])
        return float(model.score_ids(text, ends, bos=not markers, eos=not markers)[0][0])

    expected = [(own + score(words), words) for own, words in made.derivations()]
    same(refined_derivations(search.search(made.native(), SearchOptions(exact=True)), made), expected)


def test_the_same_words_begin_a_sentence_or_do_not() -> None:
    model = language_model(random.Random(8), 3, begin="-1.5")
    made = Made([[((), [0, 1])], [((0,), [2])]], [(BOS, 0), (1,), (-1, BOS, 0)], [0.0] * 3)
    refined = searcher(lm_scorer(model, MARKED, markers=True)).search(made.native(), SearchOptions(exact=True))

    def scores(words: Words, bos: bool) -> list[float]:
        text = " ".join(MARKED[word] for word in words)
        return [prob for prob, _, _ in model.full_scores(text, bos=bos, eos=False)]

    expected = [
        (sum(scores((0, BOS, 0), True)), (BOS, 0, BOS, 0)),
        (sum(scores((1, BOS, 0), False)), (1, BOS, 0)),
    ]
    same(refined_derivations(refined, made), expected)


@given(SEEDS, st.booleans())
def test_natural_logarithms(seed: int, markers: bool) -> None:
    rng = random.Random(seed)
    made = with_markers(forest_for(rng), rng) if markers else forest_for(rng)
    model = language_model(rng, 3)
    search = searcher(lm_scorer(model, MARKED, markers=markers, scale=math.log(10)), [0.5])

    def score(words: Words) -> float:
        return math.log(10) * lm_score(model, bare(words) if markers else words)

    expected = [(own + 0.5 * score(words), words) for own, words in made.derivations()]
    refined = search.search(made.native(), SearchOptions(exact=True))
    same(refined_derivations(refined, made), expected)
    own = np.float32(made.scores)[refined.rules].astype(np.float64)
    assert np.allclose(refined.scores, own + 0.5 * refined.values, atol=1e-6)


def test_words_grow_and_are_shared() -> None:
    rng = random.Random(3)
    model = language_model(rng, 3)
    words: Any = np.array([0, 1, 2, 3, 0], dtype=np.int32)
    expected = lm_score(model, (0, 1, 2, 3, 0))

    def value(scorer: Any) -> Any:
        return searcher(scorer).score_words(words)[0]

    scorer = lm_scorer(model, WORDS[:1])
    unknown = value(scorer)
    scorer.add_words(model.ids(WORDS[1:3]))
    scorer.add_words(model.ids(WORDS[3:]))
    assert scorer.words == len(WORDS)
    assert value(scorer) == pytest.approx(expected, abs=1e-5) != unknown
    other = lm_scorer(model, [])
    other.share_words(scorer)
    scorer.set_words(model.ids(WORDS[:1]))
    assert value(scorer) == unknown
    assert value(other) == pytest.approx(expected, abs=1e-5)
    other.share_words(other)
    assert other.words == len(WORDS)
    # A sentence's own words go with the next sentence.
    base = lm_scorer(model, WORDS[:2])
    for last in ([2, 3], [3, 2]):
        other.share_words(base)
        other.add_words(model.ids([WORDS[word] for word in last]))
        own = np.array([0, 1, 2, 3], dtype=np.int32)
        assert searcher(other).score_words(own)[0] == pytest.approx(lm_score(model, (0, 1, *last)), abs=1e-5)


def test_faults() -> None:
    rng = random.Random(4)
    model = language_model(rng, 2)
    scorer = lm_scorer(model, WORDS)
    for bad in (-1, 1000):
        for method in (scorer.set_words, scorer.add_words):
            with pytest.raises(ValueError, match="not of this model"):
                method(np.array([0, bad], dtype=np.int32))
    with pytest.raises(ValueError, match="another model"):
        scorer.share_words(lm_scorer(language_model(rng, 2), WORDS))
    with pytest.raises(ValueError, match="finite"):
        lm_scorer(model, WORDS, scale=math.inf)
