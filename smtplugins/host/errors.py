"""What can go wrong, and the one place that turns an exception into an exit code and a message."""

from __future__ import annotations

import os


class SmtError(Exception):
    """A failure with a message for the user. Exit code 1: the data or a run went wrong."""

    exit_code = 1


class UsageError(SmtError):
    """The call itself is wrong: an unknown name, option or combination. Exit code 2."""

    exit_code = 2


class PluginError(UsageError):
    """A plugin cannot be used as asked."""


class FeatureError(SmtError):
    """A feature failed on some list."""


def exit_code(error: BaseException) -> int | None:
    """The exit code for an exception; ``None`` for one that is a bug and deserves its traceback."""
    from smtformats.errors import FormatError

    if isinstance(error, SmtError):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return 130
    if isinstance(error, BrokenPipeError):
        return 0
    if isinstance(error, (FormatError, OSError)):
        return 1
    return None


def message(error: BaseException) -> str:
    """What to print for an exception."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fspath(error.filename)}: {error.strerror}"
    return str(error) or type(error).__name__
