"""Language model scores: against a slow reading of the definition, and against KenLM."""

from __future__ import annotations

import itertools
import math
import random
import sys
import threading
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtformats.errors import FormatError
from smtplugins.core._core import ArpaReader, LanguageModel
from smtplugins.core.lm import KenlmMissing, read_lm

SHARED = Path(__file__).parents[2].parent / "shared"

Ngram = tuple[str, ...]
Table = dict[Ngram, tuple[float, float]]  # log10 probability and back-off


def arpa(table: Table, order: int) -> str:
    lines = ["\\data\\"]
    by_order = [[ngram for ngram in table if len(ngram) == n] for n in range(1, order + 1)]
    lines += [f"ngram {n}={len(ngrams)}" for n, ngrams in enumerate(by_order, 1)]
    for n, ngrams in enumerate(by_order, 1):
        lines += ["", f"\\{n}-grams:"]
        for ngram in ngrams:
            prob, backoff = table[ngram]
            line = f"{prob!r}\t{' '.join(ngram)}"
            lines.append(line if backoff == 0.0 or n == order else f"{line}\t{backoff!r}")
    return "\n".join([*lines, "", "\\end\\", ""])


def native(table: Table, order: int) -> LanguageModel:
    reader = ArpaReader()
    reader.feed(arpa(table, order).encode())
    return reader.finish()


def random_table(rng: random.Random, order: int, *, as_kenlm_wants: bool) -> Table:
    """A pruned model. KenLM wants the beginning of each n-gram listed, and most of the endings."""
    words = ["a", "b", "c", "d", "é"][: rng.randint(1, 5)]
    table: Table = {("<s>",): (-99.0, 0.0), ("</s>",): (-rng.random(), 0.0)}
    if rng.random() < 0.7:
        table["<unk>",] = (-3 * rng.random(), 0.0)
        if rng.random() < 0.5:
            words.append("<unk>")
    table |= {(word,): (-2 * rng.random(), 0.0) for word in words if word != "<unk>"}
    kept = rng.choice([0.1, 0.4, 0.9])
    for n in range(2, order + 1):
        for ngram in itertools.product(["<s>", *words], *[words] * (n - 2), [*words, "</s>"]):
            if rng.random() < kept and (not as_kenlm_wants or (ngram[:-1] in table and ngram[1:] in table)):
                table[ngram] = (-2 * rng.random(), 0.0)
    if as_kenlm_wants:
        prune_endings(rng, table, order)
    # KenLM keeps a flag in a probability's sign, so one that back-offs lift above 1 comes out wrong there.
    scales = [-2.0, -1.0] if as_kenlm_wants else [-2.0, -1.0, 0.3]
    for ngram, (prob, _) in table.items():
        if ngram[-1] != "</s>" and rng.random() < 0.8:
            table[ngram] = (prob, rng.choice(scales) * rng.random())
    return table


def prune_endings(rng: random.Random, table: Table, order: int) -> None:
    for n in range(order - 1, 1, -1):
        listed = [ngram for ngram in table if len(ngram) == n]
        contexts = {ngram[:-1] for ngram in table}
        free = [ngram for ngram in listed if ngram not in contexts]
        for ngram in rng.sample(free, min(len(free), len(listed) // 5)):
            del table[ngram]


def random_sentences(rng: random.Random, count: int) -> list[str]:
    words = ["a", "b", "c", "d", "é", "<unk>", "zzz"]
    return [" ".join(rng.choices(words, k=rng.randint(0, 9))) for _ in range(count)]


class Oracle:
    """The definition: the longest n-gram listed, and a back-off for each word of context given up."""

    def __init__(self, table: Table, order: int) -> None:
        self.table = {("<unk>",): (-100.0, 0.0)} | table
        self.order = order
        # KenLM counts as matched what it needs as a stepping stone to a longer n-gram too.
        self.stones = {
            ngram[i:j] for ngram in self.table for i in range(len(ngram)) for j in range(i + 1, len(ngram) + 1)
        }

    def prob(self, context: Ngram, word: str) -> float:
        listed = self.table.get((*context, word))
        if listed is not None:
            return listed[0]
        return self.table.get(context, (0.0, 0.0))[1] + self.prob(context[1:], word)

    def full_scores(self, sentence: str, bos: bool, eos: bool) -> list[tuple[float, int, bool]]:
        known = [word if (word,) in self.table else "<unk>" for word in sentence.split()]
        words = ["<s>"] * bos + known + ["</s>"] * eos
        scores = []
        for i in range(bos, len(words)):
            context = tuple(words[max(0, i - self.order + 1) : i])
            length = max(n for n in range(len(context) + 1) if (*context[len(context) - n :], words[i]) in self.stones)
            scores.append((self.prob(context, words[i]), length + 1, words[i] == "<unk>"))
        return scores


def assert_same(ours: list[tuple[float, int, bool]], theirs: list[tuple[float, int, bool]]) -> None:
    assert [score[1:] for score in ours] == [score[1:] for score in theirs]
    for (prob, _, _), (expected, _, _) in zip(ours, theirs, strict=True):
        assert prob == pytest.approx(expected, abs=1e-5)


@given(st.integers(0, 2**32), st.integers(1, 4), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=100)
def test_the_definition_of_backing_off(seed: int, order: int, bos: bool, eos: bool) -> None:
    rng = random.Random(seed)
    table = random_table(rng, order, as_kenlm_wants=False)
    lm, oracle = native(table, order), Oracle(table, order)
    sentences = random_sentences(rng, 20)
    probs, unknown = lm.score_sentences(sentences, bos=bos, eos=eos)
    for sentence, prob, misses in zip(sentences, probs, unknown, strict=True):
        expected = oracle.full_scores(sentence, bos, eos)
        assert_same(lm.full_scores(sentence, bos, eos), expected)
        assert prob == pytest.approx(sum(score[0] for score in expected), abs=1e-4)
        assert misses == sum(score[2] for score in expected)


@given(st.integers(0, 2**32), st.integers(2, 4), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=60)
def test_kenlm_agrees(tmp_path_factory: pytest.TempPathFactory, seed: int, order: int, bos: bool, eos: bool) -> None:
    kenlm = pytest.importorskip("kenlm")
    rng = random.Random(seed)
    table = random_table(rng, order, as_kenlm_wants=True)
    for n in range(2, order + 1):  # KenLM wants n-grams of each order
        table.setdefault(("a",) * n, (-0.5, 0.0))
    file = tmp_path_factory.mktemp("lm") / "random.arpa"
    file.write_text(arpa(table, order), encoding="utf-8")
    theirs = kenlm.Model(str(file))
    ours: Any = read_lm(file)
    assert ours.order == theirs.order == order
    for sentence in random_sentences(rng, 20):
        assert_same(ours.full_scores(sentence, bos, eos), list(theirs.full_scores(sentence, bos, eos)))


def test_scores_of_a_long_order() -> None:
    words = list("pqrstuvwx")
    table: Table = {(word,): (-1.0, -0.25) for word in [*words, "<s>", "</s>"]}
    for n in range(2, 10):
        table[tuple(words[:n])] = (-1.0 / n, -0.125)
    lm = native(table, 9)
    scores = lm.full_scores(" ".join(words), bos=False, eos=False)
    assert [length for _, length, _ in scores] == list(range(1, 10))
    assert [prob for prob, _, _ in scores] == pytest.approx([-1.0 / n for n in range(1, 10)], abs=1e-6)


def witten_bell(sentences: list[str], order: int) -> tuple[Table, set[str]]:
    """A proper model of a few sentences (interpolated, written as back-off), and the words it may predict."""
    followers: dict[Ngram, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        words = ["<s>", *sentence.split(), "</s>"]
        for i in range(1, len(words)):
            for n in range(min(order, i + 1)):
                followers[tuple(words[i - n : i])][words[i]] += 1
    predicted = {*followers[()], "<unk>"}

    def prob(context: Ngram, word: str) -> float:
        below = prob(context[1:], word) if context else 1 / len(predicted)
        counts = followers.get(context)
        if counts is None:
            return below
        return (counts[word] + len(counts) * below) / (counts.total() + len(counts))

    def backoff(context: Ngram) -> float:
        counts = followers.get(context)
        return 0.0 if counts is None else math.log10(len(counts) / (counts.total() + len(counts)))

    table: Table = {("<s>",): (-99.0, backoff(("<s>",)))}
    table |= {(word,): (math.log10(prob((), word)), backoff((word,))) for word in sorted(predicted)}
    for context, counts in followers.items():
        if context:
            table |= {(*context, w): (math.log10(prob(context, w)), backoff((*context, w))) for w in counts}
    return table, predicted


def test_probabilities_sum_to_one() -> None:
    table, predicted = witten_bell(["a b c", "a c", "b a c b", "c a b a", "b"], 3)
    lm = native(table, 3)
    for context in ("", "a", "a b", "b a c", "zzz", "a zzz", "zzz a", "c c c"):
        total = sum(10 ** lm.full_scores(f"{context} {word}", eos=False)[-1][0] for word in predicted - {"</s>"}) + (
            10 ** lm.full_scores(context)[-1][0]
        )
        assert total == pytest.approx(1.0, abs=1e-6)


@pytest.fixture(scope="module")
def trigram() -> LanguageModel:
    return native(witten_bell(["a b c", "a c", "b a c b", "c a b a", "b"], 3)[0], 3)


def test_totals_are_sums_in_word_order(trigram: LanguageModel) -> None:
    sentences = ["a b zzz c", "", "zzz", "c c c c"]
    probs, unknown = trigram.score_sentences(sentences)
    assert probs.dtype == np.float64
    assert unknown.dtype == np.int32
    assert unknown.tolist() == [1, 0, 1, 0]
    for sentence, prob in zip(sentences, probs, strict=True):
        total = 0.0
        for score in trigram.full_scores(sentence):
            total += score[0]
        assert prob == total
    assert [array.shape for array in trigram.score_sentences([])] == [(0,), (0,)]


def test_ids_and_words_agree(trigram: LanguageModel) -> None:
    sentences = ["a b zzz c", "", "zzz", "c c c c"]
    ids = np.array([trigram.index(word) for s in sentences for word in s.split()], np.int32)
    offsets = np.array([0, 4, 4, 5, 9], np.int64)
    for bos, eos in itertools.product([False, True], repeat=2):
        by_word = trigram.score_sentences(sentences, bos, eos)
        by_id = trigram.score_ids(ids, offsets, bos, eos)
        assert [a.tolist() for a in by_id] == [a.tolist() for a in by_word]


@pytest.mark.parametrize(
    ("ids", "offsets", "message"),
    [
        ([1, 2], [0, 1], "offsets must run from 0"),
        ([1, 2], [1, 2], "offsets must run from 0"),
        ([1, 2], [], "offsets must run from 0"),
        ([1, 2], [0, 3, 2], "offsets must not fall"),
        ([1, 2], [0, -1, 2], "offsets must not fall"),
        ([1, -1], [0, 2], "vocabulary"),
        ([1, 99], [0, 2], "vocabulary"),
    ],
)
def test_ids_that_are_not_this_models(trigram: LanguageModel, ids: list[int], offsets: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trigram.score_ids(np.array(ids, np.int32), np.array(offsets, np.int64))


def test_only_spaces_and_tabs_part_words(trigram: LanguageModel) -> None:
    assert trigram.full_scores("  a \t b\t") == trigram.full_scores("a b")
    for character in "\u00a0\u2028\u0085\u3000\n\r\v\f\x00":
        assert trigram.score_sentences([f"a{character}b"])[1].tolist() == [1]


def test_what_is_not_text_is_refused(trigram: LanguageModel) -> None:
    wrong: Any = ["a", b"a"]
    with pytest.raises(TypeError, match="a sentence must be a str"):
        trigram.score_sentences(wrong)
    with pytest.raises(UnicodeEncodeError):
        trigram.score_sentences(["\ud800"])


def test_a_model_without_sentence_markers_scores_without_them() -> None:
    lm = native({("a",): (-0.5, 0.0), ("b",): (-0.25, 0.0)}, 1)
    assert lm.score_sentences(["a b b"], bos=False, eos=False)[0].tolist() == [-1.0]
    for bos, eos, marker in ((True, False, "<s>"), (False, True, "</s>")):
        with pytest.raises(ValueError, match=f"has no {marker}"):
            lm.score_sentences(["a"], bos, eos)
        with pytest.raises(ValueError, match=f"has no {marker}"):
            lm.full_scores("a", bos, eos)


def test_two_threads_score_as_one(trigram: LanguageModel) -> None:
    sentences = random_sentences(random.Random(1), 20_000)
    expected = trigram.score_sentences(sentences)[0]
    results: list[Any] = [None, None]
    start = threading.Barrier(2)

    def score(i: int) -> None:
        start.wait()
        results[i] = trigram.score_sentences(sentences)[0]

    threads = [threading.Thread(target=score, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        assert np.array_equal(result, expected)


def test_a_kenlm_binary_without_kenlm_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "lm.klm"
    file.write_bytes(b"mmap lm http://kheafield.com/code format version 5\n\0" + bytes(100))
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(KenlmMissing, match="pip install kenlm"):
        read_lm(file)


def test_a_broken_kenlm_binary_is_a_format_error(tmp_path: Path) -> None:
    pytest.importorskip("kenlm")
    file = tmp_path / "lm.klm"
    file.write_bytes(b"mmap lm http://kheafield.com/code format version 5\n\0" + bytes(100))
    with pytest.raises(FormatError, match="a file that the kenlm package can load") as caught:
        read_lm(file)
    assert caught.value.file == str(file)


@pytest.mark.shared
def test_a_real_model_against_its_kenlm_binary() -> None:
    folder = SHARED / "gold" / "cdec" / "lm"
    if not folder.is_dir():
        pytest.skip("no reference data beside the checkout")
    pytest.importorskip("kenlm")
    ours = read_lm(folder / "en.4.arpa.gz")
    theirs = read_lm(folder / "en.4.klm")
    assert ours.order == theirs.order == 4
    with open(SHARED / "data" / "multi30k" / "test_2016.en", encoding="utf-8") as lines:
        sentences = [line.rstrip("\n").lower() for line in itertools.islice(lines, 300)]
    sentences += ["xyzzy plugh", "a\u00a0b c", "", "a \t man"]
    for sentence in sentences:
        assert_same(ours.full_scores(sentence), theirs.full_scores(sentence))
        assert_same(ours.full_scores(sentence, False, False), theirs.full_scores(sentence, False, False))
    ours_total, ours_unknown = ours.score_sentences(sentences)
    theirs_total, theirs_unknown = theirs.score_sentences(sentences)
    assert np.allclose(ours_total, theirs_total, rtol=0, atol=1e-4)
    assert ours_unknown.tolist() == theirs_unknown.tolist()
