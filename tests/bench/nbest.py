"""N-best lists into columns, against what unpacking them alone takes."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from typing import Any

from measure import interleaved, peak_over_columns

HYPOTHESES = 50_000
FILES = {
    "moses/pb/nbest100.labeled.txt.gz": "moses",
    "moses/pb/nbest100.align_seg.txt.gz": "moses",
    "moses/pb/nbest100.unlabeled.txt.gz": "moses",
    "moses/hiero/nbest100.align.txt.gz": "moses",
    "cdec/first50/kbest100.txt.gz": "cdec",
    "cdec/first50/kbest100.unique.txt.gz": "cdec",
    "cdec/first50/nolm.kbest100.txt.gz": "cdec",
}


def longer(source: Path, target: Path) -> None:
    """The lists of a file again and again under new ids."""
    with gzip.open(source) as lines:
        rows = [(int(key), rest) for key, _, rest in (line.partition(b" |||") for line in lines)]
    ids = rows[-1][0] + 1
    with gzip.open(target, "wb", compresslevel=6) as out:
        for again in range(-(-HYPOTHESES // len(rows))):
            out.write(b"".join(b"%d |||%s" % (key + again * ids, rest) for key, rest in rows))


def nbest(shared: Path) -> dict[str, Any]:
    """Moses' and cdec's 100-best lists: ``load`` against ``gzip.decompress``, and its peak memory over the columns."""
    return {name: _measured(shared / "gold" / name, dialect) for name, dialect in FILES.items()}


def _measured(source: Path, dialect: str) -> dict[str, Any]:
    from smtformats import all_formats, open_bytes

    record = next(one for one in all_formats() if one.name == f"{dialect}-nbest")
    load = record.load
    assert load is not None
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "lists.gz"
        longer(source, path)

        def loaded() -> Any:
            with open_bytes(path) as stream:
                return load(stream, "x")

        def inflated() -> int:
            with open_bytes(path) as stream:
                return sum(len(piece) for piece in iter(lambda: stream.read(1 << 17), b""))

        def unpacked() -> int:
            return len(gzip.decompress(path.read_bytes()))

        columns = loaded()
        count = len(columns.texts)
        cpu = interleaved({"load": loaded, "gzip.decompress": unpacked, "inflate": inflated}, rounds=9)
        return {
            "hypotheses": count,
            "text_mb": unpacked() / 1e6,
            "columns_mb": columns.nbytes / 1e6,
            "cpu_s": cpu,
            "load_over_gzip_decompress": cpu["load"] / cpu["gzip.decompress"],
            "scan_ns_per_hypothesis": 1e9 * (cpu["load"] - cpu["inflate"]) / count,
            "peak_over_columns": peak_over_columns(f"nbest.{dialect}", path),
        }
