"""The host of an ordinary run."""

from __future__ import annotations

import pytest

import smtplugins as smt
from smtplugins.host.host import Host


@pytest.fixture(scope="session")
def host() -> Host:
    """The host with what is installed."""
    return smt.load_plugins()
