"""Sentences with Moses XML markup."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect
from smtformats.corpus.moses_xml import FORMAT, parse, write
from smtformats.corpus.segments import Mark, MarkedSegment, Segment
from smtformats.files import Lines
from smtformats.format import shortest


def read(text: str | bytes, **options: str) -> list[MarkedSegment]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(parse(Lines(io.BytesIO(data), "x"), **options))


def written(records: list[str | Segment], **options: str) -> str:
    out = io.StringIO()
    assert write(records, out, shortest, **options) == len(records)
    return out.getvalue()


def read_line(line: str, **options: str) -> MarkedSegment:
    (segment,) = read(line, **options)
    return segment


def test_translations() -> None:
    segment = read_line(
        'ein <n translation="fellow||guy" prob="0.7||3e-1">mann</n> mit <np english="a hat">einem hut</np>\r\n'
    )
    assert segment.source.split() == ["ein", "mann", "mit", "einem", "hut"]
    assert [(mark.tag, mark.start, mark.end) for mark in segment.marks] == [("n", 1, 2), ("np", 3, 5)]
    assert (segment.marks[0].translations, segment.marks[0].probabilities) == (("fellow", "guy"), (0.7, 0.3))
    assert (segment.marks[1].translations, segment.marks[1].probabilities) == (("a hat",), (1.0,))
    assert Mark("x", 0, 1).translations == Mark("x", 0, 1).probabilities == ()
    assert segment.extras == {"marks"}


@pytest.mark.parametrize(
    ("line", "text", "marks"),
    [
        ('a b <n translation="X" span="0-1"/>', "a b ", [Mark("n", 0, 2, {"translation": "X"})]),
        ('<n span="1" translation="X"/> a b', " a b", [Mark("n", 1, 2, {"translation": "X"})]),
        ("a <wall/> b", "a  b", [Mark("wall", 1, 1)]),
        ("a <zone> b <x>c</x></zone>", "a  b c", [Mark("x", 2, 3), Mark("zone", 1, 3)]),
        ('<ne entity="@num@">7</ne> a', "7 a", [Mark("ne", 0, 1, {"entity": "@num@"})]),
        ("a<x>b</x>c", "a b c", [Mark("x", 1, 2)]),
        ('<x y="a \\" b" z="">c</x>', "c", [Mark("x", 0, 1, {"y": 'a \\" b', "z": ""})]),
        ("3 < 4 und 5 > 2 .", "3 < 4 und 5 > 2 .", []),
        ("3<4 und 5>2", "3 <4 und 5> 2", []),
        ("", "", []),
        ('<passthrough a="b"/>\n', "", [Mark("passthrough", 0, 0, {"a": "b"})]),
    ],
)
def test_marks(line: str, text: str, marks: list[Mark]) -> None:
    segment = read_line(line) if line else read_line("\n")
    assert (segment.source, list(segment.marks), segment.fault) == (text, marks, "")


def test_seg_is_taken_off_with_its_attributes() -> None:
    segment = read_line('<seg id="77" x="y">ein <x>mann</x></seg> \n')
    assert (segment.source, segment.attributes, segment.id, len(segment.marks)) == (
        "ein mann",
        {"id": "77", "x": "y"},
        0,
        1,
    )


def test_other_brackets() -> None:
    segment = read_line('a {{n translation="x"}}b{{/n}} <c>', brackets="{{ }}")
    assert (segment.source, segment.marks) == ("a b <c>", (Mark("n", 1, 2, {"translation": "x"}),))
    assert written([replace(segment, raw=None)], brackets="{{ }}") == 'a b <c> {{n translation="x" span="1-1"/}}\n'
    for wrong in ("<>", "< ", " >", "< > >", ""):
        with pytest.raises(ValueError, match="expected brackets like `< >`, found "):
            read_line("a", brackets=wrong)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('ein <n translation="x">mann', "'n' is not closed"),
        ("a </n>", "'</n>' closes nothing"),
        ("<a>x <b>y</a></b>", "'</a>' closes 'b'"),
        ("</a/>", "malformed tag '</a/>'"),
        ("</>", "malformed tag '</>'"),
        ("a <zone></zone> b", "a zone without words"),
        ("<ne>a b</ne>", "a placeholder without exactly one word"),
        ('<n translation="a||b" prob="1">x</n>', "1 probabilities for 2 translations"),
        ("a <b", "no '>' after '<b'"),
        ("a <", "no '>' after '<'"),
    ],
)
def test_lines_that_moses_takes_for_words(line: str, fault: str) -> None:
    segment = read_line(f"{line}\n")
    assert (segment.source, segment.marks, segment.fault) == (line, (), fault)
    assert written([segment]) == written([replace(segment, raw=None)]) == f"{line}\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("<x y>a</x>", "expected an attribute name=\"value\", found 'y'"),
        ("<x y=z>a</x>", "expected an attribute name=\"value\", found 'y=z'"),
        ('<x y="z>a</x>', 'expected an attribute name="value", found \'y="z\''),
        ('<x y="a" y="b">a</x>', "expected each attribute once, found 'y' again"),
        ('<x span="a-b"/> a', 'expected span="i-j" or span="i", positions from 0, found \'a-b\''),
        ('<x span="1-0"/> a b', 'expected span="i-j" or span="i", positions from 0, found \'1-0\''),
        ('<x span="0-1-2"/> a', 'expected span="i-j" or span="i", positions from 0, found \'0-1-2\''),
        ('<x span="0-1"/> a', "expected a span within 1 words, found 0-1"),
        ('<x span="9999999999"/> a', 'expected span="i-j" or span="i", positions from 0, found \'9999999999\''),
        ('<x translation="t" prob="high">a</x>', "expected probabilities, found 'high'"),
        ('<x translation="t" prob="-1">a</x>', "expected probabilities, found '-1'"),
        ('<x translation="t" prob="nan">a</x>', "expected probabilities, found 'nan'"),
    ],
)
def test_bad_lines(line: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(f"gut\n{line}\n")
    assert str(caught.value) == f"x:2: field 1: {message}"


def test_bad_bytes() -> None:
    with pytest.raises(FormatError, match="x:2: field 1: expected UTF-8 text, found byte 0xff at column 2"):
        read(b"a\na\xff\n")


WORD = st.sampled_from(["a", "b", "ein", "<", ">", "4", "é"])
MARK = st.tuples(st.sampled_from(["n", "zone", "wall", "ne", "x"]), st.integers(0, 5), st.integers(0, 3))


@given(st.lists(WORD, max_size=6), st.lists(MARK, max_size=4))
def test_what_is_composed_reads_back(words: list[str], given_marks: list[tuple[str, int, int]]) -> None:
    marks = tuple(
        Mark(tag, first, first + length, {"translation": "x y||z"} if tag == "n" else {})
        for tag, first, length in given_marks
    )
    record = MarkedSegment(" ".join(words), marks=marks, line=7)
    try:
        text = written([record])
    except FormatError:
        late = any(mark.end > len(words) for mark in marks)
        odd = any(mark.tag in ("zone", "ne") for mark in marks)
        assert late or odd or {"<", ">"} & set(words)
        return
    segment = read_line(text)
    assert segment.source.split() == words
    assert sorted(map(str, segment.marks)) == sorted(map(str, marks))
    assert [mark.start for mark in segment.marks if mark.start == mark.end] == sorted(
        mark.start for mark in marks if mark.start == mark.end
    )


@given(st.data())
def test_any_text_is_sentences_or_an_error(data: st.DataObject) -> None:
    pieces = [
        "<n>",
        "</n>",
        '<n translation="a||b"',
        ' prob="1||2"',
        ' span="0-1"',
        "/>",
        "<wall/>",
        "<zone>",
        "</zone>",
    ]
    pieces += [
        "a",
        " ",
        "\n",
        "\t",
        "<",
        ">",
        "/",
        '"',
        "\\",
        "=",
        "<seg>",
        "</seg>",
        "\u00a0",
        "\r",
        "\x0b",
        "<ne entity=",
    ]
    text = "".join(data.draw(st.lists(st.sampled_from(pieces), max_size=25)))
    FORMAT.matches(text.encode())
    try:
        records = read(text)
    except FormatError:
        return
    assert written([*records]) == text
    for record in records:
        try:
            line = written([replace(record, raw=None)])
        except FormatError:
            continue
        again = read_line(line)
        assert again.source.split() == record.source.split()
        assert sorted(map(str, again.marks)) == sorted(map(str, record.marks))


@pytest.mark.parametrize("bad", ["a <b> c", "</x>", '<n translation="t">a</n>', "a\nb", '<seg id="1">a</seg>'])
def test_words_that_would_be_mark_up(bad: str) -> None:
    with pytest.raises(FormatError, match="expected words and marks that Moses' markup can represent, found "):
        written([bad])


@pytest.mark.parametrize(
    "text",
    [
        'ein <n translation="x">haus</n>\n',
        "a\n" * 40 + "a <wall/> b\n",
        "a <zone> b </zone>\n",
        '<ne entity="@num@">7</ne>\n',
        '<seg id="1">a <wall /> b</seg>\n',
    ],
)
def test_shape(text: str) -> None:
    assert detect(text.encode(), all_formats(), "x").name == "moses-xml"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "das haus\n",
        "3 < 4 und 5 > 2\n",
        "the <b>bold</b> one\n",
        "<zone> alone\n",
        '<seg translation="x">a</seg>\n',
        'a ||| b ||| <n translation="x">c</n>\n',
        '<tree label="NP">das haus</tree>\n',
        "a wall/ and <wallpaper>\n",
    ],
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())


@pytest.mark.shared
def test_gold(shared: Path) -> None:
    path = shared / "gold/moses/xml/in.txt"
    data = path.read_bytes()
    assert detect(data, all_formats(), str(path)).name == "moses-xml"
    records = read(data)
    assert written([*records]).encode() == data
    assert [record.id for record in records if record.fault] == [9]
    assert [len(record.marks) for record in records] == [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]
    # Where tags are removed, Moses' output covers the remaining number of source words.
    for record, line in zip(records, (shared / "gold/moses/xml/out.ignore.txt").read_text().splitlines(), strict=True):
        last = max(int(token.strip("|").split("-")[1]) for token in line.split() if token[0] == "|" and len(token) > 1)
        assert last + 1 == len(record.source.split())
        again = read(written([replace(record, raw=None, attributes={})]))
        assert again[0].marks == record.marks


def test_tags_that_are_words() -> None:
    """Only a ``<seg>`` around the whole sentence is removed."""
    (segment,) = parse(Lines(io.BytesIO(b'<seg id="7">a <n translation="x">b</n> <c</seg>'), "x"), tags=False)
    assert (segment.source, segment.marks, segment.fault) == ('a <n translation="x">b</n> <c', (), "")
    assert segment.attributes == {"id": "7"}
