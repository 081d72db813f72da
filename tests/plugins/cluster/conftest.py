"""``smt`` in this process and in its own; tables and scores are cached nowhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import smt as smt
from tests.cli.conftest import start as start


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Workers keep nothing beyond the tests; no cluster is left for those of other modules."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        # Workers import what tests define; last, so that they too use the installed package.
        patched.setattr(sys, "path", [*sys.path, str(Path(__file__).parents[3])])
        yield
    module = sys.modules.get("smtplugins.plugins.cluster.connection")
    if module is not None:
        module._close_all()
        module._CONNECTIONS.clear()


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMT_CACHE", "off")
    monkeypatch.delenv("SMT_RUNNER", raising=False)
    monkeypatch.chdir(tmp_path)
