"""Source sides that can match an input: as enumeration of all ways to lay a rule over a sentence says."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from smtplugins.core.grammar import matching
from smtplugins.core.grammar.matching import InputPhrases

SENTENCES = st.lists(st.lists(st.sampled_from([b"a", b"b", b"ab"]), max_size=6), max_size=3)
SIDES = st.lists(st.sampled_from([b"a", b"b", b"ab", None, None, b"<s>"]), min_size=1, max_size=5)


def covers(side: list[bytes | None], words: list[bytes]) -> bool:
    """Whether a side is laid over all of some words."""
    if not side or not words:
        return not side and not words
    if side[0] is not None:
        return side[0] == words[0] and covers(side[1:], words[1:])
    return any(covers(side[1:], words[size:]) for size in range(1, len(words) + 1))


@given(SENTENCES, SIDES, st.integers(1, 3))
def test_matches_are_those_of_enumeration(sentences: list[list[bytes]], side: list[bytes | None], longest: int) -> None:
    marked = [[b"<s>", *words, b"</s>"] for words in sentences]
    spans = [words[i:j] for words in marked for i, j in itertools.combinations(range(len(words) + 1), 2)]
    before = matching._LONGEST
    try:
        matching._LONGEST = longest
        assert InputPhrases(sentences).match(side) == any(covers(side, words) for words in spans)
    finally:
        matching._LONGEST = before


def test_equal_sentences_are_kept_once() -> None:
    assert len(InputPhrases([[b"a"], [b"b"], [b"a"], []])) == 3
