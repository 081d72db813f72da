"""Configurations are written to the current folder, which is a new one for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def host() -> smt.Host:
    return smt.load_plugins()
