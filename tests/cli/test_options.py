"""Options that become arguments of the host's methods."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import pytest

from smtplugins.cli import options


def method(
    lists: str, *, jobs: int = 1, format: str | None = None, note: Callable[[str], None], quiet: bool = False
) -> tuple[Any, ...]:
    note("a note")
    return lists, jobs, format, quiet


def call(given: dict[str, Any], **named: Any) -> tuple[Any, ...]:
    args = argparse.Namespace(**{"format": "json", "quiet": True, "other": 3, **named})
    return options.call(method, args, **given)


def test_arguments_are_options_of_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert call({}, lists="x", jobs=2) == ("x", 2, None, True)
    # None stands for the default; how to print tables is no format of a file.
    assert call({"lists": "y"}, lists="x", jobs=None, from_format="tsv") == ("y", 1, "tsv", True)
    assert capsys.readouterr().err == ""
    assert call({}, lists="x", quiet=False) == ("x", 1, None, False)
    assert capsys.readouterr().err == "smt: note: a note\n"
    with pytest.raises(TypeError, match="unknown"):
        call({"unknown": 1}, lists="x")
