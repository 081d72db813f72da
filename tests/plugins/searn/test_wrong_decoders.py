"""A decoder that leaves orders out, or gives words that no rule has, does not pass the kit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.contracts.offers import Offer
from smtplugins.plugins.searn.decoding.decoder import Amasis
from smtplugins.testing.decoders import any_decoder as decoders
from smtplugins.testing.decoders import graphs as decoder_graphs
from smtplugins.testing.decoders.any_decoder import subject


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
