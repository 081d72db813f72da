"""Rules as columns: what goes in comes out, words are counted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.core._core import count_flags
from smtplugins.core.grammar.rules import Edges, Rules
from smtplugins.core.vocabulary import Vocabulary

TARGETS = st.lists(st.lists(st.one_of(st.text(max_size=3), st.integers(0, 4))))


@given(TARGETS)
def test_targets_come_back(targets: list[list[str | int]]) -> None:
    rules = Rules.from_targets(targets)
    assert [rules.target_of(i) for i in range(len(rules))] == targets
    assert len(Edges(rules)) == len(rules) == len(targets)
    assert (rules.target.dtype, rules.offsets.dtype) == (np.int32, np.int64)


@given(TARGETS)
def test_words_are_counted_and_children_are_not(targets: list[list[str | int]]) -> None:
    counts = Rules.from_targets(targets).word_counts()
    assert counts.tolist() == [sum(isinstance(symbol, str) for symbol in target) for target in targets]


@given(st.lists(st.lists(st.text(max_size=3))))
def test_sentences_are_rules_without_children(sentences: list[list[str]]) -> None:
    rules, other = Rules.from_words(sentences), Rules.from_targets(sentences)
    assert rules.target.tolist() == other.target.tolist()
    assert rules.offsets.tolist() == other.offsets.tolist()
    assert [rules.target_of(i) for i in range(len(rules))] == sentences
    assert (rules.target.dtype, rules.offsets.dtype) == (np.int32, np.int64)


def test_child_numbers_are_negative_symbols() -> None:
    rules = Rules.from_targets([["a", 0, "b"], [1, "a"]])
    assert rules.target.tolist() == [0, -1, 1, -2, 0]
    assert rules.offsets.tolist() == [0, 3, 5]


def test_rules_can_share_a_vocabulary() -> None:
    words = Vocabulary(["x", "b"])
    rules = Rules.from_targets([["a", "b"]], words)
    assert rules.vocabulary is words
    assert rules.target.tolist() == [2, 1]


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 8192, 20000])
def test_marks_are_counted_across_blocks(size: int) -> None:
    """The native count works in blocks of 4096 values; parts may be empty, and values lie before and behind them."""
    rng = np.random.default_rng(size)
    for parts in (0, 1, 7, size):
        flags = rng.random(size) < 0.4
        offsets = np.sort(rng.integers(0, size + 1, parts + 1)).astype(np.int64)
        expected = [int(flags[first:last].sum()) for first, last in itertools.pairwise(offsets)]
        assert count_flags(flags, offsets).tolist() == expected
