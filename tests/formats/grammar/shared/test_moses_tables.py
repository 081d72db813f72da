"""Rules that go from one toolkit's format to another's: values survive, and what has no place there is named."""

from __future__ import annotations

import io
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, open_bytes
from smtformats.grammar import cdec, homework, joshua, moses_phrases, moses_rules
from smtformats.grammar.rules import NonTerminal, Rule
from tests.formats.grammar.faces import Faces

CDEC = Faces(cdec)
JOSHUA = Faces(joshua)
PHRASES = Faces(moses_phrases)
TABLE = Faces(moses_rules)
PAIRS = Faces(homework)
X1, Y2 = NonTerminal("X", 1), NonTerminal("Y", 2)
RULES = """\
[X] ||| [X,1] ein [Y,2] ||| a [2] [1] ||| EgivenF=0.5 CountEF=-2 ||| 1-0
[X] ||| b ||| B ||| EgivenF=0 CountEF=1
"""


def test_glue_grammar_of_cdec() -> None:
    text = "[S] ||| [X,1] ||| [1]\n[S] ||| [S] [X] ||| [1] [2] ||| Glue=1\n"
    rules = CDEC.read(text)
    assert [rule.features() for rule in rules] == [{}, {"Glue": 1}]
    assert rules[1].source == (NonTerminal("S", 1), NonTerminal("X", 2))
    assert CDEC.written(rules) == text
    anew = CDEC.written([rule.with_features(rule.names, rule.values) for rule in rules])
    assert anew == "[S] ||| [X] ||| [1] ||| \n[S] ||| [S] [X] ||| [1] [2] ||| Glue=1\n"
    assert JOSHUA.read(JOSHUA.written(rules))[1].features() == {"Glue": 1}


def test_cdec_to_moses_and_back() -> None:
    rules = CDEC.read(RULES)
    text = TABLE.written(rules)
    lines = text.splitlines()
    assert lines[0].startswith("[X][X] ein [Y][Y] [X] ||| a [Y][Y] [X][X] [X] ||| 1.6487212707001282 0.135335")
    assert lines[0].endswith("||| 1-0 0-2 2-1")
    assert lines[1] == "b [X] ||| B [X] ||| 1 2.718281828459045"
    back = CDEC.read(CDEC.written(TABLE.read(text, features="EgivenF CountEF")))
    for rule, again in zip(rules, back, strict=True):
        assert (again.lhs, again.source, again.target) == (rule.lhs, rule.source, rule.target)
        assert again.features() == pytest.approx(rule.features(), rel=1e-6)
        assert set(again.alignment) >= set(rule.alignment)
    assert [rule.names for rule in TABLE.read(text)] == [("TranslationModel0[0]", "TranslationModel0[1]")] * 2


def test_columns_by_option() -> None:
    text = TABLE.written(CDEC.read(RULES), features="CountEF EgivenF", table="T")
    assert text.splitlines()[1] == "b [X] ||| B [X] ||| 2.718281828459045 1"


def test_sparse_features_by_name() -> None:
    rule = Rule("X", ("a",), ("A",), ("p", "T_one", "q"), (0.0, 7.0, 0.0))
    assert PHRASES.written([rule], table="T") == "a ||| A ||| 1 1 |||  |||  ||| one 7\n"
    assert PHRASES.written([rule], table="T", features="p T_one q") == f"a ||| A ||| 1 {math.exp(7)!r} 1\n"
    with pytest.raises(FormatError) as caught:
        PHRASES.written([rule, Rule("X", ("a",), ("A",), ("p", "q"), (0.0, 0.0))])
    wanted = "a value of T_one, a column of the table"
    assert str(caught.value) == f"<data>:1: field 3: expected {wanted}, found none"


def test_the_first_rule_fixes_the_columns_even_as_it_was_read() -> None:
    first = PHRASES.rule("a ||| A ||| 0.5 0.25 ||| 0-0 ||| 1 1 1 ||| sp 1 |||\n")
    second = Rule("X", ("b",), ("B",), ("TranslationModel0[1]", "TranslationModel0[0]"), (0.0, -100.0))
    assert PHRASES.written([first, second]) == f"{first.raw}b ||| B ||| 0 1\n"


@pytest.mark.parametrize(
    ("names", "values", "message"),
    [
        (("p",), (0.0,), "a value of q, a column of the table, found none"),
        (("p", "q", "r"), (0.0,) * 3, "only features that are columns of the table (p, q), found 'r'"),
        (("p", "q"), (0.0, -100.5), "a log probability from -100 to 88.7 as q, found -100.5"),
        (("p", "q"), (100.0, 0.0), "a log probability from -100 to 88.7 as p, found 100"),
        (("p", "q"), (float("nan"), 0.0), "a log probability from -100 to 88.7 as p, found nan"),
    ],
)
def test_values_without_a_place(names: tuple[str, ...], values: tuple[float, ...], message: str) -> None:
    good = Rule("X", ("a",), ("A",), ("p", "q"), (0.0, 0.0))
    bad = Rule("X", ("a",), ("A",), names, values, file="f", line=7)
    for faces in (PHRASES, TABLE):
        with pytest.raises(FormatError) as caught:
            faces.written([good, bad])
        assert str(caught.value) == f"f:7: field 3: expected {message}"


def test_rules_without_features_are_no_table() -> None:
    with pytest.raises(FormatError) as caught:
        TABLE.written([Rule("X", ("a",), ("A",), file="f", line=7)])
    assert str(caught.value) == "f:7: field 3: expected 1 score or more, found none"


def test_phrases_as_rules_and_back() -> None:
    text = "a b ||| A ||| 0.0162162 0.00540541 ||| 0-0 1-0 ||| 2 1 1 ||| sp 1 ||| {{Tree [X A]}}\n"
    hierarchical = TABLE.written(PHRASES.read(text))
    assert hierarchical == text.replace("b |||", "b [X] |||").replace(" A |||", " A [X] |||")
    assert PHRASES.written(TABLE.read(hierarchical)) == text


def test_moses_to_joshua_and_back() -> None:
    text = "[X][X] a [X] ||| A [X][X] [X] ||| 0.5 1 ||| 0-1 1-0 ||| 2 1 1\n"
    line = JOSHUA.written(TABLE.read(text, features="p q"))
    assert line == "[X] ||| [X,1] a ||| A [X,1] ||| p=-0.6931471805599453 q=0 ||| 0-1 1-0 ||| 2 1 1\n"
    assert TABLE.written(JOSHUA.read(line)) == text


def test_joshua_to_moses_has_the_costs_as_probabilities() -> None:
    rules = JOSHUA.read("[X] ||| a ||| A ||| 0.6931471805599453 0\n")
    assert PHRASES.written(rules) == "a ||| A ||| 0.5 1\n"


def test_homework_to_others() -> None:
    rules = PAIRS.read("a b ||| A ||| -0.5\n")
    assert CDEC.written(rules) == "[X] ||| a b ||| A ||| log10p=-0.5\n"
    assert JOSHUA.written(rules) == "[X] ||| a b ||| A ||| log10p=-0.5\n"
    assert PAIRS.written(PHRASES.read(PHRASES.written(rules), features="log10p")) == "a b ||| A ||| -0.5\n"
    with pytest.raises(FormatError, match="x:1: field 3: expected 1 gap, as on the source side, found 0"):
        JOSHUA.written(PAIRS.read("[X] ||| A ||| -0.5\n"))


def test_what_other_formats_cannot_hold() -> None:
    counted = PHRASES.read("a ||| A ||| 0.5 ||| 0-0 ||| 2 1 1\n")
    paired = TABLE.read("[X][Y] a [X] ||| A [X][Y] [X] ||| 0.5 ||| 0-1\n")
    tree = CDEC.read("[X] ||| a ||| A ||| F=1 |||  ||| (X a)\n")
    with pytest.raises(FormatError, match="x:1: field 1: expected a rule that cdec's format can hold, found"):
        CDEC.written(counted)
    with pytest.raises(FormatError, match="x:1: field 3: expected no non-terminal, as on the source side, found "):
        CDEC.written(paired)
    with pytest.raises(FormatError) as caught:
        PHRASES.written(CDEC.read("[GOAL] ||| a ||| A ||| F=1\n"))
    assert str(caught.value) == (
        "x:1: field 1: expected the left-hand side [X], the only one that a table of Moses can hold, found [GOAL]"
    )
    with pytest.raises(FormatError, match="x:1: field 1: expected a rule that Joshua's format can hold, found"):
        JOSHUA.written(tree)
    assert JOSHUA.rule(JOSHUA.written(paired)).source == (NonTerminal("X][Y", 1), "a")


WORDS = st.text("abé=;-", min_size=1, max_size=5)
VALUES = st.one_of(st.floats(-99.5, 88), st.sampled_from([0.0, -100.0]))


@given(
    st.lists(
        st.tuples(st.lists(WORDS, min_size=1, max_size=3), st.lists(WORDS, max_size=3), st.booleans(), VALUES, VALUES),
        min_size=1,
        max_size=4,
    )
)
def test_rules_go_round(parts: list[tuple[list[str], list[str], bool, float, float]]) -> None:
    rules = []
    for source, target, gapped, *values in parts:
        left, right = ((X1, *source, Y2), (Y2, *target, X1)) if gapped else (tuple(source), tuple(target))
        rules.append(Rule("X", left, right, ("F", "G"), tuple(values)))
    there = CDEC.read(CDEC.written(rules))
    moses = TABLE.read(TABLE.written(there), features="F G")
    back = CDEC.read(CDEC.written(JOSHUA.read(JOSHUA.written(moses))))
    for rule, again in zip(rules, back, strict=True):
        assert (again.lhs, again.source, again.target) == (rule.lhs, rule.source, rule.target)
        # A probability beside 1 has sixteen digits, its logarithm as many behind the point.
        assert again.features() == pytest.approx(rule.features(), rel=1e-6, abs=1e-15)


@pytest.mark.shared
def test_gold_of_cdec_goes_to_moses_and_back(shared: Path) -> None:
    with open_bytes(shared / "gold/cdec/grammars/test300/grammar.0.gz") as stream:
        rules = CDEC.read(io.BytesIO(b"".join(stream.readlines(200000))).getvalue())
    assert len(rules) > 500
    text = TABLE.written(rules)
    back = CDEC.read(CDEC.written(TABLE.read(text, features=" ".join(rules[0].features()))))
    for rule, again in zip(rules, back, strict=True):
        assert (again.lhs, again.source, again.target) == (rule.lhs, rule.source, rule.target)
        assert again.features() == pytest.approx(rule.features(), rel=1e-6)
