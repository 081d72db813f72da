"""The host of an ordinary run, and calls that fail, for the commands of any plugin."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.cli.main import main
from smtplugins.host.host import Host


@pytest.fixture(scope="session")
def host() -> Host:
    """The host with what is installed."""
    return smt.load_plugins()


@pytest.fixture
def fails_without_trace(tmp_path: Path) -> Callable[[Sequence[str], Path], None]:
    """Each file of a command is missing or empty, one at a time: the call fails, and its folder is not there."""

    def check(command: Sequence[str], out: Path) -> None:
        empty = tmp_path / "empty"
        empty.touch()
        files = [at for at, one in enumerate(command) if Path(one).is_file()]
        assert files
        for at in files:
            for other in (tmp_path / "no-such-file", empty):
                broken = [*command[:at], str(other), *command[at + 1 :]]
                if main(broken) == 0:
                    # An empty file may be a fine one.
                    assert other == empty, broken
                    assert out.exists()
                    shutil.rmtree(out.parent)
                    continue
                assert not out.exists(), broken
                assert not out.parent.exists(), broken

    return check
