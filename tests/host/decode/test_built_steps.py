"""Steps in which trees were built: written, read again, and what is wrong with those that make no tree."""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError
from smtformats.format import shortest
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.tokens import BadField
from smtplugins.contracts.decoders import BuiltStep
from smtplugins.host.decode.built_steps import (
    BuiltFile,
    BuiltTree,
    Sides,
    children,
    line_of,
    read_built,
    rule_text,
    sides,
    source_words,
    target_words,
)

# From the middle up and down: the second is above the first, the third below the second.
UP = BuiltStep("[X] ||| haus ||| house", 2, 3, -1, False, 0, -1.0)
OVER = BuiltStep("[S] ||| [X,1] des [X,2] ||| [X,2] 's [X,1]", 0, 3, 0, True, 1, -0.5)
UNDER = BuiltStep("[X] ||| dach ||| roof", 0, 1, 1, False, 0, -0.25)
TREE = BuiltTree("7", ("dach", "des", "haus"), "house 's roof", -1.75, (UP, OVER, UNDER))
# From the leaves: the last joins both.
CHART = (
    replace(UNDER, beside=-1, child=0),
    UP,
    replace(OVER, beside=0, child=0, further=((1, 1),)),
)


def written(tmp_path: Path, *lines: Any) -> Path:
    path = tmp_path / "built"
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines))
    return path


def record(**changes: Any) -> dict[str, Any]:
    return json.loads(line_of(TREE, shortest)) | changes  # type: ignore[no-any-return]


def step(number: int, **changes: Any) -> dict[str, Any]:
    """The record with one step changed; a member that becomes ``...`` is taken out."""
    made = record()
    made["steps"][number] = {k: v for k, v in (made["steps"][number] | changes).items() if v is not ...}
    return made


def test_a_line_says_all(tmp_path: Path) -> None:
    text = line_of(replace(TREE, steps=CHART), shortest)
    assert text.endswith("}\n") and text.count("\n") == 1
    found = json.loads(text)
    assert list(found) == ["id", "source", "translation", "score", "steps"]
    assert list(found["steps"][0]) == ["rule", "first", "last", "beside", "above", "child", "score"]
    assert found["steps"][2]["further"] == [[1, 1]]
    assert list(read_built(written(tmp_path, text))) == [replace(TREE, steps=CHART)]


def test_numbers_are_printed_as_asked_for() -> None:
    found = json.loads(line_of(replace(TREE, score=-1 / 3), lambda value: f"{value:.2g}"))
    assert found["score"] == -0.33
    lost = replace(TREE, score=-math.inf, steps=(replace(UP, score=math.nan),))
    found = json.loads(line_of(lost, shortest))
    assert (found["score"], found["steps"][0]["score"]) == (None, None)


def test_files_come_back_as_often_as_they_are_asked(tmp_path: Path) -> None:
    nothing = BuiltTree("8", (), "", None, ())
    path = tmp_path / "b.jsonl.gz"
    path.write_bytes(gzip.compress((line_of(TREE, shortest) + "\n" + line_of(nothing, shortest)).encode()))
    built = BuiltFile(path)
    assert list(built) == list(built) == [TREE, nothing]
    (tmp_path / "empty").write_bytes(b"")
    assert list(BuiltFile(tmp_path / "empty")) == []
    lost = record(score=None)
    lost["steps"][0]["score"] = None
    (one,) = read_built(written(tmp_path, lost))
    assert one.score is None and math.isnan(one.steps[0].score)


def test_whose_children_steps_are() -> None:
    assert children(TREE.steps) == [{}, {0: 2, 1: 0}, {}]
    assert children(CHART) == [{}, {}, {0: 0, 1: 1}]
    assert children(()) == []


def test_words_of_the_source_in_their_order() -> None:
    assert source_words(TREE.steps) == source_words(CHART) == TREE.source
    assert target_words(TREE.steps) == target_words(CHART) == ("house", "'s", "roof")
    assert source_words(()) == target_words(()) == ()


def test_sides_of_rules() -> None:
    rule = Rule(
        "X", (NonTerminal("X", 1), "des", NonTerminal("NP", 2)), (NonTerminal("NP", 2), "'s", NonTerminal("X", 1))
    )
    text = rule_text(rule)
    assert text == "[X] ||| [X,1] des [NP,2] ||| [NP,2] 's [X,1]"
    assert sides(text, {0, 1}) == Sides("X", (0, "des", 1), (1, "'s", 0))
    assert sides("[X] ||| weg ||| ") == Sides("X", ("weg",), ())
    # Moses' pair of labels.
    assert sides("[S] ||| [X][NP,1] ||| [X][NP,1]", {0}) == Sides("S", (0,), (0,))


@pytest.mark.parametrize("word", ["[X,1]", "|||", "[1]", "[", "a\u00a0b"])
def test_words_that_look_like_marks_of_a_rule(word: str) -> None:
    assert sides(rule_text(Rule("X", (word,), (word,)))) == Sides("X", (word,), (word,))
    assert sides(rule_text(Rule("X", (word,), (f"{word}_OOV",)))) == Sides("X", (word,), (f"{word}_OOV",))


@pytest.mark.parametrize(
    "text", ["", "haus", "X -> haus ||| house", "[X] ||| haus", "[X] ||| ||| house", "X ||| a ||| b"]
)
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(BadField) as caught:
        sides(text)
    assert caught.value.expected.startswith("a rule like")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("text", "expected `{` at column 1, found 'text'"),
        ('{"id": "0"', "expected `,` or `}` at column 11, found the end of the line"),
        ("[]", "expected `{` at column 1, found '[]'"),
        ({"id": "0"}, "expected a member 'source', found 'id'"),
        (record(id=0), "expected a string as id, found 0"),
        (record(source="das haus"), "expected an array as source, found 'das haus'"),
        (record(source=["a", 1]), "expected words as source, found 1"),
        (record(translation=None), "expected a string as translation, found null"),
        (record(score="good"), "expected a number or null as score, found 'good'"),
        (record(steps={}), "expected an array as steps, found {}"),
        (record(steps=[3]), "expected step 0: an object, found 3"),
        (step(1, rule=...), "expected step 1: a member 'rule', found 'first', 'last', "),
        (step(1, first=1.5), "expected step 1: a whole number as first, found 1.5"),
        (step(1, first=True), "expected step 1: a whole number as first, found true"),
        (step(1, above=1), "expected step 1: true or false as above, found 1"),
        (step(1, first=4), "expected step 1: first and last of a span, found 4 and 3"),
        (step(1, child=-1), "expected step 1: a child's number from 0, found -1"),
        (step(1, score=...), "expected step 1: a member 'score', found 'rule', "),
        (step(1, further=[1]), "expected step 1: [step, child] as further, found 1"),
        (step(1, further=[[0, -1]]), "expected step 1: [step, child] as further, found [0, -1]"),
        (step(1, rule="haus"), "expected step 1: a rule like `[X] ||| das [X,1] ||| the [X,1]`, found 'haus'"),
        (
            step(1, rule="[X] ||| [X,2] ||| [X,2]"),
            "expected step 1: gap 1 once on each side of a rule with that child, found '[X] ||| [X,2] ||| [X,2]'",
        ),
        (step(1, beside=1), "expected step 1 beside an earlier one, or beside -1, found 1"),
        (step(1, beside=-2), "expected step 1 beside an earlier one, or beside -1, found -2"),
        (step(1, further=[[2, 0]]), "expected step 1 above earlier ones, found 2"),
        (step(1, further=[[0, 0]]), "expected one step above step 0, found steps 1 and 1"),
        (step(2, child=1), "expected one child 1 of step 1, found steps 0 and 2"),
        (step(2, beside=-1), "expected one tree in the end, found 2 steps with nothing above them"),
        (step(2, further=[[1, 1]]), "expected one tree in the end, found 0 steps with nothing above them"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, line: Any, message: str) -> None:
    path = written(tmp_path, record(), line)
    with pytest.raises(FormatError) as caught:
        list(read_built(path))
    assert f"{path}:2: {message}" in str(caught.value)


def test_what_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "built"
    path.write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(FormatError, match=r"built:1: .*expected UTF-8 text"):
        list(read_built(path))
    path.write_bytes(gzip.compress(line_of(TREE, shortest).encode())[:-9])
    with pytest.raises(FormatError, match="expected a complete compressed file"):
        list(read_built(path))
    with pytest.raises(FormatError, match="without lone surrogates"):
        list(
            read_built(written(tmp_path, '{"id": "\\ud800", "source": [], "translation": "", "score": 0, "steps": []}'))
        )


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[dict[int, int]], list[BuiltStep]]:
    """A tree by its nodes' children, and its steps: from some node on, each beside any that is there."""
    count = draw(st.integers(1, 12))
    parents = [-1] + [draw(st.integers(0, i - 1)) for i in range(1, count)]
    kids: list[list[int]] = [[] for _ in range(count)]
    for node, parent in enumerate(parents[1:], 1):
        kids[parent].insert(draw(st.integers(0, len(kids[parent]))), node)
    place = {draw(st.integers(0, count - 1)): 0}
    steps = []

    def add(node: int, beside: int, above: bool, child: int) -> None:
        gaps = " ".join(f"[X,{k + 1}]" for k in range(len(kids[node])))
        source, target = f"a{node} {gaps}".strip(), " ".join(reversed(f"b{node} {gaps}".strip().split(" ")))
        steps.append(BuiltStep(f"[X] ||| {source} ||| {target}", 0, 1, beside, above, child, float(node)))

    add(next(iter(place)), -1, False, 0)
    while len(place) < count:
        ways = []
        for node in place:
            if parents[node] >= 0 and parents[node] not in place:
                ways.append((parents[node], node, True, kids[parents[node]].index(node)))
            ways += [(kid, node, False, k) for k, kid in enumerate(kids[node]) if kid not in place]
        node, beside, above, child = draw(st.sampled_from(sorted(ways)))
        place[node] = len(place)
        add(node, place[beside], above, child)
    wanted: list[dict[int, int]] = [{} for _ in range(count)]
    for node, below in enumerate(kids):
        wanted[place[node]] = {k: place[kid] for k, kid in enumerate(below)}
    return wanted, steps


@given(trees())
def test_any_order_in_which_a_tree_grows_gives_that_tree(drawn: tuple[list[dict[int, int]], list[BuiltStep]]) -> None:
    wanted, steps = drawn
    assert children(steps) == wanted

    def walked(number: int) -> list[str]:
        own = steps[number].rule.split(" ")[2]
        return [own, *(word for k in range(len(wanted[number])) for word in walked(wanted[number][k]))]

    (top,) = set(range(len(steps))) - {one for below in wanted for one in below.values()}
    assert list(source_words(steps)) == walked(top)
