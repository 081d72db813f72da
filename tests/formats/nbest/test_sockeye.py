"""sockeye n-best lists: parallel arrays of texts and scores."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import Candidates, FormatError, all_formats, detect
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.nbest.sockeye import FORMAT, parse, write
from smtplugins.host.files.lists import best_text

LISTS = """\
{"sentence_id": 1, "translation": "a man", "translations": ["a man", "the man"], "scores": [0.50, 7e-1]}
{"sentence_id":2,"scores":[[1.5,2]],"translations":[""],"features":[{"lm":-3,"len":1.0}]}
{"sentence_id":3, "translations" : ["a" , "b"], "scores" : [[1, 2] , [ 2 ,3]], "k":1}
"""


def read(text: str, **options: Any) -> list[Candidates]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x"), **options))


def written(lists: Iterable[Candidates]) -> str:
    out = io.StringIO()
    write(lists, out, shortest)
    return out.getvalue()


def plain(lists: Iterable[Candidates]) -> list[Any]:
    # Numbers as text, for -0 is not 0.
    return [
        (
            nbest.id,
            nbest.source,
            [(text, {n: repr(v) for n, v in row.items()}, repr(t)) for text, row, t in nbest.rows()],
        )
        for nbest in lists
    ]


def test_lists() -> None:
    lists = read(LISTS)
    assert [nbest.id for nbest in lists] == ["0", "1", "2"]
    assert [row for nbest in lists for row in nbest.rows()] == [
        ("a man", {"score": 0.5}, -0.5),
        ("the man", {"score": 0.7}, -0.7),
        ("", {"lm": -3, "len": 1}, -1.5),
        ("a", {"score[0]": 1, "score[1]": 2}, -1),
        ("b", {"score[0]": 2, "score[1]": 3}, -2),
    ]
    assert [nbest.extras for nbest in lists] == [{"translation": ["a man"] * 2}, {}, {"k": ["1", "1"]}]
    assert [(nbest.line, nbest.first) for nbest in lists] == [(1, 0), (2, 2), (3, 3)]
    for text in (LISTS, LISTS[:-1], LISTS.replace("\n", "\r\n"), "\n" + LISTS + "\n"):
        assert written(read(text)) == text
    assert detect(LISTS.encode(), all_formats(), "x").name == "sockeye-nbest"


@pytest.mark.parametrize("name", ["hypotheses", "candidates", "outputs", "nbest", "translations"])
def test_names_of_the_texts(name: str) -> None:
    text = f'{{"src": "x", "{name}": ["a"], "scores": [1]}}\n'
    (nbest,) = read(text)
    assert (nbest.source, list(nbest.rows())) == ("x", [("a", {"score": 1}, -1)])
    assert detect(text.encode(), all_formats(), "x").name == "sockeye-nbest"


def test_lists_without_hypotheses_stay_where_they_were() -> None:
    text = '{"translations": [], "scores": []}\n{"translations": ["a"], "scores": [1]}\n{"nbest": [], "scores": []}\n'
    (nbest,) = read(text)
    assert (nbest.id, nbest.line) == ("1", 2)
    assert written([nbest]) == text


def test_new_columns_stand_in_an_array_of_their_own() -> None:
    lists = [nbest.with_columns([("n",)] * len(nbest), [[1.0]] * len(nbest)) for nbest in read(LISTS)]
    assert written(lists) == (
        '{"sentence_id": 1, "translation": "a man", "translations": ["a man", "the man"], "scores": [0.50, 7e-1], '
        '"features": [{"score": 0.5, "n": 1}, {"score": 0.7, "n": 1}]}\n'
        '{"sentence_id":2,"scores":[[1.5,2]],"translations":[""],"features":[{"lm":-3,"len":1.0, "n": 1}]}\n'
        '{"sentence_id":3, "translations" : ["a" , "b"], "scores" : [[1, 2] , [ 2 ,3]], '
        '"features": [{"score[0]": 1, "score[1]": 2, "n": 1}, {"score[0]": 2, "score[1]": 3, "n": 1}], "k":1}\n'
    )
    assert plain(read(written(lists))) == plain(lists)


def test_new_totals_take_the_place_of_the_first_score() -> None:
    lists = [nbest.with_totals([9.0 - i for i in range(len(nbest))]) for nbest in read(LISTS)]
    assert written(lists) == (
        '{"sentence_id": 1, "translation": "a man", "translations": ["a man", "the man"], "scores": [-9, -8], '
        '"features": [{"score": 0.5}, {"score": 0.7}]}\n'
        '{"sentence_id":2,"scores":[[-9,2]],"translations":[""],"features":[{"lm":-3,"len":1.0}]}\n'
        '{"sentence_id":3, "translations" : ["a" , "b"], "scores" : [[-9, 2] , [ -8 ,3]], '
        '"features": [{"score[0]": 1, "score[1]": 2}, {"score[0]": 2, "score[1]": 3}], "k":1}\n'
    )
    assert plain(read(written(lists))) == plain(lists)


def test_selection() -> None:
    lists = read(LISTS)
    assert written([lists[0].select([1, 0])]) == (
        '{"sentence_id": 1, "translation": "a man", "translations": ["the man", "a man"], "scores": [7e-1, 0.50]}\n'
    )
    assert written([lists[2].select([1])]) == '{"sentence_id":3, "translations" : ["b"], "scores" : [[ 2 ,3]], "k":1}\n'
    assert written([lists[2].select([])]) == '{"sentence_id":3, "translations" : [], "scores" : [], "k":1}\n'


def test_composed() -> None:
    nbest = Candidates("d-1", ["a\n", "b"], [("score",)] * 2, [[0.5], [1.0]], totals=[-0.5, -1.0], source="ä")
    assert written([nbest]) == (
        '{"sentence_id": "d-1", "source": "ä", "translations": ["a\\n", "b"], "scores": [0.5, 1]}\n'
    )
    other = Candidates("7", ["a"], [("lm", "F[0]")], [[-0.5, 2.0]], totals=[3.0])
    assert written([other]) == (
        '{"sentence_id": 8, "translations": ["a"], "scores": [-3], "features": [{"lm": -0.5, "F[0]": 2}]}\n'
    )
    assert plain(read(written([nbest, other]))) == plain([nbest, other])
    with pytest.raises(FormatError, match=r"field 1: expected total scores \(rescore the list with weights first\)"):
        written([Candidates("7", ["a"], [()], [[]])])
    with pytest.raises(FormatError, match="field 1: expected a finite number"):
        written([other.with_totals([float("inf")])])


def test_scores_are_negative_log_probabilities() -> None:
    # Output of sockeye.translate --nbest-size: a batch, best first.
    text = """\
{"score": 0.0, "scores": [0.0, 0.31, 1.5], "sentence_id": 1, "translation": "x", "translations": ["x", "y", "z"]}
{"score": 0.2, "scores": [[0.2], [0.2]], "sentence_id": 2, "translation": "u", "translations": ["u", "v"]}
"""
    lists = read(text)
    assert [(nbest.id, nbest.totals) for nbest in lists] == [("0", [0.0, -0.31, -1.5]), ("1", [-0.2, -0.2])]
    assert repr(lists[0].totals) == "[0.0, -0.31, -1.5]"
    assert lists[0].values == [[0.0], [0.31], [1.5]]
    assert written(lists) == text


FALLING = '{"translations": ["good", "bad"], "scores": [61.5, 20.25]}\n'


def test_falling_scores_need_a_word_on_what_they_are() -> None:
    with pytest.raises(FormatError, match=r"field 2: expected the lowest score first.*, found 61.5 before 20"):
        read(FALLING)
    (nbest,) = read(FALLING, better="higher")
    assert nbest.totals == [61.5, 20.25]
    (other,) = read(FALLING, better="lower")
    assert other.totals == [-61.5, -20.25]
    assert written([nbest]) == written([other]) == FALLING
    # Changed totals keep the sign of the file's scores, whether its lines are copied or composed.
    changed = nbest.with_totals([2.0, 1.0])
    assert '"scores": [2, 1]' in written([changed])
    assert '"scores": [2, 1]' in written([changed.with_texts(["a", "b"])])
    assert '"scores": [-2, -1]' in written([other.with_totals([2.0, 1.0])])
    # sockeye.rerank sorts by a metric and keeps the scores: the first is the best, as it is of all of its lists.
    reranked = '{"translations": ["a", "b", "c"], "scores": [2, 1, 3]}\n'
    with pytest.raises(FormatError, match=r"the lowest score first, .*better=first.*, found 2 before 1"):
        read(reranked)
    assert read(reranked, better="lower")[0].totals == [-2, -1, -3]
    (first,) = read(reranked, better="first")
    assert (first.totals, first.values, best_text(first)) == (None, [[2], [1], [3]], "a")
    assert written([first]) == reranked
    assert read(written([first.with_totals([1.0, 3.0, 2.0]).select([1, 2, 0])]))[0].totals == [3.0, 2.0, 1.0]
    assert read('{"translations": ["a", "b", "c"], "scores": [1, 3, 2]}\n')[0].totals == [-1, -3, -2]
    assert read('{"translations": ["a", "b"], "scores": [2, 2]}\n')[0].totals == [-2, -2]


def test_sentences_count_from_one() -> None:
    text = '{"sentence_id": %s, "translations": ["a"], "scores": [1]}\n'
    assert [nbest.id for nbest in read(text % 1 + text % 3)] == ["0", "2"]
    assert [nbest.id for nbest in read(text % 0 + text % 3, first=0)] == ["0", "3"]
    assert [nbest.id for nbest in read(text % '"7"' + text % '"a"' + text.replace("sentence_", "") % 5)] == [
        "7",
        "a",
        "5",
    ]
    with pytest.raises(
        FormatError, match=r"x:1: field 1: expected a sentence_id of at least 1 \(.*first=0.*\), found 0$"
    ):
        read(text % 0)
    with pytest.raises(FormatError, match="expected first=0 or first=1, found 2"):
        read(text % 1, first=2)
    assert written([nbest.with_texts(["b"]) for nbest in read(text % 4, first=0)]) == (text % 4).replace('"a"', '"b"')
    assert written([nbest.with_texts(["b"]) for nbest in read(text % 4)]) == (text % 4).replace('"a"', '"b"')


def test_each_id_once() -> None:
    with pytest.raises(FormatError, match=r"x:3: field 1: expected each id once, found '00' again \(first at x:1\)"):
        read(GOOD.replace("{", '{"id": 0, ') + "\n" + GOOD.replace("{", '{"id": "00", '))


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
# A total of -0 comes back as 0.
TOTALS = NUMBERS.map(lambda number: number + 0.0)
TEXTS = st.text('aé \\"|\n\u2028\0,:[]{}', max_size=8)
FEATURES = st.dictionaries(st.text('aF[0]= é"', max_size=4), NUMBERS, max_size=3)


@st.composite
def files(draw: st.DrawFn) -> str:
    lines = []
    for size in draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)):
        scores = draw(st.sampled_from([NUMBERS, st.lists(NUMBERS, min_size=1, max_size=3)]))
        whole: dict[str, Any] = {
            "translations": draw(st.lists(TEXTS, min_size=size, max_size=size)),
            "scores": draw(st.lists(scores, min_size=size, max_size=size)),
            "n": draw(NUMBERS),
        }
        if draw(st.booleans()):
            whole["features"] = draw(st.lists(FEATURES, min_size=size, max_size=size))
        separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]))
        whole = dict(draw(st.permutations(list(whole.items()))))
        lines.append(json.dumps(whole, ensure_ascii=draw(st.booleans()), separators=separators))
    return "\n".join(lines) + draw(st.sampled_from(["\n", "\r\n", ""]))


@given(files())
def test_untouched_bytes_come_back(text: str) -> None:
    lists = read(text, better="lower")
    assert written(lists) == text
    assert written([nbest.select(range(len(nbest))) for nbest in lists]) == text


@given(files(), st.data())
def test_changes_are_read_back(text: str, data: st.DataObject) -> None:
    changed = []
    for nbest in read(text, better="lower"):
        if data.draw(st.booleans(), "columns"):
            nbest = nbest.with_columns([("new", 'n "é')] * len(nbest), [[float(i), -0.0] for i in range(len(nbest))])
        if data.draw(st.booleans(), "totals"):
            nbest = nbest.with_totals(data.draw(st.lists(TOTALS, min_size=len(nbest), max_size=len(nbest))))
        order = data.draw(st.lists(st.integers(0, len(nbest) - 1), min_size=1, unique=True), "order")
        changed.append(nbest.select(order))
    again = read(written(changed), better="lower")
    assert plain(again) == plain(changed)
    assert [nbest.extras for nbest in again] == [nbest.extras for nbest in changed]


GOOD = '{"translations": ["a"], "scores": [1]}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected an n-best list, found no hypothesis in the file"),
        (GOOD + "hello\n", "2: field 1: expected `{` at column 1, found 'hello'"),
        (GOOD + '{"scores": [1]}\n', "2: field 1: expected an array named translations, found none"),
        ('{"translations": "a", "scores": [1]}\n', "1: field 1: expected an array named translations, found none"),
        ('{"translations": ["a"]}\n', "1: field 1: expected an array of 1 scores, found none"),
        ('{"translations": ["a"], "scores": 5}\n', "1: field 2: expected an array of 1 scores, found 5"),
        ('{"translations": ["a"], "scores": [1, 2]}\n', "1: field 2: expected an array of 1 scores, found 2"),
        (
            '{"translations": ["a"], "scores": [1], "features": [{}, {}]}\n',
            "1: field 3: expected an array of 1 features, found 2",
        ),
        (
            '{"translations": ["a"], "scores": [1], "features": [5]}\n',
            "1: field 3: expected hypothesis 1: an object of numbers, found 5",
        ),
        (
            '{"translations": ["a"], "scores": [1], "features": [{"a": "b"}]}\n',
            "1: field 3: expected hypothesis 1: a finite number, found 'b'",
        ),
        ('{"translations": ["a", 5], "scores": [1, 2]}\n', "1: field 1: expected hypothesis 2: a string, found 5"),
        (
            '{"translations": ["a"], "scores": [null]}\n',
            "1: field 2: expected hypothesis 1: a finite number, found null",
        ),
        (
            '{"translations": ["a"], "scores": [[]]}\n',
            "1: field 2: expected hypothesis 1: a number or an array of numbers",
        ),
        (
            '{"translations": ["a"], "scores": [[1, "2"]]}\n',
            "1: field 2: expected hypothesis 1: a finite number, found '2'",
        ),
        ('{"translations": ["a"], "scores": [Infinity]}\n', "1: field 2: expected a finite number, found 'Infinity'"),
        ('{"translations": ["a"], "scores": [1e999]}\n', "1: field 2: expected hypothesis 1: a finite number, found"),
        (
            '{"translations": ["a"], "scores": [1\n',
            "1: field 2: expected `,` or `]` at column 38, found the end of the",
        ),
        ('{"translations": [' + "[" * 100000 + "\n", "1: field 1: expected JSON nested at most 64 deep, found more"),
        (
            r'{"translations": ["\udc00"], "scores": [1]}',
            r"1: field 1: expected hypothesis 1: a text without lone surrogates, found '\udc00'",
        ),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x:{message}")


def test_record() -> None:
    assert (FORMAT.name, FORMAT.kind) == ("sockeye-nbest", "nbest")
