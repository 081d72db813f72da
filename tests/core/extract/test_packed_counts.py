"""Counts of pieces of a text, packed and added up, give the tables of the whole text; other bytes are refused."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from smtformats.reordering.models import ReorderingModel
from smtplugins.core.extract.hierarchical_rules import RULE_FORMATS, ExtractedRules
from smtplugins.core.extract.phrase_pairs import BadBitext, BitextCounts, Phrases
from tests.core.extract.test_hierarchical_rules import some_settings
from tests.core.extract.test_phrase_pairs import HUGE, MODELS, files
from tests.core.extractions import Pair, random_text
from tests.seeds import seeds

Make = Callable[..., BitextCounts]


def some_counts(rng: random.Random) -> Make:
    bad, lexical = rng.random() < 0.5, rng.random() < 0.8
    if rng.random() < 0.5:
        models = [ReorderingModel.parse(model) for model in rng.sample(MODELS, rng.randint(0, 3))]
        return partial(Phrases, max_length=rng.choice([1, 2, 7]), models=models, skip_bad=bad, lexical=lexical)
    table_format = rng.choice(RULE_FORMATS)
    return partial(
        ExtractedRules, settings=some_settings(rng), table_format=table_format, skip_bad=bad, lexical=lexical
    )


def tables(counts: BitextCounts) -> list[object]:
    pieces: Iterator[list[bytes]]
    if isinstance(counts, Phrases):
        pieces = counts.tables(random.Random(counts.sentences).choice(["none", "good-turing"]))
        more = [counts.pairs, counts.occurrences]
    else:
        assert isinstance(counts, ExtractedRules)
        pieces = ([lines] for lines in counts.table())
        more = [counts.rules]
    made: list[object] = [b"".join(parts) for parts in zip(*pieces, strict=True)]
    seen = [counts.sentences, counts.empty, counts.skipped]
    return [*made, counts.lexical(forward=True), counts.lexical(forward=False), *more[1:], *seen]


def pieces_of(rng: random.Random, text: Sequence[Pair]) -> list[Sequence[Pair]]:
    ends = sorted(rng.choices(range(1, len(text)), k=rng.choice([0, 1, 3, len(text)]))) if len(text) > 1 else []
    return [text[begin:end] for begin, end in zip([0, *ends], [*ends, len(text)], strict=True) if begin < end]


@pytest.mark.parametrize("seed", seeds(60))
def test_pieces_give_the_tables_of_the_text(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    make = some_counts(rng)
    text = random_text(rng, rng.randint(1, 30))
    whole = make(tmp_path, memory=HUGE)
    whole.feed(*files(text))
    total = make(tmp_path, memory=rng.choice([0, 20_000, HUGE]))
    for piece in pieces_of(rng, text):
        if rng.random() < 0.2:
            # What is fed and what is added may be mixed.
            total.feed(*files(piece))
            continue
        part = make(tmp_path, memory=HUGE)
        part.feed(*files(piece))
        total.add_packed(part.pack())
    assert tables(total) == tables(whole)


def test_lines_behind_packed_ones_have_their_numbers(tmp_path: Path) -> None:
    part, total = Phrases(tmp_path), Phrases(tmp_path)
    part.feed(b"a\nb\n", b"a\nb\n", b"0-0\n0-0\n")
    total.add_packed(part.pack())
    with pytest.raises(BadBitext) as caught:
        total.feed(b"a\n", b"a\n", b"0:0\n")
    assert caught.value.line == 3


def test_counts_of_pieces_that_exceed_the_memory(tmp_path: Path) -> None:
    # So many entries that a single piece is sorted on disk while it is added.
    text = random_text(random.Random(5), 200, longest=12)
    part, total = Phrases(tmp_path, max_length=5), Phrases(tmp_path, max_length=5, memory=1)
    part.feed(*files(text))
    packed = part.pack()
    total.add_packed(packed)
    assert len(list(tmp_path.iterdir())) > 1
    assert tables(total) == tables(part)
    assert total.spilled
    assert not part.spilled
    with pytest.raises(RuntimeError, match="finished"):
        total.add_packed(packed)


def test_counts_on_disk_are_not_packed(tmp_path: Path) -> None:
    phrases = Phrases(tmp_path, memory=0)
    phrases.feed(b"a\n", b"b\n", b"0-0\n")
    with pytest.raises(RuntimeError, match="on disk"):
        phrases.pack()


@pytest.mark.parametrize("seed", seeds(20))
def test_other_bytes_are_refused(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    part = Phrases(tmp_path)
    part.feed(*files(random_text(rng, 4)))
    packed = part.pack()
    with pytest.raises(ValueError, match="packed counts"):
        Phrases(tmp_path).add_packed(packed[: rng.randrange(len(packed))])
    with pytest.raises(ValueError, match="behind"):
        Phrases(tmp_path).add_packed(packed + b"\0")
    changed = bytearray(packed)
    changed[rng.randrange(len(packed))] = rng.randrange(256)
    total = Phrases(tmp_path)
    with contextlib.suppress(ValueError):
        total.add_packed(bytes(changed))
        assert total.occurrences >= total.empty >= 0
