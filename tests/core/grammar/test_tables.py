"""Grammars in shared numbers: their rules shown, scored and gathered; and arrays that no reader makes are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.gather import grammar_columns
from smtplugins.core import _core
from smtplugins.core.grammar.parsing import parse
from smtplugins.core.grammar.tables import Grammar, GrammarPart, Tables, join_parts, own_label

X, Y = NonTerminal("X", 1), NonTerminal("Y", 2)
RULES = [
    Rule("X", ("ein", X, Y), ("a", NonTerminal("Y", 2), X), ("F", "G"), (1.0, 2.0), ((0, 0),)),
    Rule("X", ("haus",), ("house",), ("F",), (0.5,)),
    Rule("Y", ("haus",), ()),
    Rule("S", (X,), (X,)),
]


def test_rules_are_numbered_through_and_scored() -> None:
    tables = Tables()
    grammar = Grammar([grammar_columns(RULES[:1]), grammar_columns(RULES[1:])], tables)
    assert [grammar.rule(i) for i in range(len(grammar))] == RULES
    assert grammar.rule(-1) == RULES[-1]
    with pytest.raises(IndexError):
        grammar.rule(4)
    assert grammar.scores({"F": 2.0, "G": -0.25, "H": 9.0}).tolist() == [1.5, 1.0, 0.0, 0.0]
    assert grammar.scored({"F": 1.0}).scores.tolist() == [1.0, 0.5, 0.0, 0.0]
    assert [part.trie.bins for part in grammar.parts] == [1, 3]
    assert not len(Grammar((), tables))


@given(st.lists(st.sampled_from(RULES), max_size=6), st.lists(st.sampled_from(RULES), max_size=6), st.data())
def test_rules_are_gathered_from_several_columns(first: list[Rule], second: list[Rule], data: st.DataObject) -> None:
    tables = Tables()
    chosen, expected = [], []
    for rules in (first, second):
        rows = data.draw(st.lists(st.integers(0, len(rules) - 1), max_size=5)) if rules else []
        chosen.append((GrammarPart(grammar_columns(rules), tables), np.array(rows, dtype=np.int64)))
        expected += [rules[row] for row in rows]
    columns = join_parts(chosen, tables)
    assert [columns.rule(i) for i in range(len(columns))] == expected


def test_moses_derivations_are_made_with_target_labels() -> None:
    assert [own_label(label) for label in ("X", "X][S", "NP")] == ["X", "S", "NP"]
    tables = Tables()
    pair = NonTerminal("X][S", 1)
    rules = [Rule("X][S", ("<s>",), ("<s>",)), Rule("X][S", (pair, "</s>"), (pair, "</s>"))]
    forest = parse(["<s>", "</s>"], [Grammar.of_rules(rules, tables)])
    assert (forest.nodes, forest.edges) == (3, 3)
    assert forest.rule(1).lhs == "X][S"


def test_rules_without_a_source_side_or_of_a_finer_level_are_not_applied() -> None:
    rules = [Rule("S", (), ("a",)), Rule("S", ("b",), ("b",), level=1), Rule("S", ("a",), ("a",))]
    grammar = Grammar.of_rules(rules, Tables())
    assert not parse(["b"], [grammar])
    assert parse(["a"], [grammar]).native.origins.tolist() == [2, 3]


def arrays(**changed: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "lhs": [0], "level": [0], "source": [0, -1], "source_offsets": [0, 2], "target": [-1], "target_offsets": [0, 1],
        "words": [0], "labels": [0], **changed,
    }  # fmt: skip
    kinds = {"level": np.uint8, "source_offsets": np.int64, "target_offsets": np.int64}
    return {name: np.array(values, dtype=kinds.get(name, np.int32)) for name, values in given.items()}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"lhs": [1]}, "left-hand side"),
        ({"lhs": [-1]}, "left-hand side"),
        ({"level": []}, "levels"),
        ({"source": [1, -1]}, "words and labels"),
        ({"source": [0, -2]}, "words and labels"),
        ({"source_offsets": [0]}, "offset more"),
        ({"source_offsets": [0, 3]}, "out of their column"),
        ({"source_offsets": [-1, 2]}, "out of their column"),
        ({"source_offsets": [2, 0]}, "must not fall"),
        ({"target": [-2]}, "words and gaps"),
        ({"target": [1]}, "words and gaps"),
        ({"target_offsets": [0, 2]}, "out of their column"),
        ({"words": [-1]}, "negative"),
        ({"labels": [2**31 - 1]}, "negative"),
    ],
)
def test_arrays_that_lead_out_are_refused(changed: dict[str, Any], message: str) -> None:
    _core.RuleTrie(**arrays())
    with pytest.raises(ValueError, match=message):
        _core.RuleTrie(**arrays(**changed))


def test_scores_and_arcs_that_lead_out_are_refused() -> None:
    ids, values, offsets = np.array([1], np.int32), np.array([1.0], np.float32), np.array([0, 1], np.int64)
    with pytest.raises(ValueError, match="no weight"):
        _core.rule_scores(ids, values, offsets, np.zeros(1))
    trie = _core.RuleTrie(**arrays())
    good: dict[str, Any] = {
        "grammars": [(trie, None, None, False, False)], "arcs": np.array([[0, 1, 0, -1]], np.int32), "positions": 2,
        "feature_scores": np.zeros(0), "labels": 1, "goal": 0, "top": 1, "max_edges": 9,
    }  # fmt: skip
    assert _core.parse_arcs(**good).complete
    for changed, message in (
        ({"arcs": np.array([[0, 2, 0, -1]], np.int32)}, "later positions"),
        ({"arcs": np.array([[0, 1, -2, -1]], np.int32)}, "negative"),
        ({"arcs": np.array([[0, 1, 0, 0]], np.int32)}, "score"),
        ({"positions": 5000}, "4096"),
        ({"labels": 0}, "goal"),
        ({"goal": -2}, "goal"),
        ({"grammars": [(trie, np.zeros(2, np.float32), None, False, False)]}, "scores as rules"),
        ({"grammars": [(_core.RuleTrie(**arrays(labels=[1])), None, None, False, False)]}, "without labels beyond"),
        ({"max_edges": -1}, "edges"),
    ):
        with pytest.raises(ValueError, match=message):
            _core.parse_arcs(**{**good, **changed})
