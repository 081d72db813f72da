"""Plugins as files, modules and installed distributions; and a host with the usual plugins."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import smtplugins as smt
from smtplugins.host.host import Host


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config) -> None:
    for name in ("SMT_PLUGINS", "SMT_TRACE_PLUGINS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SMT_DISABLE_PLUGINS", pytestconfig.getoption("--without"))


@pytest.fixture(scope="session")
def host() -> Host:
    """The host with what is installed."""
    return smt.load_plugins()


@pytest.fixture
def plugin() -> Callable[[str, str], ModuleType]:
    """``plugin(name, code)`` is a module to give to ``load_plugins``."""

    def make(name: str, code: str) -> ModuleType:
        module = ModuleType(name)
        exec(code, vars(module))
        return module

    return make


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """``install(name, code)`` puts a distribution ``smt-NAME`` with one plugin module on the path."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    before = set(sys.modules)

    def make(name: str, code: str, *, distribution: str = "", version: str = "1.2", module: str = "") -> Path:
        distribution = distribution or f"smt-{name}"
        module = module or f"installed_{name.replace('-', '_')}"
        path = site / f"{module}.py"
        path.write_text(code, encoding="utf-8")
        info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[console_scripts]\nx = y:z\n\n[smtplugins]\n{name} = {module}\n")
        importlib.invalidate_caches()
        return path

    yield make
    for added in set(sys.modules) - before:
        if (getattr(sys.modules[added], "__file__", None) or "").startswith(str(site)):
            del sys.modules[added]
