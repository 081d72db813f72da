"""KenLM's binary files: the same scores as from ARPA text and by KenLM, and what is refused."""

from __future__ import annotations

import gzip
import itertools
import random
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtformats.errors import FormatError
from smtformats.files import open_lines
from smtplugins.core._core import LanguageModel
from smtplugins.core.lm.ngram_model import KenlmMissing, KenlmModel, read_lm, read_native_lm, write_lm
from tests.core.ngrams import arpa, assert_same, native, random_sentences, random_table

SANITY = b"mmap lm http://kheafield.com/code format version 5\n".ljust(56, b"\0") + struct.pack(
    "<fffIIIQ", 0.0, 1.0, -0.5, 1, 0xFFFFFFFF, 0, 1
)


def header(order: int = 2, multiplier: float = 1.5, kind: int = 0, spellings: int = 1, version: int = 0) -> bytes:
    return SANITY + struct.pack("<B3xfIB3xI", order, multiplier, kind, spellings, version)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file of a bigram model with <unk>, <s>, </s>, a, b."""
    words = {(word,): (-1.0, -0.5) for word in ("<unk>", "<s>", "</s>", "a", "b")}
    file = tmp_path_factory.mktemp("lm") / "lm.klm"
    write_lm(native(words | {("a", "b"): (-0.25, 0.0), ("<s>", "a"): (-0.5, 0.0)}, 2), file)
    return file.read_bytes()


@given(st.integers(0, 2**32), st.integers(2, 6), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=40)
def test_a_written_file_is_the_model(
    tmp_path_factory: pytest.TempPathFactory, seed: int, order: int, bos: bool, eos: bool
) -> None:
    rng = random.Random(seed)
    table = random_table(rng, min(order, 4), as_kenlm_wants=True)
    for n in range(2, order + 1):
        table.setdefault(("a",) * n, (-0.5, 0.0))
    folder = tmp_path_factory.mktemp("lm")
    text, file, again = folder / "lm.arpa", folder / "lm.klm", folder / "again.klm"
    text.write_text(arpa(table, order), encoding="utf-8")
    model = read_native_lm(text)
    write_lm(model, file)
    sentences = random_sentences(rng, 20)
    expected = model.score_sentences(sentences, bos, eos)
    for copy in (False, True):
        back = read_native_lm(file, copy=copy)
        assert (back.order, back.vocabulary_size) == (order, model.vocabulary_size)
        assert [back.word(i) for i in range(back.vocabulary_size)] == [
            model.word(i) for i in range(back.vocabulary_size)
        ]
        scores = back.score_sentences(sentences, bos, eos)
        assert [column.tolist() for column in scores] == [column.tolist() for column in expected]
    write_lm(back, again)
    assert again.read_bytes() == file.read_bytes()
    kenlm = pytest.importorskip("kenlm")
    theirs = kenlm.Model(str(file))
    assert theirs.order == order
    for sentence in sentences:
        assert_same(model.full_scores(sentence, bos, eos), list(theirs.full_scores(sentence, bos, eos)))


def test_a_file_may_come_without_the_words(written: bytes, tmp_path: Path) -> None:
    spellings = written.index(b"<unk>\0")
    file = tmp_path / "lm.klm"
    file.write_bytes(header(spellings=0) + written[108:spellings])
    model = read_native_lm(file)
    assert model.id("b") == 4
    assert model.score_sentences(["a b"])[0].tolist() == [-0.5 - 0.25 - 0.5 - 1.0]
    with pytest.raises(ValueError, match="without the words"):
        model.word(1)


def patched(written: bytes, at: int, form: str, *values: Any) -> bytes:
    data = bytearray(written)
    struct.pack_into("<" + form, data, at, *values)
    return bytes(data)


FAULTS = {
    "another version": (lambda b: b.replace(b"version 5", b"version 4"), "a KenLM file of format version 5, complete"),
    "unfinished": (
        lambda b: b.replace(b" version 5\n", b" version 5 incomplete\n")[: len(b)],
        "format version 5, complete",
    ),
    "another machine": (lambda b: patched(b, 60, "f", 2.0), "from this kind of machine"),
    "kind": (lambda b: patched(b, 96, "I", 6), "a kind from 0 to 5"),
    "tables": (lambda b: patched(b, 104, "I", 1), "version 0 of the tables"),
    "order 1": (lambda b: patched(b, 88, "B", 1), "n-grams of 2 to 16 words"),
    "order 17": (lambda b: patched(b, 88, "B", 17), "n-grams of 2 to 16 words"),
    "multiplier": (lambda b: patched(b, 92, "f", 0.5), "room for 1 to 100 times"),
    "multiplier nan": (lambda b: patched(b, 92, "f", float("nan")), "room for 1 to 100 times"),
    "spellings": (lambda b: patched(b, 100, "B", 2), "0 or 1: whether the words are there"),
    "count": (lambda b: patched(b, 108, "Q", 2**63), "at most 1099511627776 1-grams"),
    "count too large": (lambda b: patched(b, 116, "Q", 1000), "bytes of 2-grams"),
    "vocabulary": (lambda b: patched(b, 128, "I", 1), "version 0 of the vocabulary"),
    "no words": (lambda b: patched(b, 132, "I", 0), "1 to 6 words"),
    "too many words": (lambda b: patched(b, 132, "I", 7), "1 to 6 words"),
    "a word missing": (lambda b: patched(b, 132, "I", 6), "6 words"),
    "ids": (lambda b: patched(b, 136 + 8, "I", 99), "ids below 5 in the vocabulary"),
    "a full table": (
        lambda b: b[:136] + b"".join(struct.pack("<QI", i + 1, 0) for i in range(7)) + b[136 + 84 :],
        "an empty slot in the table of words",
    ),
    "other first word": (lambda b: b.replace(b"<unk>\0", b"<unq>\0"), "<unk> as the first word"),
    "text behind the end": (lambda b: b + b"x", "the end of the file, found 1 byte more"),
    "cut in the header": (lambda b: b[:100], "108 bytes of a header"),
    "cut in the counts": (lambda b: b[:110], "bytes of a header"),
}


@pytest.mark.parametrize(("change", "expected"), FAULTS.values(), ids=FAULTS.keys())
def test_faults(written: bytes, tmp_path: Path, change: Any, expected: str) -> None:
    file = tmp_path / "bad.klm"
    file.write_bytes(change(written))
    for copy in (False, True):
        with pytest.raises(FormatError, match=expected) as caught:
            read_lm(file, copy=copy)
        assert caught.value.file == str(file)


def test_cut_anywhere_it_is_refused(written: bytes, tmp_path: Path) -> None:
    file = tmp_path / "cut.klm"
    for size in range(len(SANITY), len(written)):
        file.write_bytes(written[:size])
        with pytest.raises(FormatError):
            read_lm(file)


def test_changed_anywhere_it_is_refused_or_safe(written: bytes, tmp_path: Path) -> None:
    rng = random.Random(1)
    file = tmp_path / "changed.klm"
    for _ in range(300):
        data = bytearray(written)
        for _ in range(rng.choice([1, 1, 4, 30])):
            data[rng.randrange(108, len(data))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        file.write_bytes(data)
        try:
            model = read_native_lm(file)
        except FormatError:
            continue
        use(model)


def use(model: LanguageModel) -> None:
    model.score_sentences(["a b", "b a x a b", ""], bos=False, eos=False)
    words = [model.word(i) for i in range(model.vocabulary_size)]
    model.ids([word for word in words if "\ufffd" not in word])
    states = [model.score_rule([i])[1] for i in range(model.vocabulary_size)]
    for state, other in itertools.product(states, repeat=2):
        joined = model.score_rule([-1, -2], [state, other])[1]
        model.score_rule([-1, 0, -1], [joined])


def test_other_kinds_go_to_kenlm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "trie.klm"
    file.write_bytes(header(kind=2) + bytes(100))
    with pytest.raises(FormatError, match="an ARPA file or a KenLM probing file, found another kind"):
        read_native_lm(file)
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(KenlmMissing, match="pip install kenlm"):
        read_lm(file)


def test_a_broken_file_of_another_kind_is_a_format_error(tmp_path: Path) -> None:
    pytest.importorskip("kenlm")
    file = tmp_path / "trie.klm"
    file.write_bytes(header(kind=2) + bytes(100))
    with pytest.raises(FormatError, match="a file that the kenlm package can load") as caught:
        read_lm(file)
    assert caught.value.file == str(file)


def test_the_model_behind_kenlm_scores_as_the_native_one(written: bytes, tmp_path: Path) -> None:
    pytest.importorskip("kenlm")
    file = tmp_path / "lm.klm"
    file.write_bytes(written)
    ours, theirs = read_lm(file), KenlmModel(str(file))
    sentences = ["a b", "", "x a", "a \t b"]
    for mine, gold in zip(ours.score_sentences(sentences), theirs.score_sentences(sentences), strict=True):
        assert mine.tolist() == pytest.approx(gold.tolist(), abs=1e-6)
    assert_same(ours.full_scores("a b x", False, False), theirs.full_scores("a b x", False, False))
    assert ours.order == theirs.order == 2


def test_a_file_that_cannot_be_mapped(written: bytes, tmp_path: Path) -> None:
    packed = tmp_path / "lm.klm.gz"
    packed.write_bytes(gzip.compress(written))
    with pytest.raises(FormatError, match="a KenLM file that can be mapped"):
        read_lm(packed)
    with pytest.raises(FileNotFoundError):
        read_lm(tmp_path / "none")


def test_writing(written: bytes, tmp_path: Path) -> None:
    file = tmp_path / "lm.klm"
    file.write_bytes(written)
    model = read_native_lm(file)
    write_lm(model, file)  # over itself: what is mapped stays
    assert model.id("b") == 4
    assert file.read_bytes() == written
    with pytest.raises(FileNotFoundError):
        write_lm(model, tmp_path / "none" / "lm.klm")
    with pytest.raises(ValueError, match="models of single words"):
        write_lm(native({("a",): (-1.0, 0.0)}, 1), tmp_path / "unigram.klm")
    assert [file.name for file in tmp_path.iterdir()] == ["lm.klm"]


@pytest.mark.shared
@pytest.mark.parametrize("name", ["lm/en.4", "exact_lm/en.2"])
def test_gold_models_written_are_kenlms_files(shared: Path, tmp_path: Path, name: str) -> None:
    gold = shared / "gold" / "cdec" / f"{name}.klm"
    write_lm(read_native_lm(gold.with_suffix(".arpa.gz")), tmp_path / "lm.klm")
    assert (tmp_path / "lm.klm").read_bytes() == gold.read_bytes()


@pytest.mark.shared
@pytest.mark.parametrize("name", ["lm/en.4", "exact_lm/en.2"])
def test_all_of_multi30k_scores_as_kenlm_does(shared: Path, name: str) -> None:
    kenlm = pytest.importorskip("kenlm")
    gold = shared / "gold" / "cdec" / f"{name}.klm"
    theirs = kenlm.Model(str(gold))
    sentences = []
    for file in sorted((shared / "data" / "multi30k").iterdir()):
        with open_lines(file) as lines:
            sentences += [" ".join(line.lower().replace("\t", " ").split(" ")).strip() for line in lines]
    # kenlm parts words at more characters than spaces.
    sentences = [" ".join(line.split()) for line in sentences]
    expected = np.array([sum(score[0] for score in theirs.full_scores(line)) for line in sentences])
    for path in (gold, gold.with_suffix(".arpa.gz")):
        scores = read_lm(path).score_sentences(sentences)[0]
        assert np.abs(scores - expected).max() < 1e-5


def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="a language model can only be written to a regular file"):
        write_lm(native({("a",): (-1.0, 0.0)}, 1), "/dev/null")
    assert not Path("/dev/null").is_file()
