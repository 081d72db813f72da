"""Runs killed at any moment: a child process is stopped at one of its events and leaves its folder behind."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from hypothesis import settings

from smtplugins.contracts.learners import LearnerState
from smtplugins.host import runs

DEEP = 100


def tree(folder: str) -> dict[str, bytes]:
    """All files and their bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def moments(events: int, step: int) -> list[int]:
    """The numbers of events to kill a run at: the first ones and each ``step``-th; a third of these in a plain run."""
    later = range(3, events, step)
    return [0, 1, 2, *(later if settings().max_examples >= DEEP else later[::3])]


def killed(work: Callable[[], Any], at: int, also: Iterable[tuple[Any, str]]) -> int:
    """Work in a child that is killed at its event number ``at``; gives the number of the event, or how many there were.

    Events are: a state is about to be written, or was; a file or folder is about to get its name or to be removed, or
    has been; a call of one of ``also`` (what has the function, and its name) begins or has ended.
    """
    parent, child = os.pipe()
    # A collection in the child would touch, and so copy, all objects of the tests.
    gc.freeze()
    process = os.fork()
    if not process:
        count = 0

        def event() -> None:
            nonlocal count
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1

        def watched(function: Any) -> Any:
            def call(*arguments: Any, **options: Any) -> Any:
                event()
                result = function(*arguments, **options)
                event()
                return result

            return call

        code = 1
        try:
            for place, name in ((os, "replace"), (LearnerState, "save"), (runs, "_remove"), (os, "unlink"), *also):
                setattr(place, name, watched(getattr(place, name)))
            work()
            os.write(child, str(count).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(child)
    _, status = os.waitpid(process, 0)
    with os.fdopen(parent) as stream:
        told = stream.read()
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return at
    assert os.WEXITSTATUS(status) == 0
    return int(told)
