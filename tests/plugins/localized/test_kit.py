"""What this plugin offers passes the conformance kit."""

from __future__ import annotations

from pathlib import Path

import smtplugins as smt
from smtplugins.testing import check_plugin


def test_everything_passes_the_kit(tmp_path: Path) -> None:
    results = check_plugin(smt.load_plugins(), "localized", tmp_path)
    assert [(name, one.check, one.message) for _, name, one in results if not one.ok] == []
    assert {(kind, name) for kind, name, _ in results} == {
        ("decoder", "swap"),
        ("feature", "block-bigram"),
        ("feature", "block-model"),
        ("feature", "orientation"),
        ("learner", "local-maxent"),
        ("recipe", "localized"),
    }
