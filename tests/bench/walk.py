"""How much code data pass: an n-best list in ``rescore``, a sentence in ``decode``, an iteration of ``tune -c``.

Counts the Python functions of ours that are called, and their modules. ``python tests/bench walk``.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
OURS = ("/smtplugins/", "/smtformats/")


def walk(shared: Path) -> dict[str, Any]:
    """Functions and modules passed by each."""
    decode = ("decode", "-c", "run.yaml", "-i", "one.de", "-o", "out", "-q", "--cache", "off")
    tune = ("tune", "-c", "run.yaml", "-r", "ref.en", "-k", "10", "--iterations", "1", "--dir", "run", "-o", "w", "-q")
    found = {
        "rescore": _passed("rescore-nbest", "rescore", "-i", "moses.nbest", "-w", "weights.moses", "-o", "out", "-q"),
        "decode": _passed("decode-hiero", *decode),
        "tune": _passed("decode-hiero", *tune),
    }
    if (shared / "gold").exists():
        moses = shared / "gold/moses"
        config = str(moses / "model/moses.pb.ini")
        found["decode -c moses.ini"] = _passed("decode-hiero", "decode", "-c", config, *decode[3:], at=moses)
    return found


def _passed(example: str, *arguments: str, at: Path | None = None) -> dict[str, int]:
    """What one command passes, in a copy of an example."""
    import shutil

    from smtplugins.cli.main import main

    passed: set[tuple[str, str, int]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and any(part in name for part in OURS) and frame.f_code.co_name[0] != "<":
            passed.add((name, frame.f_code.co_name, frame.f_code.co_firstlineno))

    with tempfile.TemporaryDirectory() as folder, _inside(Path(folder) / "example"):
        shutil.copytree(EXAMPLES / example, ".", dirs_exist_ok=True)
        Path("one.de").write_text("die katze schläft auf der bank .\n", encoding="utf-8")
        given = [str(Path(one).resolve()) if one in ("one.de", "out") else one for one in arguments]
        if at is not None:
            os.chdir(at)
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                code = main(given)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        assert code == 0, arguments
    return {"functions": len(passed), "modules": len({name for name, _, _ in passed})}


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    here = Path.cwd()
    folder.mkdir()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
