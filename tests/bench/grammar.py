"""Grammars into columns, against what unpacking them alone takes."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from measure import interleaved


def grammar(shared: Path) -> dict[str, Any]:
    """cdec's per-sentence grammars, one file after another: ``load`` against ``gzip.decompress``."""
    from smtformats.grammar.cdec import load
    from smtformats.grammar.pieces import pieces

    paths = sorted((shared / "gold/cdec/grammars/test300").glob("*.gz"))
    rules = columns = text = 0

    def loaded() -> None:
        nonlocal rules, columns
        rules = columns = 0
        for path in paths:
            with path.open("rb", buffering=0) as stream:
                found = load(stream, str(path))
            rules += len(found)
            columns += found.nbytes

    def unpacked() -> None:
        nonlocal text
        text = sum(len(gzip.decompress(path.read_bytes())) for path in paths)

    def inflated() -> None:
        for path in paths:
            with path.open("rb", buffering=0) as stream:
                for _ in pieces(stream):
                    pass

    found = interleaved({"load": loaded, "gzip.decompress": unpacked, "inflate": inflated}, rounds=7)
    return {
        "files": len(paths),
        "rules": rules,
        "text_mb": text / 1e6,
        "columns_mb": columns / 1e6,
        "cpu_s": found,
        "load_over_gzip_decompress": found["load"] / found["gzip.decompress"],
        "scan_ns_per_rule": 1e9 * (found["load"] - found["inflate"]) / max(rules, 1),
    }
