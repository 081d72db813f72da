"""Events of sentence pairs: the paper's example, a slow counter on random corpora, the folder on disk."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from smtformats.alignment.links import Alignment
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.gather import grammar_columns
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.plugins.localized.events.blocks import BlockSet
from smtplugins.plugins.localized.events.collecting import collect
from smtplugins.plugins.localized.events.event_lists import EventList
from tests.plugins.localized.made import Event, blocks_of, named, places, random_case, slow_events


def events_of(listed: EventList, sentence: int) -> list[Event]:
    """The events of a sentence pair as words."""
    blocks = listed.blocks
    return [
        (None if before is None else named(blocks, before), orientation, named(blocks, block))
        for before, orientation, block in listed.sentence(sentence)
    ]


def test_the_paper_s_figure_1(tmp_path: Path) -> None:
    # Arabic from left to right as in the figure's source axis; b2 is left of b1, b4 right of b3.
    b1 = (("AlTA}rAt", "AlHrbyp"), ("Israeli", "warplanes"))
    b2 = (("tnthk",), ("violate",))
    b3 = (("Almjal", "Aljwy"), ("Lebanese", "airspace"))
    b4 = (("AlsyAdp",), ("sovereignty",))
    source = (*b2[0], *b1[0], *b3[0], *b4[0])
    target = (*b1[1], *b2[1], *b3[1], *b4[1])
    listed = collect(blocks_of([b1, b2, b3, b4]), [(" ".join(source), " ".join(target), None)], tmp_path / "events")
    assert sorted(events_of(listed, 0), key=lambda one: target.index(one[2][1][0])) == [
        (None, "N", b1),
        (b1, "L", b2),
        (None, "N", b3),
        (b3, "R", b4),
    ]


@pytest.mark.parametrize("seed", range(12))
def test_events_are_those_of_a_slow_counter(seed: int, tmp_path: Path) -> None:
    pairs, bitext = random_case(seed)
    texts = [(" ".join(source), "  " + "\t".join(target), None) for source, target in bitext]
    listed = collect(blocks_of(pairs), texts, tmp_path / "events")
    totals: Counter[tuple[str, object]] = Counter()
    for number, (source, target) in enumerate(bitext):
        wanted = slow_events(pairs, source, target)
        assert Counter(events_of(listed, number)) == Counter(wanted)
        totals.update((orientation, block) for _, orientation, block in wanted)
    counts = listed.counts
    for number in range(len(listed.blocks)):
        block = named(listed.blocks, number)
        found = {key: totals[key, block] for key in "NLR"}
        assert (counts.left[number], counts.right[number]) == (found["L"], found["R"])
        assert counts.total[number] == sum(found.values())
    assert listed.record["occurrences"] == sum(len(places(pairs, *one)) for one in bitext)
    assert listed.record["bigrams"] + listed.record["neutral"] == sum(totals.values())


@pytest.mark.parametrize("seed", range(4))
def test_words_before_neutral_blocks(seed: int, tmp_path: Path) -> None:
    pairs, bitext = random_case(seed)
    listed = collect(blocks_of(pairs), [(" ".join(a), " ".join(b), None) for a, b in bitext], tmp_path / "events")
    words = {word: number for number, word in enumerate(listed.blocks.words)}
    found = Counter(map(tuple, np.column_stack([listed.neutral, listed.before.reshape(-1, 2)]).tolist()))
    wanted: Counter[tuple[int, ...]] = Counter()
    for source, target in bitext:
        there = places(pairs, source, target)
        for one in there:
            below = [b for b in there if b.target[1] == one.target[0]]
            if any(b.source[1] == one.source[0] or one.source[1] == b.source[0] for b in below):
                continue
            at = one.target[0]
            before = [words.get(target[at - k], -1) if at >= k else -2 for k in (2, 1)]
            number = next(i for i in range(len(listed.blocks)) if named(listed.blocks, i) == one.block)
            wanted[(number, *before)] += 1
    assert found == wanted


@pytest.mark.parametrize("seed", range(6))
def test_an_alignment_leaves_out_what_it_contradicts(seed: int, tmp_path: Path) -> None:
    pairs, bitext = random_case(seed)
    source_of = random.Random(seed)
    texts, wanted = [], 0
    for source, target in bitext:
        every = [(i, j) for i in range(len(source)) for j in range(len(target))]
        points = tuple(sorted(source_of.sample(every, min(len(every), source_of.randint(0, 5)))))
        texts.append((" ".join(source), " ".join(target), Alignment(points)))
        for one in places(pairs, source, target):
            inside = [(one.source[0] <= i < one.source[1], one.target[0] <= j < one.target[1]) for i, j in points]
            wanted += (True, True) in inside and all(a == b for a, b in inside)
    assert collect(blocks_of(pairs), texts, tmp_path / "events").record["occurrences"] == wanted


def test_a_link_to_a_word_that_is_not_there(tmp_path: Path) -> None:
    pairs = [("a", "x", Alignment(((0, 0),))), ("a", "x", Alignment(((0, 1),)))]
    with pytest.raises(SmtError, match="sentence pair 2: expected links between words of the sentences, found 0-1"):
        collect(blocks_of([(("a",), ("x",))]), pairs, tmp_path / "events")
    assert not (tmp_path / "events").exists()


def test_blocks_are_ordered_by_their_counts(tmp_path: Path) -> None:
    pairs = [(("a",), (word,)) for word in "xyz"] + [(("b",), ("y",))]
    texts = [("a", "z", None)] * 3 + [("a", "y", None)] * 3 + [("a b", "x y", None)]
    listed = collect(blocks_of(pairs), texts, tmp_path / "events")
    # y also stands as a's translation in the last pair.
    assert [listed.blocks.block(i) for i in range(4)] == [("a", "y"), ("a", "z"), ("a", "x"), ("b", "y")]
    assert listed.counts.total.tolist() == [4, 3, 1, 1]
    # y as a's translation ends neither left nor right of anything; "b y" is right of "a x", and left of nothing.
    assert listed.sentence(6) == [(2, "R", 3), (None, "N", 2), (None, "N", 0)]


def test_bigrams_above_a_threshold(tmp_path: Path) -> None:
    pairs, bitext = random_case(3, sentences=60)
    listed = collect(blocks_of(pairs), [(" ".join(a), " ".join(b), None) for a, b in bitext], tmp_path / "events")
    wanted = Counter(zip(listed.predecessor.tolist(), listed.successor.tolist(), strict=True))
    for threshold in (0, 1, 3):
        first, second, counts = listed.bigrams(threshold)
        found = list(zip(first.tolist(), second.tolist(), counts.tolist(), strict=True))
        assert found == sorted((*pair, count) for pair, count in wanted.items() if count > threshold)
        assert found


def test_a_list_of_nothing(tmp_path: Path) -> None:
    listed = collect(blocks_of([(("a",), ("x",))]), [("", "", None), ("b", "x", None)], tmp_path / "events")
    assert len(listed) == 2
    assert listed.counts.total.tolist() == [0]
    assert listed.sentence(1) == []


def test_pairs_that_come_twice_are_one_block_and_length_has_a_limit() -> None:
    rules = [
        Rule("X", tuple(a.split()), tuple(b.split())) for a, b in [("a b", "x"), ("a", "x"), ("a b", "x"), ("c", "")]
    ]
    made = BlockSet.from_grammar(grammar_columns(rules))
    assert [made.block(i) for i in range(len(made))] == [("a b", "x"), ("a", "x")]
    short = BlockSet.from_grammar(grammar_columns(rules), longest=1)
    assert [short.block(i) for i in range(len(short))] == [("a", "x")]


def test_rules_with_gaps_are_no_blocks() -> None:
    gap = NonTerminal("X", 1)
    with pytest.raises(SmtError, match="expected a table of phrases"):
        BlockSet.from_grammar(grammar_columns([Rule("X", ("a", gap), ("x", gap))]))


def test_folders_that_are_no_event_lists(tmp_path: Path) -> None:
    with pytest.raises(SmtError, match=r"expected a folder of events, found no events\.json"):
        EventList.open(tmp_path)
    blocks = blocks_of([(("a",), ("x",))])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match="expected a folder that is new"):
        collect(blocks, [("a", "x", None)], tmp_path / "full")
    collect(blocks, [("a", "x", None)], tmp_path / "events")
    with pytest.raises(UsageError, match=r"found one with events\.json, which models may be using; --force"):
        collect(blocks, [("a", "x", None)] * 2, tmp_path / "events")
    assert len(EventList.open(tmp_path / "events")) == 1
    collect(blocks, [("a", "x", None)] * 2, tmp_path / "events", force=True)
    with pytest.raises(UsageError, match="expected a folder that is new"):
        collect(blocks, [("a", "x", None)], tmp_path / "full", force=True)
    assert len(EventList.open(tmp_path / "events")) == 2
    (tmp_path / "events" / "neutral.npy").unlink()
    with pytest.raises(SmtError, match=r"expected neutral\.npy, found none"):
        EventList.open(tmp_path / "events")
    (tmp_path / "events" / "events.json").write_text(json.dumps({"version": 99}))
    with pytest.raises(SmtError, match="expected version 1 of events, found 99"):
        EventList.open(tmp_path / "events")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["events", "full"]


@pytest.mark.shared
def test_events_of_real_sentences(shared: Path, tmp_path: Path) -> None:
    from smtplugins.host.files.lists import read_corpus
    from smtplugins.host.files.opening import load_grammar

    table = load_grammar(shared / "gold/moses/train/first3k/phrase-table.gz", cache="off")
    blocks = BlockSet.from_grammar(table, longest=4)
    sides = [itertools.islice(read_corpus(shared / f"data/multi30k/train.{one}.gz"), 12) for one in ("de", "en")]
    texts = [(source, target, None) for source, target in zip(*sides, strict=True)]
    listed = collect(blocks, texts, tmp_path / "events")
    pairs = [named(blocks, i) for i in range(len(blocks))]
    for number, (source, target, _) in enumerate(texts):
        assert Counter(events_of(listed, number)) == Counter(slow_events(pairs, source.split(), target.split()))
    assert listed.record["bigrams"] > 1000
