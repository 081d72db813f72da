"""Tables limited to the best rules of each source side, and what a language model makes of target sides alone."""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.grammar.shared.gather import grammar_columns
from smtplugins.core import _core
from smtplugins.core.grammar.parsed_forest import Forest
from smtplugins.core.grammar.parsing import Options, parse
from smtplugins.core.grammar.tables import Grammar, Tables, fragment_scores, own_label
from smtplugins.core.lm.ngram_model import read_lm
from smtplugins.host.files.opening import load_grammar
from tests.core.ngrams import native, random_table

LABELS = ("S", "X", "Y", "X][Y")


def kept(rules: list[Rule], estimates: list[float], limit: int) -> list[int]:
    """The numbers of the rules that stay."""
    sides: dict[Any, list[int]] = defaultdict(list)
    for i, rule in enumerate(rules):
        if rule.source and not rule.level:
            symbols = ((own_label(s.label),) if isinstance(s, NonTerminal) else s for s in rule.source)
            sides[tuple(symbols)].append(i)
    best = [sorted(side, key=lambda i: (-estimates[i], i))[:limit] for side in sides.values()]
    return sorted(i for side in best for i in side)


@st.composite
def grammars(draw: st.DrawFn) -> list[Rule]:
    symbols = st.sampled_from(["a", "b", *LABELS])
    rules = []
    for _ in range(draw(st.integers(0, 12))):
        source: list[Symbol] = []
        for symbol in draw(st.lists(symbols, max_size=3)):
            gaps = sum(isinstance(symbol, NonTerminal) for symbol in source)
            source.append(NonTerminal(symbol, gaps + 1) if symbol in LABELS else symbol)
        level = draw(st.sampled_from([0, 0, 0, 1]))
        target = (*(symbol for symbol in source if isinstance(symbol, NonTerminal)), f"t{len(rules)}")
        rules.append(Rule(draw(st.sampled_from(LABELS)), tuple(source), target, level=level))
    return rules


def arrays(forest: Forest) -> dict[str, list[Any]]:
    native = forest.native
    names = ("nodes", "node_bundles", "tail_offsets", "tails", "rule_offsets", "rules", "target_offsets", "targets")
    return {name: getattr(native, name).tolist() for name in (*names, "scores")}


@given(grammars(), grammars(), st.integers(1, 4), st.data())
def test_a_limited_table_applies_as_if_the_others_were_not_there(
    first: list[Rule], second: list[Rule], limit: int, data: st.DataObject
) -> None:
    # Few values, so that many are equal; both zeros are.
    values = st.sampled_from([0.0, -0.0, 1.5, -2.0, -math.inf])
    estimates = [data.draw(st.lists(values, min_size=len(part), max_size=len(part))) for part in (first, second)]
    tables = Tables()
    whole = Grammar([grammar_columns(first), grammar_columns(second)], tables)
    limited = whole.limited(np.array([*estimates[0], *estimates[1]], np.float32), limit)
    stay = [kept(*both, limit) for both in zip((first, second), estimates, strict=True)]
    small = Grammar(
        [grammar_columns([part[i] for i in rows]) for part, rows in zip((first, second), stay, strict=True)], tables
    )
    assert [part.trie.bins for part in limited.parts] == [part.trie.bins for part in small.parts]
    assert len(limited) == len(whole) == len(first) + len(second)
    sentence, options = ["a", "b", "a"], Options()
    actual, expected = (parse(sentence, [grammar], options) for grammar in (limited, small))
    assert arrays(actual) == arrays(expected)
    numbers = [*stay[0], *(len(first) + i for i in stay[1]), len(whole)]
    assert actual.native.origins.tolist() == [numbers[i] for i in expected.native.origins.tolist()]


def test_what_a_limited_grammar_shares_with_the_whole() -> None:
    rules = [Rule("X", ("a",), (word,), ("F",), (value,)) for word, value in (("b", 1.0), ("c", 3.0), ("d", 3.0))]
    whole = Grammar.of_rules(rules, Tables(), span_limit=4, from_start=True)
    scores = whole.scores({"F": 1.0})
    best, two = whole.limited(scores, 1), whole.limited(scores, 2)
    assert (best.span_limit, best.from_start, best.tables) == (4, True, whole.tables)
    assert best.parts[0].columns is whole.parts[0].columns
    assert best.scores({"F": 1.0}).tolist() == scores.tolist()
    assert best.rule(0) == rules[0]
    options = Options(goal="X")
    assert parse(["a"], [best], options).native.origins.tolist() == [1, 3]
    assert parse(["a"], [two], options).native.origins.tolist() == [1, 2, 3]
    assert parse(["a"], [whole], options).native.origins.tolist() == [0, 1, 2, 3]
    # The limited one may be limited again, by other estimates.
    assert parse(["a"], [two.limited(-np.arange(3.0), 1)], options).native.origins.tolist() == [1, 3]
    assert whole.limited(scores, 0) is whole


def test_estimates_that_do_not_fit_are_refused() -> None:
    grammar = Grammar.of_rules([Rule("X", ("a",), ("b",))], Tables())
    with pytest.raises(ValueError, match="1 estimates"):
        grammar.limited(np.zeros(2, np.float32), 1)
    trie = grammar.parts[0].trie
    for estimates, limit, message in (
        (np.zeros(2, np.float32), 1, "estimates as rules"),
        (np.zeros(1, np.float32), 0, "limit"),
        (np.array([np.nan], np.float32), 1, "numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            trie.limited(estimates, limit)


def random_target(rng: random.Random, words: list[str]) -> Rule:
    target = [*rng.choices(words, k=rng.randint(0, 7)), *(NonTerminal("X", k) for k in range(1, rng.randint(1, 4)))]
    rng.shuffle(target)
    if rng.random() < 0.2:
        target.insert(0, "<s>")
    gaps = sorted((symbol for symbol in target if isinstance(symbol, NonTerminal)), key=lambda symbol: symbol.index)
    return Rule("X", ("a", *gaps), tuple(target))


def pieces_of(target: tuple[Symbol, ...]) -> list[list[str]]:
    """The words between two gaps."""
    pieces: list[list[str]] = [[]]
    for symbol in target:
        if isinstance(symbol, NonTerminal):
            pieces.append([])
        else:
            pieces[-1].append(symbol)
    return pieces


def plain_scores(model: _core.LanguageModel, rules: list[Rule], markers: bool) -> list[float]:
    scores = []
    for rule in rules:
        total = 0.0
        for piece in pieces_of(rule.target):
            begun = markers and piece[:1] == ["<s>"]
            words = [model.id(word) for word in piece[begun:]]
            total += model.score_rule(words, bos=begun)[0]
        scores.append(total)
    return scores


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("markers", [False, True])
def test_fragments_are_scored_as_a_search_scores_them(seed: int, markers: bool) -> None:
    rng = random.Random(seed)
    order = rng.choice([1, 2, 3, 5])
    model = native(random_table(rng, order, as_kenlm_wants=True), order)
    words = ["a", "b", "c", "d", "é", "zzz", "<s>", "</s>"]
    # More rules than are scored together.
    rules = [random_target(rng, words) for _ in range(1500)]
    columns = grammar_columns(rules)
    scores = fragment_scores(model, columns, markers=markers)
    np.testing.assert_allclose(scores, plain_scores(model, rules, markers), rtol=0, atol=1e-4)
    for threads in (2, 7):
        assert (fragment_scores(model, columns, threads, markers=markers) == scores).all()


def test_fragments_of_nothing() -> None:
    model = native({("<s>",): (-99.0, 0.0), ("</s>",): (-1.0, 0.0), ("a",): (-2.0, 0.0)}, 1)
    assert not len(fragment_scores(model, grammar_columns([])))
    gap = NonTerminal("X", 1)
    rules = [Rule("X", ("b",), ()), Rule("X", (gap,), (gap,)), Rule("X", ("b",), ("<s>", "a"))]
    assert fragment_scores(model, grammar_columns(rules[:2])).tolist() == [0.0, 0.0]
    assert fragment_scores(model, grammar_columns(rules)).tolist() == [0.0, 0.0, -2.0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"target": [1]}, "among the words"),
        ({"offsets": []}, "offset more"),
        ({"offsets": [0, 2]}, "out of their column"),
        ({"offsets": [-1, 1]}, "out of their column"),
        ({"offsets": [1, 0]}, "must not fall"),
        ({"text_offsets": []}, "offset more"),
        ({"text_offsets": [0, 2]}, "out of their column"),
        ({"threads": 0}, "threads"),
    ],
)
def test_target_sides_that_lead_out_are_refused(changed: dict[str, Any], message: str) -> None:
    model = native({("<s>",): (-99.0, 0.0), ("</s>",): (-1.0, 0.0), ("a",): (-2.0, 0.0)}, 1)
    given: dict[str, Any] = {"target": [0], "offsets": [0, 1], "text": list(b"a"), "text_offsets": [0, 1], **changed}
    kinds = {"target": np.int32, "offsets": np.int64, "text": np.uint8, "text_offsets": np.int64}
    call = {name: np.array(values, kinds[name]) if name in kinds else values for name, values in given.items()}
    with pytest.raises(ValueError, match=message):
        _core.fragment_scores(model, **call)


@pytest.mark.shared
def test_moses_table_is_limited_to_the_best_of_each_source_side(shared: Path) -> None:
    columns = load_grammar(shared / "gold/moses/model/rule-table.gz", cache="off")
    model = read_lm(shared / "gold/cdec/lm/en.4.klm")
    scores = fragment_scores(model, columns, 2)
    some = np.random.default_rng(1).choice(len(columns), 2000, replace=False).tolist()
    expected = plain_scores(model, [columns.rule(i) for i in some], True)
    np.testing.assert_allclose(scores[some], expected, rtol=0, atol=1e-4)

    grammar = Grammar(columns, Tables())
    limited = grammar.limited(scores, 20)
    # The rules of a source side stand together in this table, and have one left-hand side.
    symbols, bounds = columns.source, columns.source_offsets.tolist()
    keys = [symbols[first:last].tobytes() for first, last in itertools.pairwise(bounds)]
    starts = [0, *(i for i in range(1, len(keys)) if keys[i] != keys[i - 1]), len(keys)]
    stay: list[int] = []
    for first, last in itertools.pairwise(starts):
        best = first + np.argsort(-scores[first:last], kind="stable")[:20]
        stay.extend(sorted(best.tolist()))
    assert len(stay) < 0.7 * len(columns)
    assert sorted(limited.parts[0].trie.rules.tolist()) == stay
    assert sorted(grammar.parts[0].trie.rules.tolist()) == list(range(len(columns)))
