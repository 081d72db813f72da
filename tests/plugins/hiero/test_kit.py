"""What this plugin offers passes the conformance kit."""

from __future__ import annotations

from pathlib import Path

import smtplugins as smt
from smtplugins.testing import check_plugin


def test_the_decoder_passes_the_kit(tmp_path: Path) -> None:
    host = smt.load_plugins()
    results = check_plugin(host, "hiero", tmp_path)
    assert [(name, one.check, one.message) for _, name, one in results if not one.ok] == []
    offers = next(plugin.offers for plugin in host.plugins if plugin.name == "hiero")
    assert {name for _, name, _ in results} == set(offers["decoders"])
    assert {kind for kind, _, _ in results} == {"decoder", "recipe"}
    assert len(results) >= 10
