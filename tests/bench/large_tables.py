"""A table of 10 million phrase pairs: filtered, converted into our own folder, opened and used, beside ProbingPT.

The table is the reference data's, 190 times with other source words; its input is that of the binary tables, in the
words of one of the copies. Commands are given as CPU seconds and peak megabytes. ``ready_ms`` is the CPU time of
opening for decoding in a process of its own, the best of three, ``peak_mb`` the memory above that of the imports while
the sentences are parsed. The ProbingPT folder has a tenth of the pairs: the writer of the tests keeps all in memory.
"""

from __future__ import annotations

import gzip
import runpy
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from binary_tables import WRITERS, _run
from measure import child

COPIES, PROBING_COPIES = 190, 19


def large_tables(shared: Path) -> dict[str, Any]:
    """CPU seconds and megabytes of the commands, and milliseconds to be ready."""
    smt = shutil.which("smt") or "smt"
    model = shared / "gold/moses/model/phrase-table.gz"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, used = folder / "table.gz", folder / "in"
        with gzip.open(table, "wb", compresslevel=1) as out:
            out.writelines(pairs(model, COPIES))
        sentences = (shared / "gold/moses/binary/moses/in.de").read_text(encoding="utf-8").splitlines()
        used.write_text("".join(" ".join(f"7_{word}" for word in s.split()) + "\n" for s in sentences))
        convert = [smt, "convert", str(table), "-q"]
        commands = {
            "filter": [smt, "filter", str(table), "-i", str(used), "-o", str(folder / "filtered.gz"), "-q"],
            "convert": [*convert, str(folder / "table.smt")],
            "convert, quantise=8": [*convert, str(folder / "small.smt"), "--to", "smt-table,quantise=8"],
            "filter the folder": [
                smt,
                "filter",
                str(folder / "table.smt"),
                "-i",
                str(used),
                "-o",
                str(folder / "f.smt"),
                "-q",
            ],
        }
        found: dict[str, Any] = {}
        for what, command in commands.items():
            cpu, peak = child(command)
            found[what] = {"cpu_s": cpu, "peak_mb": peak}
        lines = [line.decode().rstrip("\n") for line in pairs(model, PROBING_COPIES)]
        probing = runpy.run_path(str(WRITERS / "grammar/probing_folders.py"))["write_folder"](folder / "probing", lines)
        opened = {"filtered.gz": "moses-phrases", "table.smt": "smt-table", "small.smt": "smt-table"}
        for path, kind in {**{folder / name: kind for name, kind in opened.items()}, probing: "moses-probing"}.items():
            runs = [_run(path, kind, "off", used) for _ in range(3)]
            size = sum(file.stat().st_size for file in (path.iterdir() if path.is_dir() else [path])) / 1e6
            found[f"open {path.name}"] = {"mb": size, **min(runs, key=lambda run: float(run["ready_ms"]))}
        # Once: it loads all phrase pairs.
        found["open table.gz"] = _run(table, "moses-phrases", "off", used)
    return found


def pairs(model: Path, copies: int) -> Iterator[bytes]:
    """The lines of a table with all words of their source sides marked, copy after copy."""
    lines = gzip.decompress(model.read_bytes()).splitlines(keepends=True)
    rows = [(source.split(), rest) for source, rest in (line.split(b" ||| ", 1) for line in lines)]
    for copy in range(copies):
        mark = b"%d_" % copy
        for words, rest in rows:
            yield b" ".join([mark + word for word in words]) + b" ||| " + rest
