"""``smt`` for shell scripts, without the 0.2 s of CPU that each start takes: forked from one interpreter.

A server imports what commands import. ``smt`` on the path is a client that hands it the command line, environment,
folder and streams, and exits with what the command exits with. Tests whose subject is the process itself start their
own.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import pkgutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# Compiled, because each start of an interpreter takes 10 ms more.
CLIENT = r"""
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
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
  unsigned char status;
  return read(server, &status, 1) == 1 ? status : 70;
}
"""
# What commands import inside functions; of our packages, all modules.
IMPORTS = ("numpy", "pluggy", "sacrebleu", "scipy.optimize", "scipy.special", "smtformats", "smtplugins", "yaml")


@contextlib.contextmanager
def warm_smt(folder: Path) -> Iterator[dict[str, str]]:
    """Start the server; yields an environment in which ``smt`` is its client."""
    address = folder / "socket"
    (folder / "bin").mkdir()
    (folder / "client.c").write_text(CLIENT)
    client = folder / "bin/smt"
    path = str(address).replace("\\", "\\\\").replace('"', '\\"')
    subprocess.run(["cc", f'-DPATH="{path}"', "-o", client, folder / "client.c"], check=True)
    # Where `main` sets this, numpy is imported here already.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    server = subprocess.Popen(
        [sys.executable, __file__, str(address)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment
    )
    try:
        assert server.stdout is not None and server.stdout.readline() == b"ready\n"
        path = os.pathsep.join([str(client.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
        yield {**os.environ, "PATH": path}
    finally:
        server.terminate()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()


def serve(address: str) -> None:
    """Answer clients, each in a process of its own, until this one is terminated."""
    # The script's folder and the current one: an installed `smt` has neither.
    sys.path[:] = [place for place in sys.path if place and Path(place) != Path(__file__).parent]
    for name in IMPORTS:
        package = importlib.import_module(name)
        if name.startswith("smt"):
            for module in pkgutil.walk_packages(package.__path__, f"{name}."):
                if not module.name.startswith("smtplugins.testing"):
                    importlib.import_module(module.name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(address)
        listener.listen()
        gc.freeze()
        os.write(1, b"ready\n")
        while True:
            connection, _ = listener.accept()
            if not os.fork():
                listener.close()
                answer(connection)
            connection.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def answer(connection: socket.socket) -> None:
    """Run the command of a client, send its exit status, and exit."""
    head, streams, _, _ = socket.recv_fds(connection, 4, 3)
    (length,) = struct.unpack("i", head)
    call = b""
    while len(call) < length:
        call += connection.recv(length - len(call))
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    count, folder, *rest = os.fsdecode(call).split("\0")[:-1]
    arguments, environment = rest[: int(count)], rest[int(count) :]
    os.environ.clear()
    os.environ.update({name: value for name, _, value in (one.partition("=") for one in environment)})
    os.chdir(folder)
    sys.argv = [str(Path(sys.executable).parent / "smt"), *arguments]
    from smtplugins.cli.main import main

    code = main()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BrokenPipeError):
            stream.flush()
    # The rest of an interpreter's end takes as long as many commands.
    atexit._run_exitfuncs()
    connection.sendall(bytes([code]))
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
