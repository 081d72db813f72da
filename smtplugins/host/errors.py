"""Exceptions, and their translation into exit codes and messages."""

from __future__ import annotations

import os

from smtplugins.contracts.errors import SmtError

_OURS = ("smtplugins", "smtformats")


def failure_text(error: BaseException) -> str:
    """Describe a plugin's exception for a message; a plugin that calls sys.exit has failed."""
    if isinstance(error, SystemExit):
        return f"it called sys.exit({'' if error.code is None else repr(error.code)})"
    return f"{type(error).__name__}: {error}"


def exit_place(stop: SystemExit) -> tuple[str, str]:
    """The package that raised SystemExit when called by our code, and the file, line and function."""
    import traceback

    frames = list(traceback.walk_tb(stop.__traceback__))
    packages = [frame.f_globals.get("__name__", "").partition(".")[0] for frame, _ in frames]
    # The frame our code called last; it may have called other libraries in turn.
    last = max((i for i, package in enumerate(packages) if package in _OURS), default=-1)
    entered = min(last + 1, len(frames) - 1)
    frame, line = frames[entered]
    return packages[entered], f"{frame.f_code.co_filename}:{line}: {frame.f_code.co_name}"


def exit_error(stop: SystemExit) -> SmtError:
    """The error for a plugin that called sys.exit outside a command of its own."""
    return SmtError(f"{exit_place(stop)[1]}: a plugin failed: {failure_text(stop)}")


def exit_code(error: BaseException) -> int | None:
    """The exit code for an exception; ``None`` for a bug, which is shown with its traceback."""
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
    """The message to print for an exception."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fspath(error.filename)}: {error.strerror}"
    return str(error) or type(error).__name__
