"""``smt neural worker``: the ready-made workers, and each as a program that runs by itself."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import suggestion
from smtplugins.plugins.neural.worker import ready_made, serve_file

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.tools.running import Host

_START = 'if __name__ == "__main__":\n    sys.exit(main(lambda: load, sys.argv[1:]))\n'


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("worker", nargs="?", help="print this worker as a program that speaks the batch protocol")


def program(name: str) -> str:
    """A worker and what serves it as one file, to run where the package is not, such as on another machine."""
    known = ready_made()
    if name not in known:
        raise UsageError(f"unknown worker {name!r}{suggestion(name, known)}")
    worker, serve = known[name].read_text(encoding="utf-8"), serve_file().read_text(encoding="utf-8")
    # Of what serves it: the imports and functions, not the head and the last lines.
    start = serve.index("import argparse\n")
    return f"{worker.rstrip()}\n\n\n{serve[start : serve.index('if __name__ ==')].rstrip()}\n\n\n{_START}"


def run(host: Host, args: argparse.Namespace) -> None:
    """List the workers, or print one."""
    from smtformats import open_write

    if args.worker is not None:
        text = program(args.worker)
    else:
        texts = {name: path.read_text(encoding="utf-8") for name, path in ready_made().items()}
        heads = {name: ast.get_docstring(ast.parse(text)) or "" for name, text in texts.items()}
        width = max(map(len, heads))
        text = "".join(
            f"{name:{width}}  {head.partition(chr(10))[0].replace('``', '')}\n" for name, head in heads.items()
        )
    with open_write("-") as out:
        out.write(text)
