"""Exit codes and messages of exceptions."""

from __future__ import annotations

import errno

import pytest

from smtformats import FormatError
from smtplugins.contracts.errors import FeatureError, PluginError, SmtError, UsageError
from smtplugins.host.config.run_yaml import ConfigError
from smtplugins.host.errors import exit_code, exit_error, message


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SmtError("x"), 1),
        (FeatureError("x"), 1),
        (ConfigError("f", 1, "k", "x"), 1),
        (UsageError("x"), 2),
        (PluginError("x"), 2),
        (FormatError("a", "b"), 1),
        (FileNotFoundError(errno.ENOENT, "No such file", "f"), 1),
        (OSError(errno.ENOSPC, "No space left"), 1),
        (BrokenPipeError(), 0),
        (KeyboardInterrupt(), 130),
        (ValueError("a bug"), None),
        (AssertionError(), None),
    ],
)
def test_exit_codes(error: BaseException, code: int | None) -> None:
    assert exit_code(error) == code


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (SmtError("the words"), "the words"),
        (FormatError("a", "b", file="f", line=3, field=2), "f:3: field 2: expected a, found b"),
        (ConfigError("f", 3, "a.b", "no"), "f:3: a.b: no"),
        (ConfigError("f", None, "", "no"), "f: no"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "f"), "f: No such file or directory"),
        (OSError(errno.ENOSPC, "No space left on device"), "[Errno 28] No space left on device"),
        (SmtError(), "SmtError"),
    ],
)
def test_messages(error: BaseException, text: str) -> None:
    assert message(error) == text


@pytest.mark.parametrize(("code", "call"), [(0, "sys.exit(0)"), (None, "sys.exit()"), ("gone", "sys.exit('gone')")])
def test_an_exit_names_where_the_plugin_was_called(code: object, call: str) -> None:
    import argparse

    def plugin() -> None:
        if code == 0:
            # By way of another library.
            argparse.ArgumentParser().exit()
        raise SystemExit(code)

    with pytest.raises(SystemExit) as raised:
        plugin()
    # This module's own frames are a plugin's: none of them is of ours.
    text = message(exit_error(raised.value))
    assert text.startswith(f"{__file__}:")
    assert text.endswith(f": a plugin failed: it called {call}")
