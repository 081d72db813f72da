"""Which pairs are dropped, against sets and the definitions."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from smtplugins.host.estimate.sifting import SeenPairs, Sieve, Tally
from smtplugins.host.text.preparation import TextLimits

_WORDS = st.lists(st.sampled_from("abc"), max_size=6)


@given(st.lists(st.lists(st.integers(0, 99), max_size=40), max_size=12))
def test_seen_pairs_are_a_set(blocks: list[list[int]]) -> None:
    seen, known = SeenPairs(), set[int]()
    for block in blocks:
        wanted = []
        for number in block:
            wanted.append(number not in known)
            known.add(number)
        assert seen.add([(str(number), "") for number in block]) == wanted
    sizes = [len(run) for run in seen._runs]
    assert sum(sizes) == len(known)
    assert all(larger >= 2 * smaller for larger, smaller in itertools.pairwise(sizes))


def test_the_sides_of_a_pair_are_kept_apart() -> None:
    assert SeenPairs().add([("a b", "c"), ("a", "b c"), ("a b", "c")]) == [True, True, False]


@given(st.lists(st.tuples(_WORDS, _WORDS), max_size=30), st.booleans(), st.integers(1, 10))
def test_reasons(pairs: list[tuple[list[str], list[str]]], keep: bool, size: int) -> None:
    sieve = Sieve(TextLimits(4, 2.0, keep), 2)
    found = [reason for k in range(0, len(pairs), size) for reason in sieve.reasons_for(pairs[k : k + size])]
    kept: list[tuple[list[str], list[str]]] = []
    for pair, reason in zip(pairs, found, strict=True):
        lengths = sorted(map(len, pair))
        if not lengths[0]:
            assert reason == "empty"
        elif lengths[1] > 4:
            assert reason == "over 4 words"
        elif lengths[1] / lengths[0] > 2:
            assert reason == "length ratio over 2"
        elif pair in kept and not keep:
            assert reason == "duplicate"
        else:
            assert reason is None
            kept.append(pair)
    assert {reason for reason in found if reason} <= {*sieve.reasons}


def test_one_side_keeps_duplicates_and_no_limits_keep_all() -> None:
    one = Sieve(TextLimits(2), 1)
    assert one.reasons_for([[["a"]], [["a"]], [[]], [["a"] * 3]]) == [None, None, "empty", "over 2 words"]
    assert one.reasons == ("empty", "over 2 words")
    assert Sieve(None, 2).reasons_for([[[], []]]) == [None]


def test_tallies_know_the_first_line() -> None:
    tally = Tally()
    for line in (7, 9):
        tally.add(line)
    assert tally == Tally(2, 7)
