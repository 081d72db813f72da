"""Read and write real files of the toolkits: ``python tests/formats/round_trip.py FOLDER`` does it for all.

The suite takes the smaller ones and a few of each folder of many. A file is of the format that its shape tells; files
of no format we know, and those we refuse, are told apart, so that nothing falls through without a word.
"""

from __future__ import annotations

import functools
import io
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from smtformats import Format, FormatError, all_formats, detect, open_bytes
from smtformats.files import HEAD_BYTES, Lines
from smtformats.format import shortest

FORMATS = [record for record in all_formats() if not record.folder]
# Files that do not come back the same, and why. (Of plain text nothing is promised but the words: each line gets an
# end, and loses a carriage return.)
EXCEPTIONS = {
    "moses/mert/features.10.bin": "binary, which we write as text",
    "moses/mert/scores.10.bin": "binary, which we write as text",
}


def contents(path: Path) -> bytes:
    """The decompressed content of a file."""
    with open_bytes(path) as stream:
        return stream.read()


def again(record: Format, data: bytes, name: str) -> bytes:
    """Read bytes in a format and write them again."""
    assert record.parse is not None
    assert record.write is not None
    records = record.parse(Lines(io.BytesIO(data), name))
    if record.binary:
        binary = io.BytesIO()
        record.write(records, binary, shortest)
        return binary.getvalue()
    out = io.StringIO(newline="")
    record.write(records, out, shortest)
    return out.getvalue().encode()


def outcome(path: Path, name: str) -> tuple[str, str]:
    """``same``, ``other``, ``read`` (not written), ``refused``, ``unknown`` or ``empty``; and the file's format."""
    data = contents(path)
    if not data:
        return "empty", ""
    try:
        record = detect(data[:HEAD_BYTES], FORMATS, name)
    except FormatError:
        return "unknown", ""
    assert record.parse is not None
    try:
        if record.write is None:
            for _ in record.parse(Lines(io.BytesIO(data), name)):
                pass
            return "read", record.name
        return "same" if again(record, data, name) == data else "other", record.name
    except FormatError as error:
        return "refused", f"{record.name}: {error}"


@functools.cache
def files(root: Path, most: int, each: int) -> tuple[Path, ...]:
    """The files up to a size, at most a few for each folder and suffix."""
    seen: Counter[tuple[Path, str]] = Counter()
    paths = []
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.stat().st_size <= most:
            seen[path.parent, path.suffix] += 1
            if seen[path.parent, path.suffix] <= each:
                paths.append(path)
    return tuple(paths)


def table(root: Path) -> Iterator[str]:
    """Print counts of outcomes by format, then each file that differs and why."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    rest = []
    for path in files(root, 1 << 40, 1 << 40):
        name = path.relative_to(root).as_posix()
        what, record = outcome(path, name)
        counts[record.partition(":")[0]][what] += 1
        if what not in ("same", "read", "empty"):
            rest.append(f"{what:8} {name} {EXCEPTIONS.get(name, '')} {record}")
    for record, row in sorted(counts.items()):
        yield f"{record:28}" + "  ".join(f"{count} {what}" for what, count in sorted(row.items()))
    yield from rest


if __name__ == "__main__":
    for line in table(Path(sys.argv[1])):
        sys.stdout.write(f"{line}\n")
