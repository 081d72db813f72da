"""Confusion grammars beside their definition, in every format that is written natively, at any memory limit."""

from __future__ import annotations

import functools
import io
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats import FormatError
from smtformats.columns import GrammarColumns
from smtformats.files import Lines
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.gather import grammar_columns
from smtformats.hypergraph.graph import Edge, GraphBuilder, GraphColumns
from smtplugins.contracts.errors import UsageError
from smtplugins.core.grammar.parsing import parse
from smtplugins.core.grammar.tables import Grammar, Tables, glue
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.graph.inference import kbest
from smtplugins.host.files.opening import find_format, load_grammar, number
from smtplugins.plugins.cdlm.grammar.choices import Choices
from smtplugins.plugins.cdlm.grammar.confusion_grammar import COST, NATIVE, Confusions
from tests.plugins.cdlm import pairs_oracle as oracle
from tests.plugins.cdlm.confusions import FIGURE_1, FOUR

WORDS = ("a", "b", "cat", "'s", "ä", "Z")
CHOICES: list[dict[str, Any]] = [
    {},
    {"identity": False},
    {"same_lhs": True},
    {"glue": True},
    {"wordless": False},
    {"gaps": 1},
    {"gaps": 0, "identity": False},
]
OF_GRAMMARS: list[dict[str, Any]] = [
    {"cap": 1},
    {"cap": 2},
    {"cap": 2, "best": "count"},
    {"cap": 2, "best": {"p": 1.0}},
    {"cap": 3, "best": {"p": -1.0, "q": 0.5}, "identity": False},
]


def confusion_grammar(
    grammars: Iterable[GrammarColumns],
    cap: int = 0,
    identity: bool = True,
    arity: int | None = None,
    *,
    weights: Any = "none",
    memory: int | None = None,
    **choices: Any,
) -> GrammarColumns:
    """The confusion grammar of grammars; ``arity`` is the maximum number of gaps."""
    with Confusions(Choices(cap=cap, identity=identity, gaps=arity, **choices), memory=memory) as confusions:
        for grammar in grammars:
            confusions.add(grammar)
        return confusions.columns(weights)


def of_forests(
    graphs: Iterable[GraphColumns | Hypergraph], scope: Any = "item", *, weights: Any = "none", **choices: Any
) -> GrammarColumns:
    """The confusion grammar of graphs, which may be a stream."""
    with Confusions(Choices(**choices)) as confusions:
        for graph in graphs:
            confusions.add_graph(graph, scope)
        return confusions.columns(weights)


def symbols(
    rng: random.Random, gaps: Sequence[NonTerminal], most: int, least: int = 0
) -> tuple[str | NonTerminal, ...]:
    found: list[str | NonTerminal] = [*gaps]
    rng.shuffle(found)
    for _ in range(max(rng.randint(0, most), least - len(found))):
        found.insert(rng.randint(0, len(found)), rng.choice(WORDS))
    return tuple(found)


def a_rule(rng: random.Random, arity: int | None = None, lhs: str = "XY") -> Rule:
    count = rng.choice((0, 0, 1, 2, 2, 3)) if arity is None else arity
    labels = [rng.choice(("X", "X", "Y")) for _ in range(count)]
    gaps = [NonTerminal(label, i + 1) for i, label in enumerate(labels)]
    source: list[str | NonTerminal] = [*gaps]
    for _ in range(rng.randint(0 if gaps else 1, 1)):
        source.insert(rng.randint(0, len(source)), rng.choice(("x", "y")))
    names = rng.sample(("p", "q"), rng.randint(0, 2))
    values = tuple(rng.choice((-1.0, 0.0, 0.5, 2.0)) for _ in names)
    return Rule(rng.choice(lhs), tuple(source), symbols(rng, gaps, 2), tuple(names), values)


def random_rules(seed: int, count: int) -> list[Rule]:
    rng = random.Random(seed)
    return [a_rule(rng) for _ in range(count)]


def plain(columns: GrammarColumns) -> list[tuple[oracle.Side, oracle.Side]]:
    rules = [columns.rule(i) for i in range(len(columns))]
    assert {rule.lhs for rule in rules} <= {"X"}
    assert {one.label for rule in rules for one in rule.source if isinstance(one, NonTerminal)} <= {"X"}
    return [(oracle.side(rule.source), oracle.side(rule.target)) for rule in rules]


def same(columns: GrammarColumns, expected: oracle.Pairs) -> None:
    found = plain(columns)
    assert len(found) == len(set(found)) == len(expected)
    assert set(found) == set(expected)
    cost = oracle.costs(expected)
    for pair, row in zip(found, range(len(found)), strict=True):
        assert columns.rule(row).features()[COST] == pytest.approx(cost[pair], rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("options", CHOICES + OF_GRAMMARS, ids=str)
def test_grammars_give_the_pairs_of_the_definition(options: dict[str, Any]) -> None:
    choices = Choices(**options)
    for seed in range(12):
        rules = random_rules(seed, 5 + seed * 6)
        # Of two grammars, each with numbers of its own for words and labels.
        cut = len(rules) // 2
        parts = [grammar_columns(rules[:cut]), grammar_columns(rules[cut:])] if cut else [grammar_columns(rules)]
        expected, uncapped = oracle.of_grammar(rules, choices)
        with Confusions(choices) as confusions:
            for part in parts:
                confusions.add(part)
            same(confusions.columns("relfreq"), expected)
            report = confusions.report
        assert report.pairs == len(expected) and report.rules == len(rules)
        assert report.uncapped == uncapped
        assert report.capped - report.no_input >= len(expected)
        assert report.capped == uncapped or choices.cap


@functools.cache
def random_graph(seed: int, mark: str = "PassThrough") -> tuple[GraphColumns, list[int]]:
    """A graph with few rules, so that nodes share them, and the edges whose rules were minted."""
    rng = random.Random(seed)
    rules = [a_rule(rng, arity) for arity in (0, 1, 2, 3) for _ in range(5)]
    rules += [Rule("X", (), ("a",)), Rule("X", (), (NonTerminal("", 1),)), Rule("X", ("x",), ("x",))]
    by_arity: dict[int, list[int]] = {}
    for i, rule in enumerate(rules):
        by_arity.setdefault(len(oracle.gaps(oracle.side(rule.target))), []).append(i)
    builder = GraphBuilder()
    minted = []
    edges = 0
    for node in range(8):
        into = []
        span = (node % 3, node % 3 + 2)
        for _ in range(rng.randint(1, 9)):
            arity = rng.choice([a for a in by_arity if a == 0 or node > 0])
            rule = rng.choice([*by_arity[arity], -1])
            features = {mark: 1.0} if rng.random() < 0.2 else {"lm_oov": 1.0}
            small = rule >= 0 and max(len(rules[rule].source), len(rules[rule].target)) <= 1
            if mark in features and small:
                minted.append(edges)
            into.append(Edge([rng.randrange(node) for _ in range(arity)], rule, features, span))
            edges += 1
        builder.add(into, "X")
    return builder.graph(str(seed), rules), minted


@pytest.mark.parametrize("scope", ["item", "cell"])
@pytest.mark.parametrize("options", [*CHOICES, {"same_rule": False}, {"same_rule": False, "wordless": False}], ids=str)
def test_graphs_give_the_pairs_of_the_definition(options: dict[str, Any], scope: Any) -> None:
    choices = Choices(**options)
    for seed in range(6):
        graph, minted = random_graph(seed, ("PassThrough", "OOVPenalty", "UnknownWordPenalty0")[seed % 3])
        expected = oracle.of_graph(graph, scope, choices, minted)
        same(of_forests([graph], scope, weights="relfreq", **options), expected)
        same(of_forests([Hypergraph.from_columns(graph)], scope, weights="relfreq", **options), expected)
        with_minted = oracle.of_graph(graph, scope, choices)
        same(of_forests([graph], scope, weights="relfreq", oov=True, **options), with_minted)
    graphs = [random_graph(seed) for seed in range(5)]
    together: oracle.Pairs = sum(
        (oracle.of_graph(one, scope, choices, minted) for one, minted in graphs), start=oracle.Counter()
    )
    same(of_forests((one for one, _ in graphs), scope, weights="relfreq", **options), together)


def lines_of(confusions: Confusions, *args: Any) -> bytes:
    return b"".join(confusions.lines(*args))


@pytest.mark.parametrize("weights", ["none", "relfreq"])
@pytest.mark.parametrize("name", NATIVE)
def test_native_lines_are_those_of_the_format(name: str, weights: Any, tmp_path: Path) -> None:
    record = find_format(name, "grammar")
    assert record.write is not None and record.parse is not None
    with Confusions() as confusions:
        confusions.add(grammar_columns(random_rules(3, 150)))
        written = lines_of(confusions, name, weights)
        out = io.StringIO()
        rules = confusions.rules(weights, probabilities=name == "moses-rules")
        if name == "moses-rules":  # a probability, not a cost
            digits = number(7)
            written_again = io.StringIO()
            record.write(record.parse(Lines(io.BytesIO(written), "")), written_again, digits)
            assert written_again.getvalue().encode() == written
            # Probabilities have the digits of 32 bits.
            cut = [line.split(b" ||| ") for line in written.splitlines()]
            record.write(rules, out, digits)
            expected = [line.split(" ||| ") for line in out.getvalue().splitlines()]
            for one, other in zip(cut, expected, strict=True):
                assert [*one[:2], *one[3:]] == [part.encode() for part in [*other[:2], *other[3:]]]
                assert float(one[2]) == pytest.approx(float(other[2]), rel=2e-6)
        else:
            record.write(rules, out, number(None))
            assert written == out.getvalue().encode()
        columns = confusions.columns(weights)
    path = tmp_path / "grammar"
    path.write_bytes(written)
    assert plain(load_grammar(path, format=name, cache="off")) == plain(columns)


def test_order_is_that_of_words_with_gaps_behind_and_sides_once() -> None:
    with Confusions() as confusions:
        confusions.add(grammar_columns(random_rules(5, 200)))
        found = plain(confusions.columns())
    keys = [
        [[(isinstance(s, int), s if isinstance(s, int) else s.encode()) for s in one] for one in pair] for pair in found
    ]
    assert keys == sorted(keys)


def test_neither_memory_nor_order_of_grammars_change_a_byte(tmp_path: Path) -> None:
    rng = random.Random(1)
    rules = [
        Rule("X", (f"s{rng.randrange(150)}",), (f"w{rng.randrange(40)}", f"w{rng.randrange(40)}")) for _ in range(6000)
    ]
    columns = grammar_columns(rules)
    found = []
    for memory in (None, 1 << 12, 1 << 16):
        with Confusions(memory=memory, folder=tmp_path) as confusions:
            confusions.add(columns)
            found.append(lines_of(confusions, "cdec-grammar", "relfreq"))
            # As often as one likes.
            assert lines_of(confusions, "cdec-grammar", "relfreq") == found[0]
            assert confusions.report.spilled == (memory is not None)
    with Confusions() as confusions:
        confusions.add(grammar_columns(rules[::-1]))
        found.append(lines_of(confusions, "cdec-grammar", "relfreq"))
    assert len(set(found)) == 1 and found[0].count(b"\n") > 50_000
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fails_is_named(tmp_path: Path) -> None:
    columns = grammar_columns([Rule("X", (f"s{i % 99}",), (f"w{i}",)) for i in range(5000)])
    with Confusions(memory=1 << 12, folder=tmp_path) as confusions:
        confusions.add(columns)
        (aside,) = tmp_path.iterdir()
        aside.rmdir()
        with pytest.raises(FileNotFoundError) as caught:
            confusions.finish()
        assert str(caught.value.filename).startswith(str(aside))
        aside.mkdir()


def said(rules: GrammarColumns, sentence: str) -> set[str]:
    """What a confusion grammar makes of a sentence: every derivation, of which there are few."""
    tables = Tables()
    forest = parse(sentence.split(), [Grammar(rules, tables), glue(tables)])
    graph = Hypergraph.from_columns(forest.to_hypergraph())
    found = kbest(graph, k=1000)
    assert len(found) < 1000
    return set(found.texts())


BILINGUAL = """\
[X] ||| mao ||| a cat ||| p=1
[X] ||| mao ||| the cat ||| p=1
[X] ||| dianzi shang ||| the mat ||| p=1
[X] ||| [X,1] zai [X,2] ||| [1] on [2] ||| p=1
[X] ||| [X,1] zai [X,2] ||| [1] [2] ||| p=1
[X] ||| [X,1] zai [X,2] ||| [1] 's [2] ||| p=1
[X] ||| [X,1] zai [X,2] ||| [2] of [1] ||| p=1
[X] ||| [X,1] de [X,2] ||| [1] on [2] ||| p=1
[X] ||| [X,1] de [X,2] ||| [2] on [1] ||| p=1
"""


def grammar_of(text: str) -> GrammarColumns:
    record = find_format("cdec-grammar", "grammar")
    assert record.load is not None
    columns: GrammarColumns = record.load(io.BytesIO(text.encode()), "")
    return columns


def test_figure_1() -> None:
    figure = grammar_of(FIGURE_1)
    assert said(figure, "a cat on the mat") == FOUR
    # A system that confuses what the figure shows: its rules come of it, and with them the four strings.
    confused = confusion_grammar([grammar_of(BILINGUAL)])
    rules = list(map(confused.rule, range(len(confused))))
    shown = set(plain(figure))
    assert shown <= set(plain(confused))
    those = [rule for rule, pair in zip(rules, plain(confused), strict=True) if pair in shown]
    assert said(grammar_columns(those), "a cat on the mat") == FOUR
    # The whole of it, where sides are confused with themselves, too.
    lexical = [rule for rule in rules if any(isinstance(one, str) for one in rule.source)]
    expected = {f"the mat {joint} {cat}" for cat in ("a cat", "the cat") for joint in ("of", "on")}
    expected |= {f"{cat}{joint} the mat" for cat in ("a cat", "the cat") for joint in ("", " 's", " on")}
    assert said(grammar_columns(lexical), "a cat on the mat") == expected
    assert set(plain(confusion_grammar([grammar_of(BILINGUAL)], wordless=False))) == set(
        plain(grammar_columns(lexical))
    )


def test_gaps_are_numbered_as_the_input_has_them() -> None:
    rules = grammar_of("[X] ||| [X,1] de [X,2] ||| [2] of [1] ||| p=1\n[X] ||| [X,1] de [X,2] ||| [1] 's [2] ||| p=1\n")
    assert plain(confusion_grammar([rules], identity=False)) == [
        ((0, "'s", 1), (1, "of", 0)),
        ((0, "of", 1), (1, "'s", 0)),
    ]


def test_refused() -> None:
    for bad in ({"cap": -1}, {"gaps": -1}, {"best": "score"}):
        with pytest.raises(UsageError, match="expected"):
            Choices(**bad)
    with pytest.raises(UsageError, match=r"features of the grammar \(p\), found r"):
        confusion_grammar([grammar_of(BILINGUAL)], 2, best={"r": 1.0})
    columns = grammar_columns([Rule("X", (NonTerminal("X", 1),), (NonTerminal("X", 1), "a"))])
    twice = replace(columns, target=np.array([-1, -1], np.int32))
    with pytest.raises(ValueError, match="each gap once"):
        confusion_grammar([twice])
    beyond = replace(columns, target=np.array([-1, 7], np.int32))
    with pytest.raises(ValueError, match="numbers of words"):
        confusion_grammar([beyond])
    graph, _ = random_graph(1)
    spanless = replace(graph, spans=np.full_like(graph.spans, -1))
    with pytest.raises(UsageError, match="spans"):
        of_forests([spanless], "cell")
    assert len(of_forests([])) == 0


@pytest.mark.parametrize(
    ("name", "word"), [("cdec-grammar", "[1]"), ("joshua-grammar", "[x]"), ("moses-rules", "[a][b]")]
)
def test_words_that_a_format_cannot_hold_are_refused(name: str, word: str) -> None:
    with Confusions() as confusions:
        confusions.add(grammar_columns([Rule("X", ("x",), (word,)), Rule("X", ("x",), ("b",))]))
        with pytest.raises(FormatError):
            list(confusions.lines(name))
        assert len(confusions.columns()) == 4
    with Confusions() as confusions:
        confusions.add(grammar_columns([Rule("X", ("x",), ("[",)), Rule("X", ("x",), ("b]",))]))
        assert lines_of(confusions, name).count(b"\n") == 4
        with pytest.raises(UsageError, match="label"):
            confusions.lines(name, "none", "[X]")


@pytest.mark.shared
def test_gold_grammars(shared: Path) -> None:
    grammars = [load_grammar(shared / "gold/cdec/grammars/test300/grammar.4.gz", cache="off")]
    rules = [one.rule(i) for one in grammars for i in range(len(one))]
    for choices in (Choices(), Choices(cap=5, best={"EgivenFCoherent": -1.0})):
        expected, uncapped = oracle.of_grammar(rules, choices)
        with Confusions(choices) as confusions:
            for one in grammars:
                confusions.add(one)
            assert set(plain(confusions.columns())) == set(expected)
            assert confusions.report.uncapped == uncapped
