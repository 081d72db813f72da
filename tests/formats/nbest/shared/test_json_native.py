"""Lists of JSON lines read, changed and written natively, against the same in Python."""

from __future__ import annotations

import contextlib
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smtformats import Candidates, FormatError, ListColumns
from smtformats._scan import spell_json_list
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.nbest import jsonl
from smtformats.nbest.shared import json_native

USUAL = (
    '{"id": 0, "source": "ein \\u00e4 Mann", "hypotheses": [{"text": "a m\u00e4n", "score": -1.5, '
    '"scores": {"lm": -3, "tm": -2e-3}, "alignment": "0-0"}, '
    '{"scores": {}, "score":7 , "text" : "\\n\\ud83d\\ude00"}]}\n'
)


@contextlib.contextmanager
def in_python() -> Iterator[None]:
    """Do without native code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "reader_of", lambda origin, names: lambda line: None)
        patch.setattr(jsonl, "change_natively", lambda *parts: None)
        patch.setattr(jsonl, "spell_natively", lambda *parts: None)
        yield


def outcome(data: bytes, limit: int = 1 << 16) -> Any:
    """The lists that are read, or the error."""
    try:
        return list(jsonl.parse(Lines(io.BytesIO(data), "x", max_bytes=limit)))
    except FormatError as error:
        return str(error)


def spelled(lists: Sequence[Candidates]) -> str:
    out = io.StringIO()
    jsonl.write(lists, out, shortest)
    return out.getvalue()


def same_columns(first: ListColumns, second: ListColumns) -> None:
    """Compare all columns, numbers by their bits."""
    assert (first.ids, first.sources, first.annotations, first.file) == (
        second.ids,
        second.sources,
        second.annotations,
        second.file,
    )
    assert first.texts[:] == second.texts[:]
    assert first.features.names == second.features.names
    assert {name: column[:] for name, column in first.extras.items()} == {
        name: column[:] for name, column in second.extras.items()
    }
    assert (first.totals is None) == (second.totals is None)
    pairs = [(first.offsets, second.offsets), (first.lines, second.lines), (first.totals, second.totals)]
    pairs += [(getattr(first.features, name), getattr(second.features, name)) for name in ("ids", "offsets", "values")]
    for one, other in pairs:
        if one is not None:
            assert (one.dtype, one.tobytes()) == (other.dtype, other.tobytes())


def check(data: bytes, limit: int = 1 << 16) -> bool:
    """Whether the bytes are lists; they are, or are refused, in the same way in all readers."""
    with in_python():
        wanted = outcome(data, limit)
    assert repr(outcome(data, limit)) == repr(wanted)
    assert outcome(data, limit) == wanted
    try:
        columns: Any = jsonl.load(io.BytesIO(data), "x", limit)
    except FormatError as error:
        columns = str(error)
    if isinstance(wanted, str):
        assert columns == wanted
        return False
    same_columns(columns, ListColumns.from_lists(wanted))
    return True


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**20), 10**20)
ANSWERS = [
    "<think>a</think>b",
    "a</thoughts>",
    "[THINK]",
    "a<b",
    "a\n<think>\u00e9",
    "\u00e9",
    " a",
    "<|channel|>final",
]
TEXTS = st.sampled_from(ANSWERS) | st.text('aé \\"|\n\u2028\0\x1f,:[]{}\U0001f600', max_size=20)
NAMES = st.sampled_from(["lm", "tm[0]", "é", "a b", "score", ""])


@st.composite
def items(draw: st.DrawFn) -> Any:
    text = draw(TEXTS)
    if draw(st.integers(0, 4)) == 0:
        return text
    item: dict[str, Any] = {draw(st.sampled_from(["text", "hyp", "output"])): text}
    for name in ("scores", "score", "logprob"):
        if draw(st.booleans()):
            item[name] = draw(st.dictionaries(NAMES, NUMBERS, max_size=4) if name == "scores" else NUMBERS)
    if draw(st.booleans()):
        value = TEXTS | NUMBERS | st.none() | st.booleans() | st.just([1.5])
        names = [
            "alignment",
            "n",
            "finish_reason",
            "generated_text",
            "message",
            "cumulative_logprob",
            "chosen",
            "error",
            "rank",
            "\u00e9",
        ]
        item |= draw(st.dictionaries(st.sampled_from(names), value, max_size=3))
    return dict(draw(st.permutations(list(item.items()))))


@st.composite
def files(draw: st.DrawFn) -> str:
    lines = []
    numbers = st.sampled_from([1.0, 1e2, 0.5, -1, 10**19, 10**301])
    for key in draw(st.lists(TEXTS | st.integers(0, 3) | numbers, min_size=1, max_size=3)):
        whole: dict[str, Any] = (
            {} if draw(st.integers(0, 3)) == 0 else {draw(st.sampled_from(["id", "custom_id"])): key}
        )
        if draw(st.booleans()):
            whole[draw(st.sampled_from(["source", "src", "prompt"]))] = draw(TEXTS)
        whole[draw(st.sampled_from(["nbest", "hypotheses"]))] = draw(st.lists(items(), max_size=4))
        whole = dict(draw(st.permutations(list(whole.items()))))
        separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : "), (",\r", "\r:\r")]))
        lines.append(json.dumps(whole, ensure_ascii=draw(st.booleans()), separators=separators))
    return draw(st.sampled_from(["\n", "\r\n", "\n\n"])).join(lines) + draw(st.sampled_from(["\n", ""]))


PIECES = [b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"0", b"-", b".5", b"e9", b"1e999", b"NaN", b"null", b"true"]
PIECES += [
    b"\\ud800",
    b"\\udc00",
    b"\\u00e9",
    b"\xff",
    b"\xed\xa0\x80",
    b"\0",
    b"\n",
    b"\t",
    b" ",
    b"",
    b"9" * 30,
    b"[" * 70,
]
PIECES += [b'"text": "b", ', b'"score": 1, ', b'"scores": {"a": 1, "a": 2}, ', b'"id": 0, ', b"-0", b"01", b"1e-400"]


@given(files())
def test_lists_are_read_alike(text: str) -> None:
    check(text.encode())


@given(files(), st.lists(st.tuples(st.integers(0, 999), st.integers(0, 4), st.sampled_from(PIECES)), max_size=3))
@example(USUAL, [(len(USUAL) - 1, 0, b"\0")])
@example(USUAL, [(len(USUAL) - 1, 0, b"{}")])
def test_hostile_bytes_are_refused_alike(text: str, changes: list[tuple[int, int, bytes]]) -> None:
    data = bytearray(text.encode())
    for at, length, piece in changes:
        at %= len(data) + 1
        data[at : at + length] = piece
    check(bytes(data))


@pytest.mark.parametrize("limit", range(1, len(USUAL.encode()) + 3))
def test_long_lines(limit: int) -> None:
    assert check(USUAL.encode(), limit) == (limit >= len(USUAL.encode()))


@pytest.mark.parametrize("end", range(0, len(USUAL.encode()), 7))
def test_cut_files(end: int) -> None:
    check(USUAL.encode()[:end])
    check((USUAL + USUAL.replace('"id": 0', '"id": 1')).encode()[: len(USUAL.encode()) + end])


def test_the_usual_shape_is_read_natively() -> None:
    reader = jsonl.NAMES.reader()
    assert reader.read(USUAL) is not None
    assert reader.read(USUAL.rstrip()) is not None
    assert reader.read(USUAL.replace("alignment", "other")) is not None
    for text in ("", "\n", "[]", USUAL * 2, USUAL.replace("source", "other"), USUAL.replace("-1.5", "1e999")):
        assert reader.read(text) is None


def test_more_layouts_than_are_kept() -> None:
    rows = [{"nbest": [{"text": "a", "scores": {f"f{k}": 1, f"g{k % 7}": 2}}, {"hyp": "b"}]} for k in range(9000)]
    assert check("".join(json.dumps(row) + "\n" for row in rows).encode())


def test_more_extra_fields_than_are_read_natively() -> None:
    for count in (63, 64, 65, 300):
        names = [f"e{k}" for k in range(count)]
        whole = {"nbest": [{"text": "a", **dict.fromkeys(names, 5)}]}
        each = [{"id": k, "nbest": [{"text": "a", name: 1e22}]} for k, name in enumerate(names)]
        assert check(json.dumps(whole).encode())
        assert check("".join(json.dumps(row) + "\n" for row in each).encode())
        doubled = json.dumps(whole)[:-3] + ', "e62": 1}]}'
        assert not check(doubled.encode())


def test_unusual_lines_between_usual_ones() -> None:
    rows = [USUAL.replace('"id": 0', f'"id": {k}') for k in range(6)]
    rows[2] = '{"id": 2, "n": [1.0], "nbest": ["a", {"text": "b", "finish": null}]}\n'
    rows[4] = '{"nbest": []}\n'
    assert check("".join(rows).encode())


def test_compressed_files() -> None:
    import gzip

    other = USUAL.replace('"id": 0', '"id": "b"')
    for text in (USUAL + other, USUAL + other.replace("alignment", "n")):
        packed = gzip.compress(text.encode())
        wanted = ListColumns.from_lists(jsonl.parse(Lines(io.BytesIO(text.encode()), "x")))
        same_columns(jsonl.load(io.BytesIO(packed), "x"), wanted)
        with pytest.raises(FormatError, match="x:3: field 1: expected a complete compressed file"):
            jsonl.load(io.BytesIO(packed[:-4]), "x")


def changed(nbest: Candidates, data: st.DataObject) -> Candidates:
    if data.draw(st.booleans(), "columns"):
        values = data.draw(st.lists(st.floats(), min_size=len(nbest), max_size=len(nbest)), "values")
        nbest = nbest.with_columns([("new", 'n "é\n')] * len(nbest), [[value, -0.0] for value in values])
    if data.draw(st.booleans(), "totals"):
        nbest = nbest.with_totals(data.draw(st.lists(st.floats(), min_size=len(nbest), max_size=len(nbest))))
    if data.draw(st.booleans(), "foreign"):
        nbest = replace(nbest, raw=None, original=None, origin="")
    return nbest


@given(files(), st.data())
def test_lists_are_written_alike(text: str, data: st.DataObject) -> None:
    lists = outcome(text.encode())
    if isinstance(lists, str):
        return
    lists = [changed(nbest, data) for nbest in lists]
    results = []
    for scope in (contextlib.nullcontext(), in_python()):
        with scope:
            try:
                results.append(spelled(lists))
            except FormatError as error:
                results.append(str(error))
    assert results[0] == results[1]


@given(st.floats())
@example(1e16)
@example(123456789012345680.0)
@example(1e15)
@example(0.0001)
@example(0.00001)
@example(5e-324)
@example(-0.0)
def test_numbers_are_spelled_alike(value: float) -> None:
    line = spell_json_list("", ["a"], [value], [()], [[]], [])
    wanted = f'{{"text": "a", "score": {shortest(value)}, "scores": {{}}}}'
    assert line == (wanted if math.isfinite(value) else None)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_texts_are_spelled_alike(text: str) -> None:
    wanted = f'{{"text": {json.dumps(text, ensure_ascii=False)}, "scores": {{}}}}'
    assert spell_json_list("", [text], None, [()], [[]], []) == wanted


def test_texts_that_are_no_utf8_are_left_alone() -> None:
    assert spell_json_list("", ["\ud800"], None, [()], [[]], []) is None
    assert jsonl.NAMES.reader().read('{"nbest": ["\ud800"]}') is None


def test_other_spellings_of_numbers_are_left_to_python() -> None:
    nbest = Candidates("0", ["a"], [("x",)], [[0.1234]], totals=[2.0])
    assert json_native.spell_natively(nbest, "", [], lambda value: f"{value:.2g}") is None
    out = io.StringIO()
    jsonl.write([nbest], out, lambda value: f"{value:.2g}")
    assert '"scores": {"x": 0.12}' in out.getvalue()
