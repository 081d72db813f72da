"""How much code data pass: an n-best list in ``rescore``, a sentence in ``decode``, an iteration of ``tune -c``.

Each command runs in a process of its own. ``command`` counts our Python functions that it calls, and their modules,
but not those called while modules are imported. ``data`` counts the functions that it calls more often for one more
line, list or sentence, or in one more iteration: these are passed by the data, the others start the command.
``python tests/bench walk``.
"""

from __future__ import annotations

import collections
import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
OURS = ("/smtplugins/", "/smtformats/")
SENTENCE = "die katze schläft auf der bank .\n"

Calls = collections.Counter[tuple[str, str, int]]


def walk(shared: Path) -> dict[str, Any]:
    """Functions and modules passed by each."""
    rescore = ("rescore", "-i", "in", "-w", "weights.moses", "-o", "out", "-q")
    decode = ("decode", "-c", "run.yaml", "-i", "in", "-o", "out", "-q", "--cache", "off")
    nbest = (EXAMPLES / "rescore-nbest/moses.nbest").read_text(encoding="utf-8").splitlines(keepends=True)
    lists = [[line for line in nbest if line.startswith(f"{k} ")] for k in (0, 1)]
    counts = {
        "line in rescore": _compared("rescore-nbest", rescore, "".join(lists[0][:3]), "".join(lists[0][:4])),
        "list in rescore": _compared("rescore-nbest", rescore, lists[0][0], lists[0][0] + lists[1][0]),
        "sentence in decode": _compared("decode-hiero", decode, SENTENCE, SENTENCE * 2),
        "iteration of tune -c": _compared("decode-hiero", _tune(1), "", "", _tune(2)),
    }
    if (shared / "gold").exists():
        moses = shared / "gold/moses"
        command = ("decode", "-c", str(moses / "model/moses.pb.ini"), *decode[3:])
        counts["sentence in decode -c moses.ini"] = _compared("decode-hiero", command, SENTENCE, SENTENCE * 2, at=moses)
    return counts


def _tune(iterations: int) -> Sequence[str]:
    limits = ("-k", "10", "--iterations", str(iterations))
    return ("tune", "-c", "run.yaml", "-r", "ref.en", *limits, "--dir", "run", "-o", "out", "-q")


def _compared(
    example: str,
    command: Sequence[str],
    data: str,
    more: str,
    other: Sequence[str] | None = None,
    *,
    at: Path | None = None,
) -> dict[str, dict[str, int]]:
    """What a command passes, and what it passes more often with more data or with the arguments ``other``."""
    calls = _in_child(example, command, data, at)
    longer = _in_child(example, other or command, more, at)
    return {"command": _counts(calls), "data": _counts(longer - calls)}


def _counts(calls: Calls) -> dict[str, int]:
    return {"functions": len(calls), "modules": len({name for name, _, _ in calls})}


def _in_child(example: str, command: Sequence[str], data: str, at: Path | None) -> Calls:
    """The calls of a command in a copy of an example, in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "example"
        shutil.copytree(EXAMPLES / example, folder)
        (folder / "in").write_text(data, encoding="utf-8")
        result = Path(name) / "calls.json"
        process = os.fork()
        if not process:
            code = 1
            try:
                result.write_text(json.dumps(_calls(folder, command, at)), encoding="utf-8")
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(process, 0)[1] == 0, command
        return collections.Counter({tuple(key): count for key, count in json.loads(result.read_text("utf-8"))})


def _calls(folder: Path, command: Sequence[str], at: Path | None) -> list[Any]:
    os.chdir(at or folder)
    calls: Calls = collections.Counter()
    imports = threading.local()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            imports.depth = getattr(imports, "depth", 0) + {"call": 1, "return": -1}.get(event, 0)
        elif event != "call" or getattr(imports, "depth", 0) or code.co_name[0] == "<":
            return
        elif any(part in code.co_filename for part in OURS):
            calls[code.co_filename, code.co_name, code.co_firstlineno] += 1

    from smtplugins.cli.main import main

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            code = main([str(folder / part) if part in ("in", "out") else part for part in command])
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert code == 0, command
    return list(calls.items())
