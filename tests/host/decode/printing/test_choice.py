"""Minimum Bayes risk beside its definition, text by text."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.decode.printing.choice import MinimumRisk, choice_of, expected_losses


def ngrams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def gain(hypothesis: str, reference: str) -> float:
    """BLEU of a sentence with one more match and n-gram from bigrams on."""
    words, others = hypothesis.split(), reference.split()
    logs = 0.0
    for n in range(1, 5):
        matches = sum((ngrams(words, n) & ngrams(others, n)).values())
        if n == 1 and not matches:
            return 0.0
        more = int(n > 1)
        logs += math.log(matches + more) - math.log(max(len(words) - n + 1, 0) + more)
    return math.exp(logs / 4 + min(0.0, 1 - len(others) / len(words)))


TEXTS = st.lists(st.lists(st.sampled_from("aabc"), max_size=7).map(" ".join), min_size=1, max_size=6, unique=True)


@given(TEXTS, st.data())
def test_losses_are_those_of_the_definition(texts: list[str], data: st.DataObject) -> None:
    shares = np.array([data.draw(st.floats(0.1, 1)) for _ in texts])
    wanted = [
        sum(
            share * (1 - gain(text, other))
            for j, (other, share) in enumerate(zip(texts, shares, strict=True))
            if j != i
        )
        for i, text in enumerate(texts)
    ]
    assert expected_losses(texts, shares).tolist() == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("options", [{"size": "0"}, {"scale": "-1"}, {"sizes": "1"}])
def test_options_are_checked(options: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        choice_of(Spec("mbr", options))


def test_other_choices_are_unknown() -> None:
    with pytest.raises(UsageError, match="unknown choice 'best'; known: consensus, lattice-mbr, mbr"):
        choice_of(Spec("best"))
    assert choice_of(Spec("mbr", {"size": "7"})) == MinimumRisk(size=7)
