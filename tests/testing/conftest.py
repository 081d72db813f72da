"""Running the kit on something and looking at what it finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.host.host import Host
from smtplugins.testing import run_checks
from smtplugins.testing.checks import KINDS, Check, can_be_made

Failures = Callable[..., dict[str, str]]


@pytest.fixture(scope="session")
def host() -> Host:
    return smt.load_plugins()


@pytest.fixture
def failures(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Failures:
    """``failures(kind, record, ...)`` gives the message of each check that fails, of all or of ``checks``."""

    def run(kind: str, record: Any, checks: Sequence[Check] | None = None, **given: Any) -> dict[str, str]:
        if checks is not None:
            # The contract's own checks alone, for a test that looks at no others.
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(f"{KINDS[kind]}.CHECKS", (can_be_made, *checks))
                return run(kind, record, **given)
        results = run_checks(kind, record, tmp_path_factory.mktemp("kit"), host=host, **given)
        assert any(result.ok for result in results) or len(results) <= 2
        return {result.check: result.message for result in results if not result.ok}

    return run
