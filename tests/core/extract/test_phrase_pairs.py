"""Extraction of phrase pairs: against a slow one from the definitions, in memory and on disk, and what is refused."""

from __future__ import annotations

import gzip
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from smtformats.reordering.models import ReorderingModel
from smtplugins.core.extract.phrase_pairs import BadBitext, NoSmoothing, Phrases, read_bitext, read_lines
from tests.core.extractions import Extraction, Pair, lexical_lines, random_text, stretches
from tests.seeds import seeds

MODELS = [
    "wbe-msd-bidirectional-fe",
    "wbe-leftright-forward-f",
    "wbe-monotonicity-backward-fe",
    "phrase-mslr-bidirectional-fe",
    "phrase-monotonicity-backward-f",
    "hier-mslr-bidirectional-f",
    "hier-msd-forward-fe",
]
HUGE = 1 << 40


def files(text: Sequence[Pair]) -> tuple[bytes, bytes, bytes]:
    columns = zip(*(pair.lines() for pair in text), strict=True)
    source, target, links = ("".join(f"{line}\n" for line in lines).encode() for lines in columns)
    return source, target, links


def tables(phrases: Phrases, smoothing: str = "none") -> list[bytes]:
    pieces = list(phrases.tables(smoothing))
    return [b"".join(parts) for parts in zip(*pieces, strict=True)]


def extracted(folder: Path, text: Sequence[Pair], *, memory: int = HUGE, limit: int = 7, models: Sequence[str] = (),
              smoothing: str = "none") -> list[bytes]:  # fmt: skip
    chosen = [ReorderingModel.parse(model) for model in models]
    phrases = Phrases(folder, max_length=limit, models=chosen, memory=memory)
    phrases.feed(*files(text))
    made = tables(phrases, smoothing)
    if phrases.pairs:
        assert phrases.spilled == (memory < HUGE)
    assert not list(folder.iterdir()) or phrases.spilled
    return [*made, phrases.lexical(forward=True), phrases.lexical(forward=False)]


def joined(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


@pytest.mark.parametrize("seed", seeds(20))
def test_as_the_definitions_say(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    text = random_text(rng, rng.randint(1, 8))
    limit = rng.choice([1, 2, 3, 7])
    models = rng.sample(MODELS, rng.randint(0, len(MODELS)))
    chosen = [ReorderingModel.parse(model) for model in models]
    oracle = Extraction(text, limit, chosen)
    expected = [oracle.phrase_table(), *(oracle.reordering_table(model) for model in chosen)]
    expected += [list(lexical_lines(table)) for table in oracle.lexical()]
    actual = extracted(tmp_path, text, limit=limit, models=models)
    if not oracle.pairs:
        assert actual[:-2] == []
    else:
        assert actual == [joined(lines) for lines in expected]


@pytest.mark.parametrize("seed", range(10))
def test_single_occurrences_in_the_order_of_the_text(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    text = random_text(rng, 3, longest=8)
    models = [ReorderingModel.parse(model) for model in rng.sample(MODELS, 3)]
    phrases = Phrases(tmp_path, max_length=3, models=models, keep_lines=True, memory=HUGE)
    lines: list[list[str]] = [[], [], []]
    for pair in text:
        phrases.feed(*files([pair]))
        for kept, new in zip(lines, phrases.new_lines(), strict=True):
            kept += new.decode().split("\n")[:-1]
    oracle = Extraction(text, 3, models)
    assert lines[:2] == oracle.occurrences[:2]
    assert [line.split() for line in lines[2]] == [line.split() for line in oracle.occurrences[2]]
    assert phrases.occurrences == len(lines[0])


@pytest.mark.parametrize("smoothing", ["none", "good-turing", "kneser-ney"])
def test_smoothing_and_the_way_over_the_disk(tmp_path: Path, smoothing: str) -> None:
    # So many sentences that runs are merged into larger ones, and these again.
    rng = random.Random(3)
    text = random_text(rng, 120, longest=4)
    oracle = Extraction(text, 2)
    actual = extracted(tmp_path, text, limit=2, models=MODELS, smoothing=smoothing)
    assert actual[0] == joined(oracle.phrase_table(smoothing))
    assert extracted(tmp_path, text, limit=2, models=MODELS, smoothing=smoothing, memory=0) == actual
    assert extracted(tmp_path, text, limit=2, models=MODELS, smoothing=smoothing, memory=20_000) == actual
    assert not list(tmp_path.iterdir())


def test_the_order_of_long_phrases_that_begin_alike(tmp_path: Path) -> None:
    # Longer than what fits into the numbers by which sides are compared first, 42 of so few words.
    ends = ["b", "a b", "", "a a{", "b a a"]
    text = [Pair(("a",) * 80 + tuple(end.split()), ("a",), ((0, 0),)) for end in ends]
    lines = extracted(tmp_path, text, limit=90)[0].split(b"\n")[:-1]
    assert len({line.split(b" ||| ")[0] for line in lines}) == len(lines) > 80
    assert lines == sorted(lines)


def test_no_smoothing_follows_from_a_small_text(tmp_path: Path) -> None:
    with pytest.raises(NoSmoothing, match="no phrase pair occurs 2 times"):
        extracted(tmp_path, [Pair(("a",), ("b",), ((0, 0),))], smoothing="kneser-ney")


def test_weights_by_given_tables(tmp_path: Path) -> None:
    phrases = Phrases(tmp_path, lexical=False, memory=HUGE)
    phrases.read_lexical(b"b a 0.5\nc NULL 0.25\n", forward=True)
    phrases.read_lexical(b"a b 0.125\n", forward=False)
    phrases.feed(b"a\na d\n", b"b c\nb c\n", b"0-0\n0-0 1-1\n")
    lines = tables(phrases)[0].decode().splitlines()
    assert "a ||| b c ||| 0.5 0.125 0.333333 0.125 ||| 0-0 ||| 2 3 1 ||| |||" in lines
    # What is not in a table has the probability 1.
    assert "d ||| c ||| 1 1 1 1 ||| 0-0 ||| 1 1 1 ||| |||" in lines
    assert phrases.lexical(forward=True) == b"b a 0.5000000\nc NULL 0.2500000\n"


@pytest.mark.parametrize("line", [b"a b", b"a b 0.5 c", b"a b x", b"a b -1", b"a b nan", b""])
def test_bad_lexical_tables(tmp_path: Path, line: bytes) -> None:
    with pytest.raises(BadBitext, match="line 2: expected a word, the word it is given, and a probability"):
        Phrases(tmp_path, lexical=False).read_lexical(b"a b 0.5\n" + line + b"\n", forward=True)


def test_links_may_stand_in_any_order_and_twice(tmp_path: Path) -> None:
    repeated = extracted(tmp_path, [Pair(("a", "b"), ("c", "d"), ((0, 1), (1, 0), (0, 0)))])
    other = extracted(tmp_path, [Pair(("a", "b"), ("c", "d"), ((1, 0), (0, 0), (0, 1)))])
    assert repeated == other
    # A link that is there twice is one for phrases, and two for words, as for Moses.
    twice = extracted(tmp_path, [Pair(("a",), ("c",), ((0, 0), (0, 0)))])
    assert twice[0] == b"a ||| c ||| 1 1 1 1 ||| 0-0 ||| 1 1 1 ||| |||\n"


def test_blanks(tmp_path: Path) -> None:
    phrases = Phrases(tmp_path, memory=HUGE)
    phrases.feed(b" a \t b\r\n", b"c\x0bd", b"0-0  1-1\r\n")
    assert [line.split(b" ||| ")[:2] for line in tables(phrases)[0].splitlines()] == [
        [b"a b", b"c d"],
        [b"a", b"c"],
        [b"b", b"d"],
    ]
    assert phrases.sentences == 1


@pytest.mark.parametrize(
    ("source", "target", "links", "message"),
    [
        (b"a ||| b\n", b"c\n", b"0-0\n", r"source, line 1: expected words without \|\|\|, .*, found '\|\|\|'"),
        (b"a\n", b"c x|||y\n", b"0-0\n", r"target, line 1: expected words without \|\|\|, .*, found 'x\|\|\|y'"),
        (b"a [*]\n", b"c\n", b"0-0\n", r"source, line 1: expected words without brackets .*, found '\[\*\]'"),
        (b"a\n", b"[X][X]\n", b"0-0\n", r"target, line 1: expected words without brackets .*, found '\[X\]\[X\]'"),
        (b"a\nb\n", b"c\nd\n", b"0-0\n0-1\n", "alignment, line 2: .* sentences of 1 and 1 words, found '0-1'"),
        (b"a\n", b"c\n", b"0-0 x\n", "alignment, line 1: expected links as 0-0 1-2, found 'x'"),
        (b"a\n", b"c\n", b"0\n", "found '0'"),
        (b"a\n", b"c\n", b"0-\n", "found '0-'"),
        (b"a\n", b"c\n", b"-0\n", "found '-0'"),
        (b"a\n", b"c\n", b"0--0\n", "found '0--0'"),
        (b"a\n", b"c\n", b"0-0-0\n", "found '0-0-0'"),
        (b"a\n", b"c\n", b"99999999999-0\n", "found '99999999999-0'"),
        (b"a " * 70_000 + b"\n", b"c\n", b"0-0\n", "source, line 1: expected at most 65535 words, found 70000"),
    ],
)
def test_bad_lines(tmp_path: Path, source: bytes, target: bytes, links: bytes, message: str) -> None:
    with pytest.raises(BadBitext, match=message):
        Phrases(tmp_path, memory=HUGE).feed(source, target, links)


@pytest.mark.parametrize("word", [b"[*]", b"x|||y"])
def test_words_of_lexical_tables_are_refused_in_texts_all_the_same(tmp_path: Path, word: bytes) -> None:
    phrases = Phrases(tmp_path, lexical=False, memory=HUGE)
    for forward in (True, False):
        phrases.read_lexical(word + b" a 0.5\na " + word + b" 0.5\n", forward=forward)
    with pytest.raises(BadBitext, match="source, line 2: expected words without"):
        phrases.feed(b"a\n" + word + b"\n", b"c\nd\n", b"0-0\n0-0\n")


def test_brackets_that_make_no_gap(tmp_path: Path) -> None:
    phrases = Phrases(tmp_path, memory=HUGE)
    phrases.feed(b"[ ] a[b] [c\n", b"| || a]b\n", b"0-0 1-1 2-2 3-2\n")
    assert b"[ ] a[b] [c ||| | || a]b ||| " in tables(phrases)[0]


def test_what_is_left_out(tmp_path: Path) -> None:
    phrases = Phrases(tmp_path, skip_bad=True, memory=HUGE)
    phrases.feed(b"a\n\na b\n", b"c\nd\nc d\n", b"0-0\n\n0-0 1-1 2-2\n")
    assert (phrases.sentences, phrases.empty, phrases.skipped) == (3, 1, 1)
    assert tables(phrases) == [b"a ||| c ||| 1 1 1 1 ||| 0-0 ||| 1 1 1 ||| |||\n"]
    # Words are counted in such pairs, too.
    assert phrases.lexical(forward=True) == b"c a 1.0000000\nd NULL 1.0000000\nd b 1.0000000\n"
    with pytest.raises(BadBitext):
        Phrases(tmp_path, memory=HUGE).feed(b"a b\n", b"c d\n", b"2-2\n")


def test_files_in_step(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("s", "t", "a.gz")]
    lines = 100_000
    paths[0].write_bytes("\ufeff".encode() + b"a b\n" * lines)
    paths[1].write_bytes(b"c\n" * (lines - 1) + b"c")
    paths[2].write_bytes(gzip.compress(b"0-0\n" * lines))
    pieces = list(read_bitext(*paths))
    assert len(pieces) > 1
    assert all(len({block.rstrip(b"\n").count(b"\n") for block in piece}) == 1 for piece in pieces)
    assert [sum(len(piece[side]) for piece in pieces) for side in range(3)] == [4 * lines, 2 * lines - 1, 4 * lines]
    assert b"".join(read_lines(paths[2])) == b"0-0\n" * lines


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ([b"a\nb\n", b"c\n", b"\n\n"], "target, line 2: expected a line for line 2 of the source side, found the end"),
        ([b"a\nb\n", b"c\nd\n", b"\n"], "alignment, line 2: expected a line for line 2"),
        ([b"a\n", b"c\nd\n", b"\n"], "target, line 2: expected 1 lines, as the source side has, found more"),
        ([b"a\n", b"c\n", b"\n\n"], "alignment, line 2: expected 1 lines"),
        ([b"a\nb\xff\n", b"c\nd\n", b"\n\n"], "source, line 2: expected UTF-8 text, found byte 0xff"),
        ([b"a\n", b"c\n", gzip.compress(b"0-0\n" * 9999)[:-20]], "alignment, line 1: expected a complete compressed"),
    ],
)
def test_files_out_of_step(tmp_path: Path, contents: list[bytes], message: str) -> None:
    paths = [tmp_path / name for name in ("s", "t", "a")]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    with pytest.raises(BadBitext, match=message):
        list(read_bitext(*paths))


def test_a_disk_that_fails(tmp_path: Path) -> None:
    phrases = Phrases(tmp_path / "none", memory=0)
    with pytest.raises(FileNotFoundError, match="none/run0"):
        phrases.feed(b"a\n", b"c\n", b"0-0\n")


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("memory", [0, HUGE])
def test_chosen_stretches(tmp_path: Path, seed: int, memory: int) -> None:
    rng = random.Random(seed)
    text = random_text(rng, rng.randint(1, 8))
    limit = rng.choice([2, 7])
    rows = [
        (number, *stretch)
        for number, pair in enumerate(text)
        for stretch in sorted(stretches(pair, 7))
        if pair.source and pair.target
    ]
    phrases = Phrases(tmp_path, max_length=limit, memory=memory)
    phrases.feed_stretches(*files(text), np.array(rows, np.int32).reshape(-1, 5))
    actual = tables(phrases)
    (tmp_path / "all").mkdir()
    expected = extracted(tmp_path / "all", text, limit=limit)[:-2]
    assert actual == expected

    # Some of them, with a last score.
    chosen = [row for row in rows if rng.random() < 0.5]
    (tmp_path / "some").mkdir()
    phrases = Phrases(tmp_path / "some", max_length=7, memory=memory)
    phrases.feed_stretches(*files(text), np.array(chosen, np.int32).reshape(-1, 5))
    lines = b"".join(piece for (piece,) in phrases.tables(penalty=2.718)).decode().splitlines()
    sides = Counter((text[number].source[a : b + 1], text[number].target[c : d + 1]) for number, a, b, c, d in chosen)
    fields = [line.split(" ||| ") for line in lines]
    assert {(tuple(s.split(" ")), tuple(t.split(" "))) for s, t, *_ in fields} == sides.keys()
    assert len(fields) == len(sides)
    for source, target, scores, _, counts, _ in fields:
        assert scores.endswith(" 2.718")
        assert int(counts.split()[2]) == sides[tuple(source.split(" ")), tuple(target.split(" "))]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0, 0, 0, 1, 1]], "a stretch without links, or one that they lead out of"),
        ([[0, 0, 2, 0, 0]], "a stretch without links"),
        ([[0, 1, 0, 0, 0]], "a stretch without links"),
        ([[1, 0, 0, 0, 0]], "not in the order of the sentence pairs"),
        ([[-1, 0, 0, 0, 0]], "numbered from 0"),
    ],
)
def test_stretches_that_are_none(tmp_path: Path, rows: list[list[int]], message: str) -> None:
    phrases = Phrases(tmp_path, memory=HUGE)
    with pytest.raises(ValueError, match=message):
        phrases.feed_stretches(b"a b\n", b"c d\n", b"0-0\n", np.array(rows, np.int32))


def test_chosen_stretches_have_no_orientations(tmp_path: Path) -> None:
    phrases = Phrases(tmp_path, models=[ReorderingModel.parse(MODELS[0])], memory=HUGE)
    with pytest.raises(ValueError, match="no orientations"):
        phrases.feed_stretches(b"a\n", b"c\n", b"0-0\n", np.zeros((1, 5), np.int32))
