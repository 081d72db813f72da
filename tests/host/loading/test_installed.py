"""Installed plugins without importing them."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable
from pathlib import Path

from smtplugins.host.loading.installed import InstalledPlugin, installed_plugins

Install = Callable[..., Path]


def names() -> list[str]:
    return [plugin.name for plugin in installed_plugins()]


def test_plugins_are_the_entry_points_of_importlib(install: Install) -> None:
    install("zeta", "raise RuntimeError('imported')")
    install("alpha", "raise RuntimeError('imported')")
    found = importlib.metadata.entry_points(group="smtplugins")
    expected = [(point.name, point.value, point.dist.name, point.dist.version) for point in found if point.dist]
    assert sorted(expected) == list(installed_plugins())
    assert {"alpha", "standard", "zeta"} <= set(names())
    assert "installed_zeta" not in sys.modules


def test_other_groups_and_spoilt_metadata_are_passed_over(install: Install) -> None:
    site = install("kept", "").parent
    before = installed_plugins()
    for folder, text in {"a": b"\xff\xfe[smtplugins]", "b": b"[smtplugins.more]\nno = b\n", "c": b""}.items():
        (site / f"{folder}-1.dist-info").mkdir()
        (site / f"{folder}-1.dist-info" / "entry_points.txt").write_bytes(text)
    (site / "d-1.dist-info").mkdir()
    (site / "e.dist-info").write_text("a file")
    assert installed_plugins() == before


def test_first_of_two_copies_of_a_package_counts(install: Install, tmp_path: Path) -> None:
    site = install("twice", "").parent
    other = tmp_path / "other"
    (other / "Smt.twice-0.9.dist-info").mkdir(parents=True)
    (other / "Smt.twice-0.9.dist-info" / "entry_points.txt").write_text("[smtplugins]\nold = m\n# no = m\n")
    sys.path.append(str(other))
    try:
        assert "twice" in names()
        assert "old" not in names()
        sys.path.remove(str(site))
        (old,) = [plugin for plugin in installed_plugins() if plugin.name == "old"]
        assert old == InstalledPlugin("old", "m", "Smt.twice", "0.9")
        assert "no" not in names()
    finally:
        sys.path.remove(str(other))
        sys.path.insert(0, str(site))


def test_entry_point_may_name_extras_and_attributes() -> None:
    assert InstalledPlugin("p", "os.path : join [fast]", "", "").load() is __import__("os").path.join
