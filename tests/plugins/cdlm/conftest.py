"""The setting of confusions.py, without the cache of grammars."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtplugins.plugins.cdlm.sets.confusing import ConfusionSetting
from tests.plugins.cdlm.confusions import write


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMT_CACHE", "off")


@pytest.fixture
def setting(tmp_path: Path) -> ConfusionSetting:
    return write(tmp_path)
