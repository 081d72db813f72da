"""An external command that reads JSON lines and answers each with a number, ``-1.25`` or ``{"score": -1.25}``."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smtplugins.contracts.errors import FeatureError, UsageError
from smtplugins.contracts.tools.running import split_command, start_command

_LONGEST = 1_000_000
_ENDING = 10


class ScoringCommand:
    """The command, started on first use; ``who`` names its user in messages, ``timeout`` is in seconds per call."""

    def __init__(self, who: str, command: str, timeout: float) -> None:
        self.arguments = split_command(who, command)
        if not 0 < timeout <= _LONGEST:
            raise UsageError(f"{who}: timeout: expected seconds, above 0 to {_LONGEST}, found {timeout}")
        self._timeout = timeout
        # Started on first use: workers are forked after features are made, and must not share a command.
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._writer: threading.Thread | None = None
        self._pending = b""

    def ask(self, objects: Sequence[Mapping[str, Any]]) -> list[float]:
        """Send objects to the command; returns a number for each."""
        return list(self.answers(objects))

    def answers(self, objects: Sequence[Mapping[str, Any]]) -> Iterator[float]:
        """Send objects to the command; yields a number for each as it comes."""
        process = self._start()
        data = "".join(json.dumps(request, ensure_ascii=False) + "\n" for request in objects).encode()
        # A second thread writes, so that full pipes cannot deadlock.
        self._writer = threading.Thread(target=_write, args=(process.stdin, data), daemon=True)
        self._writer.start()
        until = time.monotonic() + self._timeout
        try:
            for line in self._answers(process, len(objects), until):
                yield self._number(line)
            self._writer.join(max(0.0, until - time.monotonic()))
            if self._pending or self._writer.is_alive():
                what = "more" if self._pending else "that it answered before it had read all lines"
                raise self._error(f"expected {len(objects)} answers, one for each line, found {what}")
        except BaseException:
            self.abandon()
            raise

    def close(self) -> None:
        """End the command; raises FeatureError if it has printed extra answers or exits with an error."""
        self._disown()
        process = self._process
        if process is None:
            return
        try:
            rest, _ = process.communicate(timeout=_ENDING)
        except subprocess.TimeoutExpired:
            self.abandon()
            return
        self._process = None
        if rest:
            raise self._error("expected one answer for each line, found more")
        if process.returncode:
            raise self._error(f"ended with exit code {process.returncode}")

    def abandon(self) -> None:
        """Kill the command, which also ends a writer thread that waits for it."""
        self._disown()
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        if self._writer is not None:
            # With a timeout: a child of the command may still hold its end of the pipe.
            self._writer.join(timeout=1)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.wait()

    def _error(self, what: str) -> FeatureError:
        return FeatureError(f"command {self.arguments[0]!r}: {what}")

    def _disown(self) -> None:
        """Forget a command that another process started, in workers forked after first use."""
        if self._process is not None and self._owner != os.getpid():
            self._process.returncode = 0  # nothing to wait for
            self._process, self._writer = None, None

    def _start(self) -> subprocess.Popen[bytes]:
        self._disown()
        if self._process is None:
            self._process = start_command(self.arguments)
            self._pending, self._owner = b"", os.getpid()
        return self._process

    def _answers(self, process: subprocess.Popen[bytes], count: int, until: float) -> Iterator[bytes]:
        assert process.stdout is not None
        handle = process.stdout.fileno()
        answered = 0
        while answered < count:
            line, newline, rest = self._pending.partition(b"\n")
            if newline:
                self._pending = rest
                answered += 1
                yield line
                continue
            ready, _, _ = select.select([handle], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise self._error(
                    f"expected {count} answers within {self._timeout:g} s, found {answered}; it must flush each answer"
                )
            data = os.read(handle, 1 << 16)
            if not data:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=1)
                how = "closed its output" if process.returncode is None else f"ended (exit code {process.returncode})"
                raise self._error(f"{how} after {answered} of {count} answers")
            self._pending += data

    def _number(self, line: bytes) -> float:
        try:
            value = json.loads(line)
            return float(value["score"] if isinstance(value, dict) else value)
        except (ValueError, KeyError, TypeError, OverflowError):
            shown = line.decode("utf-8", "replace")[:60]
            raise self._error(f'expected a number or {{"score": number}}, found {shown!r}') from None


def _write(stream: object, data: bytes) -> None:
    # If the command has ended, the reading side reports it.
    with contextlib.suppress(OSError, ValueError):
        view = memoryview(data)
        while view:
            written = stream.write(view)  # type: ignore[attr-defined]
            view = view[written:]
