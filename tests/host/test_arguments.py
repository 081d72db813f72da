"""One value where a list of one is meant, and the names of arguments in messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.arguments import argument, config_of, listed, named_as_options, stream_of, weights_of
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.host import Host

LIST = "0 ||| a house  ||| LM0= -2 ||| -1\n0 ||| home  ||| LM0= -1 ||| -2\n"


def test_a_single_value_is_a_list_of_one() -> None:
    for value in ("a", Path("a"), {"name": "length"}, Spec("length"), len, smt.ListStream(lambda: iter(()), "x"), 3):
        assert listed(value) == [value]
    assert listed(["a", "b"]) == listed(("a", "b")) == listed(iter("ab")) == ["a", "b"]


def test_messages_name_arguments_or_options() -> None:
    assert argument("allow_partial=True") == "allow_partial=True"
    with named_as_options():
        assert argument("allow_partial=True") == "--allow-partial"
        assert argument("refs", "-r FILE") == "-r FILE"
        with named_as_options():
            pass
        assert argument("x") == "--x"
    assert argument("refs", "-r FILE") == "refs"


def test_the_command_line_names_its_options_and_forgets_them(smt_main: Callable[..., str]) -> None:
    assert "expected both --forward and --backward, found one of them" in smt_main("align", "--forward", "a")
    assert argument("forward") == "forward"


@pytest.fixture
def smt_main(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command in this process; what it says on standard error."""
    from smtplugins.cli.main import main

    def run(*arguments: str) -> str:
        assert main(arguments) == 2
        return capsys.readouterr().err

    return run


def test_streams_are_opened_with_the_formats_of_the_host(host: Host, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(LIST)
    lists = smt.read(tmp_path / "a")
    assert stream_of(host, lists) is lists
    assert [len(nbest) for nbest in stream_of(host, tmp_path / "a")] == [2]
    assert [len(nbest) for nbest in stream_of(host, smt.candidates(["a"]))] == [1]


def test_weights_are_read_if_they_are_a_path(host: Host, tmp_path: Path) -> None:
    (tmp_path / "w").write_text("a 1\n")
    assert weights_of(host, tmp_path / "w") == {"a": 1.0}
    assert weights_of(host, {"b": 2.0}) == {"b": 2.0}
    assert weights_of(host, None) is None


@pytest.mark.parametrize("changes", ["seed=7", ["seed=7"], {"seed": 7}, [("seed", 7)]])
def test_overrides_have_several_forms(tmp_path: Path, changes: Any) -> None:
    (tmp_path / "run.yaml").write_text("decoder: hiero\n")
    assert config_of(tmp_path / "run.yaml", changes, ()).seed == 7
    loaded = load_config(tmp_path / "run.yaml")
    assert config_of(loaded, (), ()) is loaded
    with pytest.raises(UsageError, match="overrides and ignore: expected none with a configuration that is loaded"):
        config_of(loaded, changes, ())
