"""Estimation beyond the memory limit: the bytes of the model in memory, and files that go with it."""

from __future__ import annotations

import gc
import os
import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smtplugins.core._core import KneserNey, KneserNeyModel, StreamedKneserNeyModel, StreamedRows
from smtplugins.core.lm.estimate import BadText, Estimate, EstimateTooLarge, NoDiscounts, estimate, read_pieces
from smtplugins.core.lm.ngram_model import load_arpa

FALLBACK = (0.5, 1.0, 1.5)
LITTLE = 200_000
"""Bytes: enough for the words of `TEXT` and for sorting, not for estimating in memory."""


def drawn_text(words: int, seed: int = 1) -> list[bytes]:
    """Lines of words from a Zipf distribution, in pieces that end anywhere."""
    drawn = random.Random(seed)
    weights = [1 / (i + 1) for i in range(600)]
    ids = drawn.choices(range(600), weights, k=words)
    lines = [" ".join(f"w{i}" for i in ids[at : at + drawn.randrange(1, 20)]) for at in range(0, words, 20)]
    text = ("\n".join(lines) + "\n").encode()
    return [text[at : at + 7000] for at in range(0, len(text), 7000)]


TEXT = drawn_text(40_000)


def arpa_of(model: Estimate) -> bytes:
    return b"".join(model.arpa())


def lines_of(model: KneserNeyModel | StreamedKneserNeyModel) -> list[bytes]:
    """The n-grams of each order, streamed in pieces of three."""
    source = StreamedRows(model) if isinstance(model, StreamedKneserNeyModel) else model
    return [
        b"".join(source.rows(order, begin, begin + 3) for begin in range(0, model.count(order), 3))
        for order in range(1, model.order + 1)
    ]


WORDS = st.lists(st.sampled_from("aaabbcdefgh"), max_size=7)
CORPORA = st.lists(WORDS, min_size=1, max_size=25).filter(any)


@given(
    CORPORA,
    st.integers(1, 5),
    st.lists(st.integers(0, 3), max_size=4).map(sorted),
    st.none() | st.sets(st.sampled_from("abcdz")),
    st.integers(0, 5),
    st.integers(0, 40),
)
@example([["a"]], 1, [], None, 0, 0)
@example([["a"]], 4, [9], set(), 0, 0)
@example([["a"] * 7] * 25, 3, [0, 0, 1], {"a"}, 1, 9)
@settings(deadline=None)
def test_equal_to_the_model_in_memory(
    tmp_path_factory: pytest.TempPathFactory,
    sentences: Sequence[Sequence[str]],
    order: int,
    prune: list[int],
    vocabulary: set[str] | None,
    size: int,
    when: int,
) -> None:
    thresholds = [*prune[:order], *[prune[-1] if prune else 0] * (order - len(prune[:order]))]
    text = "".join(" ".join(words) + "\n" for words in sentences).encode()
    models: list[KneserNeyModel | StreamedKneserNeyModel] = []
    for spilled in (False, True):
        counter = KneserNey(order, thresholds, FALLBACK, 1 << 30, size)
        counter.feed(text[:when])
        if spilled:
            folder = tmp_path_factory.mktemp("spilled")
            counter.spill(str(folder))
        counter.feed(text[when:])
        words = None if vocabulary is None else list(vocabulary)
        models.append(counter.finish_streamed(words) if spilled else counter.finish(words))
    inside, outside = models
    assert lines_of(outside) == lines_of(inside)
    assert (outside.discounts, outside.fallen_back) == (inside.discounts, inside.fallen_back)
    assert (outside.sentences, outside.words) == (inside.sentences, inside.words)
    del models, inside, outside, counter
    gc.collect()
    assert os.listdir(folder) == []


@pytest.mark.parametrize(
    ("order", "prune", "size"), [(1, [], None), (3, [], None), (5, [0, 0, 1], None), (3, [1, 1, 2], 50)]
)
def test_little_memory_changes_nothing(tmp_path: Path, order: int, prune: list[int], size: int | None) -> None:
    expected = estimate(TEXT, order, prune=prune, fallback=FALLBACK, vocabulary_size=size)
    assert not expected.on_disk
    model = estimate(TEXT, order, prune=prune, fallback=FALLBACK, vocabulary_size=size, memory=LITTLE, folder=tmp_path)
    assert model.on_disk
    assert model.peak_bytes <= LITTLE
    assert arpa_of(model) == arpa_of(model) == arpa_of(expected)
    assert (model.counts, model.discounts, model.words) == (expected.counts, expected.discounts, expected.words)
    pieces: list[bytes] = []
    sentences = ["w1 w2 w3 w599 no", "w4"]
    scores = load_arpa(model.arpa(), pieces.append).score_sentences(sentences)[0]
    assert b"".join(pieces) == arpa_of(expected)
    assert scores.tolist() == expected.language_model().score_sentences(sentences)[0].tolist()
    assert len(os.listdir(tmp_path)) == 1
    model.close()
    assert os.listdir(tmp_path) == []


def test_many_words(tmp_path: Path) -> None:
    text = [
        " ".join(f"w{at} w{at // 3}" for at in range(begin, begin + 50)).encode() + b"\n"
        for begin in range(0, 17_000, 50)
    ]
    model = estimate(text, 2, fallback=FALLBACK, memory=1_700_000, folder=tmp_path)
    assert model.on_disk
    assert model.counts[0] > 1 << 14
    assert arpa_of(model) == arpa_of(estimate(text, 2, fallback=FALLBACK))


@pytest.mark.shared
def test_equal_to_the_model_in_memory_of_real_text(shared: Path, tmp_path: Path) -> None:
    text = list(read_pieces(shared / "data/multi30k/val.en"))
    model = estimate(text, 4, fallback=FALLBACK, memory=LITTLE * 2, folder=tmp_path)
    assert model.on_disk
    assert arpa_of(model) == arpa_of(estimate(text, 4, fallback=FALLBACK))


def test_files_go_with_the_model(tmp_path: Path) -> None:
    model = estimate(TEXT, 2, memory=LITTLE, folder=tmp_path)
    rows = model.arpa()
    next(rows)
    del model
    assert len(os.listdir(tmp_path)) == 1
    rows.close()
    gc.collect()
    assert os.listdir(tmp_path) == []


def test_files_go_with_errors(tmp_path: Path) -> None:
    with pytest.raises(BadText, match="found '<s>'"):
        estimate([*TEXT, b"a <s>\n"], 2, memory=LITTLE, folder=tmp_path)
    alike = b"".join(b"a%d b%d\n" % (i, i) for i in range(800)) * 40
    with pytest.raises(NoDiscounts, match="no 1-gram has the adjusted count 2"):
        estimate([alike], 2, memory=LITTLE + 50_000, folder=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        estimate(interrupted(), 2, memory=LITTLE, folder=tmp_path)
    # The words have to fit.
    different = b"".join(b"a%d\n" % i for i in range(20_000))
    with pytest.raises(EstimateTooLarge, match="KB of memory"):
        estimate([different], 2, memory=LITTLE, folder=tmp_path)
    assert os.listdir(tmp_path) == []


def interrupted() -> list[bytes]:
    class Text(list[bytes]):
        def __iter__(self):  # type: ignore[no-untyped-def]
            yield from TEXT
            raise KeyboardInterrupt

    return Text()


def test_errors_of_the_disk_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        estimate(TEXT, 2, memory=LITTLE, folder=tmp_path / "absent")
    model = estimate(TEXT, 2, memory=LITTLE, folder=tmp_path)
    (folder,) = tmp_path.iterdir()
    shutil.rmtree(folder)
    with pytest.raises(FileNotFoundError, match=str(folder)):
        arpa_of(model)


def test_rows_come_in_order(tmp_path: Path) -> None:
    counter = KneserNey(2, [0, 0], FALLBACK, 1 << 30)
    counter.feed(b"a b\na c\n")
    with pytest.raises(RuntimeError, match="in memory"):
        counter.finish_streamed()
    counter.spill(str(tmp_path))
    with pytest.raises(RuntimeError, match="on disk"):
        counter.spill(str(tmp_path))
    with pytest.raises(RuntimeError, match="on disk"):
        counter.finish()
    model = counter.finish_streamed()
    rows = StreamedRows(model)
    for order, begin in ((2, 0), (1, 1)):
        with pytest.raises(RuntimeError, match="come in order"):
            rows.rows(order, begin, begin + 1)
    assert rows.rows(1, 0, 9).count(b"\n") == model.count(1)


def test_the_most_frequent_words() -> None:
    text = [b"d a c\nb b c\nc e\n"]
    for size, kept in ((1, "c"), (2, "c b"), (3, "d c b"), (4, "d a c b"), (9, "d a c b e")):
        model = estimate(text, 1, fallback=FALLBACK, vocabulary_size=size)
        words = [line.split(b"\t")[1].decode() for line in arpa_of(model).split(b"\n") if b"\t" in line]
        assert words == ["<unk>", "<s>", "</s>", *kept.split()]
    # Among those of the vocabulary.
    model = estimate(text, 1, fallback=FALLBACK, vocabulary=["a", "b", "e"], vocabulary_size=2)
    assert model.counts == [5]
    assert b"\ta\n" in arpa_of(model)
