"""What the commands of plugins share: options for numbers, ``-q`` and ``-v``, notes on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def add_number(parser: Any, name: str, default: float, what: str, metavar: str = "N") -> None:
    """Add an option for a number of the type of its default, which ends the help text."""
    shown = f"{what} (default: {default:g})".replace("e-0", "e-")
    parser.add_argument(name, type=type(default), default=default, metavar=metavar, help=shown)


def add_quiet(parser: Any, what: str = "no progress and no notes on standard error") -> None:
    """Add ``-q``, which does ``what``, and ``-v``."""
    parser.add_argument("-q", "--quiet", action="store_true", help=what)
    parser.add_argument("-v", "--verbose", action="count", default=0, help="tracebacks of failures")


def sayer(quiet: bool, command: str = "smt") -> Callable[[str], None]:
    """A function that writes notes of a command to standard error, unless ``quiet``."""

    def say(text: str) -> None:
        if not quiet:
            sys.stderr.write(f"{command}: {text}\n")
            sys.stderr.flush()

    return say
