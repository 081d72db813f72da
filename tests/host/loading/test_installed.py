"""Names of installed plugins without importing them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from smtplugins.host.loading.installed import plugin_names
from smtplugins.host.loading.manager import entry_points


def test_names_are_those_of_the_entry_points(install: Callable[..., Path]) -> None:
    install("zeta", "raise RuntimeError('imported')")
    install("alpha", "raise RuntimeError('imported')")
    names = plugin_names()
    assert {"alpha", "standard", "zeta"} <= set(names)
    assert names == sorted({point.name for point in entry_points()})
    assert "installed_zeta" not in sys.modules


def test_other_groups_and_spoilt_metadata_are_passed_over(install: Callable[..., Path]) -> None:
    site = install("kept", "").parent
    before = plugin_names()
    for folder, text in {"a": b"\xff\xfe[smtplugins]", "b": b"[smtplugins.more]\nno = b\n", "c": b""}.items():
        (site / f"{folder}-1.dist-info").mkdir()
        (site / f"{folder}-1.dist-info" / "entry_points.txt").write_bytes(text)
    (site / "d-1.dist-info").mkdir()
    (site / "e.dist-info").write_text("a file")
    assert plugin_names() == before
