"""Records check themselves when they are made."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest

from smtplugins import Command, Offer
from smtplugins.contracts.offers import PluginInfo, resolve


def make() -> None: ...


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "expected a name of letters, digits, `-`, `_` and `.`, found ''"),
        ({"name": "a,b"}, "found 'a,b'"),
        ({"name": "1a"}, "found '1a'"),
        ({"make": 3}, "offer x: `make`: expected a callable or 'package.module:name', found 3"),
        ({"make": "module"}, "expected a callable or 'package.module:name', found 'module'"),
        ({"make": "a:b.c"}, "found 'a:b.c'"),
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


def test_a_reference_is_imported_on_first_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lazy_feature.py").write_text(
        "def make(size: int = 3): return size\ndef trial(folder): return {'size': 5}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    offer = Offer(name="x", make="lazy_feature:make", summary="y", trial="lazy_feature:trial")
    assert "lazy_feature" not in sys.modules
    assert offer.factory(**offer.trial_options(tmp_path)) == 5
    assert sys.modules.pop("lazy_feature").make() == 3


def test_a_command_may_be_given_by_references() -> None:
    command = Command(name="x", summary="y", configure="operator:neg", run=print)
    assert resolve(command.configure)(3) == -3
    assert resolve(command.run) is print
    with pytest.raises(TypeError, match="command x: `run`: expected a callable"):
        Command(name="x", summary="y", configure="operator:neg", run=3)  # type: ignore[arg-type]


def test_command_has_a_proper_name() -> None:
    with pytest.raises(ValueError, match="found 'two words'"):
        Command(name="two words", summary="y", configure=lambda parser: None, run=lambda host, args: None)


def test_plugin_is_described_by_distribution_or_file() -> None:
    assert PluginInfo("x", "smt-x", "1.0", "x.module").described() == "'x' (smt-x 1.0)"
    assert PluginInfo("x", "", "", "/here/x.py").described() == "'x' (/here/x.py)"
