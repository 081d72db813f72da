"""The best part of a search graph beside its definition; sums over n-grams beside an enumeration of the paths."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats.files import Lines
from smtformats.hypergraph import moses_search
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.host.decode.printing.search_graph import (
    SearchPart,
    SearchStep,
    best_part,
    ngram_counts,
    ngram_scores,
)

GRAPH = """\
0 hyp=0 stack=0
0 hyp=1 stack=1 back=0 score=-1 transition=-1 forward=3 fscore=-3 covered=0-0 out=a
0 hyp=2 stack=1 back=0 score=-2 transition=-2 recombined=1 forward=3 fscore=-3 covered=0-0 out=the
0 hyp=3 stack=1 back=0 score=-5 transition=-5 forward=5 fscore=-6 covered=1-1 out=house
0 hyp=4 stack=2 back=1 score=-3 transition=-2 forward=-1 fscore=0 covered=1-1 out=house
0 hyp=5 stack=2 back=3 score=-6 transition=-1 forward=-1 fscore=0 covered=0-0 out=a
0 hyp=6 stack=2 back=1 score=-9 transition=-8 recombined=5 forward=-1 fscore=0 covered=1-1 out=hut
"""


def graph() -> Hypergraph:
    (columns,) = moses_search.parse(Lines(io.BytesIO(GRAPH.encode()), "graph"))
    return Hypergraph.from_columns(columns)


def paths_of(part: SearchPart) -> Iterator[tuple[float, tuple[str, ...]]]:
    """The score and words of each path."""

    def to(state: int) -> Iterator[tuple[float, tuple[str, ...]]]:
        if not state:
            yield 0.0, ()
        for step in part.steps.get(state, ()):
            for score, words in to(step.tail):
                yield score + step.score, words + step.words

    for state in part.complete:
        yield from to(state)


def found(most: float, endings: list[int]) -> list[tuple[float, str]]:
    part = best_part(graph(), endings, most)
    return sorted((score, " ".join(words)) for score, words in paths_of(part))


# By heads: two edges into the first state, one into the second; the complete ones are edges 3, 4 and 5.
APART, SHARED = [0, 1, 2, 3, 4, 4], [0, 0, 0, 0, 0, 0]
ALL = [(-9.0, "a hut"), (-10.0, "the hut"), (-6.0, "house a"), (-3.0, "a house"), (-4.0, "the house")]


@pytest.mark.parametrize("endings", [APART, SHARED, [7, 7, 7, 7, 5, 5]])
def test_all_states_have_all_paths(endings: list[int]) -> None:
    assert found(math.inf, endings) == sorted(ALL)


def test_states_are_taken_by_their_best_paths() -> None:
    # The best derivation, however few steps there may be.
    assert found(0, APART) == [(-3.0, "a house")]
    assert found(2, APART) == [(-3.0, "a house")]
    assert found(3, APART) == [(-4.0, "the house"), (-3.0, "a house")]
    # Hypotheses that features do not tell apart are one state, with all steps from other states of the part.
    assert found(1, SHARED) == sorted(entry for entry in ALL if entry[1] != "house a")
    assert found(4, APART) == found(3, APART)
    # States come with all their steps, and those of equal scores together.
    assert found(5, APART) == sorted(ALL)


def test_untranslated_and_empty_sentences() -> None:
    assert best_part(Hypergraph.from_columns(next(empty())), [], 30) == SearchPart({0: ()}, frozenset())
    (columns,) = moses_search.parse(Lines(io.BytesIO(b"0 hyp=0 stack=0 forward=-1 fscore=0\n"), "graph"))
    assert ngram_scores(best_part(Hypergraph.from_columns(columns), [], 0), 1.0, once=True) == {}


def empty() -> Iterator[object]:
    yield from moses_search.parse(Lines(io.BytesIO(b"0 hyp=0 stack=0 forward=0 fscore=0\n"), "graph"))


@dataclass
class Words:
    """Draws phrases; ``unique`` words occur once in a path, as they name their place."""

    draw: st.DrawFn
    unique: bool

    def phrase(self, state: int, kinds: str) -> tuple[str, ...]:
        letters = self.draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3, unique=True))
        return tuple(f"{letter}{state}-{i}" if self.unique else letter for i, letter in enumerate(letters))


@st.composite
def parts(draw: st.DrawFn, *, unique: bool) -> SearchPart:
    words = Words(draw, unique)
    steps: dict[int, list[SearchStep]] = {0: []}
    count = draw(st.integers(1, 5))
    for state in range(1, count + 1):
        tails = draw(st.lists(st.integers(max(0, state - 3), state - 1), min_size=1, max_size=3))
        steps[state] = [SearchStep(tail, draw(st.floats(-3, 0)), words.phrase(state, "abcd")) for tail in tails]
    complete = draw(st.sets(st.integers(1, count), min_size=1))
    # No path goes on behind a complete state.
    for state, into in steps.items():
        steps[state] = [step for step in into if step.tail not in complete] or (
            [SearchStep(0, 0.0, words.phrase(state, "ab"))] if into else []
        )
    return SearchPart(steps, frozenset(complete))


def enumerated(part: SearchPart, scale: float, *, once: bool) -> dict[tuple[str, ...], float]:
    sums: Counter[tuple[str, ...]] = Counter()
    whole = 0.0
    for score, words in paths_of(part):
        share = math.exp(scale * score)
        whole += share
        for ngram, count in ngram_counts(words).items():
            sums[ngram] += share * (1 if once else count)  # type: ignore[assignment]
    return {ngram: value / whole for ngram, value in sums.items()}


def same(found: dict[tuple[str, ...], float], wanted: dict[tuple[str, ...], float]) -> None:
    assert {ngram: math.exp(value) for ngram, value in found.items()} == pytest.approx(wanted, rel=1e-9)


@given(parts(unique=True), st.sampled_from([0.5, 1.0, 2.0]))
def test_probabilities_of_ngrams_that_paths_complete_in_one_state(part: SearchPart, scale: float) -> None:
    same(ngram_scores(part, scale, once=True), enumerated(part, scale, once=True))


@given(parts(unique=False), st.sampled_from([0.5, 1.0]))
def test_expected_numbers_of_ngrams(part: SearchPart, scale: float) -> None:
    """No phrase has a word twice."""
    same(ngram_scores(part, scale, once=False), enumerated(part, scale, once=False))


def test_where_the_sums_are_those_of_moses() -> None:
    """A step drops paths that had an n-gram before if any of its own histories completes it."""
    steps = {0: [], 1: [SearchStep(0, 0.0, ("a", "b")), SearchStep(0, 0.0, ("c",))], 2: [SearchStep(1, 0.0, ("b",))]}
    found = ngram_scores(SearchPart(steps, frozenset({2})), 1.0, once=True)
    # `b` ends both paths, once each; the path that had it already adds nothing.
    assert math.exp(found["b",]) == pytest.approx(1.0)
    steps[2] = [SearchStep(1, 0.0, ("x", "b", "x"))]
    assert math.exp(ngram_scores(SearchPart(steps, frozenset({2})), 1.0, once=True)["x",]) == pytest.approx(1.0)
    # Both occurrences of `x` are taken to be in front of `y`.
    steps[3] = [SearchStep(2, 0.0, ("y",))]
    found = ngram_scores(SearchPart(steps, frozenset({3})), 1.0, once=False)
    assert math.exp(found["x", "y"]) == pytest.approx(2.0)
