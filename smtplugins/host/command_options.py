"""What the commands of plugins share: options for numbers, ``-q`` and ``-v``, notes on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec

if TYPE_CHECKING:
    from smtplugins.contracts.runners import Jobs


def add_number(parser: Any, name: str, default: float, what: str, metavar: str = "N") -> None:
    """Add an option for a number of the type of its default, which ends the help text."""
    shown = f"{what} (default: {default:g})".replace("e-0", "e-")
    parser.add_argument(name, type=type(default), default=default, metavar=metavar, help=shown)


def add_jobs(parser: Any, what: str = "processes (same output for any N)", default: str = "") -> None:
    """Add ``-j`` and ``--runner``, of which ``jobs_of`` makes one value; ``default`` comes before 1."""
    parser.add_argument("-j", "--jobs", type=int, metavar="N", help=f"{what} (default: $SMT_RUNNER, {default}else 1)")
    parser.add_argument(
        "--runner", metavar="NAME[,key=value...]", help="runner of the work, such as dask, for N workers or a cluster"
    )


def jobs_of(args: Any) -> Jobs:
    """How the work is spread, by the options of ``add_jobs``: a number given beside a runner is that of its workers."""
    number: int | None = getattr(args, "jobs", None)
    if getattr(args, "runner", None) is None:
        return number
    spec = Spec.of(args.runner)
    if number is None:
        return spec
    if "jobs" in spec.options:
        raise UsageError(f"expected a number of workers once, found -j {number} and --runner {args.runner}")
    return Spec(spec.name, {**spec.options, "jobs": number})


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
