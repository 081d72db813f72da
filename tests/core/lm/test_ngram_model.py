"""Language model scores: against a slow reading of the definition, and against KenLM."""

from __future__ import annotations

import itertools
import math
import random
import threading
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtplugins.core._core import LanguageModel
from smtplugins.core.lm.ngram_model import ArpaError, read_lm
from tests.core.ngrams import Ngram, Oracle, Table, arpa, assert_same, native, random_sentences, random_table


@given(st.integers(0, 2**32), st.integers(1, 4), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=100)
def test_the_definition_of_backing_off(seed: int, order: int, bos: bool, eos: bool) -> None:
    rng = random.Random(seed)
    table = random_table(rng, order, as_kenlm_wants=False)
    oracle = Oracle(table, order)
    highest = max((oracle.prob(stone[:-1], stone[-1]) for stone in oracle.stones), default=-1.0)
    if 0.0 < highest <= 1.1e-3:
        # What the reader takes for 1 before a file's digits were cut.
        assert highest > 0.9e-3 or native(table, order).order == order
        return
    if highest > 0.0:
        with pytest.raises(ArpaError, match="a probability of at most 1"):
            native(table, order)
        return
    lm = native(table, order)
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
    ids = np.array([trigram.id(word) for s in sentences for word in s.split()], np.int32)
    offsets = np.array([0, 4, 4, 5, 9], np.int64)
    for bos, eos in itertools.product([False, True], repeat=2):
        by_word = trigram.score_sentences(sentences, bos, eos)
        by_id = trigram.score_ids(ids, offsets, bos, eos)
        assert [a.tolist() for a in by_id] == [a.tolist() for a in by_word]


def test_batches_of_any_size_give_the_same_scores() -> None:
    """Sentences longer and shorter than what is scored at a time, and an n-gram across each border."""
    rng = random.Random(5)
    lm = native(random_table(rng, 4, as_kenlm_wants=False), 4)
    words = ["a", "b", "c", "d", "é", "<unk>", "zzz", "muchlongerthaneightbytes", "exactly8", "seven77", "\tb"]
    sentences = [" ".join(rng.choices(words, k=rng.choice([0, 1, 3, 63, 64, 65, 200]))) for _ in range(600)]
    for bos, eos in itertools.product([False, True], repeat=2):
        probs, unknown = lm.score_sentences(sentences, bos, eos)
        for sentence, prob, misses in zip(sentences, probs, unknown, strict=True):
            scores = lm.full_scores(sentence, bos, eos)
            assert prob == sum(score[0] for score in scores)
            assert misses == sum(score[2] for score in scores)
        for threads in (2, 7):
            assert lm.score_sentences(sentences, bos, eos, threads=threads)[0].tolist() == probs.tolist()
            ids = [lm.ids([word for word in s.replace("\t", " ").split(" ") if word]) for s in sentences]
            offsets = np.cumsum([0, *map(len, ids)], dtype=np.int64)
            assert lm.score_ids(np.concatenate(ids), offsets, bos, eos, threads)[0].tolist() == probs.tolist()
    with pytest.raises(ValueError, match="threads must be 1 or more"):
        lm.score_sentences(sentences, threads=0)


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
