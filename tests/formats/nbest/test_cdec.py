"""cdec k-best lists: unordered features, blank lines for sentences without a parse, the feature dictionary."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pytest

from smtformats import Candidates, FormatError
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.nbest.cdec import FORMAT, parse, write

LISTS = """\
0 ||| the market opens early ||| Glue=2 LanguageModel=-8.25 WordPenalty=-1.73718 ||| -7.125
0 ||| the market soon opens ||| WordPenalty=-1.73718 LanguageModel=-9 PassThrough=1 ||| -8

2 ||| where is the key ? ||| Glue=-0 LanguageModel=1e-05 ||| 1e-3
"""


def read(text: str) -> list[Candidates]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x")))


def written(lists: Iterable[Candidates]) -> str:
    out = io.StringIO()
    write(lists, out, shortest)
    return out.getvalue()


def test_lists() -> None:
    first, second = read(LISTS)
    assert (first.id, second.id) == ("0", "2")
    assert list(first.rows()) == [
        ("the market opens early", {"Glue": 2, "LanguageModel": -8.25, "WordPenalty": -1.73718}, -7.125),
        ("the market soon opens", {"WordPenalty": -1.73718, "LanguageModel": -9, "PassThrough": 1}, -8),
    ]
    assert list(second.rows()) == [("where is the key ?", {"Glue": 0, "LanguageModel": 1e-05}, 1e-3)]
    assert (first.line, first.first, second.line, second.first) == (1, 0, 4, 2)
    assert second.before == "\n"
    assert written([first, second]) == LISTS


@pytest.mark.parametrize(
    ("line", "text", "features"),
    [
        ("0 ||| a ||| A=b=1 X==2 ||| 0\n", "a", {"A=b": 1, "X=": 2}),
        ("0 ||| a ||| Grün\u00a0x=1 Y\u2028=2 ||| 0\n", "a", {"Grün\u00a0x": 1, "Y\u2028": 2}),
        ("0 ||| a\u00a0b\u2028c\td\x85 ||| F=1 ||| 0\n", "a\u00a0b\u2028c\td\x85", {"F": 1}),
        ("0 |||  ||| F=1 ||| 0\n", "", {"F": 1}),
        ("0 ||| a |||  ||| 0\n", "a", {}),
        ("0 |||  |||  ||| 0\n", "", {}),
        ("0 ||| a=b | c ||| F=1 \t G=-.5e2 ||| 0", "a=b | c", {"F": 1, "G": -50}),
    ],
)
def test_spellings(line: str, text: str, features: dict[str, float]) -> None:
    (nbest,) = read(line)
    assert list(nbest.rows()) == [(text, features, 0)]
    assert written([nbest]) == line


@pytest.mark.parametrize("total", ["inf", "-inf"])
def test_infinite_total(total: str) -> None:
    (nbest,) = read(f"0 ||| a ||| F=1 ||| {total}\n")
    assert nbest.totals == [float(total)]
    assert written([nbest.with_totals([float(total)])]) == f"0 ||| a ||| F=1 ||| {total}\n"


def test_blank_lines_stay_where_they_were() -> None:
    text = "\n\n" + LISTS + "\n\n"
    first, second = read(text)
    assert (first.before, first.line, second.after) == ("\n\n", 3, "\n\n")
    assert written([first, second]) == text
    assert written([first.select([1]), second]) == "\n\n" + text.split("\n", 3)[3]


DICTIONARY = "Glue\nLanguageModel\nWordPenalty\nPassThrough\nLanguageModel_OOV\nA=b\n"


@pytest.mark.parametrize("gap", ["", "\n"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_feature_dictionary_is_kept(gap: str, end: str) -> None:
    text = LISTS + gap + DICTIONARY.removesuffix("\n") + end
    first, second = read(text)
    assert second.after == gap + DICTIONARY.removesuffix("\n") + end
    assert written([first, second]) == text
    for changed in (text.replace("\n", "\r\n"), text.replace("Glue=2 ", "")):
        assert written(read(changed)) == changed


def test_untouched_lines_are_copied() -> None:
    odd = LISTS.replace("LanguageModel=-8.25", "  LanguageModel=-8.2500 ").replace("-7.125", " -7.1250 ")
    for text in (odd, odd[:-1], odd.replace("\n", "\r\n")):
        assert written(read(text)) == text


def test_new_columns_change_the_features_alone() -> None:
    text = "0 ||| a ||| F=-3  ||| -5.0\n0 ||| b |||  ||| -6\n1 ||| c ||| G=1 ||| -7\r\n\n2 ||| d ||| A=b=1 ||| -8"
    lists = [nbest.with_columns([("len", "v[0]")] * len(nbest), [[1, 0.5]] * len(nbest)) for nbest in read(text)]
    assert written(lists) == (
        "0 ||| a ||| F=-3 len=1 v[0]=0.5  ||| -5.0\n0 ||| b ||| len=1 v[0]=0.5 ||| -6\n"
        "1 ||| c ||| G=1 len=1 v[0]=0.5 ||| -7\r\n\n2 ||| d ||| A=b=1 len=1 v[0]=0.5 ||| -8"
    )
    assert [list(nbest.rows()) for nbest in read(written(lists))] == [list(nbest.rows()) for nbest in lists]


def test_new_totals_change_the_total_alone() -> None:
    text = "0 ||| a ||| F=  -3 ||| -5.00\n0 ||| b ||| G=1 ||| -6 \r\n".replace("=  ", "=")
    (nbest,) = read(text)
    assert written([nbest.with_totals([-0.1, 2.0])]) == text.replace("-5.00", "-0.1").replace("-6", "2")


def test_composed() -> None:
    nbest = Candidates("7", ["a b", ""], [("F[0]", "A=b"), ()], [[-1.5, 0], []], totals=[-0.1, 5], after="lost\n")
    assert written([nbest]) == "7 ||| a b ||| F[0]=-1.5 A=b=0 ||| -0.1\n7 |||  |||  ||| 5\n"
    (again,) = read(written([nbest]))
    assert list(again.rows()) == list(nbest.rows())


def test_names_with_blanks_cannot_be_written() -> None:
    for name in ("a b", "", "a\tb", " a"):
        with pytest.raises(FormatError, match="field 3: expected a feature name without blanks"):
            written([Candidates("0", ["a"], [(name,)], [[1.0]], totals=[1.0])])


GOOD = "0 ||| a ||| F=1 ||| -5\n"
FIELDS = "expected 4 fields, `id ||| text ||| name=value ... ||| score`, found"
SHAPE = "expected `id ||| text ||| name=value ... ||| score`, found"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected an n-best list, found no hypothesis in the file"),
        ("\n\n", "1: field 1: expected an n-best list, found no hypothesis in the file"),
        ("hello\n" + GOOD, f"1: field 1: {FIELDS} 1"),
        (GOOD + "0 ||| a\n", f"2: field 3: {FIELDS} 2"),
        (GOOD + "0 ||| a ||| F=1\n", f"2: field 4: {FIELDS} 3"),
        (GOOD + "0 ||| a ||| F=1 ||| 1 ||| 0-0\n", f"2: field 5: {FIELDS} 5"),
        ("0 ||| a ||| F=1 ||| x\n", "1: field 4: expected a number as total score, found 'x'"),
        ("0 ||| a ||| F=1 ||| \n", "1: field 4: expected a number as total score, found ''"),
        ("0 ||| a ||| F=1 ||| nan\n", "1: field 4: expected a number as total score, found 'nan'"),
        ("0 ||| a ||| F=nan ||| -5\n", "1: field 3: expected a finite number, found 'nan'"),
        ("0 ||| a ||| F=1 G=-inf ||| -5\n", "1: field 3: expected a finite number, found '-inf'"),
        ("0 ||| a ||| F=1_0 ||| -5\n", "1: field 3: expected a finite number, found '1_0'"),
        ("0 ||| a ||| F= ||| -5\n", "1: field 3: expected a finite number, found ''"),
        ("0 ||| a ||| F=1 junk ||| -5\n", "1: field 3: expected name=value, found 'junk'"),
        ("0 ||| a ||| =1 ||| -5\n", "1: field 3: expected name=value, found '=1'"),
        ("0 ||| a ||| F=1 G=2 F=3 ||| -5\n", "1: field 3: expected each feature once, found 'F' twice"),
        ("5 ||| a ||| F=1 ||| 1\n" + GOOD, "2: field 1: expected an id after 5 (ids ascend), found '0'"),
        ("x ||| a ||| F=1 ||| 1\n", "1: field 1: expected a sentence id (a whole number), found 'x'"),
        (GOOD + "\n" + GOOD, "2: field 1: expected no blank line inside an n-best list, found a blank line"),
        (GOOD + "words behind the lists\n", f"2: field 1: {SHAPE} 'words behind the lists'"),
        (GOOD + "G\n", f"2: field 1: {SHAPE} 'G'"),
        (GOOD + "F\nG\n\nH\n", f"2: field 1: {SHAPE} 'F'"),
        (GOOD + "F\nG\n1 ||| a ||| F=1 ||| 1\n", f"2: field 1: {SHAPE} 'F'"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x:{message}")


def test_record() -> None:
    assert (FORMAT.name, FORMAT.kind) == ("cdec-nbest", "nbest")
