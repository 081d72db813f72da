"""Fixtures of the whole suite: reference data beside the checkout, and golden files."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# A shared machine is slow now and then; time is measured in tests/bench.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the files of tests/golden that differ, showing how"
    )


@pytest.fixture(scope="session")
def shared() -> Path:
    """The reference data beside the checkout; mark tests that use it ``shared``."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("needs the reference data in ../shared")
    return folder


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """``golden(text, name)`` compares a text with ``tests/golden/name``, or rewrites that on ``--update-golden``."""

    def check(found: str, name: str) -> None:
        path = GOLDEN / name
        expected = path.read_bytes().decode() if path.exists() else ""
        if found == expected and path.exists():
            return
        diff = "\n".join(
            line.rstrip("\n")
            for line in difflib.unified_diff(
                expected.splitlines(keepends=True), found.splitlines(keepends=True), f"golden/{name}", "found"
            )
        )
        if not request.config.getoption("--update-golden"):
            pytest.fail(f"{diff}\n(pytest --update-golden rewrites golden/{name})", pytrace=False)
        capture = request.config.pluginmanager.getplugin("capturemanager")
        assert capture is not None
        with capture.global_and_fixture_disabled():
            sys.stdout.write(f"\n{diff}\n")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(found.encode())

    return check
