"""Scores from a command: it reads a JSON object on each line and answers each with a line.

    {"id": "0", "source": "ein haus", "hyp": "a house"}        ->   -1.25   (or {"score": -1.25})

The command runs once for all lists (once in each worker) and has to answer every line before it waits for the next.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from smtplugins.host.errors import FeatureError, UsageError

if TYPE_CHECKING:
    from smtformats import Candidates


class External:
    """A command that scores. ``timeout`` is how many seconds a list may take."""

    def __init__(self, command: str, *, timeout: float = 300.0) -> None:
        try:
            self._arguments = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"feature 'external': command {command!r}: {error}") from None
        if not self._arguments:
            raise UsageError("feature 'external': the command is empty")
        if timeout <= 0:
            raise UsageError(f"feature 'external': timeout: expected seconds above 0, found {timeout}")
        self._timeout = timeout
        # Started at first use: workers are forked after features are made, and must not share one command.
        self._process: subprocess.Popen[bytes] | None = None
        self._pending = b""

    def score_candidates(self, source: str | None, candidates: Candidates) -> list[float]:
        """Ask the command about each hypothesis."""
        process = self._started()
        assert process.stdin is not None
        objects = [{"id": candidates.id, "source": source, "hyp": text} for text in candidates.texts]
        asked = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects).encode()
        # A second thread writes, so that neither side waits for the other with a full pipe.
        writer = threading.Thread(target=_write, args=(process.stdin, asked), daemon=True)
        writer.start()
        scores = [self._number(line) for line in self._answers(len(candidates))]
        writer.join()
        return scores

    def close(self) -> None:
        """End the command; one that fails at the end fails the run."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.stdout.close()
        try:
            code = process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return
        if code:
            raise FeatureError(f"command {self._arguments[0]!r} ended with exit code {code}")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            # Python programs keep their answers back in a buffer unless told otherwise.
            environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
            try:
                self._process = subprocess.Popen(
                    self._arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, bufsize=0
                )
            except OSError as error:
                raise UsageError(f"command {self._arguments[0]!r} cannot be run: {error.strerror}") from None
        return self._process

    def _answers(self, count: int) -> Iterator[bytes]:
        assert self._process is not None and self._process.stdout is not None
        handle = self._process.stdout.fileno()
        until = time.monotonic() + self._timeout
        given = 0
        while given < count:
            line, newline, rest = self._pending.partition(b"\n")
            if newline:
                self._pending = rest
                given += 1
                yield line
                continue
            ready, _, _ = select.select([handle], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                self._abandon()
                raise FeatureError(
                    f"command {self._arguments[0]!r}: expected {count} answers within {self._timeout:g} s, "
                    f"found {given}; it must flush each answer"
                )
            data = os.read(handle, 1 << 16)
            if not data:
                code = self._process.wait()
                self._abandon()
                raise FeatureError(
                    f"command {self._arguments[0]!r} ended (exit code {code}) after {given} of {count} answers"
                )
            self._pending += data

    def _abandon(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def _number(self, line: bytes) -> float:
        try:
            value = json.loads(line)
            return float(value["score"] if isinstance(value, dict) else value)
        except (ValueError, KeyError, TypeError):
            shown = line.decode("utf-8", "replace")[:60]
            self._abandon()
            raise FeatureError(
                f'command {self._arguments[0]!r}: expected a number or {{"score": number}}, found {shown!r}'
            ) from None


def _write(stream: object, data: bytes) -> None:
    # A command that ended is reported by the reading side.
    with contextlib.suppress(OSError, ValueError):
        view = memoryview(data)
        while view:
            written = stream.write(view)  # type: ignore[attr-defined]
            view = view[written:]
