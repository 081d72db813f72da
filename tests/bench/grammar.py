"""Grammars into columns, against what unpacking them alone takes; from the cache; and the memory it takes."""

from __future__ import annotations

import gzip
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import interleaved, peak_over_columns

FILES = {
    "cdec": "cdec/grammars/test300/*.gz",
    "moses_rules": "moses/model/rule-table.gz",
    "moses_phrases": "moses/train/first3k/phrase-table.gz",
}


def grammar(shared: Path) -> dict[str, Any]:
    """cdec's per-sentence grammars, one file after another, and Moses' tables: ``load`` against ``gzip.decompress``."""
    paths = {module: sorted(map(str, (shared / "gold").glob(files))) for module, files in FILES.items()}
    return {module: _measured(module, found) for module, found in paths.items() if found}


def _measured(module: str, paths: list[str]) -> dict[str, Any]:
    from smtformats import all_formats
    from smtformats.caching.folders import cached_load
    from smtformats.pieces import pieces

    names = (f"{module}-grammar", module.replace("_", "-"))
    record = next(one for one in all_formats() if one.name in names)
    load = record.load
    assert load is not None

    def loaded() -> None:
        for path in paths:
            with open(path, "rb", buffering=0) as stream:
                load(stream, path)

    def unpacked() -> int:
        text = 0
        for path in paths:
            with open(path, "rb", buffering=0) as stream:
                text += len(gzip.decompress(stream.read()))
        return text

    def inflated() -> None:
        for path in paths:
            with open(path, "rb", buffering=0) as stream:
                for _ in pieces(stream):
                    pass

    def cached() -> list[Any]:
        return [cached_load(path, record, folder) for path in paths]

    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        cached()
        kept = time.process_time() - begun
        runs = {"load": loaded, "gzip.decompress": unpacked, "inflate": inflated, "cached": cached}
        found = interleaved(runs, rounds=9)
        # Members of a gzip file may follow each other.
        whole = Path(folder) / "whole.gz"
        whole.write_bytes(b"".join(Path(path).read_bytes() for path in paths))
        peak = peak_over_columns(f"grammar.{module}", whole)
        columns = cached()
        rules, size = sum(map(len, columns)), sum(one.nbytes for one in columns)
    return {
        "files": len(paths),
        "rules": rules,
        "text_mb": unpacked() / 1e6,
        "columns_mb": size / 1e6,
        "cpu_s": {**found, "load and keep": kept},
        "load_over_gzip_decompress": found["load"] / found["gzip.decompress"],
        "scan_ns_per_rule": 1e9 * (found["load"] - found["inflate"]) / rules,
        "cached_ms_per_million_rules": 1e9 * found["cached"] / rules,
        "peak_over_columns": peak,
    }
