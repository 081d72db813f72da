"""Tries of source sides: made of rules in any order, and kept in the columns' own numbers; the same is found in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtformats.caching import folders as cache
from smtformats.columns import GrammarColumns, IndexedColumns, StringTable
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.gather import grammar_columns
from smtplugins.core import _core
from smtplugins.core.grammar.parsed_forest import Forest
from smtplugins.core.grammar.parsing import Options, parse
from smtplugins.core.grammar.tables import Grammar, GrammarPart, Tables, glue, source_index
from smtplugins.host.files.opening import load_grammar

WORDS = "abcd"
# Of Moses' pairs the second label counts: some of these are one.
LABELS = ["X", "S", "Y][X", "X][S", "Z][X"]


def phrases(grammar: Grammar, words: list[str]) -> list[tuple[int, int, int]]:
    """Where rules without gaps apply: first, last, and the number of the rule, in this order."""
    native = parse(words, [grammar], Options(goal=None)).native
    applied = []
    for v in sorted(range(len(native.nodes)), key=lambda v: native.nodes[v, 1:].tolist()):
        for b in range(native.node_bundles[v], native.node_bundles[v + 1]):
            if native.tail_offsets[b] == native.tail_offsets[b + 1]:
                own = native.rules[native.rule_offsets[b] : native.rule_offsets[b + 1]]
                applied += [(*native.nodes[v, 1:].tolist(), origin) for origin in native.origins[own].tolist()]
    return applied


def numbers(grammar: Grammar, words: list[str]) -> list[int]:
    return [rule for _, _, rule in phrases(grammar, words)]


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    symbols: list[Any] = []
    gaps = 0
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.integers(0, 3)) == 0 and gaps < 2:
            gaps += 1
            symbols.append(NonTerminal(draw(st.sampled_from(LABELS)), gaps))
        else:
            symbols.append(draw(st.sampled_from(WORDS)))
    target = (*(symbol for symbol in symbols if isinstance(symbol, NonTerminal)), draw(st.sampled_from("uvw")))
    return Rule(draw(st.sampled_from(LABELS)), tuple(symbols), target, level=draw(st.sampled_from([0, 0, 0, 0, 1])))


def spelt(rule: Rule) -> str:
    return " ".join(f"[{s.label}]" if isinstance(s, NonTerminal) else s for s in rule.source) + " |||"


grammars = st.lists(rules(), max_size=25).flatmap(
    lambda rules: st.sampled_from([rules, sorted(rules, key=spelt), sorted(rules, key=lambda rule: len(rule.source))])
)


def shown(trie: _core.RuleTrie) -> tuple[int, int, list[int]]:
    return trie.nodes, trie.bins, sorted(trie.rules.tolist())


def derivations(forest: Forest) -> Any:
    """All of a forest but what rules are called: nodes by label and span, and their edges."""
    native = forest.native
    labels = [forest.tables.labels.word(int(label)) for label in native.nodes[:, 0]]
    return labels, native.nodes[:, 1:].tolist(), native.origins.tolist(), native.tails.tolist(), native.rules.tolist()


def used(numbers: Sequence[str]) -> Tables:
    """Tables where others were first."""
    tables = Tables()
    tables.words.ids(numbers)
    tables.labels.ids(["Q", "S", *numbers])
    return tables


@settings(max_examples=150)
@given(grammars, st.lists(st.sampled_from("abcde"), max_size=5), st.sampled_from([[], ["c", "a", "x"]]))
def test_a_kept_trie_is_as_good_as_a_new_one(some: list[Rule], sentence: list[str], before: list[str]) -> None:
    columns = grammar_columns(some)
    kept = source_index(columns)
    assert isinstance(kept, IndexedColumns)
    assert kept.index is not None
    plain, mapped = (Grammar(table, used(before)) for table in (columns, kept))
    assert shown(plain.parts[0].trie) == shown(mapped.parts[0].trie)
    assert phrases(plain, sentence) == phrases(mapped, sentence)
    options = Options(goal="S", max_edges=2000)
    forests = [parse(sentence, [grammar, glue(grammar.tables)], options) for grammar in (plain, mapped)]
    assert derivations(forests[0]) == derivations(forests[1])
    if len(columns):
        estimates = np.arange(len(columns), dtype=np.float32) % 3
        limited = [grammar.limited(estimates, 1).parts[0].trie for grammar in (plain, mapped)]
        assert shown(limited[0]) == shown(limited[1])


@given(grammars, st.randoms())
def test_rules_may_come_in_any_order(some: list[Rule], random: Any) -> None:
    order = list(range(len(some)))
    random.shuffle(order)
    part, shuffled = (
        GrammarPart(grammar_columns(some), Tables()),
        GrammarPart(grammar_columns([some[i] for i in order]), Tables()),
    )
    assert (part.trie.nodes, part.trie.bins) == (shuffled.trie.nodes, shuffled.trie.bins)
    assert sorted(part.trie.rules.tolist()) == sorted(order[i] for i in shuffled.trie.rules.tolist())


RULES = [Rule("X", ("a",), ("u",)), Rule("X", ("a", "b"), ("v",)), Rule("S", ("a",), ("w",))]


def test_an_index_of_other_source_sides_is_left_alone() -> None:
    kept = source_index(grammar_columns(RULES))
    assert isinstance(kept, IndexedColumns)
    assert replace(kept, target=kept.target.copy()).index is kept.index
    changed = replace(kept, source=kept.source[::-1].copy())
    assert changed.index is None
    assert numbers(Grammar(changed, Tables()), ["b", "a"]) == [1, 0, 2]


def test_words_that_are_one_outside() -> None:
    columns = grammar_columns(RULES)
    twice = StringTable(columns.words.blob.replace(b"b", b"a"), columns.words.offsets)
    kept = source_index(replace(columns, words=twice))
    assert numbers(Grammar(kept, Tables()), ["a", "a"]) == [0, 2, 1, 0, 2]


def test_an_index_that_leads_out_is_not_used() -> None:
    columns = grammar_columns(RULES)
    kept = source_index(columns)
    assert isinstance(kept, IndexedColumns)
    assert kept.index is not None
    wanted = numbers(Grammar(columns, Tables()), ["a", "b"])
    for array in range(5):
        for at in range(len(kept.index[array])):
            for value in (-(2**31), -1, 99, 2**31 - 1):
                if array == 1:  # symbols are looked for, no more
                    continue
                made = [np.array(array) for array in kept.index]
                made[array][at] = value
                spoilt = replace(kept, built=tuple(made))
                assert numbers(Grammar(spoilt, Tables()), ["a", "b"]) == wanted
    for array in range(5):
        made = list(kept.index)
        made[array] = made[array][:-1]
        assert numbers(Grammar(replace(kept, built=tuple(made)), Tables()), ["a", "b"]) in (wanted, [])


def test_an_index_is_made_of_sound_columns_alone() -> None:
    good = {
        "lhs": np.zeros(1, np.int32), "level": np.zeros(1, np.uint8), "source": np.array([0, -1], np.int32),
        "source_offsets": np.array([0, 2]), "labels": np.zeros(1, np.int32),
    }  # fmt: skip
    assert [len(array) for array in _core.rule_index(**good)] == [12, 3, 3, 0, 1]
    for name, value, message in (
        ("lhs", np.ones(1, np.int32), "label"),
        ("labels", np.ones(1, np.int32), "label"),
        ("source", np.array([0, -2], np.int32), "label"),
        ("level", np.zeros(2, np.uint8), "levels"),
        ("source_offsets", np.array([0, 3]), "offsets"),
        ("source_offsets", np.array([0]), "offset"),
    ):
        with pytest.raises(ValueError, match=message):
            _core.rule_index(**{**good, name: value})


def test_grammars_come_with_their_tries_from_the_cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_SETTLED_NS", -(10**12))
    path = tmp_path / "grammar"
    path.write_text("[X] ||| a b ||| u ||| F=1\n[X] ||| a ||| v ||| F=2\n")
    first = load_grammar(path, cache=str(tmp_path / "cache"))
    monkeypatch.setattr(_core, "rule_index", None)
    second = load_grammar(path, cache=str(tmp_path / "cache"))
    for columns in (first, second):
        assert isinstance(columns, IndexedColumns)
        assert columns.index is not None
        assert numbers(Grammar(columns, used(["b"])), ["a", "b"]) == [1, 0]
    assert type(load_grammar(path, cache="off")) is GrammarColumns
