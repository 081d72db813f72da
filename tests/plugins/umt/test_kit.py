"""What this plugin offers passes the conformance kit."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.testing import run_checks
from smtplugins.testing.cases import DecoderChecks

FEATURES_AND_LEARNERS = {
    ("features", "cff"): 6,
    ("features", "undirected-lm"): 6,
    ("features", "undirected-shape"): 6,
    ("learners", "drl"): 6,
}
"""How many checks apply to each, at least."""


class TestUmt(DecoderChecks):
    """Its checks take seconds each: as tests of their own they spread over processes."""

    offer = "umt"


def test_these_are_all_offers() -> None:
    registry = smt.load_plugins().registry
    entries = [
        (kind, entry) for kind in ("decoders", "features", "learners", "metrics") for entry in registry.entries(kind)
    ]
    offers = {(kind, entry.record.name) for kind, entry in entries if entry.plugin.name == "umt"}
    assert offers == {*FEATURES_AND_LEARNERS, ("decoders", "umt")}


@pytest.mark.parametrize(("kind", "name"), FEATURES_AND_LEARNERS)
def test_the_kit_passes(kind: str, name: str, tmp_path: Path) -> None:
    host = smt.load_plugins()
    results = run_checks(kind, host.registry.entry(kind, name).record, tmp_path, host=host)
    assert [(result.check, result.message) for result in results if not result.ok] == []
    assert len(results) >= FEATURES_AND_LEARNERS[kind, name]
