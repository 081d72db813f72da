"""KenLM's binary files: the same scores as from ARPA text and by KenLM, and what is refused."""

from __future__ import annotations

import gzip
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtformats.errors import FormatError
from smtformats.files import open_lines
from smtplugins.core.lm.ngram_model import read_lm, write_lm
from tests.core.damaged_models import damage
from tests.core.kenlm_files import LAYOUTS, SANITY, TrieWriter, header, with_rests, written_trie
from tests.core.ngrams import arpa, assert_same, native, random_sentences, random_table

WORDS = {(word,): (-1.0, -0.5) for word in ("<unk>", "<s>", "</s>", "a", "b")}
BIGRAMS = WORDS | {("a", "b"): (-0.25, 0.0), ("<s>", "a"): (-0.5, 0.0)}
TRIGRAMS = BIGRAMS | {("b", "a"): (-0.75, -0.25), ("a", "b", "a"): (-0.5, 0.0), ("<s>", "a", "b"): (-0.25, 0.0)}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file of a bigram model with <unk>, <s>, </s>, a, b."""
    file = tmp_path_factory.mktemp("lm") / "lm.klm"
    write_lm(native(BIGRAMS, 2), file)
    return file.read_bytes()


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A file of each kind of a trigram model; the first bytes of the parts of the trie of kind `both` are in FAULTS."""
    file = tmp_path_factory.mktemp("lm") / "lm.klm"
    write_lm(native(TRIGRAMS, 3), file)
    probing = file.read_bytes()
    tries = {layout: written_trie(TRIGRAMS, 3, layout) for layout in LAYOUTS}
    return {"probing": probing, "rest": with_rests(probing), **tries}


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
    model = read_lm(text)
    write_lm(model, file)
    sentences = random_sentences(rng, 20)
    expected = model.score_sentences(sentences, bos, eos)
    for copy in (False, True):
        back = read_lm(file, copy=copy)
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
    model = read_lm(file)
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
    assert damage(written, 300, 1, tmp_path) > 10


TRIE_FAULTS = {
    "tables": (lambda b: patched(b, 104, "I", 0), "version 1 of the tables"),
    "no words": (lambda b: patched(b, 108, "Q", 0), "1 to 2147483646 1-grams"),
    "vocabulary": (lambda b: patched(b, 136, "Q", 9), "a vocabulary of at most 5 words"),
    "hashes": (lambda b: patched(b, 144, "Q", 2**64 - 1), "hashes of words in ascending order"),
    "bins": (lambda b: patched(b, 184, "B", 1), "version 2 of quantised values"),
    "bits": (lambda b: patched(b, 185, "B", 26), "quantised values of 1 to 25 bits"),
    "no bits": (lambda b: patched(b, 186, "B", 0), "quantised values of 1 to 25 bits"),
    "pointers": (lambda b: patched(b, 192 + 32 + 64 + 32 + 24, "Q", 9), "pointers of 1-grams that ascend to at most 3"),
    "offsets": (lambda b: patched(b, 192 + 32 + 64 + 32 + 7 * 16, "B", 1), "version 0 of compressed pointers"),
    "array": (lambda b: patched(b, 192 + 32 + 64 + 32 + 7 * 16 + 8, "Q", 1), "an ascending array of pointers of 2-"),
    "other first word": (lambda b: b.replace(b"<unk>\0", b"<unq>\0"), "<unk> as the first word"),
    "text behind the end": (lambda b: b + b"x", "the end of the file, found 1 byte more"),
}


@pytest.mark.parametrize(("change", "expected"), TRIE_FAULTS.values(), ids=TRIE_FAULTS.keys())
def test_faults_of_tries(kinds: dict[str, bytes], tmp_path: Path, change: Any, expected: str) -> None:
    file = tmp_path / "bad.klm"
    file.write_bytes(change(kinds["both"]))
    with pytest.raises(FormatError, match=expected) as caught:
        read_lm(file)
    assert caught.value.file == str(file)


@pytest.mark.parametrize("kind", ["rest", *LAYOUTS])
def test_any_kind_cut_anywhere_is_refused(kinds: dict[str, bytes], tmp_path: Path, kind: str) -> None:
    file = tmp_path / "cut.klm"
    for size in range(len(SANITY), len(kinds[kind])):
        file.write_bytes(kinds[kind][:size])
        with pytest.raises(FormatError):
            read_lm(file)


@pytest.mark.parametrize("kind", ["rest", *LAYOUTS])
def test_any_kind_changed_anywhere_is_refused_or_safe(kinds: dict[str, bytes], tmp_path: Path, kind: str) -> None:
    assert damage(kinds[kind], 100, 1, tmp_path) > 10


@given(st.integers(0, 2**32), st.integers(2, 6), st.sampled_from(["rest", *LAYOUTS]))
@settings(deadline=None, max_examples=60)
def test_any_kind_scores_as_kenlm_does(
    tmp_path_factory: pytest.TempPathFactory, seed: int, order: int, kind: str
) -> None:
    kenlm = pytest.importorskip("kenlm")
    rng = random.Random(seed)
    table = random_table(rng, min(order, 4), as_kenlm_wants=True)
    for n in range(2, order + 1):
        table.setdefault(("a",) * n, (-0.5, 0.0))
    file = tmp_path_factory.mktemp("lm") / "lm.klm"
    model = native(table, order)
    if kind == "rest":
        write_lm(model, file)
        file.write_bytes(with_rests(file.read_bytes()))
    else:
        file.write_bytes(written_trie(table, order, kind))
    ours, theirs, back = read_lm(file), kenlm.Model(str(file)), read_lm(file, copy=True)
    assert (ours.order, ours.vocabulary_size) == (order, model.vocabulary_size)
    assert {ours.word(i) for i in range(ours.vocabulary_size)} == {model.word(i) for i in range(ours.vocabulary_size)}
    sentences = random_sentences(rng, 20)
    scores, unknown = ours.score_sentences(sentences)
    for i, sentence in enumerate(sentences):
        full = ours.full_scores(sentence)
        assert_same(full, list(theirs.full_scores(sentence)))
        if kind not in ("quantised", "both"):
            assert_same(full, model.full_scores(sentence))
        assert scores[i] == sum(score for score, _, _ in full)
        assert unknown[i] == sum(oov for _, _, oov in full)
    assert back.score_sentences(sentences)[0].tolist() == scores.tolist()


def test_a_trie_without_words_and_its_copy(kinds: dict[str, bytes], tmp_path: Path) -> None:
    file, again = tmp_path / "lm.klm", tmp_path / "again.klm"
    file.write_bytes(TrieWriter(TRIGRAMS, 3, spellings=False).write())
    model = read_lm(file)
    assert model.kind == "trie"
    assert model.counts == [5, 3, 2]
    assert model.ids(["<unk>", "zzz"]).tolist() == [0, 0]
    assert sorted(model.ids(["<s>", "</s>", "a", "b"])) == [1, 2, 3, 4]
    expected = native(TRIGRAMS, 3).score_sentences(["a b a", "b x"])[0]
    assert model.score_sentences(["a b a", "b x"])[0].tolist() == pytest.approx(expected.tolist(), abs=1e-6)
    with pytest.raises(ValueError, match="without the words"):
        model.word(1)
    # Nothing is made into another kind.
    write_lm(model, again)
    assert again.read_bytes() == file.read_bytes()


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
    model = read_lm(file)
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
    write_lm(read_lm(gold.with_suffix(".arpa.gz")), tmp_path / "lm.klm")
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
