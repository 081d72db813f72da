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
import marshal
import os
import pkgutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# Modules of the standard library that take long to import are avoided: this is what remains of the cost of a start.
CLIENT = """\
import _socket, marshal, os, sys
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect({path!r})
call = marshal.dumps((sys.argv[1:], os.getcwd(), dict(os.environ)))
streams = b"".join(n.to_bytes(4, sys.byteorder) for n in (0, 1, 2))
server.sendmsg([len(call).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
while call:
    call = call[server.send(call):]
status = server.recv(1)
sys.exit(status[0] if status else 70)
"""
# What commands import inside functions; of our packages, all modules.
IMPORTS = ("numpy", "pluggy", "sacrebleu", "scipy.optimize", "scipy.special", "smtformats", "smtplugins", "yaml")


@contextlib.contextmanager
def warm_smt(folder: Path) -> Iterator[dict[str, str]]:
    """Start the server; yields an environment in which ``smt`` is its client."""
    address = folder / "socket"
    (folder / "bin").mkdir()
    (folder / "client.py").write_text(CLIENT.format(path=str(address)))
    client = folder / "bin/smt"
    client.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{folder}/client.py" "$@"\n')
    client.chmod(0o755)
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
    (length,) = struct.unpack(">I", head)
    call = b""
    while len(call) < length:
        call += connection.recv(length - len(call))
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    arguments, folder, environment = marshal.loads(call)
    os.environ.clear()
    os.environ.update(environment)
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
