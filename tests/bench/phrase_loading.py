"""Phrase tables and reordering tables made ready to decode with, from text and from the cache, against unpacking them.

A table of the size that the 29,000 pairs of Multi30k give is made of the one that Moses filtered: its source words take
other names again and again. What is measured is all that lookups need: columns, the trie or the index of pairs.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import interleaved

FILES = {"phrases": "phrase-table.gz", "reordering": "reordering-table.wbe-msd-bidirectional-fe.gz"}
MODEL = "wbe-msd-bidirectional-fe"
COPIES = 15
# All of it from the start of a process, and what importing the modules takes of that.
FRESH = """
import json, sys, time
kind, path, cache = sys.argv[1:]
from smtplugins.host.files.opening import find_format, load_grammar
from smtplugins.core.grammar.tables import Grammar, Tables
from smtplugins.core.grammar.reordering import ReorderingTable
import numpy, xopen, smtformats.caching.folders, smtformats.caching.grammars, smtformats.grammar.shared.scanning
import smtformats.reordering.moses, smtformats.caching.reordering
import smtplugins.core._core, smtformats._scan, isal.isal_zlib
find_format("moses-phrases")
begun = time.process_time()
if kind == "phrases":
    Grammar(load_grammar(path, format="moses-phrases", cache=cache), Tables())
else:
    ReorderingTable.load(path, model="wbe-msd-bidirectional-fe", cache=cache)
print(json.dumps(time.process_time() - begun))
"""


def phrase_loading(shared: Path) -> dict[str, Any]:
    """CPU milliseconds of each step, and their ratios to unpacking by the library we use and by Python's own."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        for kind, file in FILES.items():
            path = Path(name) / f"{kind}.gz"
            with gzip.open(path, "wb", compresslevel=6) as out:
                out.writelines(_large(shared / "gold/moses/model" / file))
            time.sleep(0.1)  # what changed a moment ago is not kept
            found[kind] = _measured(kind, path, Path(name) / "cache")
    return found


def _large(path: Path, copies: int = COPIES) -> Iterator[bytes]:
    rows = [line.split(b" ||| ", 1) for line in gzip.decompress(path.read_bytes()).splitlines(keepends=True)]
    rows = [(source.split(), rest) for source, rest in rows]
    for copy in range(copies):
        # Names that keep the order of the file.
        mark = b"%c" % (ord("a") + copy)
        for words, rest in rows:
            yield b" ".join(mark + word for word in words) + b" ||| " + rest


def _measured(kind: str, path: Path, cache: Path) -> dict[str, Any]:
    from smtformats.pieces import pieces
    from smtplugins.core.grammar.reordering import ReorderingTable
    from smtplugins.core.grammar.tables import Grammar, Tables
    from smtplugins.host.files.opening import load_grammar

    def inflated() -> None:
        with path.open("rb", buffering=0) as stream:
            for _ in pieces(stream):
                pass

    def ready(folder: str) -> Any:
        if kind == "reordering":
            return ReorderingTable.load(path, model=MODEL, cache=folder)
        return Grammar(load_grammar(path, format="moses-phrases", cache=folder), Tables())

    begun = time.process_time()
    rows = len(ready(str(cache)))
    kept = time.process_time() - begun
    runs = {
        "inflate": inflated,
        "gzip.decompress": lambda: gzip.decompress(path.read_bytes()),
        "text": lambda: ready("off"),
        "cache": lambda: ready(str(cache)),
    }
    seconds = interleaved(runs, rounds=7)
    fresh = {
        name: min(
            json.loads(subprocess.check_output([sys.executable, "-c", FRESH, kind, str(path), folder]))
            for _ in range(5)
        )
        for name, folder in (("text", "off"), ("cache", str(cache)))
    }
    (entry,) = [one for one in cache.iterdir() if one.stat().st_mtime >= path.stat().st_mtime]
    return {
        "rows": rows,
        "text_mb": len(gzip.decompress(path.read_bytes())) / 1e6,
        "kept_mb": entry.stat().st_size / 1e6,
        "ms": {name: 1000 * value for name, value in seconds.items()} | {"text and keep": 1000 * kept},
        "fresh_process_ms": {name: 1000 * value for name, value in fresh.items()},
        "text_over_inflate": seconds["text"] / seconds["inflate"],
        "text_over_gzip_decompress": seconds["text"] / seconds["gzip.decompress"],
    }
