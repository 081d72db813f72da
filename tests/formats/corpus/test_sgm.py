"""NIST document sets."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect
from smtformats.corpus.segments import Segment
from smtformats.corpus.sgm import FORMAT, parse
from smtformats.files import Lines

REFERENCES = """\
<?xml version="1.0"?>
<!DOCTYPE mteval SYSTEM "x.dtd">
<!-- two
 translators -->
<RefSet SetId='test' srclang="de" trglang=en>
<DOC sysid="ref1" docid=d1 genre="news">
<hl>
<seg id=1> Dogs &amp; cats </seg>
</hl>
<p>
<SEG ID="2">one
  two\r

three &amp;lt; 1 < 2 <b>x</b> &#38;#8364;&unknown;</SEG>
</p>
</DOC>
<doc docid="d2" sysid="ref1"><seg id="1"/>ein</seg></doc>
<doc docid="d1" sysid="ref2"><seg id="2">B</seg><seg id="1">A</seg></doc>
<doc docid="d2" sysid="ref2">
<seg
  id="1"></seg>
</doc>
</RefSet>
"""
MIXED = (
    '<mteval><tstset setid="t" sysid="mine"><doc docid="d"><seg id="1">x</seg></doc></tstset>\n'
    '<srcset setid="t" srclang="de"><doc docid="d"><seg id="1">quelle</seg></doc></srcset>\n'
    '<refset setid="t" refid="r"><doc docid="d"><seg id="1">y</seg></doc></refset></mteval>\n'
)
HEAD = '<srcset setid="t">\n<doc docid="d">\n'
FOOT = "</doc>\n</srcset>\n"


def read(text: str | bytes, **options: str) -> list[Segment]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(parse(Lines(io.BytesIO(data), "x"), **options))  # type: ignore[arg-type]


def test_references_of_two_systems() -> None:
    segments = read(REFERENCES)
    assert [(segment.id, segment.line, segment.source, segment.references) for segment in segments] == [
        (0, 8, "Dogs & cats", ("A",)),
        (1, 11, "one two three &lt; 1 < 2 <b>x</b> &#8364;&unknown;", ("B",)),
        (2, 17, "ein", ("",)),
    ]
    assert segments[1].attributes == {
        "setid": "test", "srclang": "de", "trglang": "en", "docid": "d1", "genre": "news", "segid": "2"
    }  # fmt: skip
    assert [segment.source for segment in read(REFERENCES, sysid="ref2")] == ["A", "B", ""]


def test_source_comes_first_wherever_it_stands() -> None:
    (segment,) = read(MIXED)
    assert (segment.source, segment.references) == ("quelle", ("x", "y"))
    assert [segment.source for segment in read(MIXED, sysid="r")] == ["y"]
    with pytest.raises(FormatError) as caught:
        read(MIXED, sysid="s")
    assert str(caught.value) == "x:1: field 1: expected the sysid 's', found only 'mine', 'r'"


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("&amp;amp;", "&amp;"),
        ("&#65;&#x42;&#X43;", "ABC"),
        ("a&#10;b", "a b"),
        ("&#0;&#55296;&#9999999;&AMP;&amp", "&#0;&#55296;&#9999999;&AMP;&amp"),
        ("&quot;&apos;&lt;&gt;", "\"'<>"),
        ("\u2028", ""),
    ],
)
def test_entities(text: str, decoded: str) -> None:
    assert read(f'{HEAD}<seg id="1">{text}</seg>{FOOT}')[0].source == decoded


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected segments, <seg id=...> in documents, found none in the file"),
        (HEAD + FOOT, "1: field 1: expected segments, <seg id=...> in documents, found none in the file"),
        (HEAD, "2: field 1: expected </doc> for the <doc> of line 2, found the end of the file"),
        (HEAD + "<seg id=1>a", "3: field 1: expected </seg> for the <seg> of line 3, found the end of the file"),
        (HEAD + "<seg id=1>a\n</doc>", "4: field 1: expected </seg> for the <seg> of line 3, found </doc>"),
        (HEAD + "<seg id=1>\na<seg id=2>", "4: field 1: expected </seg> for the <seg> of line 3, found <seg>"),
        (HEAD + "</seg>", "3: field 1: expected <seg> before it, found </seg>"),
        (HEAD + "<seg>a</seg>", "3: field 1: expected <seg> with an id, found none"),
        (HEAD + "<seg id=1 ID=2>a</seg>", "3: field 1: expected each attribute once, found 'id' again"),
        (HEAD + "<seg id>a</seg>", "3: field 1: expected an attribute name=\"value\", found 'id'"),
        (
            HEAD + "<seg id=1>a</seg>\n<seg id=1>b</seg>",
            "4: field 1: expected each segment once in document 'd', found id '1' again",
        ),
        (HEAD + "\n  stray\n<seg id=1>a</seg>", "4: field 1: expected text in segments only, found 'stray'"),
        (HEAD + '<seg id="1>a\n</seg>', "3: field 1: expected a tag, found '<seg id=\"1>a'"),
        (HEAD + "<doc docid=e>", "3: field 1: expected </doc>, found <doc>"),
        (HEAD + "</srcset>", "3: field 1: expected </doc>, found </srcset>"),
        ("<srcset>\n<doc>", "2: field 1: expected <doc> with a docid, found '<doc>'"),
        ("<srcset>\n<doc docid=a/>", "2: field 1: expected <doc> with content, found '<doc docid=a/>'"),
        ("<srcset>\n<refset>", "2: field 1: expected </srcset>, found <refset>"),
        ("<doc docid=a>", "1: field 1: expected <srcset>, <refset> or <tstset> around it, found <doc>"),
        ("<srcset><seg id=1>a</seg>", "1: field 1: expected <doc> around it, found <seg>"),
        ("</srcset>", "1: field 1: expected <srcset> before it, found </srcset>"),
        ("<srcset><mteval>", "1: field 1: expected <mteval> around everything, found <mteval> in <srcset>"),
        ("<!-- open", "1: field 1: expected a tag, found '<!-- open'"),
        (b"<srcset>\n\xff", "2: field 1: expected UTF-8 text, found byte 0xff at column 1"),
    ],
)
def test_bad_files(text: str | bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == f"x:{message}"


@pytest.mark.parametrize(("lacking", "who"), [("quelle", "the srcset"), ("y", "sysid 'r'")])
def test_a_segment_that_one_lacks(lacking: str, who: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(MIXED.replace(f'"1">{lacking}', f'"2">{lacking}'))
    assert str(caught.value) == f"x:1: field 1: expected segment '1' of document 'd' in {who} too, found none"


def test_limit() -> None:
    with pytest.raises(FormatError, match="x:8: field 1: expected at most 0 segments, found more"):
        list(parse(Lines(io.BytesIO(REFERENCES.encode()), "x"), max_segments=0))


@given(st.data())
def test_any_text_is_segments_or_an_error(data: st.DataObject) -> None:
    pieces = [
        "<srcset>",
        "<doc docid=d>",
        "<seg id=1>",
        "</seg>",
        "</doc>",
        "</srcset>",
        "<p>",
        "<!--",
        "-->",
        "<?",
        "?>",
    ]
    pieces += [
        "\n",
        '"',
        "'",
        "<",
        ">",
        "&",
        "a",
        "=",
        "/",
        "<seg",
        "&#55296;",
        "<refset>",
        "</refset>",
        "<doc docid='e'>",
    ]
    text = "".join(data.draw(st.lists(st.sampled_from(pieces), max_size=25)))
    FORMAT.matches(text.encode())
    try:
        segments = read(text)
    except FormatError:
        return
    assert segments
    assert all("\n" not in segment.source for segment in segments)


@pytest.mark.parametrize("text", [REFERENCES, MIXED, "\ufeff \n<srcset>", "<!-- a --><!-- b -->\n<TSTSET setid=x>"])
def test_shape(text: str) -> None:
    assert detect(text.encode(), all_formats(), "x").name == "nist-sgm"


@pytest.mark.parametrize("text", ["", "<seg id=1>a</seg>\n", "a <srcset>\n", "<srcsets>\n", "<!-- " * 5000, "<html>\n"])
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())
