"""Joshua n-best lists: guessed and given templates, and what they cannot represent."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import Candidates, FormatError, all_formats, detect
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.nbest.joshua import FORMAT, guess_template, parse, template_of, write

LISTS = """\
0 ||| the market opens |0-1| early ||| tm_pt_0=-9.702 tm_pt_1=0.000 lm_0=-19.117 WordPenalty=-3.040 ||| -7.496
0 ||| -lsb- x -rsb- ||| tm_pt_0=-1.000 tm_pt_1=0.000 lm_0=-2.000 WordPenalty=-1.303 the_boy=1.000 ||| -0.001
2 ||| a ||| tm_pt_0=-1.000 tm_pt_1=0.000 lm_0=-2.000 WordPenalty=-1.303 ||| -Infinity
"""


def read(text: str, template: str = "") -> list[Candidates]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x"), template=template))


def written(lists: Iterable[Candidates], template: str = "") -> str:
    out = io.StringIO()
    write(lists, out, shortest, template=template)
    return out.getvalue()


def test_lists() -> None:
    first, second = read(LISTS)
    assert (first.id, second.id) == ("0", "2")
    assert list(first.rows()) == [
        (
            "the market opens |0-1| early",
            {"tm_pt_0": -9.702, "tm_pt_1": 0, "lm_0": -19.117, "WordPenalty": -3.04},
            -7.496,
        ),
        ("-lsb- x -rsb-", {"tm_pt_0": -1, "tm_pt_1": 0, "lm_0": -2, "WordPenalty": -1.303, "the_boy": 1}, -0.001),
    ]
    assert second.totals == [float("-inf")]
    assert (first.line, first.first, second.line, second.first) == (1, 0, 3, 2)
    assert written([first, second]) == LISTS
    assert detect(LISTS.encode(), all_formats(), "x").name == "joshua-nbest"


@pytest.mark.parametrize(
    ("line", "template", "extras"),
    [
        ("0 ||| 1 ||| a ||| tm_pt_0=1.000 ||| 5.000\n", "%i ||| %k ||| %s ||| %f ||| %c", {}),
        (
            "0 ||| 1 ||| a ||| tm_pt_0=1.000 ||| 5.000 ||| 0-0 1-0 ||| (GOAL{0-1} a)\n",
            "%i ||| %k ||| %s ||| %f ||| %c ||| %a ||| %t",
            {"alignment": ["0-0 1-0"], "tree": ["(GOAL{0-1} a)"]},
        ),
        (
            "0 ||| a ||| tm_pt_0=1.000 ||| 5.000 ||| ()\n",
            "%i ||| %s ||| %f ||| %c ||| %t",
            {"tree": ["()"]},
        ),
        (
            "0 ||| a ||| tm_pt_0=1.000 ||| 5.000 ||| ein Wort",
            "%i ||| %s ||| %f ||| %c ||| %e",
            {"input": ["ein Wort"]},
        ),
    ],
)
def test_the_first_line_shows_the_template(line: str, template: str, extras: dict[str, list[str]]) -> None:
    assert guess_template(line) == template
    (nbest,) = read(line)
    assert list(nbest.rows()) == [("a", {"tm_pt_0": 1}, 5)]
    assert nbest.extras == extras
    assert written([nbest]) == line
    assert detect(line.encode(), all_formats(), "x").name == "joshua-nbest"


def test_sentences_without_a_parse() -> None:
    text = (
        "0 ||| %k ||| quelle |||  ||| 0.000 ||| %a ||| ()\n"
        "1 ||| 1 ||| a ||| tm_pt_0=1.000 ||| 5.000 ||| 0-0 ||| (S a)\n"
    )
    first, second = read(text)
    assert list(first.rows()) == [("quelle", {}, 0)]
    assert (first.extras, second.extras) == (
        {"alignment": [""], "tree": ["()"]},
        {"alignment": ["0-0"], "tree": ["(S a)"]},
    )
    assert written([first, second]) == text


@pytest.mark.parametrize(
    ("template", "text", "ids", "rows"),
    [
        ("%c %s", "-1.5 a b\n-2 c\n", ["0", "1"], [("a b", {}, -1.5), ("c", {}, -2)]),
        ('"%c %s"', '"-1.5 a "b""\n', ["0"], [('a "b"', {}, -1.5)]),
        ("%s ||| %f ||| %c", " ||| F=1 ||| 2\n", ["0"], [("", {"F": 1}, 2)]),
        ("%c ||| %s ||| %f", "2 ||| a ||| F=1 A=b=2\n", ["0"], [("a", {"F": 1, "A=b": 2}, 2)]),
        ("%k\t%s", "1\ta\n2\tb\n1\tc\n", ["0", "1"], [("a", {}, None), ("b", {}, None), ("c", {}, None)]),
        ("%s", "a %i b\n", ["0"], [("a %i b", {}, None)]),
        ("100% %i: %s (%w)", "100% 7: a (%w)\n", ["7"], [("a", {}, None)]),
        ("%i#%s#%e#%c", "7#a#x y#1\n", ["7"], [("a", {}, 1)]),
    ],
)
def test_templates(
    template: str, text: str, ids: list[str], rows: list[tuple[str, dict[str, float], float | None]]
) -> None:
    for whole in (text, text.removesuffix("\n"), text.replace("\n", "\r\n")):
        lists = read(whole, template)
        assert [nbest.id for nbest in lists] == ids
        assert [row for nbest in lists for row in nbest.rows()] == rows
        assert written(lists) == written(lists, template) == whole


def test_changes_touch_their_piece_alone() -> None:
    text = "-1.50 | a ||| b | F=1.000  | 7\n-2.50 | c |  | 7\n"
    (nbest,) = read(text, "%c | %s | %f | %i")
    assert nbest.texts == ["a ||| b", "c"]
    wider = nbest.with_columns([("len",)] * 2, [[1.0]] * 2)
    assert written([wider]) == "-1.50 | a ||| b | F=1.000 len=1  | 7\n-2.50 | c | len=1 | 7\n"
    assert written([nbest.with_totals([3, 0.5])]) == text.replace("-1.50", "3").replace("-2.50", "0.5")
    assert written([wider.select([1])]) == "-2.50 | c | len=1 | 7\n"


@pytest.mark.parametrize("change", ["columns", "totals"])
def test_templates_without_a_place_say_so(change: str) -> None:
    (nbest,) = read("a\n", "%s")
    nbest = nbest.with_columns([("len",)], [[1.0]]) if change == "columns" else nbest.with_totals([1.0])
    with pytest.raises(FormatError) as caught:
        written([nbest])
    expected = (
        "expected a format that can hold the new features and totals (choose one with --to), found 'joshua-nbest'"
    )
    assert str(caught.value) == f"x:1: field 3: {expected}"


def test_another_template_is_written_when_named() -> None:
    lists = read("0 ||| 1 ||| a b ||| tm_pt_0=1.000 ||| 5.000 ||| 0-0\n")
    assert written(lists, "%c ||| %s ||| %a ||| %k") == "5 ||| a b ||| 0-0 ||| 1\n"
    assert written(lists, "%s") == "a b\n"


def test_composed() -> None:
    nbest = Candidates(
        "7",
        ["a b", ""],
        [("tm_pt_0", "A=b"), ()],
        [[-1.5, 0], []],
        totals=[-0.1, 5],
        extras={"tree": ["(S a b)", "()"]},
    )
    assert written([nbest]) == "7 ||| a b ||| tm_pt_0=-1.5 A=b=0 ||| -0.1\n7 |||  |||  ||| 5\n"
    assert list(read(written([nbest]))[0].rows()) == list(nbest.rows())
    aligned = Candidates("7", ["a", "b"], [()] * 2, [[]] * 2, totals=[1, 2], extras={"alignment": ["0-0", ""]})
    assert written([aligned]) == "7 ||| a |||  ||| 1 ||| 0-0\n7 ||| b |||  ||| 2 ||| \n"
    assert read(written([aligned]))[0].extras == aligned.extras
    assert written([nbest], "%i %k [%t] %s") == "7 1 [(S a b)] a b\n7 2 [()] \n"


@pytest.mark.parametrize(
    ("template", "change", "message"),
    [
        ("%i #%f# %s", {}, None),
        ("", {"layouts": [("a b",)]}, "x:4: field 3: expected a feature name without blanks, found 'a b'"),
        ("", {"texts": ["a ||| b"]}, "x:4: field 2: expected a text without `|||` or a line break, found 'a ||| b'"),
        (
            "",
            {"totals": None},
            "x:4: field 4: expected a total score (rescore the list with weights first), found none",
        ),
        ("", {"id": "d"}, "x:4: field 1: expected a sentence id (a whole number), found 'd'"),
        (
            "%s|%f",
            {"layouts": [("n|",)]},
            "x:4: field 3: expected a hypothesis that can be read back in the template %s|%f, found 'a|n|=1'",
        ),
    ],
)
def test_what_cannot_be_written(template: str, change: dict[str, object], message: str | None) -> None:
    parts = {"id": "0", "texts": ["a"], "layouts": [("n",)], "values": [[1.0]], "totals": [1.0]} | change
    nbest = Candidates(**parts, file="x", line=4)  # type: ignore[arg-type]
    if message is None:
        assert written([nbest], template) == "0 #n=1# a\n"
        return
    with pytest.raises(FormatError) as caught:
        written([nbest], template)
    assert str(caught.value) == message


TEMPLATES = ["%i ||| %s ||| %f ||| %c", "%c %k %s ||| %f", "%s\t%f\t%a\t%i", "<%i>%t# %s", "%f|%s|%c"]


@given(
    st.sampled_from(TEMPLATES),
    st.text("ab%is ", max_size=5).map(str.strip),
    st.dictionaries(st.text("ab%=é", min_size=1, max_size=3), st.floats(-9, 9), max_size=3),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_what_is_written_reads_back(template: str, text: str, features: dict[str, float], total: float) -> None:
    nbest = Candidates("3", [text], [tuple(features)], [list(features.values())], totals=[total])
    (again,) = read(file := written([nbest], template), template)
    names = template_of(template).names
    assert again.texts == [text]
    assert again.totals == ([total] if "c" in names else None)
    assert again.names() == (tuple(features) if "f" in names else ())
    assert written([again]) == file


GOOD = "0 ||| a ||| F=1.000 ||| -5.000\n"
USUAL = "of the template %i ||| %s ||| %f ||| %c, found none"
READABLE = "a template of %i %k %s %f %c %a %e %t"


@pytest.mark.parametrize(
    ("template", "text", "message"),
    [
        ("", "", "1: field 1: expected an n-best list, found no hypothesis in the file"),
        ("", "hello\n", f"1: field 2: expected ' ||| ' {USUAL}"),
        ("", GOOD + "\n", f"2: field 2: expected ' ||| ' {USUAL}"),
        ("", "0 ||| a ||| F=1.000\n", f"1: field 3: expected ' ||| ' {USUAL}"),
        ("", GOOD + "0 ||| a ||| F=1.000 ||| 5 ||| 0-0\n", "2: field 2: expected the fields of the template %i ||| %s"),
        ("%i#%s#%c", "0#a#5#0-0\n", "1: field 3: expected a number as total score, found '0-0'"),
        ("", GOOD + "0 ||| a ||| b ||| F=1.000 ||| 5\n", "2: field 2: expected the fields of the template %i ||| %s"),
        ("", "0 ||| a ||| F=x ||| 5\n", "1: field 3: expected a finite number, found 'x'"),
        ("", "0 ||| a ||| F=NaN ||| 5\n", "1: field 3: expected a finite number, found 'NaN'"),
        ("", "0 ||| a ||| F=1 F=2 ||| 5\n", "1: field 3: expected each feature once, found 'F' twice"),
        ("", "0 ||| a ||| F= 1 ||| 5\n", "1: field 3: expected name=value, found '1'"),
        ("", "0 ||| a ||| F=1 ||| NaN\n", "1: field 4: expected a number as total score, found 'NaN'"),
        ("", "x ||| a ||| F=1 ||| 5\n", "1: field 1: expected a sentence id (a whole number), found 'x'"),
        ("", "5 ||| a ||| F=1 ||| 5\n" + GOOD, "2: field 1: expected an id after 5 (ids ascend), found '0'"),
        ("%i ||| %k ||| %s", "0 ||| x ||| a\n", "1: field 2: expected a rank (a whole number), found 'x'"),
        ('"%c %s"', "1 a\n", '1: field 1: expected \'"\' of the template "%c %s", found none'),
        ('"%c %s"', '"1 a\n', '1: field 2: expected \'"\' of the template "%c %s", found none'),
        ("(%s)", "(\n", "1: field 1: expected '(' of the template (%s), found none"),
        ("%i %S", GOOD, f"1: expected {READABLE}, found %S, which cannot be read back"),
        ("%i %s %d", GOOD, f"1: expected {READABLE}, found %d, which cannot be read back"),
        ("%i %c", GOOD, "1: expected a template with the text, %s, found '%i %c'"),
        ("%i %s %i", GOOD, "1: expected each variable once in the template, found '%i %s %i'"),
        ("%i%s", GOOD, "1: expected a longer separator than '' next to %i in the template, found '%i%s'"),
        ("%s %f", GOOD, "1: expected a longer separator than ' ' next to %f in the template, found '%s %f'"),
    ],
)
def test_bad_input(template: str, text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text, template)
    assert str(caught.value).startswith(f"x:{message}")


def test_bad_template_for_writing() -> None:
    with pytest.raises(FormatError, match=r"joshua-nbest: expected a template with the text, %s, found '%i'"):
        written([], "%i")


def test_record() -> None:
    assert (FORMAT.name, FORMAT.kind) == ("joshua-nbest", "nbest")
