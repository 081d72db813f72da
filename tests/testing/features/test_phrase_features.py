"""Each check of features that need the segmentation fails for one that breaks it, and says what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from smtplugins import Offer
from smtplugins.testing.features import any_feature as features
from smtplugins.testing.features.phrase_features import CHECKS

Failures = Callable[..., dict[str, str]]
NEEDS = frozenset({"target", "segmentation"})
State = tuple[int, str]


def offer(make: Any, needs: frozenset[str] = NEEDS) -> Offer:
    return Offer(name="tried", make=make, summary="a feature under test", needs=needs)


class Jumps:
    """How far a phrase is from the one before it, weighed by the word before."""

    def start(self, sentence: Any) -> Any:
        return self

    def one(self, first: int, last: int, words: Sequence[str], before: State) -> tuple[float, State]:
        if first == last:
            return 0.0, before
        word = words[-1] if words else before[1]
        return abs(first - before[0]) * (1.0 + (before[1] == "a")), (last, word)

    def combine(self, edges: Any, tails: Any) -> tuple[Any, list[Any]]:
        scored = []
        for i, below in enumerate(tails):
            words = [symbol for symbol in edges.rules.target_of(i) if isinstance(symbol, str)]
            scored.append(self.one(int(edges.firsts[i]), int(edges.lasts[i]), words, below[0] if below else (0, "")))
        return [score for score, _ in scored], [state for _, state in scored]

    def finish(self, states: Any) -> Any:
        return [float(state[1] == "b") for state in states]

    def estimate(self, edges: Any) -> Any:
        return [0.0] * len(edges)


class OfTheBatch(Jumps):
    def combine(self, edges: Any, tails: Any) -> tuple[Any, list[Any]]:
        scores, states = super().combine(edges, tails)
        return [score + len(scores) / 8 for score in scores], states


class WithLists(Jumps):
    def one(self, first: int, last: int, words: Any, before: Any) -> tuple[float, Any]:
        score, state = super().one(first, last, words, tuple(before))
        return score, list(state)

    def finish(self, states: Any) -> Any:
        return [0.0] * len(states)


class Forgetful(Jumps):
    """Its states do not have the word that its scores depend on."""

    def __init__(self) -> None:
        self.last = ""

    def one(self, first: int, last: int, words: Sequence[str], before: Any) -> tuple[float, Any]:
        score, (end, word) = super().one(first, last, words, (before[0], before[1]))
        return score, Alike((end, word))


class Alike(tuple[Any, ...]):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple) and self[0] == other[0]

    def __hash__(self) -> int:
        return hash(self[0])


class Mixed(Jumps):
    """The sentence is the feature's."""

    def start(self, sentence: Any) -> Any:
        self.tokens = sentence.tokens
        return self

    def one(self, first: int, last: int, words: Sequence[str], before: State) -> tuple[float, State]:
        score, state = super().one(first, last, words, before)
        return score + len("".join(self.tokens[:1])) * (last - first), state


class OfEachEdge(Jumps):
    def one(self, first: int, last: int, words: Sequence[str], before: State) -> tuple[float, State]:
        score, state = super().one(first, last, words, before)
        return score + 1.0, state


class BadGuess(Jumps):
    def estimate(self, edges: Any) -> Any:
        return [float("nan")] * len(edges)


class OtherOnLists(Jumps):
    def score_candidates(self, source: Any, candidates: Any) -> Any:
        return [1.0 + len(text) for text in candidates.texts]


def test_good_features_pass(failures: Failures) -> None:
    assert {function.__name__ for function in CHECKS} <= {function.__name__ for function in features.CHECKS}
    assert failures("features", offer(Jumps)) == {}


@pytest.mark.parametrize(
    ("make", "check", "message"),
    [
        (OfTheBatch, "batches_of_phrases_do_not_matter", "one at a time and in batches"),
        (WithLists, "states_of_phrases_fit_a_table", "cannot be hashed"),
        (Forgetful, "equal_states_of_phrases_have_equal_futures", "have equal states, but score differently"),
        (Mixed, "sentences_of_phrases_do_not_mix", "beside another sentence"),
        (OfEachEdge, "edges_that_translate_nothing_change_nothing", "with an edge above it that translates nothing"),
        (BadGuess, "estimates_of_phrases_are_finite", "finite"),
        (OtherOnLists, "searches_and_lists_agree", "on a list, and"),
    ],
)
def test_what_is_wrong_is_found(failures: Failures, make: Any, check: str, message: str) -> None:
    checks = [function for function in CHECKS if function.__name__ == check]
    failed = failures("features", offer(make), checks)
    assert check in failed
    assert message in failed[check]


def test_features_without_places_are_left_to_the_other_checks(failures: Failures) -> None:
    failed = failures("features", offer(Jumps, frozenset({"target"})))
    assert "bracketing_does_not_matter" in failed
    assert not {function.__name__ for function in CHECKS} & failed.keys()
