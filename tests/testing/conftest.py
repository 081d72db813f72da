"""Running the kit on something and looking at what it finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.host.host import Host
from smtplugins.testing import run_checks

Failures = Callable[..., dict[str, str]]


@pytest.fixture(scope="session")
def host() -> Host:
    return smt.load_plugins()


@pytest.fixture
def failures(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Failures:
    """``failures(kind, record, ...)`` gives the message of each check that fails."""

    def run(kind: str, record: Any, **given: Any) -> dict[str, str]:
        results = run_checks(kind, record, tmp_path_factory.mktemp("kit"), host=host, **given)
        assert any(result.ok for result in results) or len(results) <= 2
        return {result.check: result.message for result in results if not result.ok}

    return run
