"""``smt`` in this process and in its own; lists, sources and plugins as input."""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from smtformats.files import release_output
from smtplugins.cli.main import main
from tests.forked import Process

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/rescore-nbest"

LIST = """\
0 ||| a house  ||| LM0= -2 TM0= -1.50 -3 ||| -1.5 ||| 0-0 1-1 \n\
0 ||| a home  ||| LM0= -1 TM0= -2 -2 ||| -2.50 ||| 0-0 1-1 \n\
1 ||| the house  ||| LM0= -4 TM0= -1 -1 ||| -0.5 ||| 0-0 1-1 \n\
"""


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int
    out: str
    err: str

    def ok(self) -> str:
        """The output of a command that had nothing to complain about, but for weights that are not there."""
        rest = [line for line in self.err.splitlines() if not line.startswith("smt: note: features without a weight")]
        assert (self.code, rest) == (0, [])
        return self.out


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config) -> None:
    for name in ("SMT_PLUGINS", "SMT_TRACE_PLUGINS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SMT_DISABLE_PLUGINS", pytestconfig.getoption("--without"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def smt(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Result]:
    """``smt(arguments, stdin=text)`` in this process; paths are relative to the test's folder."""
    given = tmp_path_factory.mktemp("stdin") / "stdin"

    def run(*arguments: Any, stdin: str | bytes = "") -> Result:
        given.write_bytes(stdin if isinstance(stdin, bytes) else stdin.encode())
        capfd.readouterr()
        with open(given, encoding="utf-8") as stream, monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", stream)
            patched.setattr(sys, "argv", ["smt", *map(str, arguments)])
            handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
            try:
                code = main()
            finally:
                # What a process of its own may keep, this one must not: children forked later would inherit it.
                release_output()
                for number, handler in handlers.items():
                    signal.signal(number, handler)
        out, err = capfd.readouterr()
        return Result(code, out, err)

    return run


@pytest.fixture
def start(server: str) -> Iterator[Callable[..., Process]]:
    """``start(arguments)`` begins ``smt`` in a process of its own, all three streams piped."""
    running: list[Process] = []

    def begin(*arguments: Any, **options: Any) -> Process:
        running.append(Process(server, list(map(str, arguments)), **options))
        return running[-1]

    yield begin
    for process in running:
        process.close()


@pytest.fixture
def nbest(tmp_path: Path) -> Path:
    """A small Moses list of two sentences, with its sources in ``source``."""
    (tmp_path / "source").write_text("ein haus\ndas haus\n")
    path = tmp_path / "test.nbest"
    path.write_text(LIST)
    return path


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the example's data, where the test stands."""
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """``install(name, code)`` puts a distribution ``smt-NAME`` with one plugin module on the path."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    before = set(sys.modules)

    def make(name: str, code: str) -> None:
        (site / f"installed_{name}.py").write_text(code, encoding="utf-8")
        info = site / f"smt_{name}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: smt-{name}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[smtplugins]\n{name} = installed_{name}\n")
        importlib.invalidate_caches()

    yield make
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(site) + os.sep):
            del sys.modules[name]
