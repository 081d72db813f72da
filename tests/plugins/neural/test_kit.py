"""What this plugin offers passes the conformance kit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import smtplugins as smt
from smtplugins.testing import check_plugin


def test_everything_passes_the_kit(tmp_path: Path) -> None:
    host = smt.load_plugins()
    results = check_plugin(host, "neural", tmp_path)
    assert [(kind, name, one.check, one.message) for kind, name, one in results if not one.ok] == []
    checked = Counter((kind, name) for kind, name, _ in results)
    offers = next(one.offers for one in host.plugins if one.name == "neural")
    assert set(checked) == {(kind[:-1], name) for kind in ("features", "metrics") for name in offers[kind]}
    assert min(checked.values()) >= 11
