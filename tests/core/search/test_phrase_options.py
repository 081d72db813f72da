"""Options of a sentence edited: what is left, what is put in, in what order."""

from __future__ import annotations

import numpy as np
import pytest

from smtformats.grammar.rules import NonTerminal, Rule
from smtplugins.core.grammar.parsed_forest import Forest
from smtplugins.core.grammar.parsing import Options, PassThrough, parse
from smtplugins.core.grammar.tables import Grammar, Tables
from smtplugins.core.search.phrase_options import Put, edge_spans, edited
from smtplugins.core.search.stateful_search import forest_of_parse


def phrase(source: str, target: str, score: float) -> Rule:
    return Rule("X", tuple(source.split()), tuple(target.split()), ("s",), (score,))


RULES = [phrase("a", "A", 1), phrase("a", "AA", 2), phrase("a b", "AB", 3), phrase("b", "B", 4), phrase("c", "", 5)]


def parsed(text: str, minting: PassThrough | None = None, rules: list[Rule] = RULES) -> Forest:
    tables = Tables()
    grammar = Grammar.of_rules(rules, tables, span_limit=3)
    minting = minting or PassThrough({"X": {}}, unknown_only=True)
    return parse(text.split(), [grammar], Options(goal=None, pass_through=minting), {"s": 1.0})


def options(forest: Forest) -> list[tuple[int, int, str, str, float]]:
    native = forest.native
    words = forest.tables.words.word
    rows = []
    for (first, last), rule in zip(edge_spans(forest).tolist(), native.rules.tolist(), strict=True):
        target = native.targets[native.target_offsets[rule] : native.target_offsets[rule + 1]].tolist()
        source = " ".join(map(str, forest.rule(rule).source))
        rows.append((first, last, source, " ".join(map(words, target)), float(native.scores[rule])))
    return sorted(rows)


def everything(forest: Forest) -> np.ndarray:
    return np.ones(forest.edges, dtype=bool)


def test_nothing_edited_is_the_same() -> None:
    forest = parsed("a b a c x")
    same = edited(forest, everything(forest), [], "X")
    assert options(same) == options(forest)
    assert (same.nodes, same.edges, same.goal_origin) == (forest.nodes, forest.edges, forest.goal_origin)
    assert same.rule(len(same.native.origins) - 1) == forest.rule(len(forest.native.origins) - 1)
    assert forest_of_parse(same).edges == forest_of_parse(forest).edges
    np.testing.assert_array_equal(same.scores({"s": 2.0}), forest.scores({"s": 2.0}))
    assert same.rule_columns.rule(0) == forest.rule_columns.rule(0)


def test_some_left_out_at_one_place_alone() -> None:
    forest = parsed("a b a")
    kept = edge_spans(forest)[:, 0] > 0
    assert options(edited(forest, kept, [], "X")) == [(1, 2, "b", "B", 4), (2, 3, "a", "A", 1), (2, 3, "a", "AA", 2)]


def test_some_put_in() -> None:
    forest = parsed("a x a")
    made = edited(forest, ~everything(forest), [Put(0, 2, 3, 7.5), Put(2, 3, forest.minted("a")), Put(0, 2, 4)], "X")
    assert options(made) == [(0, 2, "b", "B", 7.5), (0, 2, "c", "", 0), (2, 3, "a", "a", 0)]
    assert made.nodes == 2
    assert made.scores({"s": 2.0}).tolist()[-4:-1] == [8, 0, 10]
    assert forest_of_parse(made, made.scores({"s": 2.0})).edges == 3
    assert made.rule_columns.rule(len(made.native.origins) - 2) == RULES[4]


def test_what_minted_rules_are_searched_and_shown_with() -> None:
    minting = PassThrough(
        {"X": {}}, target=lambda w: "" if w == "y" else w, shown=lambda w: f"<{w}>", unknown_only=True
    )
    forest = parsed("x y a", minting)
    assert forest.minted_from == len(RULES)
    assert forest.searched_target(forest.minted("x")) == ("x",)
    assert forest.searched_target(forest.minted("y")) == ()
    records = {forest.rule(rule).source: forest.rule(rule).target for rule in forest.native.rules.tolist()}
    assert (records["x",], records["y",]) == (("<x>",), ())
    assert [option[3] for option in options(forest)] == ["x", "", "A", "AA"]
    with pytest.raises(IndexError, match="no rule has the number 99"):
        forest.searched_target(99)


def test_rules_with_gaps_are_not_for_this() -> None:
    gap = NonTerminal("X", 1)
    forest = parsed("a b", rules=[*RULES, Rule("X", ("a", gap), ("A", gap))])
    with pytest.raises(ValueError, match="expected phrases"):
        edited(forest, everything(forest), [], "X")
