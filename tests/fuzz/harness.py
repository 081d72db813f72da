"""What has to hold for a format whatever bytes it is given, and the inputs kept from earlier fuzzing."""

from __future__ import annotations

import base64
import dataclasses
import functools
import inspect
import io
from pathlib import Path
from typing import Any

import numpy as np

from smtformats import Format, FormatError, ListColumns, all_formats
from smtformats.files import HEAD_BYTES, Lines
from smtformats.format import shortest
from smtformats.reordering.rows import key_of

MAX_LINE = 1 << 16
# Needed options, and values for them.
NEEDED = {"n": 2}
# What does not come back byte for byte, as their pages say: plain text gets a line end on each line, binary tuning
# files are written as text.
LOSSY = {"text", "moses-features", "moses-scores"}
FORMATS = {one.name: one for one in all_formats() if one.parse is not None and not one.folder}


CORPUS = Path(__file__).resolve().parent / "corpus"


def kept(name: str) -> list[bytes]:
    """The inputs kept for a format, in base64, one a line."""
    path = CORPUS / f"{name}.txt"
    return [base64.b64decode(line) for line in path.read_text().split("\n") if line] if path.exists() else []


def keep(name: str, inputs: list[bytes]) -> None:
    """Add inputs to those kept."""
    CORPUS.mkdir(exist_ok=True)
    every = sorted({*kept(name), *inputs}, key=lambda data: (len(data), data))
    (CORPUS / f"{name}.txt").write_text("".join(base64.b64encode(data).decode() + "\n" for data in every))


def check(record: Format, data: bytes) -> str:
    """Raise what is wrong; otherwise say what came of the bytes: ``refused`` or ``read``."""
    record.matches(data[:HEAD_BYTES])
    assert record.parse is not None
    parameters = inspect.signature(record.parse).parameters
    parse = functools.partial(record.parse, **{name: value for name, value in NEEDED.items() if name in parameters})
    try:
        records = list(parse(Lines(io.BytesIO(data), "x", max_bytes=MAX_LINE)))
    except FormatError as error:
        if error.file != "x" or error.line is None:
            raise AssertionError(f"an error without its place: {error}") from error
        _refused_by_load(record, data, str(error))
        return "refused"
    if record.update is not None:
        assert _updated(record, records[0], data) == data
    # Lists of foreign shapes are written as lines of our own.
    foreign = any(getattr(one, "reading", ()) for one in records)
    if record.write is not None and record.name not in LOSSY and not foreign:
        assert written(record, records) == data
    if record.load is not None:
        _same(record, data, records)
    return "read"


def written(record: Format, records: list[Any]) -> bytes:
    """The bytes of records."""
    assert record.write is not None
    if record.binary:
        binary = io.BytesIO()
        record.write(records, binary, shortest)
        return binary.getvalue()
    out = io.StringIO(newline="")
    record.write(records, out, shortest)
    return out.getvalue().encode()


def _updated(record: Format, weights: dict[str, float], data: bytes) -> bytes:
    assert record.update is not None
    out = io.StringIO(newline="")
    record.update(weights, Lines(io.BytesIO(data), "x", max_bytes=MAX_LINE), out, shortest)
    return out.getvalue().encode()


def _refused_by_load(record: Format, data: bytes, wanted: str) -> None:
    if record.load is None or "max_bytes" not in inspect.signature(record.load).parameters:
        return
    try:
        record.load(io.BytesIO(data), "x", max_bytes=MAX_LINE)
    except FormatError as error:
        found = str(error)
    else:
        found = "nothing wrong"
    assert found == wanted


def _same(record: Format, data: bytes, records: list[Any]) -> None:
    assert record.load is not None
    if record.kind == "nbest" and data[:2] != b"\x1f\x8b":
        _same_lists(record.load(io.BytesIO(data), "x"), ListColumns.from_lists(records))
        return
    if record.kind not in ("grammar", "reordering") or data[:2] == b"\x1f\x8b":
        return
    columns = record.load(io.BytesIO(data), "x")
    assert len(columns) == len(records)
    if record.kind == "reordering":
        assert columns.keys[:] == [key_of(one.source, one.target) for one in records]
        assert columns.values.tolist() == np.array([one.values for one in records], dtype=np.float32).tolist()
        return
    for i, one in enumerate(records):
        found = columns.rule(i)
        for field in dataclasses.fields(found):
            if field.name in ("lhs", "source", "target", "alignment", "level"):
                assert getattr(found, field.name) == getattr(one, field.name), field.name


def _same_lists(columns: ListColumns, wanted: ListColumns) -> None:
    assert [list(found.rows()) for found in columns] == [list(nbest.rows()) for nbest in wanted]
    for field in ("ids", "sources", "annotations"):
        assert getattr(columns, field) == getattr(wanted, field), field
    assert columns.lines.tolist() == wanted.lines.tolist()
    assert [found.extras for found in columns] == [nbest.extras for nbest in wanted]
