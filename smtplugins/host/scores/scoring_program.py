"""One process of a program that answers batches: its pipes, what it was asked, and how it ended."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from smtformats.errors import first_of
from smtplugins.contracts.errors import FeatureError, UsageError

Row = tuple[float, ...]
Answered = collections.deque[tuple[int, Row]]

_ENDING = 10.0
_SHOWN = 5
_SHOWN_COMMAND = 200
_MAX_LINE = 256 << 20
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


def split_command(who: str, command: str | Sequence[str]) -> list[str]:
    """The words of a command; ``who`` names its user in errors."""
    if not isinstance(command, str):
        arguments = list(command)
    else:
        try:
            arguments = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"{who}: command {command!r}: {error}") from None
    if not arguments:
        raise UsageError(f"{who}: the command is empty")
    return arguments


def start_command(arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a command with pipes for its input and output."""
    # Python programs buffer their output by default.
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    try:
        return subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, bufsize=0)
    except OSError as error:
        raise UsageError(f"command {arguments[0]!r} cannot be run: {error.strerror}") from None


class Frame:
    """A batch: the items that are not answered yet, each with the queue for its answer and its position there."""

    def __init__(self, number: int, items: dict[str, tuple[Mapping[str, Any], Answered, int]]) -> None:
        self.number = number
        self.items = items
        self.size = len(items)
        self.deaths = 0

    def line(self) -> bytes:
        """The batch as a line of JSON."""
        items = [{"key": key, **item} for key, (item, _, _) in self.items.items()]
        request = {"batch": self.number, "items": items}
        try:
            return (_encode(request) + "\n").encode()
        except UnicodeEncodeError:
            # Half of a surrogate pair, which JSON can spell.
            return (_encode_ascii(request) + "\n").encode()

    def shown(self) -> str:
        """The beginning of the first text, for messages."""
        item = next((item for item, _, _ in self.items.values()), {})
        return repr(str(item.get("hyp", item))[:60])


def unanswered(frames: Iterable[Frame]) -> str:
    """How many items of batches are not answered, with the first keys and the first text."""
    begun = list(frames)
    keys = [json.dumps(key) for frame in begun for key in frame.items]
    shown = f"key{'s' * (len(keys) > 1)} {first_of(keys, _SHOWN)}"
    return f"{len(keys)} of {sum(frame.size for frame in begun)} items ({shown}; the first is {begun[0].shown()})"


class ScoringProgram:
    """A running program. ``frames`` are the batches that it has been sent and not answered, the oldest first."""

    def __init__(self, arguments: Sequence[str], width: int) -> None:
        self._process = start_command(arguments)
        self._command, self._width = shlex.join(arguments)[:_SHOWN_COMMAND], width
        assert self._process.stdin is not None and self._process.stdout is not None
        self.input, self.output = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self.input, False)
        os.set_blocking(self.output, False)
        self.frames: dict[int, Frame] = {}
        self.ending = False
        self._ended = 0.0
        self._asked: dict[str, Frame] = {}
        self._unsent: collections.deque[memoryview] = collections.deque()
        self._received = b""
        self._since = time.monotonic()

    @property
    def writing(self) -> bool:
        """Whether there is something to write."""
        return bool(self._unsent)

    def silence(self) -> float:
        """Seconds since it had nothing to answer, or answered something."""
        return time.monotonic() - self._since if self.frames else 0.0

    def since_end(self) -> float:
        """Seconds since its input ended."""
        return time.monotonic() - self._ended

    def send(self, frame: Frame) -> None:
        """Send a batch, as far as the pipe takes it now."""
        if not self.frames:
            self._since = time.monotonic()
        self.frames[frame.number] = frame
        self._asked.update(dict.fromkeys(frame.items, frame))
        self._unsent.append(memoryview(frame.line()))
        self.write()

    def write(self) -> None:
        """Write what the pipe takes now."""
        try:
            while self._unsent:
                written = os.write(self.input, self._unsent[0])
                self._unsent[0] = self._unsent[0][written:]
                if not self._unsent[0]:
                    self._unsent.popleft()
        except BlockingIOError:
            return
        except OSError:
            # It reads no more: its output ends, or the silence is noticed.
            self._unsent.clear()
        if self.ending and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            # So that `communicate` does not touch it.
            self._process.stdin = None

    def end_input(self) -> None:
        """Close its input when all is sent: it has to answer what it still holds."""
        if not self.ending:
            self.ending, self._ended = True, time.monotonic()
            self.write()

    def read(self) -> bool:
        """Take the answers that have come; false if its output has ended."""
        try:
            data = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return True
        if not data:
            return False
        self._since = time.monotonic()
        *lines, self._received = (self._received + data).split(b"\n")
        if len(self._received) > _MAX_LINE:
            raise self.error(f"expected answers in lines, found {_MAX_LINE} bytes without a line end")
        for line in lines:
            self._take(line)
        return True

    def _take(self, line: bytes) -> None:
        """Take a line of answers."""
        try:
            answer = json.loads(line)
            scores = answer["scores"].items()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self._refuse(line)
        for key, score in scores:
            frame = self._asked.pop(key, None)
            if frame is None:
                raise self.error(f"expected keys of items that it was asked and has not answered, found {key!r}")
            _, answered, position = frame.items.pop(key)
            answered.append((position, self._row(score)))
            frame.deaths = 0
            if not frame.items:
                del self.frames[frame.number]

    def _row(self, score: Any) -> Row:
        row = score if isinstance(score, list) and self._width > 1 else [score]
        if len(row) == self._width:
            try:
                return tuple([float(value + 0) for value in row])
            except (TypeError, OverflowError):
                pass
        wanted = "a number" if self._width == 1 else f"a list of {self._width} numbers"
        raise self.error(f"expected {wanted} as a score, found {json.dumps(score)[:60]}")

    def _refuse(self, line: bytes) -> None:
        try:
            told = json.loads(line)["error"]
        except (ValueError, KeyError, TypeError, RecursionError):
            shown = line.decode("utf-8", "replace")[:60]
            raise self.error(f'expected {{"scores": {{key: score, ...}}}}, found {shown!r}') from None
        raise self.error(f"failed: {told}")

    def error(self, what: str) -> FeatureError:
        """An error that names the command."""
        return FeatureError(f"command {self._command!r}: {what}")

    def death(self) -> str:
        """How the process ended, after its output did."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1)
        code = self._process.returncode
        if code is None:
            return "closed its output"
        if code >= 0:
            return f"ended (exit code {code})"
        hint = " (out of memory?)" if -code == signal.SIGKILL else ""
        return f"was killed by signal {-code}, {signal.strsignal(-code) or 'unknown'}{hint}"

    def left_out(self) -> bool:
        """Whether it has ended without an error at the end of its input, and answered some keys of a batch only."""
        partly = any(len(frame.items) < frame.size for frame in self.frames.values())
        return partly and self.ending and self._process.poll() == 0

    def finish(self) -> None:
        """Let it end; raises FeatureError if it has printed extra answers or exits with an error."""
        assert self._process.stdout is not None
        try:
            os.set_blocking(self.output, True)
            rest, _ = self._process.communicate(timeout=_ENDING)
        except subprocess.TimeoutExpired:
            self.kill()
            return
        if self._received + rest:
            raise self.error("expected one answer for each item, found more")
        if self._process.returncode:
            raise self.error(f"ended with exit code {self._process.returncode}")

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._close_pipes()
        self._process.wait()

    def disown(self) -> None:
        """Forget the process, which belongs to the one that this process was forked from."""
        self._close_pipes()
        self._process.returncode = 0  # nothing to wait for

    def _close_pipes(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
