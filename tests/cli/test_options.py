"""Options that become arguments of the host's methods."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smtplugins.cli import options

Smt = Callable[..., Any]


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


@pytest.mark.parametrize("command", [("best",), ("dedup",), ("rescore", "-w", "w"), ("score", "--feature", "length")])
def test_lists_may_be_given_as_an_argument(smt: Smt, nbest: Path, command: tuple[str, ...]) -> None:
    Path("w").write_text("LM0 1\nTM0[0] 1\nTM0[1] 1\n")
    assert smt(*command, nbest).ok() == smt(*command, "-i", nbest).ok() != ""
    assert smt(*command, "-o", "out", nbest).ok() == ""
    assert Path("out").read_text() == smt(*command, stdin=nbest.read_text()).ok()
    result = smt(*command, "-i", nbest, nbest)
    assert (result.code, "expected the input once, found both FILE and -i" in result.err) == (2, True)


def test_lists_to_learn_from_may_be_given_as_arguments(smt: Smt, nbest: Path) -> None:
    Path("ref").write_text("a home\nthe house\n")
    options = ("-r", "ref", "-m", "bleu,tokenize=none,max_ngram_order=2", "-q", "-o")
    results = [
        smt("tune", *given, *options, f"w{i}")
        for i, given in enumerate([("-i", nbest, "-i", nbest), (nbest, nbest), (nbest,)])
    ]
    assert [result.code for result in results] == [0, 0, 0]
    assert Path("w0").read_bytes() == Path("w1").read_bytes()
