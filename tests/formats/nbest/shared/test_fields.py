"""Lists with fields separated by bars: byte-exact copies, local changes, lossless conversions."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import Candidates, Format, all_formats
from smtformats.files import HEAD_BYTES, Lines
from smtformats.format import shortest
from smtformats.nbest.shared.fields import cut_at_bars, first_shape, split_line

KINDS = ("moses-nbest", "cdec-nbest", "cdec-mira-nbest", "joshua-nbest", "marian-nbest")
FORMATS = {record.name: record for record in all_formats() if record.name in KINDS}


def read(record: Format, text: str) -> list[Candidates]:
    assert record.parse is not None
    return list(record.parse(Lines(io.BytesIO(text.encode()), "x")))


def written(record: Format, lists: Iterable[Candidates]) -> str:
    assert record.write is not None
    out = io.StringIO()
    record.write(lists, out, shortest)
    return out.getvalue()


def plain(lists: Iterable[Candidates]) -> list[tuple[str, list[tuple[str, dict[str, str], str]]]]:
    """Ids, texts, features and totals; numbers as text, for -0 is not 0."""
    return [
        (nbest.id, [(text, {n: repr(v) for n, v in row.items()}, repr(total)) for text, row, total in nbest.rows()])
        for nbest in lists
    ]


# Files as the toolkits could have written them.

TEXTS = (
    st.text("aé |=:.\u00a0\u2028\x85\t\r\x1f٣", max_size=12)
    .map(lambda text: text.strip(" "))
    .filter(lambda text: "|||" not in text)
)
NAMES = st.text("aZé=:[0]_.\u00a0\u2028", min_size=1, max_size=6) | st.sampled_from(["F", "v[0]", "v[1]", "v[2]"])
FEATURES = st.dictionaries(NAMES, st.floats(allow_nan=False, allow_infinity=False), max_size=5)
TOTALS = st.floats(allow_nan=False).map(float)
HYPOTHESES = st.lists(st.tuples(TEXTS, FEATURES, TOTALS), min_size=1, max_size=4)
IDS = st.lists(st.integers(0, 10**12), min_size=1, max_size=4, unique=True).map(sorted)


@dataclass
class Written:
    """A file and its content."""

    format: Format
    text: str
    lists: list[Candidates]


@st.composite
def models(draw: st.DrawFn) -> list[Candidates]:
    lists = []
    for key in draw(IDS):
        rows = draw(HYPOTHESES)
        lists.append(
            Candidates(
                id=str(key),
                texts=[text for text, _, _ in rows],
                layouts=[tuple(features) for _, features, _ in rows],
                values=[list(features.values()) for _, features, _ in rows],
                totals=[total for _, _, total in rows],
            )
        )
    return lists


@st.composite
def files(draw: st.DrawFn) -> Written:
    record = FORMATS[draw(st.sampled_from(KINDS))]
    lines: list[str] = []
    for nbest in draw(models()):
        block = written(record, [nbest]).split("\n")[:-1]
        blank = draw(st.integers(0, 2))
        if record.name == "cdec-mira-nbest":
            block[0] = str(len(nbest) + blank)
            block += [""] * blank
        if record.name == "cdec-nbest":
            block += [""] * blank
        if draw(st.booleans()):
            block = [line.replace(" ||| ", "  ||| ").replace("  ||| ", " ||| ", 1) for line in block]
        lines += block
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = end.join(lines) + end
    if lines[-1] and draw(st.booleans()):
        text = text.removesuffix(end)
    return Written(record, text, read(record, text))


@given(files())
def test_untouched_bytes_come_back(file: Written) -> None:
    assert written(file.format, file.lists) == file.text
    assert written(file.format, [nbest.select(range(len(nbest))) for nbest in file.lists]) == file.text


@given(models(), st.sampled_from(KINDS))
def test_what_is_written_reads_back(lists: list[Candidates], kind: str) -> None:
    text = written(FORMATS[kind], lists)
    again = read(FORMATS[kind], text)
    assert plain(again) == plain(lists)
    assert written(FORMATS[kind], again) == text


@given(files(), st.sampled_from(KINDS), st.sampled_from(KINDS))
def test_conversion_loses_nothing(file: Written, through: str, last: str) -> None:
    lists = file.lists
    for kind in (through, last):
        lists = read(FORMATS[kind], written(FORMATS[kind], lists))
        assert plain(lists) == plain(file.lists)


@given(files(), st.data())
def test_changes_stay_in_their_fields(file: Written, data: st.DataObject) -> None:
    features = 2 if file.format.name == "cdec-mira-nbest" else 1
    changed: list[Candidates] = []
    wanted: list[tuple[str, set[int]]] = []
    for nbest in file.lists:
        here: set[int] = set()
        new = nbest
        if data.draw(st.booleans(), "columns"):
            here.add(features)
            layout, values = ("new", "w[0]", "w[1]"), [[float(i), 0.1, -2.5] for i in range(len(nbest))]
            new = new.with_columns([layout] * len(nbest), values)
        if data.draw(st.booleans(), "totals"):
            here.add(features + 1)
            new = new.with_totals(data.draw(st.lists(TOTALS, min_size=len(nbest), max_size=len(nbest))))
        order = data.draw(st.lists(st.integers(0, len(nbest) - 1), min_size=1, unique=True))
        changed.append(new.select(order))
        wanted += [((nbest.raw or [])[i], here) for i in order]
    again = read(file.format, written(file.format, changed))
    assert plain(again) == plain(changed)
    lines = [line for nbest in again for line in nbest.raw or ()]
    for line, (old, here) in zip(lines, wanted, strict=True):
        key, fields = split_line(line.rstrip("\r\n"))
        old_key, old_fields = split_line(old.rstrip("\r\n"))
        assert (key, len(fields)) == (old_key, len(old_fields))
        assert {i for i, field in enumerate(fields) if field != old_fields[i]} <= here


# The pieces.


@given(st.lists(st.text("ab |=", max_size=6), min_size=1, max_size=5).map(" ||| ".join))
def test_lines_come_together_again(line: str) -> None:
    pieces, features, total = cut_at_bars(line)
    _, fields = split_line(line)
    assert "".join(pieces) == line
    assert [pieces[at] for at in (features, total) if at < len(pieces)] == fields[1:3]


@pytest.mark.parametrize(
    ("head", "items"),
    [
        ("0 ||| a ||| F=1 G=2 ||| 1\n", ["F=1", "G=2"]),
        ("\n\n0 ||| a ||| F=1 ||| 1\n", ["F=1"]),
        ("0 ||| a |||  ||| 1\n0 ||| b ||| F=1 ||| 1\n", ["F=1"]),
        ("0 ||| a |||  ||| 1\n", []),
        ("0 ||| a |||  ||| 1\nF\nG\n", []),
        ("0 ||| a ||| F=1 G=", ["F=1", "G="]),
        ("0 ||| a ||| F=1 " + "G" * HEAD_BYTES, ["F=1"]),
        ("0 ||| a ||| F=1\n", ["F=1"]),
        ("0 ||| a", None),
        ("x ||| a ||| F=1 ||| 1\n", None),
        ("", None),
    ],
)
def test_first_shape(head: str, items: list[str] | None) -> None:
    shape = first_shape(head.encode())
    assert (None if shape is None else shape.items) == items
