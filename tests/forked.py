"""``smt`` in processes of its own, forked from one interpreter: each start of one takes 0.2 s of CPU to import modules.

The interpreter has imported what commands import and has run none. A process that it forks takes over arguments,
environment, folder and streams, runs ``main``, flushes its streams, and ends. Tests start it as a :class:`Process`, or
in the environment of :func:`client_environment`, where ``smt`` is a client. Tests whose subject is the process itself
start their own.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import pkgutil
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, NoReturn

# Lengths, process numbers and exit statuses on sockets.
NUMBER = struct.Struct("i")
# What commands import inside functions; of our packages, all modules.
IMPORTS = (
    "numpy",
    "pluggy",
    "sacrebleu",
    "scipy.optimize",
    "scipy.special",
    "yaml",
    "xopen",
    "smtformats",
    "smtplugins",
)
# Compiled, because each start of an interpreter takes 10 ms more.
CLIENT = r"""
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = PATH};
  int server = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(server, (struct sockaddr *)&address, sizeof address)) return 70;

  char folder[4096], *call;
  size_t size, sent = 0;
  FILE *text = open_memstream(&call, &size);
  fprintf(text, "%d%c%s%c", argc - 1, 0, getcwd(folder, sizeof folder), 0);
  for (char **one = argv + 1; *one; ++one) fprintf(text, "%s%c", *one, 0);
  for (char **one = environ; *one; ++one) fprintf(text, "%s%c", *one, 0);
  fclose(text);

  int streams[] = {0, 1, 2}, length = (int)size;
  union { struct cmsghdr head; char space[CMSG_SPACE(sizeof streams)]; } control;
  struct iovec part = {&length, sizeof length};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  message.msg_control = &control;
  message.msg_controllen = sizeof control;
  control.head.cmsg_level = SOL_SOCKET;
  control.head.cmsg_type = SCM_RIGHTS;
  control.head.cmsg_len = CMSG_LEN(sizeof streams);
  memcpy(CMSG_DATA(&control.head), streams, sizeof streams);
  if (sendmsg(server, &message, 0) < 0) return 70;
  while (sent < size) {
    ssize_t some = write(server, call + sent, size - sent);
    if (some < 0) return 70;
    sent += some;
  }
  int process, status;
  if (read(server, &process, sizeof process) != sizeof process) return 70;
  if (read(server, &status, sizeof status) != sizeof status) return 70;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
"""


class Process:
    """A running command, with what tests use of ``subprocess.Popen``."""

    def __init__(
        self,
        address: str,
        arguments: list[str],
        stdin: Any = subprocess.PIPE,
        stdout: Any = subprocess.PIPE,
        stderr: Any = subprocess.PIPE,
        env: dict[str, str] | None = None,
    ) -> None:
        self.returncode: int | None = None
        self.stdin, self.stdout, self.stderr = None, None, None
        variables = (f"{name}={value}" for name, value in (os.environ if env is None else env).items())
        call = b"".join(
            os.fsencode(part) + b"\0" for part in (str(len(arguments)), os.getcwd(), *arguments, *variables)
        )
        self.keeper = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.keeper.connect(address)
        with contextlib.ExitStack() as theirs:
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
            socket.send_fds(self.keeper, [NUMBER.pack(len(call))], descriptors)
            self.keeper.sendall(call)
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
def forking_server(folder: Path) -> Iterator[str]:
    """Start the interpreter; yields the address for calls."""
    address = str(folder / "socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(address)
        # Calls wait until it has imported everything.
        listener.listen()
        # Where `main` sets this, numpy is imported there already.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        number = listener.fileno()
        command = [sys.executable, __file__, str(number)]
        server = subprocess.Popen(command, pass_fds=[number], stdin=subprocess.PIPE, env=environment)
    assert server.stdin is not None
    try:
        yield address
    finally:
        # It ends with its input, also if this process is killed.
        server.stdin.close()
        server.wait()


def client_environment(folder: Path, address: str) -> dict[str, str]:
    """Compile the client into a folder; return an environment in which it is ``smt``."""
    (folder / "bin").mkdir()
    (folder / "client.c").write_text(CLIENT)
    client = folder / "bin/smt"
    path = address.replace("\\", "\\\\").replace('"', '\\"')
    subprocess.run(["cc", f'-DPATH="{path}"', "-o", client, folder / "client.c"], check=True)
    path = os.pathsep.join([str(client.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path}


def serve(number: int) -> None:
    """Fork a process for each call until the input ends; returns in each of these processes, ready to run."""
    # The script's folder and the current one: an installed `smt` has neither.
    sys.path[:] = [place for place in sys.path if place and Path(place) != Path(__file__).parent]
    for name in IMPORTS:
        package = importlib.import_module(name)
        if name.startswith("smt"):
            for module in pkgutil.walk_packages(package.__path__, f"{name}."):
                if not module.name.startswith("smtplugins.testing"):
                    importlib.import_module(module.name)
    gc.freeze()
    running: dict[int, socket.socket] = {}
    ended, ends = socket.socketpair()
    ends.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ends.fileno())
    with socket.socket(fileno=number) as listener:
        while True:
            ready = select.select([listener, ended, 0], [], [])[0]
            if 0 in ready:
                os._exit(0)
            if ended in ready:
                ended.recv(1 << 12)
                tell_ends(running)
            if listener in ready:
                connection, _ = listener.accept()
                call, streams = receive(connection)
                pid = os.fork()
                if not pid:
                    signal.set_wakeup_fd(-1)
                    for other in (listener, connection, ended, ends, *running.values()):
                        other.close()
                    take_over(call, streams)
                    return
                for stream in streams:
                    os.close(stream)
                running[pid] = connection
                # The test may have ended.
                with contextlib.suppress(BrokenPipeError):
                    connection.sendall(NUMBER.pack(pid))


def tell_ends(running: dict[int, socket.socket]) -> None:
    """Send how processes ended to those who called them."""
    for pid in list(running):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with contextlib.suppress(BrokenPipeError), running.pop(pid) as connection:
                connection.sendall(NUMBER.pack(status))


def receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    """A call and its three streams."""
    head, streams, _, _ = socket.recv_fds(connection, NUMBER.size, 3)
    (length,) = NUMBER.unpack(head)
    call = b""
    while len(call) < length:
        call += connection.recv(length - len(call))
    return call, streams


def take_over(call: bytes, streams: list[int]) -> None:
    """Make this process the one that is called."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # What an interpreter finds at its start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    sys.stdin = sys.__stdin__ = os.fdopen(0, closefd=False)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    count, folder, *rest = os.fsdecode(call).split("\0")[:-1]
    os.environ.clear()
    os.environ.update({name: value for name, _, value in (pair.partition("=") for pair in rest[int(count) :])})
    os.chdir(folder)
    sys.argv = [str(Path(sys.executable).parent / "smt"), *rest[: int(count)]]


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
