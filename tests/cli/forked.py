"""``smt`` in processes of its own, forked from one interpreter: each start of one takes 0.2 s of CPU to import modules.

The interpreter has imported what commands import and has run none. A process that it forks takes over arguments,
environment, folder and streams, runs ``main``, flushes its streams, and ends.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, NoReturn

# Lengths, process numbers and exit statuses on sockets.
NUMBER = struct.Struct("i")
# Imported inside functions; of our packages, all modules.
IMPORTS = ("numpy", "pluggy", "sacrebleu", "yaml", "xopen", "smtformats", "smtplugins.cli", "smtplugins.host")


class Process:
    """A running command, with what tests use of ``subprocess.Popen``."""

    def __init__(
        self,
        server: socket.socket,
        arguments: list[str],
        stdin: Any = subprocess.PIPE,
        stdout: Any = subprocess.PIPE,
        stderr: Any = subprocess.PIPE,
        env: dict[str, str] | None = None,
    ) -> None:
        self.returncode: int | None = None
        self.stdin, self.stdout, self.stderr = None, None, None
        call = json.dumps([arguments, dict(os.environ if env is None else env), os.getcwd()]).encode()
        self.keeper, keeper = socket.socketpair()
        with contextlib.ExitStack() as theirs:
            theirs.enter_context(keeper)
            descriptors = []
            for name, stream in (("stdin", stdin), ("stdout", stdout), ("stderr", stderr)):
                if stream == subprocess.PIPE:
                    ends = os.pipe() if name == "stdin" else os.pipe()[::-1]
                    setattr(self, name, os.fdopen(ends[1], "wb" if name == "stdin" else "rb"))
                    descriptors.append(ends[0])
                elif stream == subprocess.DEVNULL:
                    descriptors.append(os.open(os.devnull, os.O_RDWR))
                else:
                    descriptors.append(os.dup(stream.fileno()))
                theirs.callback(os.close, descriptors[-1])
            socket.send_fds(server, [NUMBER.pack(len(call))], [keeper.fileno(), *descriptors])
            server.sendall(call)
        (self.pid,) = NUMBER.unpack(self.keeper.recv(NUMBER.size))

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        # It may end before the signal comes.
        with contextlib.suppress(ProcessLookupError):
            self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        with contextlib.suppress(BlockingIOError):
            return self.wait(timeout=0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self.keeper.settimeout(timeout)
            self.returncode = os.waitstatus_to_exitcode(*NUMBER.unpack(self.keeper.recv(NUMBER.size)))
            self.keeper.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Close its input; return output and errors."""
        assert self.stdin is not None and self.stdout is not None and self.stderr is not None
        self.stdin.close()
        with ThreadPoolExecutor(1) as threads:
            errors = threads.submit(self.stderr.read)
            result = self.stdout.read(), errors.result()
        self.wait(timeout)
        return result

    def close(self) -> None:
        """Kill what still runs; close all pipes."""
        self.kill()
        self.wait()
        streams: list[IO[bytes] | None] = [self.stdin, self.stdout, self.stderr]
        for stream in streams:
            if stream is not None:
                stream.close()


@contextlib.contextmanager
def forking_server() -> Iterator[socket.socket]:
    """Start the interpreter; yields the socket for calls."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        number = theirs.fileno()
        server = subprocess.Popen([sys.executable, __file__, str(number)], pass_fds=[number], stdin=subprocess.DEVNULL)
        theirs.close()
        try:
            yield ours
        finally:
            # It ends with the socket.
            ours.close()
            server.wait()


def serve(number: int) -> None:
    """Fork a process for each call until the socket is closed; returns in each of these processes, ready to run."""
    # Without this script's folder, and yet without the current one: the installed package is tested.
    del sys.path[0]
    for name in IMPORTS:
        package = importlib.import_module(name)
        if name.startswith("smt"):
            for module in pkgutil.walk_packages(package.__path__, f"{name}."):
                importlib.import_module(module.name)
    gc.freeze()
    with socket.socket(fileno=number) as calls:
        while True:
            head, descriptors, _, _ = socket.recv_fds(calls, NUMBER.size, 4)
            if not head:
                os._exit(0)
            (length,) = NUMBER.unpack(head)
            call = b""
            while len(call) < length:
                call += calls.recv(length - len(call))
            if not os.fork():
                calls.close()
                if not keep(*descriptors):
                    break
            for descriptor in descriptors:
                os.close(descriptor)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    arguments, environment, folder = json.loads(call)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    # As of `python -c`.
    sys.path.insert(0, "")
    sys.argv = ["-c", *arguments]


def keep(answers: int, *streams: int) -> bool:
    """Fork the process itself, in which this returns; send its number and how it ended, and end."""
    pid = os.fork()
    if pid:
        os.closerange(0, 3)
        for stream in streams:
            os.close(stream)
        os.write(answers, NUMBER.pack(pid))
        status = os.waitpid(pid, 0)[1]
        # The test may have ended.
        with contextlib.suppress(BrokenPipeError):
            os.write(answers, NUMBER.pack(status))
        os._exit(0)
    os.close(answers)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # What an interpreter finds at its start.
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        signal.signal(number, handler)
    sys.stdin = sys.__stdin__ = os.fdopen(0, closefd=False)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    return False


def end(code: int) -> NoReturn:
    """What an interpreter does at its end, but for the removal of all objects, which takes as long as a command."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except OSError as error:
            os.write(2, f"Exception ignored in: {stream}\n{error!r}\n".encode())
            code = 120
    os._exit(code)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
    from smtplugins.cli.main import main

    end(main())
