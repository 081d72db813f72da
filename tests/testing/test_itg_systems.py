"""The kit's systems of binary trees: their orders, and that decoders which leave some out are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.host.offers import Offer
from smtplugins.plugins.searn.decoder import Amasis
from smtplugins.testing import decoder_graphs, decoders
from smtplugins.testing.decoders import subject
from smtplugins.testing.itg_systems import separable, systems


def test_orders_of_binary_trees_are_as_many_as_schroeder_counts() -> None:
    assert [len(separable(size)) for size in range(6)] == [1, 1, 2, 6, 22, 90]
    assert not {(1, 3, 0, 2), (2, 0, 3, 1)} & set(separable(4))


def test_systems_have_phrases_without_words_and_words_without_phrases() -> None:
    some = systems()
    assert any(not rule.target for one in some for rule in one.rules)
    assert any("z" in sentence.tokens for one in some for sentence in one.sentences)
    derivations = [one.derivations(sentence.tokens) for one in some for sentence in one.sentences]
    assert max(len(one) for one in derivations if one is not None) > 100


@pytest.mark.parametrize(
    ("options", "check"),
    [
        ({"policy": "monotone"}, decoders.best_is_the_best),
        ({"policy": "monotone"}, decoder_graphs.graphs_hold_all),
    ],
)
def test_what_is_left_out_is_found(options: dict[str, Any], check: Any, tmp_path: Path) -> None:
    record = Offer(name="wrong", make=Amasis, summary="one that leaves orders out")
    wrong = subject(record, tmp_path, smt.load_plugins(), options=options)
    with pytest.raises(AssertionError):
        check(wrong)
    decoders.derivations_are_in_the_grammar(wrong)


def test_what_is_not_in_the_grammar_is_found(tmp_path: Path) -> None:
    from dataclasses import replace

    class Shouting(Amasis):
        """Gives words that no rule has."""

        def decode(self, *args: Any, **options: Any) -> Any:
            for one in super().decode(*args, **options):
                yield replace(one, best=one.best.lower())

    wrong = subject(
        Offer(name="wrong", make=Shouting, summary="one that shouts"),
        tmp_path,
        smt.load_plugins(),
        options={"policy": "monotone"},
    )
    with pytest.raises(AssertionError, match="no derivation has the text"):
        decoders.derivations_are_in_the_grammar(wrong)
