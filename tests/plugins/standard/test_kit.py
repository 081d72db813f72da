"""What this plugin offers passes the conformance kit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import smtplugins as smt
from smtplugins.testing import check_plugin


def test_everything_passes_the_kit(tmp_path: Path) -> None:
    host = smt.load_plugins()
    results = check_plugin(host, "standard", tmp_path)
    assert [(kind, name, one.check, one.message) for kind, name, one in results if not one.ok] == []
    checked = Counter((kind, name) for kind, name, _ in results)
    offers = next(one.offers for one in host.plugins if one.name == "standard")
    for kind, plural in (("feature", "features"), ("metric", "metrics"), ("format", "formats")):
        assert {name for one, name in checked if one == kind} == set(offers[plural])
    # What only a decoder can ask for is checked on rules, not on lists.
    in_decoders = {one.record.name for one in host.registry.entries("features") if "grammar" in one.record.needs}
    whole = {one.record.name for one in host.registry.entries("features") if "list" in one.record.needs}
    for (kind, name), count in checked.items():
        if kind != "format":
            assert count >= (6 if name in in_decoders else 10 if name in whole else 11), (kind, name)
