"""A copy of the example's system for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.systems.decode.systems import EXAMPLE


@pytest.fixture(autouse=True)
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example's system, where the test stands."""
    monkeypatch.setenv("SMT_CACHE", "off")
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    return tmp_path
