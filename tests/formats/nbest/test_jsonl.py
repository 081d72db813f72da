"""JSON lines: aliases, spellings of a candidate, byte-exact copies and errors."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import Candidates, FormatError, all_formats, detect
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.nbest import sockeye
from smtformats.nbest.jsonl import FORMAT, parse, write

LISTS = """\
{"id": "d-1", "source": "ein Mann", "hypotheses": [{"text": "a man", "scores": {"lm": -3.50, "tm": -2}, "score": -1}, \
{"text": "man", "scores": {"lm": -4e0}, "score": -2.0}], "topic": 7}
{"id": 7, "candidates":["a" , "b"]}
{"id" : 2.0, "outputs":[{"hyp":"c","logprob":-0.5}]}
"""


def read(text: str) -> list[Candidates]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x")))


def written(lists: Iterable[Candidates]) -> str:
    out = io.StringIO()
    assert write(lists := list(lists), out, shortest) == len(lists)
    return out.getvalue()


def rows(text: str) -> list[tuple[str, dict[str, float], float | None]]:
    return [row for nbest in read(text) for row in nbest.rows()]


def test_lists() -> None:
    first, second, third = read(LISTS)
    assert [nbest.id for nbest in (first, second, third)] == ["d-1", "7", "2"]
    assert list(first.rows()) == [("a man", {"lm": -3.5, "tm": -2}, -1), ("man", {"lm": -4}, -2)]
    assert list(second.rows()) == [("a", {}, None), ("b", {}, None)]
    assert list(third.rows()) == [("c", {"logprob": -0.5}, -0.5)]
    assert (first.source, second.source) == ("ein Mann", None)
    assert first.extras == {"topic": ["7", "7"]}
    assert [(nbest.line, nbest.first) for nbest in (first, second, third)] == [(1, 0), (2, 2), (3, 4)]
    assert written([first, second, third]) == LISTS


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        ('"a"', ("a", {}, None)),
        ('{"text": "a"}', ("a", {}, None)),
        ('{"hyp": "a", "score": -1}', ("a", {"score": -1}, -1)),
        ('{"translation": "a", "scores": -1}', ("a", {"score": -1}, -1)),
        ('{"output": "a", "logprob": -1}', ("a", {"logprob": -1}, -1)),
        ('{"hypothesis": "a", "score": {"lm": 1}}', ("a", {"lm": 1}, None)),
        ('{"text": "a", "score": {"lm": 1}, "scores": 5}', ("a", {"lm": 1}, 5)),
        ('{"text": "a", "scores": {}, "logprob": 1e1}', ("a", {}, 10)),
        ('{"text": "a", "scores": null, "score": null}', ("a", {}, None)),
        ('{"text": "a", "logprob": -1, "score": -2}', ("a", {"score": -2, "logprob": -1}, -2)),
        (r'{"text": "\u0061\n|||\u2028\u0000"}', ("a\n|||\u2028\0", {}, None)),
        ('{"text": "a", "output": ["b"], "scores": {"": 1, "a b": 2}}', ("a", {"": 1, "a b": 2}, None)),
    ],
)
def test_spellings(candidate: str, expected: Any) -> None:
    for name in ("hypotheses", "candidates", "outputs", "nbest", "translations"):
        line = f'{{"{name}": [{candidate}]}}\n'
        assert rows(line) == [expected]
        assert written(read(line)) == line
        assert detect(line.encode(), all_formats(), "x").name == "jsonl-nbest"


@pytest.mark.parametrize("name", ["source", "src", "input"])
def test_source(name: str) -> None:
    (nbest,) = read(f'{{"sentence_id": "s", "{name}": "ein Mann", "nbest": ["a"]}}')
    assert (nbest.id, nbest.source, nbest.extras) == ("s", "ein Mann", {})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"nbest":["a"] }\r\n', '{"nbest":["a"], "source": "\u00e4\\"" }\r\n'),
        ('\n {"src":"b","nbest":["a"]}', '\n {"src":"\u00e4\\"","nbest":["a"]}'),
        ('{"source":5,"nbest":["a"]}\n', '{"source":"\u00e4\\"","nbest":["a"]}\n'),
        ('{"src":"\\u00e4\\"","nbest":["a"]}\n', None),
        ('{"src":"\\u00E4\\"","nbest":["a"]}\n', None),
        ('{"src":"\u00e4\\"","nbest":["a"]}\n', None),
    ],
)
def test_joined_sources(before: str, after: str | None) -> None:
    (nbest,) = read(before)
    joined = replace(nbest, source='\u00e4"')
    assert written([joined]) == (after or before)
    assert read(written([joined]))[0].source == joined.source
    rescored = read(written([joined.with_totals([2.0])]))[0]
    assert (rescored.source, rescored.totals) == (joined.source, [2.0])


def test_other_members_are_fields_of_the_hypotheses() -> None:
    (nbest,) = read('{"input": [1], "nbest": [{"text": "a", "n": 1.5}, "b", {"text": "c", "m": "x", "n": null}]}')
    assert nbest.extras == {"input": ["[1]"] * 3, "n": ["1.5", "", ""], "m": ["", "", "x"]}


def test_lines_without_candidates_stay_where_they_were() -> None:
    text = '\n{"id": 0, "nbest": []}\n{"nbest": ["a"]}\r\n \n{"nbest": ["b"]}\n{"nbest": []}\n'
    first, second = read(text)
    assert (first.id, second.id, first.line, second.line) == ("1", "2", 3, 5)
    assert second.after == '{"nbest": []}\n'
    assert written([first, second]) == text
    assert written(read(text[:-1])) == text[:-1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('["a" , "b"]', '[{"text": "a", "scores": {"len": 1}} , {"text": "b", "scores": {"len": 1}}]'),
        ('[{"text":"a","scores":{}}]', '[{"text":"a","scores":{"len": 1}}]'),
        ('[{"text":"a","scores":{"x":-1.50 } }]', '[{"text":"a","scores":{"x":-1.50, "len": 1 } }]'),
        ('[{"score":-1.50,"text":"a"}]', '[{"score":-1.50,"text":"a", "scores": {"score": -1.5, "len": 1}}]'),
        ('[{"scores":-1.50,"text":"a"}]', '[{"scores":{"score": -1.5, "len": 1},"text":"a", "score": -1.50}]'),
        ('[{"text":"a","scores":null}]', '[{"text":"a","scores":{"len": 1}}]'),
    ],
)
def test_new_columns(before: str, after: str) -> None:
    text, wanted = (f'{{"nbest":{items},"n":1.0}}\n' for items in (before, after))
    (nbest,) = read(text)
    wider = nbest.with_columns([("len",)] * len(nbest), [[1.0]] * len(nbest))
    assert written([wider]) == wanted
    assert rows(wanted) == list(wider.rows())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('["a"]', '[{"text": "a", "scores": {}, "score": 9}]'),
        ('[{"text":"a","scores":{"x":-1.50},"score" : 5}]', '[{"text":"a","scores":{"x":-1.50},"score" : 9}]'),
        ('[{"text":"a","scores":{"x":-1.50}}]', '[{"text":"a","scores":{"x":-1.50}, "score": 9}]'),
        ('[{"text":"a","score":{"x":1}}]', '[{"text":"a","score":{"x":1}, "scores": 9}]'),
        ('[{"score":5,"text":"a"}]', '[{"score":9,"text":"a", "scores": {"score": 5}}]'),
        ('[{"scores":5,"text":"a"}]', '[{"scores":{"score": 5},"text":"a", "score": 9}]'),
        ('[{"logprob":5,"text":"a"}]', '[{"logprob":9,"text":"a", "scores": {"logprob": 5}}]'),
    ],
)
def test_new_totals(before: str, after: str) -> None:
    text, wanted = (f'{{"nbest":{items},"n":1.0}}\n' for items in (before, after))
    (nbest,) = read(text)
    rescored = nbest.with_totals([9.0])
    assert written([rescored]) == wanted
    assert rows(wanted) == list(rescored.rows())


def test_selection() -> None:
    text = '{"nbest":[ "a" ,\t"b","c"  ]}'
    (nbest,) = read(text)
    assert written([nbest.select([0, 1, 2])]) == text
    assert written([nbest.select([2, 0])]) == '{"nbest":[ "c" ,\t"a"  ]}'
    assert written([nbest.select([1]), nbest.select([])]) == '{"nbest":[ "b"  ]}\n{"nbest":[   ]}'


def test_composed() -> None:
    nbest = Candidates(
        "007",
        ["a\n|||", "\u2028"],
        [("F[0]", "A b"), ("score",)],
        [[-1.5, 0], [5]],
        totals=[-0.1, 5],
        source='"x"',
        extras={"alignment": ["0-0", ""], "mine": ["1", "2"]},
    )
    text = written([nbest])
    assert text == (
        '{"id": "007", "source": "\\"x\\"", "hypotheses": [{"text": "a\\n|||", "score": -0.1, '
        '"scores": {"F[0]": -1.5, "A b": 0}, "alignment": "0-0", "mine": "1"}, '
        '{"text": "\u2028", "score": 5, "mine": "2"}]}\n'
    )
    (again,) = read(text)
    assert (again.id, again.source, list(again.rows())) == (nbest.id, nbest.source, list(nbest.rows()))
    assert again.extras == nbest.extras
    for name in ("text", "translation", "cumulative_logprob", "score", "logprob"):
        with pytest.raises(FormatError, match="x:3: field 1: expected extra fields with names other than"):
            written([replace(nbest, extras={name: ["1", "2"]}, file="x", line=3)])
    assert written([Candidates("7", ["a"], [()], [[]])]) == '{"id": 7, "hypotheses": [{"text": "a", "scores": {}}]}\n'


@pytest.mark.parametrize("totals", [[float("inf")], [float("nan")]])
def test_json_has_finite_numbers_alone(totals: list[float]) -> None:
    lists = [Candidates("7", ["a"], [()], [[]], totals=totals, file="x", line=3), *read('{"nbest":["a"]}\n')]
    for nbest in lists:
        with pytest.raises(FormatError, match="field 1: expected a finite number \\(JSON has no others\\), found"):
            written([nbest.with_totals(totals)])


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text('aé \\"|\n\u2028\0,:[]{}', max_size=8)
LAYOUTS = st.dictionaries(st.text('aF[0]= é"', max_size=4), NUMBERS, max_size=3)


@st.composite
def candidates(draw: st.DrawFn, scored: bool) -> Any:
    text = draw(TEXTS)
    item: dict[str, Any] = {draw(st.sampled_from(["text", "hyp", "output"])): text}
    if not scored and draw(st.booleans()):
        return text
    if draw(st.booleans()):
        item["scores"] = draw(LAYOUTS)
    if scored:
        item[draw(st.sampled_from(["score", "logprob"]))] = draw(NUMBERS)
    if draw(st.booleans()):
        item["more"] = draw(st.recursive(st.none() | TEXTS | NUMBERS, lambda inner: st.lists(inner, max_size=2)))
    return dict(draw(st.permutations(list(item.items()))))


@st.composite
def files(draw: st.DrawFn) -> str:
    lines = []
    keys = TEXTS.filter(bool) | NUMBERS.map(lambda number: number + 0.5) if draw(st.booleans()) else st.none()
    for key in draw(st.lists(keys, min_size=1, max_size=3, unique_by=lambda key: key and json.dumps(key))):
        items = draw(st.lists(candidates(draw(st.booleans())), min_size=1, max_size=3))
        whole = {"id": key, "n": draw(NUMBERS), draw(st.sampled_from(["nbest", "hypotheses"])): items}
        separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : "), (",\r", "\r:\r")]))
        whole = dict(draw(st.permutations(list(whole.items()))))
        lines.append(json.dumps(whole, ensure_ascii=draw(st.booleans()), separators=separators))
    return "\n".join(lines) + draw(st.sampled_from(["\n", "\r\n", ""]))


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


@given(files())
def test_untouched_bytes_come_back(text: str) -> None:
    assert written(read(text)) == text
    assert written([nbest.select(range(len(nbest))) for nbest in read(text)]) == text


@given(files(), st.data())
def test_changes_are_read_back_and_touch_nothing_else(text: str, data: st.DataObject) -> None:
    changed = []
    for nbest in read(text):
        if data.draw(st.booleans(), "columns"):
            rows = [[float(i), -0.0] for i in range(len(nbest))]
            nbest = nbest.with_columns([("new", 'n "é')] * len(nbest), rows)
        if data.draw(st.booleans(), "totals"):
            nbest = nbest.with_totals(data.draw(st.lists(NUMBERS, min_size=len(nbest), max_size=len(nbest))))
        order = data.draw(st.lists(st.integers(0, len(nbest) - 1), min_size=1, unique=True), "order")
        changed.append(nbest.select(order))
    again = read(written(changed))
    assert plain(again) == plain(changed)
    assert [nbest.extras for nbest in again] == [nbest.extras for nbest in changed] or any(
        len(new) < len(old) for new, old in zip(again, read(text), strict=True)
    )


@given(st.lists(st.tuples(TEXTS, LAYOUTS, NUMBERS), min_size=1, max_size=3), st.booleans())
def test_composed_lists_read_back(items: list[tuple[str, dict[str, float], float]], scored: bool) -> None:
    nbest = Candidates(
        "3",
        [text for text, _, _ in items],
        [tuple(layout) for _, layout, _ in items],
        [list(layout.values()) for _, layout, _ in items],
        totals=[total for _, _, total in items] if scored else None,
    )
    assert plain(read(written([nbest]))) == plain([nbest])


def test_conversion() -> None:
    records = {record.name: record for record in all_formats()}
    text = "0 ||| a b  ||| LM0= -3 TM0= -1 -2 ||| -6\n5 |||   ||| LM0= 0 ||| -0.25\n"
    first = list(records["moses-nbest"].parse(Lines(io.BytesIO(text.encode()), "x")))  # type: ignore[misc]
    json_lists = read(written(first))
    assert plain(json_lists) == plain(first)
    for name in ("moses-nbest", "cdec-nbest"):
        record, out = records[name], io.StringIO()
        assert record.parse is not None
        assert record.write is not None
        record.write(json_lists, out, shortest)
        again = list(record.parse(Lines(io.BytesIO(out.getvalue().encode()), "x")))
        assert plain(again) == plain(first)


GOOD = '{"id": 1, "nbest": ["a"]}\n'
NAMES = "an array named hypotheses, candidates, outputs, nbest or translations"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected an n-best list, found no hypothesis in the file"),
        ('\n{"nbest": []}\n', "1: field 1: expected an n-best list, found no hypothesis in the file"),
        (GOOD + "[]\n", "2: field 1: expected `{` at column 1, found '[]'"),
        (GOOD + "{}\n", f"2: field 1: expected {NAMES}, found none"),
        ('{"id": 1, "nbest": "a"}\n', f"1: field 1: expected {NAMES}, found none"),
        ('{"id": 1, "nbest": ["a"]\n', "1: field 2: expected `,` or `}` at column 26, found the end of the line"),
        ('{"id": 1, "nbest": ["a" "b"]}\n', "1: field 2: expected `,` or `]` at column 25, found '\"b\"]}'"),
        ('{"id": 1, "nbest": ["a",]}\n', "1: field 2: expected JSON, found expecting value at column 25"),
        ('{"id": 1, nbest: ["a"]}\n', '1: field 2: expected `"` at column 11, found \'nbest: ["a"]}\''),
        ('{"id": 1, "nbest": ["a"]} {}\n', "1: field 2: expected one JSON object on the line, found '{}' after it"),
        ('{"id": 1, "id": 2, "nbest": ["a"]}\n', "1: field 2: expected each name once in an object, found 'id' twice"),
        ('{"id": "", "nbest": ["a"]}\n', "1: field 1: expected a string that is not empty as id, found ''"),
        ('{"id": [], "nbest": ["a"]}\n', "1: field 1: expected a string or a number as id, found []"),
        ('{"id": true, "nbest": ["a"]}\n', "1: field 1: expected a string or a number as id, found true"),
        ('{"id": NaN, "nbest": ["a"]}\n', "1: field 1: expected a finite number, found 'NaN'"),
        ('{"nbest": ["a", 5]}\n', "1: field 1: expected candidate 2: a string or an object, found 5"),
        (
            '{"nbest": [{"txt": "a"}]}\n',
            "1: field 1: expected candidate 1: a text named text, hyp, translation, output or hypothesis, found none",
        ),
        ('{"nbest": [{"text": null}]}\n', "1: field 1: expected candidate 1: a string as text, found null"),
        ('{"nbest": [{"text": "a", "score": "5"}]}\n', "1: field 1: expected candidate 1: a finite number as score,"),
        ('{"nbest": [{"text": "a", "score": 1e999}]}\n', "1: field 1: expected candidate 1: a finite number as score,"),
        ('{"nbest": [{"text": "a", "score": true}]}\n', "1: field 1: expected candidate 1: a finite number as score,"),
        ('{"nbest": [{"text": "a", "scores": {"lm": [1]}}]}\n', "1: field 1: expected candidate 1: a finite number as"),
        (
            '{"nbest": [{"text": "a", "scores": {"lm": 1, "lm": 1}}]}\n',
            "1: field 1: expected each name once in an object, found 'lm' twice",
        ),
        (
            '{"nbest": [{"text": "a", "scores": {}, "logprob": {}}]}\n',
            "1: field 1: expected candidate 1: one object with scores, found two",
        ),
        (
            '{"nbest": [{"text": "a", "scores": 1, "score": 2}]}\n',
            "1: field 1: expected candidate 1: a number as either score or scores, found both",
        ),
        (
            '{"nbest": [{"text": "a", "score": 1}, "b"]}\n',
            "1: field 1: expected candidate 2: a total score for all candidates or for none, found none",
        ),
        (
            '{"nbest": ["b", {"text": "a", "score": 1}]}\n',
            "1: field 1: expected candidate 2: a total score for all candidates or for none, found one",
        ),
        (
            '{"nbest": ["b"], "scores": [1]}\n',
            "1: field 2: expected scores inside the candidates (--from jsonl-nbest,text=nbest.*,score=scores.* or "
            "--from sockeye-nbest reads parallel arrays), found",
        ),
        (
            '{"nbest": [{"text": "b"}], "logprobs": [1]}\n',
            "1: field 2: expected scores inside the candidates (--from jsonl-nbest,text=nbest.*.text,score=logprobs.* "
            "reads parallel arrays), found an array of logprobs",
        ),
        (
            '{"nbest": [{"text": "b", "rank": 2}, {"text": "a", "rank": 1}]}\n',
            "1: field 1: expected totals, or hypotheses in the order of their ranks, found 2, 1",
        ),
        (
            '{"idx": 0, "nbest": ["a"]}\n{"idx": 2, "nbest": [{"text": "b"}]}\n',
            "2: field 1: expected an id named id, sentence_id, custom_id or doc_id (--from jsonl-nbest,"
            "text=nbest.*.text,id=idx takes it from idx), or idx=1, its place, found idx=2",
        ),
        (
            '{"id": 0, "nbest": ["a"], "error": {"message": "late"}}\n',
            "1: field 1: expected a hypothesis (the option failed=skip leaves out records with an error), found the "
            "error 'late'",
        ),
        (
            '{"id": 0, "nbest": [{"text": "", "error": "late"}]}\n',
            "1: field 2: expected candidate 1: a hypothesis (the option failed=skip leaves out records with an error)",
        ),
        (
            r'{"nbest": ["\ud800"]}' + "\n",
            r"1: field 1: expected candidate 1: a text without lone surrogates, found '\ud800'",
        ),
        ('{"nbest": ["a\tb"]}\n', "1: field 1: expected JSON, found invalid control character at column 14"),
        ('{"n": ' + "[" * 65 + "]" * 65 + ', "nbest": ["a"]}\n', "1: field 1: expected JSON nested at most 64 deep,"),
        ('{"n": ' + "[" * 100000 + "\n", "1: field 1: expected JSON nested at most 64 deep, found more"),
        (
            '{"nbest": [' + '{"text":' * 65,
            "1: field 1: expected the end of the JSON that begins here, found the end of the file",
        ),
        (
            '{"id": 5, "nbest": [{"text": "a", "score": ' + "9" * 5000 + "}]}\n",
            "1: field 2: expected can",
        ),
        ('{"id": ' + "9" * 5000 + ', "nbest": ["a"]}\n', "1: field 1: expected a string or a number as id, found Inf"),
        (
            '{"nbest": ["a"], "hypotheses": ["b"]}\n',
            "1: field 1: expected one array of hypotheses (--from jsonl-nbest,text=hypotheses.* reads those of one), "
            "found hypotheses and nbest",
        ),
        (
            '{"outputs": [{"hyp": "a", "translation": "b"}]}\n',
            "1: field 1: expected candidate 1: one text (--from jsonl-nbest,text=outputs.*.hyp or "
            "text=outputs.*.translation names it), found hyp and translation",
        ),
        (
            '{"id": "a", "nbest": ["a"]}\n{"nbest": ["b"]}\n',
            "2: field 1: expected an id for each list or for none, found none",
        ),
        (
            '{"nbest": ["a"]}\n{"id": "a", "nbest": ["b"]}\n',
            "2: field 1: expected an id for each list or for none, found 'a'",
        ),
        (
            '{"id": 1, "nbest": ["a"]}\n{"id": 1.0, "nbest": ["b"]}\n',
            "2: field 1: expected each id once, found '1' again (first at x:1)",
        ),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x:{message}")


def test_brackets_in_texts_are_no_nesting() -> None:
    text = json.dumps({"n": "[" * 200, "nbest": [{"text": '"[{' * 100}]}) + "\n"
    assert written(read(text)) == text


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ('{"nbest": [{"text": "a", "x": [', "jsonl-nbest"),
        ('{"nbest": []}\n\n{"nbest": ["a"', "jsonl-nbest"),
        ('{"nbest": []}\n{"nbest": ["a", "b"], "scores": [', "sockeye-nbest"),
        ("[ 1 ] b\nand more\nof the text\n", "text"),
        ("[]\n", "text"),
    ],
)
def test_shape(head: str, name: str) -> None:
    assert detect(head.encode(), all_formats(), "x").name == name


def test_record() -> None:
    assert (FORMAT.name, FORMAT.kind) == ("jsonl-nbest", "nbest")
    assert sockeye.FORMAT.matches(LISTS.encode()) is False
