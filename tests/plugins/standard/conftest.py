"""The host of an ordinary run, and a browser for pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.host.host import Host

sys.path.insert(0, str(Path(__file__).resolve().parent))

from chromium import CHROMIUM, Browser


@pytest.fixture(scope="session")
def host() -> Host:
    """The host with what is installed."""
    return smt.load_plugins()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One for all tests of a module, if there is a Chromium."""
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    one = Browser(tmp_path_factory.mktemp("chromium") / "profile")
    yield one
    one.close()
