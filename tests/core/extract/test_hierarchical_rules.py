"""Extraction of hierarchical rules: against a slow one from the definitions, over the disk, and what is refused."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from smtplugins.core.extract.hierarchical_rules import LIMITS, BadRules, ExtractedRules, RuleSettings, glue_grammar
from smtplugins.core.extract.phrase_pairs import BadBitext
from tests.core.extractions import Extraction, Pair, Words, random_text
from tests.core.rule_extractions import Counted, Links, Rule, counted, is_gap
from tests.seeds import seeds

HUGE = 1 << 40
EXAMPLE = [Pair(("das", "haus", "ist", "klein"), ("the", "house", "is", "small"), ((0, 0), (1, 1), (2, 2), (3, 3)))]
Table = dict[tuple[str, str], float]


def lines_of(folder: Path, text: Sequence[Pair], settings: RuleSettings, table_format: str = "moses-rules", *,
             memory: int = HUGE, threads: int = 1) -> list[str]:  # fmt: skip
    rules = ExtractedRules(folder, settings, table_format=table_format, memory=memory, threads=threads)
    columns = zip(*(pair.lines() for pair in text), strict=True)
    source, target, links = ("".join(f"{line}\n" for line in lines).encode() for lines in columns)
    rules.feed(source, target, links)
    lines = b"".join(rules.table()).decode().split("\n")[:-1]
    assert rules.rules == len(lines)
    assert rules.spilled == (memory < HUGE and rules.rules > 0)
    assert rules.sentences == len(text)
    return lines


def some_settings(rng: random.Random) -> RuleSettings:
    while True:
        try:
            return RuleSettings(
                max_span=rng.choice([3, 4, 6]),
                max_source_symbols=rng.choice([2, 3, 5]),
                max_target_symbols=rng.choice([2, 4, 999]),
                max_source_words=rng.choice([None, None, 2, 6]),
                max_target_words=rng.choice([None, None, 3]),
                max_nonterminals=rng.choice([0, 1, 2, 2, 3]),
                min_hole=rng.choice([1, 1, 2]),
                min_target_hole=rng.choice([1, 1, 2]),
                min_words=rng.choice([0, 1, 1, 2]),
                adjacent=rng.random() < 0.5,
                adjacent_target=rng.random() < 0.7,
                aligned=rng.random() < 0.7,
                tight=rng.random() < 0.4,
                counts=rng.choice(["fractional", "unit", "places"]),
            )
        except BadRules:
            pass


def near(shown: str, expected: float) -> bool:
    return math.isclose(float(shown), expected, rel_tol=2e-5, abs_tol=1e-12)


def weight(table: Table, given: Words, words: Words, links: Links) -> float:
    product = 1.0
    for place, word in enumerate(words):
        if is_gap(word):
            continue
        linked = [table[word, given[s]] for s, t in links if t == place]
        product *= sum(linked) / len(linked) if linked else table[word, "NULL"]
    return product


def turned(links: Links) -> Links:
    return tuple((t, s) for s, t in links)


def totals(table: dict[Rule, Counted], side: Callable[[Rule], object]) -> dict[object, Fraction]:
    sums: dict[object, Fraction] = defaultdict(Fraction)
    for rule, entry in table.items():
        sums[side(rule)] += entry.count
    return sums


@pytest.mark.parametrize("seed", seeds(40))
def test_as_the_definitions_say(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    text = random_text(rng, rng.randint(1, 6), longest=7)
    settings = some_settings(rng)
    table = counted(text, settings)
    lines = lines_of(tmp_path, text, settings)
    by_source, by_target = totals(table, lambda rule: rule.moses()[0]), totals(table, lambda rule: rule.moses()[1])
    forward, backward = Extraction(text).lexical()
    expected = {}
    for rule, entry in table.items():
        for links in entry.best():
            points = " ".join(sorted(f"{s}-{t}" for s, t in links))
            expected[(*rule.moses(), points)] = rule, entry, links
    assert len(lines) == len(table)
    for line in lines:
        source, target, scores, points, counts, _, _ = line.split(" |||")
        rule, entry, links = expected[source.strip(), target.strip(), points.strip()]
        source_count, target_count = by_source[source.strip()], by_target[target.strip()]
        assert all(map(near, counts.split(), map(float, (target_count, source_count, entry.count))))
        first, second, third, fourth = scores.split()
        assert near(first, entry.count / target_count)
        assert any(near(second, weight(backward, rule.target, rule.source, turned(other))) for other in entry.best())
        assert near(third, entry.count / source_count)
        assert near(fourth, weight(forward, rule.source, rule.target, links))
    assert lines == sorted(lines, key=lambda line: [field.encode() for field in line.split("||| ")[:2]])


@pytest.mark.parametrize("seed", seeds(20))
def test_grammars_of_cdec(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    text = random_text(rng, rng.randint(1, 6), longest=7)
    settings = some_settings(rng)
    table = counted(text, settings)
    by_source, by_target = totals(table, lambda rule: rule.source), totals(table, lambda rule: rule.target)
    exact = Extraction(text)
    forward, backward = exact.lexical()

    def most(lexical: Table, given: Words, words: Words) -> float:
        costs = []
        for word in (other for other in words if not is_gap(other)):
            best = max(lexical.get((word, other), 0.0) for other in (*given, "NULL"))
            costs.append(-math.log10(best) if best else 99.0)
        return sum(costs)

    lines = lines_of(tmp_path, text, settings, "cdec-grammar")
    assert len(lines) == len(table)
    for line in lines:
        head, source, target, features, points = (field.strip() for field in line.split("|||"))
        rule = Rule(tuple(source.split()), tuple(target.split()))
        entry = table[rule]
        assert head == "[X]"
        names, values = zip(*(feature.split("=") for feature in features.split()), strict=True)
        expected = {
            "EgivenF": -math.log10(entry.count / by_source[rule.source]),
            "FgivenE": -math.log10(entry.count / by_target[rule.target]),
            "CountEF": math.log10(1 + entry.count),
            "MaxLexFgivenE": most(backward, rule.target, rule.source),
            "MaxLexEgivenF": most(forward, rule.source, rule.target),
            "IsSingletonF": by_source[rule.source] == 1,
            "IsSingletonFE": entry.count == 1,
        }
        assert names == tuple(expected)
        # The lexical tables of the check are rounded as Moses' files are.
        for value, wanted in zip(values, expected.values(), strict=True):
            assert math.isclose(float(value), wanted, rel_tol=1e-4, abs_tol=1e-5), line
        words = [" ".join(f"{s}-{t}" for s, t in links if not is_gap(rule.source[s])) for links in entry.best()]
        assert points in words


@pytest.mark.parametrize("seed", seeds(20))
def test_grammars_of_joshua(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    text = random_text(rng, rng.randint(1, 6), longest=7)
    settings = some_settings(rng)
    table = counted(text, settings)
    by_source, by_target = totals(table, lambda rule: rule.source), totals(table, lambda rule: rule.target)
    forward, backward = thrax_tables(text)
    lines = lines_of(tmp_path, text, settings, "joshua-grammar")
    assert len(lines) == len(table)
    for line in lines:
        head, source, target, features, points, count = (field.strip() for field in line.split("|||"))
        assert ("|||  ||| " in line) == (not points)
        rule = Rule(tuple(source.split()), tuple(target.split()))
        entry = table[rule]
        values = dict(feature.split("=") for feature in features.split())
        assert list(values) == sorted(values)
        costs = [-math.log(weight(forward, rule.source, rule.target, links)) for links in entry.best()]
        turned_costs = [-math.log(weight(backward, rule.target, rule.source, turned(links))) for links in entry.best()]
        expected = {
            "e_given_f_lex": costs,
            "e_given_f_phrase": [-math.log(entry.count / by_source[rule.source])],
            "f_given_e_lex": turned_costs,
            "f_given_e_phrase": [-math.log(entry.count / by_target[rule.target])],
            "phrase_penalty": [1],
            "rarity": [math.exp(1 - entry.count)],
        }
        for name, wanted in expected.items():
            assert any(math.isclose(float(values[name]), value, abs_tol=2e-5) for value in wanted), (line, name)
        assert head == "[X]"
        assert near(count, float(entry.count))


def thrax_tables(text: Sequence[Pair]) -> tuple[Table, Table]:
    """Shares of the links of a word; and which words are without links, as given NULL."""
    tables: tuple[Table, Table] = ({}, {})
    for table, side in zip(tables, (0, 1), strict=True):
        counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for pair in text:
            if not pair.source:  # Thrax would drop it, Moses' tools count its words
                for word in pair.target if side == 0 else ():
                    counts["NULL"][word] += 1
                continue
            sides = (pair.source, pair.target)
            for link in pair.written:
                counts[sides[side][link[side]]][sides[1 - side][link[1 - side]]] += 1
            linked = {link[1 - side] for link in pair.written}
            for place, word in enumerate(sides[1 - side]):
                if place not in linked:
                    counts["NULL"][word] += 1
        for given, words in counts.items():
            for word, count in words.items():
                table[word, given] = count / sum(words.values())
    return tables


@pytest.mark.parametrize("table_format", ["moses-rules", "cdec-grammar", "joshua-grammar"])
def test_neither_memory_nor_threads_change_anything(tmp_path: Path, table_format: str) -> None:
    rng = random.Random(5)
    text = random_text(rng, 70, longest=6)
    settings = RuleSettings(min_hole=1, adjacent=True)
    lines = lines_of(tmp_path, text, settings, table_format)
    assert lines_of(tmp_path, text, settings, table_format, threads=3) == lines
    assert lines_of(tmp_path, text, settings, table_format, memory=0, threads=2) == lines
    assert lines_of(tmp_path, text, settings, table_format, memory=60_000) == lines
    assert not list(tmp_path.iterdir())


def test_an_example(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, EXAMPLE, RuleSettings(max_span=4, max_source_symbols=3, min_hole=1))
    rules = dict(tuple(line.split(" ||| ")[:2]) for line in lines)
    assert rules["[X][X] ist [X][X] [X]"] == "[X][X] is [X][X] [X]"
    assert rules["das [X][X] [X]"] == "the [X][X] [X]"
    assert "das [X][X] klein [X]" in rules
    assert "das haus ist klein [X]" not in rules
    assert not any("[X][X] [X][X] " in source for source in rules)


def test_gaps_that_change_places(tmp_path: Path) -> None:
    # Moses' sides have no numbers: only the points tell the two rules apart.
    same = Pair(("a", "x", "b"), ("a", "x", "b"), ((0, 0), (1, 1), (2, 2)))
    swapped = Pair(("a", "x", "b"), ("b", "x", "a"), ((0, 2), (1, 1), (2, 0)))
    settings = RuleSettings(max_span=3, min_hole=1, counts="unit")
    lines = [line for line in lines_of(tmp_path, [same, swapped], settings) if line.startswith("[X][X] x [X][X] ")]
    assert [line.split(" ||| ", 2)[2] for line in lines] == [
        "0.5 1 0.5 1 ||| 0-0 1-1 2-2 ||| 2 2 1 ||| |||",
        "0.5 1 0.5 1 ||| 0-2 1-1 2-0 ||| 2 2 1 ||| |||",
    ]
    lines = lines_of(tmp_path, [same, swapped], settings, "cdec-grammar")
    chosen = [line for line in lines if line.startswith("[X] ||| [X,1] x [X,2] ")]
    assert [line.split(" ||| ")[2:4] for line in chosen] == [
        [f"[X,{a}] x [X,{b}]", "EgivenF=0.30103 FgivenE=0 CountEF=0.30103 MaxLexFgivenE=0 MaxLexEgivenF=0 "
         "IsSingletonF=0 IsSingletonFE=1"]
        for a, b in ((1, 2), (2, 1))
    ]  # fmt: skip


def test_ways_to_count(tmp_path: Path) -> None:
    # The gap of "das X" reaches one, two or three words.
    counts = {}
    for way in ("fractional", "unit", "places"):
        lines = lines_of(tmp_path, EXAMPLE, RuleSettings(max_span=4, min_hole=1, counts=way))
        line = next(line for line in lines if line.startswith("das [X][X] [X]"))
        counts[way] = float(line.split(" ||| ")[4].split()[2])
    # Phrases of two, three and four words have 3, 7 and 15 rules.
    assert counts == {"fractional": pytest.approx(1 / 3 + 1 / 7 + 1 / 15), "unit": 3, "places": 1}


def test_counts_that_single_precision_would_lose(tmp_path: Path) -> None:
    # Of two rules a phrase: shares of 1/2 are exact up to 2^23, those of 1/3 go astray before.
    pair = Pair(("a", "b"), ("a", "b"), ((0, 0), (1, 1)))
    rules = ExtractedRules(tmp_path, RuleSettings(max_span=2, min_hole=1), memory=HUGE)
    source, target, links = (f"{line}\n" * 10_000 for line in pair.lines())
    for _ in range(30):
        rules.feed(source.encode(), target.encode(), links.encode())
    table = b"".join(rules.table()).decode().splitlines()
    counts = {line.split(" ||| ")[0]: line.split(" ||| ")[4] for line in table}
    # 0.333333 three hundred thousand times; single precision alone comes to 100004 or so.
    assert counts["a b [X]"].split()[2] == "99999.9"
    assert counts["a [X]"].split()[2] == "300000"


def test_words_in_brackets_are_gaps_to_everybody(tmp_path: Path) -> None:
    for words, target, side in ((b"a [b]\n", b"c\n", "source"), (b"a\n", b"[X][X]\n", "target")):
        with pytest.raises(
            BadBitext, match=rf"{side}, line 2: expected words without brackets around them.*, found '\["
        ):
            ExtractedRules(tmp_path).feed(b"a\n" + words, b"b\n" + target, b"0-0\n0-0\n")
    rules = ExtractedRules(tmp_path, RuleSettings(min_hole=1))
    rules.feed(b"a[ ]b [\n", b"[ ] ]\n", b"0-0 1-1 2-2\n")
    assert b"a[ [X] ||| [ [X] ||| 1 1 1 1 " in b"".join(rules.table())


def test_lexical_tables_have_no_gaps(tmp_path: Path) -> None:
    tables = []
    for lines in (b"", b"[X][X] [X][X] 0.25\n[X] [X] 0.5\n"):
        rules = ExtractedRules(tmp_path, RuleSettings(min_hole=1), lexical=False)
        for forward in (True, False):
            rules.read_lexical(b"c a 0.5\n" + lines, forward=forward)
        rules.feed(b"a b\n", b"c d\n", b"0-0 1-1\n")
        tables.append(b"".join(rules.table()))
    assert b"[X][X] b [X] ||| [X][X] d [X] ||| " in tables[0]
    assert tables[0] == tables[1]


def test_no_rules(tmp_path: Path) -> None:
    rules = ExtractedRules(tmp_path)
    rules.feed(b"a\n\n", b"b\nb\n", b"\n\n")
    assert list(rules.table()) == []
    assert (rules.rules, rules.sentences, rules.empty, rules.skipped) == (0, 2, 1, 0)


def test_a_finished_extraction_takes_no_more(tmp_path: Path) -> None:
    rules = ExtractedRules(tmp_path)
    list(rules.table())
    with pytest.raises(RuntimeError, match="the extraction is finished"):
        rules.feed(b"a\n", b"b\n", b"0-0\n")
    with pytest.raises(RuntimeError, match="the extraction is finished"):
        rules.table()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_span": 0}, "max_span: expected 1 or more, found 0"),
        ({"max_span": 256}, "max_span: expected at most 255, found 256"),
        ({"max_nonterminals": -1}, "max_nonterminals: expected 0 or more, found -1"),
        ({"max_nonterminals": 100}, "max_nonterminals: expected at most 99, found 100"),
        ({"min_hole": 0}, "min_hole: expected 1 or more, found 0"),
        ({"max_source_words": 0}, "max_source_words: expected 1 or more, found 0"),
        ({"counts": "all"}, "counts: expected one of fractional, unit, places, found 'all'"),
        ({"max_source_symbols": 1}, "max_source_symbols: expected 2 or more (a gap and 1 word), found 1"),
        ({"min_words": 5}, "max_source_symbols: expected 6 or more (a gap and 5 words), found 5"),
        ({"max_target_symbols": 1}, "max_target_symbols: expected 2 or more (a gap and 1 word), found 1"),
        ({"max_span": 2}, "max_span: expected 3 or more (a gap of 2 words and 1 word), found 2"),
    ],
)
def test_settings_that_no_rule_can_meet(settings: dict[str, object], message: str) -> None:
    with pytest.raises(BadRules) as caught:
        RuleSettings(**settings)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_limits_and_glue() -> None:
    assert set(LIMITS) == {"moses", "chiang", "cdec", "thrax"}
    assert LIMITS["moses"] == RuleSettings()
    assert LIMITS["chiang"].tight
    assert glue_grammar("cdec-grammar") is None
    assert (glue_grammar("joshua-grammar") or "").count("\n") == 4
