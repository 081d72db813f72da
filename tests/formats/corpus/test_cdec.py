"""cdec's input for decoding and tuning."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect, open_lines
from smtformats.corpus.cdec import FORMAT, parse, write
from smtformats.corpus.segments import Segment
from smtformats.corpus.text import write as write_text
from smtformats.files import Lines
from smtformats.format import shortest


def read(text: str) -> list[Segment]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x")))


def written(records: list[str | Segment]) -> str:
    out = io.StringIO()
    assert write(iter(records), out, shortest) == len(records)
    return out.getvalue()


def content(segment: Segment) -> tuple[str, tuple[str, ...], list[tuple[str, str]]]:
    return segment.source, segment.references, list(segment.attributes.items())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ein haus", ("ein haus", (), [])),
        ("ein haus ||| a house ||| one house", ("ein haus", ("a house", "one house"), [])),
        ("a |||  ||| b", ("a", ("", "b"), [])),
        ("a ||| ||| b", ("a", ("", "b"), [])),
        ("a |||", ("a", ("",), [])),
        ("a  |||\tb ", ("a ", ("b ",), [])),
        ("<seg>a</seg>", ("a", (), [])),
        ('<seg id="7" grammar="g.gz">a b</seg>', ("a b", (), [("id", "7"), ("grammar", "g.gz")])),
        ("<seg id=12  src_tree = '(S' ></seg>", ("", (), [("id", "12"), ("src_tree", "'(S'")])),
        ('<seg id="1" x=""> a ', (" a ", (), [("id", "1"), ("x", "")])),
        ('<seg id="3">a ||| A</seg>', ("a", ("A",), [("id", "3")])),
        ('<seg id="4">a</seg> ||| A ||| B', ("a", ("A", "B"), [("id", "4")])),
        ('<seg id="4">a ||| A</seg>  ||| B', ("a", ("A ", "B"), [("id", "4")])),
        (" <seg>a</seg>", (" <seg>a</seg>", (), [])),
    ],
)
def test_lines(line: str, expected: tuple[str, tuple[str, ...], list[tuple[str, str]]]) -> None:
    for end in ("", "\n", "\r\n"):
        (segment,) = read(line + end)
        assert content(segment) == expected
        assert written([segment]) == line + end


def test_numbers_as_cdec_counts() -> None:
    segments = read('a\n\n<seg id="7">b</seg>\nc\n \n\n<seg id="2">d</seg>\ne')
    assert [segment.id for segment in segments] == [0, None, 7, 8, 9, None, 2, 3]
    assert [segment.line for segment in segments] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_text_gets_ids() -> None:
    assert written(["a", "b"]) == '<seg id="0">a</seg>\n<seg id="1">b</seg>\n'
    assert written([*read('<seg id="7">a</seg>'), "b", "c"]) == (
        '<seg id="7">a</seg>\n<seg id="8">b</seg>\n<seg id="9">c</seg>\n'
    )


def test_composed() -> None:
    made = [
        Segment("ein haus", ("a house", "")),
        Segment("a", ("b",), {"id": "1", "grammar": "g.gz"}),
        Segment("a"),
    ]
    text = 'ein haus ||| a house ||| \n<seg id="1" grammar="g.gz">a</seg> ||| b\na\n'
    assert written(list(made)) == text
    assert [content(segment) for segment in read(text)] == [content(segment) for segment in made]
    assert made[1].extras == {"id", "grammar", "references"}
    out = io.StringIO()
    assert write_text(made, out, shortest) == 3
    assert out.getvalue() == "ein haus\na\na\n"


TEXTS = st.text('aé <>="\u00a0\u2028\x85', max_size=6).filter(lambda text: text[:1] != "<")
NAMES = st.text("aé-\u00a0", min_size=1, max_size=3).filter(lambda name: not name.isspace())
VALUES = st.text("aé =|/.'\u00a0", max_size=4)
SEGMENTS = st.builds(
    Segment, TEXTS, st.lists(TEXTS, max_size=2).map(tuple), st.dictionaries(st.sampled_from(["a", "é", "b-c"]), VALUES)
)


@given(st.lists(SEGMENTS, max_size=4), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_files_come_back(made: list[Segment], newline: str, cut: bool) -> None:
    text = written(list(made)).replace("\n", newline)
    if cut and made and written([made[-1]]) != "\n":
        text = text[: -len(newline)]
    segments = read(text)
    assert [content(segment) for segment in segments] == [content(segment) for segment in made]
    assert written(list(segments)) == text


@pytest.mark.parametrize(
    "bad",
    [
        Segment("a ||| b"),
        Segment("a", ("b|||",)),
        Segment("a\nb"),
        Segment("a\r"),
        Segment("<seg>"),
        Segment("a</seg>b", (), {"id": "1"}),
    ],
)
def test_texts_that_cannot_be_written(bad: Segment) -> None:
    with pytest.raises(FormatError, match=r"expected a text without `\|\|\|`, `<seg`, `</seg>` or a line break"):
        written([replace(bad, line=3)])


@pytest.mark.parametrize("attributes", [{"a b": ""}, {"": "x"}, {"a": '"'}, {"a": ">"}, {"a": "\n"}, {"a=": "b"}])
def test_attributes_that_cannot_be_written(attributes: dict[str, str]) -> None:
    with pytest.raises(FormatError, match='expected an attribute without `"`, `>` or a line break'):
        written([Segment("a", (), attributes)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<seg id="x">a</seg>\n', "1: field 1: expected an id (a whole number), found 'x'"),
        ('a\n<seg id="-1">a</seg>\n', "2: field 1: expected an id (a whole number), found '-1'"),
        ('<SEG id="1">a</SEG>\n', '1: field 1: expected `<seg name="value" ...>`, found \'<SEG id="1">a</SEG>\''),
        ("<segment>a\n", "1: field 1: expected `<seg name=\"value\" ...>`, found '<segment>a'"),
        ('<seg id="1"\n', '1: field 1: expected `<seg name="value" ...>`, found \'<seg id="1"\''),
        ("<seg id>a</seg>\n", "1: field 1: expected an attribute `name=\"value\"`, found 'id'"),
        ('<seg id="1>a</seg>\n', '1: field 1: expected an attribute `name="value"`, found \'id="1\''),
        ('<seg id="1"x="2">a</seg>\n', '1: field 1: expected an attribute `name="value"`, found \'x="2"\''),
        ('<seg id="1" x="a>b">a</seg>\n', '1: field 1: expected an attribute `name="value"`, found \'x="a\''),
        ("<seg id=1 id=2>a</seg>\n", "1: field 1: expected each attribute once, found 'id' again"),
        ("<seg>a</seg> b\n", "1: field 1: expected nothing or ` ||| ` and a reference after `</seg>`, found ' b'"),
        (
            "<seg>a</seg>||| b\n",
            "1: field 1: expected nothing or ` ||| ` and a reference after `</seg>`, found '||| b'",
        ),
        ("<seg>a</seg> |||b\n", "1: field 2: expected blanks around `|||`, found 'b'"),
        ("a|||A\n", "1: field 1: expected blanks around `|||`, found 'a'"),
        ("a ||| b|||c\n", "1: field 2: expected blanks around `|||`, found ' b'"),
        ("||| b\n", "1: field 1: expected blanks around `|||`, found ''"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == f"x:{message}"


@pytest.mark.parametrize(
    "text",
    [
        "ein haus ||| a house\n",
        "ein haus ||| a house ||| one house\nja ||| 1 ||| yes\n",
        "猫 ||| cat\n",
        "a |||  ||| b\n",
        '\n<seg id="0">1</seg>\n',
        "<seg>a</seg>\nb\n",
        "<seg id=x>a</seg>\n",
    ],
)
def test_shape(text: str) -> None:
    assert detect(text.encode(), all_formats(), "x") is FORMAT


@pytest.mark.parametrize(
    "text",
    [
        "ein haus\n",
        "0 ||| a house\n",
        "0 ||| a ||| LM= -1 ||| -1\n",
        "a b ||| c ||| -1.5\n",
        "a ||| b ||| 0.1 0.2 ||| 0-0 ||| 1 1 1\n",
        "a b ||| c ||| 0-0\n",
        "a ||| b ||| F=1 G=2\n",
        "[X] ||| a [X,1] ||| b [1]\n",
        "a ||| b\nja\nnein\n",
        "((('a',0,1),),) ||| ((('b',0,1),),)\n",
        '<srcset>\n<seg id="1">a</seg>\n',
        "\n",
        "",
    ],
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "sentences", "references"),
    [
        ("test300.in", 300, 0),
        ("val300.in", 300, 0),
        ("first50/input.sgm", 50, 0),
        ("first50/input.forced.sgm", 50, 50),
        ("mert/dev.in", 10, 0),
        ("quirks/i_seg.in", 3, 0),
        ("quirks/i_segref.in", 2, 2),
        ("quirks/i_ref.in", 2, 2),
        ("quirks/i_align.in", 1, 1),
        ("quirks/i_condprob.in", 2, 1),
    ],
)
def test_inputs_of_cdec(shared: Path, name: str, sentences: int, references: int) -> None:
    path = shared / "gold" / "cdec" / name
    assert detect(path.read_bytes()[: 1 << 16], all_formats(), name) is FORMAT
    with open_lines(path) as lines:
        segments = list(parse(lines))
    assert (len(segments), sum(len(segment.references) for segment in segments)) == (sentences, references)
    assert written(list(segments)) == path.read_text()
    if name.endswith("300.in"):
        assert [segment.id for segment in segments] == list(range(300))
        assert all(list(segment.attributes) == ["grammar", "id"] for segment in segments)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("i_seg2", "4: field 1: expected an id (a whole number), found 'x'"),
        ("i_refnospace", "1: field 1: expected blanks around `|||`, found 'a'"),
    ],
)
def test_inputs_of_which_cdec_drops_something(shared: Path, name: str, message: str) -> None:
    path = shared / "gold" / "cdec" / "quirks" / f"{name}.in"
    with open_lines(path) as lines, pytest.raises(FormatError) as caught:
        list(parse(lines))
    assert str(caught.value) == f"{path}:{message}"


@pytest.mark.shared
def test_empty_lines_have_no_number(shared: Path) -> None:
    with open_lines(shared / "gold" / "cdec" / "quirks" / "i_empties.in") as lines:
        assert [(segment.id, segment.source) for segment in parse(lines)] == [(0, "a"), (None, ""), (1, "  "), (2, "a")]
