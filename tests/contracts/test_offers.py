"""Records check themselves when they are made."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from smtplugins import Command, Offer
from smtplugins.contracts.offers import PluginInfo


def make() -> None: ...


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "expected a name of letters, digits, `-`, `_` and `.`, found ''"),
        ({"name": "a,b"}, "found 'a,b'"),
        ({"name": "1a"}, "found '1a'"),
        ({"make": 3}, "offer x: `make` is not callable"),
        ({"summary": ""}, "offer x: `summary` is empty"),
        ({"needs": {"colour"}}, "offer x: needs 'colour', expected one of target, source"),
        ({"requires": ("mert",)}, "offer x: requires 'mert', expected KIND:NAME as learner:mert"),
        ({"requires": ("learners:mert",)}, "offer x: requires 'learners:mert'"),
        ({"requires": ("learner:",)}, "offer x: requires 'learner:'"),
    ],
)
def test_bad_offer_is_refused(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"name": "x", "make": make, "summary": "y", **changes}
    with pytest.raises((ValueError, TypeError)) as caught:
        Offer(**given)
    assert message in str(caught.value)


def test_offer_is_frozen_and_takes_any_collection_of_needs() -> None:
    offer = Offer(name="x", make=make, summary="y", needs=["source", "annotations:topic"])  # type: ignore[arg-type]
    assert offer.needs == frozenset({"source", "annotations:topic"})
    with pytest.raises(dataclasses.FrozenInstanceError):
        offer.name = "z"  # type: ignore[misc]


def test_command_has_a_proper_name() -> None:
    with pytest.raises(ValueError, match="found 'two words'"):
        Command(name="two words", summary="y", configure=lambda parser: None, run=lambda host, args: None)


def test_plugin_is_described_by_distribution_or_file() -> None:
    assert PluginInfo("x", "smt-x", "1.0", "x.module").described() == "'x' (smt-x 1.0)"
    assert PluginInfo("x", "", "", "/here/x.py").described() == "'x' (/here/x.py)"
