"""Estimation of language models: a direct implementation of the formulas as oracle, and what lmplz made."""

from __future__ import annotations

import gzip
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smtformats.errors import FormatError
from smtplugins.core._core import KneserNey
from smtplugins.core.lm.estimate import (
    BadSettings,
    BadText,
    Estimate,
    EstimateTooLarge,
    NoDiscounts,
    estimate,
    read_pieces,
)
from smtplugins.core.lm.ngram_model import read_lm, write_lm

Words: TypeAlias = tuple[str, ...]
Sentences: TypeAlias = Sequence[Sequence[str]]
Discounts: TypeAlias = tuple[float, float, float]
Entries: TypeAlias = dict[Words, tuple[float, float]]

FALLBACK = (0.5, 1.0, 1.5)
TEXT = b"the house\n\na house\r\n the  small\thouse \n"


class Oracle:
    """Interpolated modified Kneser-Ney, word for word as Chen & Goodman (1998) and Heafield et al. (2013) have it."""

    def __init__(
        self, sentences: Sentences, order: int, prune: Sequence[int] = (), vocabulary: set[str] | None = None
    ) -> None:
        self.order = order
        self.thresholds = [prune[min(n, len(prune) - 1)] if prune else 0 for n in range(order)]
        self.vocabulary = vocabulary
        self.raw: Counter[Words] = Counter()
        for sentence in sentences:
            marked = ("<s>", *sentence, "</s>")
            for end in range(2, len(marked) + 1):
                self.raw.update(marked[end - n : end] for n in range(1, min(order, end) + 1))
        extensions = Counter(ngram[1:] for ngram in self.raw)
        self.adjusted: dict[Words, int] = {("<unk>",): 0, ("<s>",): 0}
        for ngram, count in self.raw.items():
            whole = len(ngram) == order or ngram[0] == "<s>"
            self.adjusted[ngram] = count if whole else extensions[ngram]
        self.own_discounts = [self._own_discounts(n) for n in range(1, order + 1)]
        self.discounts = [own or FALLBACK for own in self.own_discounts]
        self.followers: dict[Words, list[Words]] = defaultdict(list)
        for ngram in self.adjusted:
            self.followers[ngram[:-1]].append(ngram)
        self.words = [ngram[0] for ngram in self.adjusted if len(ngram) == 1 and self.kept(ngram)]

    def _own_discounts(self, n: int) -> Discounts | None:
        """Equation 26 of Chen & Goodman."""
        seen = Counter(count for ngram, count in self.adjusted.items() if len(ngram) == n)
        if not all(seen[j] for j in (1, 2, 3)):
            return None
        y = seen[1] / (seen[1] + 2 * seen[2])
        once, twice, more = (j - (j + 1) * y * seen[j + 1] / seen[j] for j in (1, 2, 3))
        return (once, twice, more) if min(once, twice, more) >= 0 else None

    def kept(self, ngram: Words) -> bool:
        if ngram in {("<unk>",), ("<s>",), ("</s>",)}:
            return True
        if self.vocabulary is not None and not self.vocabulary.issuperset(set(ngram) - {"<s>", "</s>"}):
            return False
        return self.raw[ngram] > self.thresholds[len(ngram) - 1]

    def discount(self, ngram: Words) -> float:
        count = self.adjusted[ngram]
        return self.discounts[len(ngram) - 1][min(count, 3) - 1] if count else 0.0

    @cached_property
    def totals(self) -> dict[Words, int]:
        return {context: sum(self.adjusted[n] for n in ngrams) for context, ngrams in self.followers.items()}

    @cached_property
    def backoffs(self) -> dict[Words, float]:
        """What discounts and pruning leave to the shorter context."""
        return {
            context: sum(self.discount(n) if self.kept(n) else self.adjusted[n] for n in ngrams) / self.totals[context]
            for context, ngrams in self.followers.items()
        }

    def probability(self, ngram: Words) -> float:
        if not ngram:
            return 1 / (len(self.words) - 1)  # <unk> is a word, <s> none
        context = ngram[:-1]
        own = (self.adjusted[ngram] - self.discount(ngram)) / self.totals[context]
        return own + self.backoffs[context] * self.probability(ngram[1:])

    def entries(self) -> Entries:
        return {
            ngram: (self.probability(ngram), self.backoffs.get(ngram, 1.0))
            for ngram in self.adjusted
            if self.kept(ngram)
        }


def arpa_of(model: Estimate) -> str:
    return b"".join(model.arpa()).decode()


def rows(arpa: str) -> Iterator[tuple[Words, float, float]]:
    """The n-grams of an ARPA file with log10 probability and back-off, in its order."""
    for line in arpa.split("\n"):
        fields = line.split("\t")
        if len(fields) > 1:
            yield tuple(fields[1].split(" ")), float(fields[0]), float(fields[2]) if len(fields) > 2 else 0.0


def entries_of(arpa: str) -> Entries:
    entries = list(rows(arpa))
    assert len({ngram for ngram, _, _ in entries}) == len(entries)
    return {ngram: (10**prob, 10**backoff) for ngram, prob, backoff in entries}


def text_of(sentences: Iterable[Sequence[str]]) -> list[bytes]:
    return [b"".join(" ".join(words).encode() + b"\n" for words in sentences)]


def prob_in(entries: Entries, context: Words, word: str) -> float:
    """The probability that a back-off model gives."""
    if (*context, word) in entries:
        return entries[(*context, word)][0]
    return entries.get(context, (0, 1.0))[1] * prob_in(entries, context[1:], word)


def check(sentences: Sentences, order: int, prune: Sequence[int], vocabulary: set[str] | None) -> None:
    """The model has what the formulas give, and the probabilities of each context add up to 1."""
    model = estimate(text_of(sentences), order, prune=prune, fallback=FALLBACK, vocabulary=vocabulary)
    oracle = Oracle(sentences, order, prune, vocabulary)
    assert model.discounts == [pytest.approx(discounts, abs=1e-6) for discounts in oracle.discounts]
    entries = entries_of(arpa_of(model))
    expected = oracle.entries()
    assert entries.keys() == expected.keys()
    for ngram, (prob, backoff) in expected.items():
        assert abs(entries[ngram][0] - prob) <= 2e-6 * prob, ngram
        # A weight of 0 is written as 1e-99.
        assert abs(entries[ngram][1] - backoff) <= 2e-6 * backoff + 1e-98, ngram
    assert model.counts == [sum(len(ngram) == n for ngram in expected) for n in range(1, order + 1)]
    drawn = [ngram[0] for ngram in entries if len(ngram) == 1 and ngram != ("<s>",)]
    contexts = [(), *(n for n in entries if len(n) < order and n[-1] not in ("</s>", "<unk>"))]
    for context in contexts:
        total = math.fsum(prob_in(entries, context, word) for word in drawn)
        assert abs(total - 1) < 1e-6, context


WORDS = st.lists(st.sampled_from("aaabbcdefgh"), max_size=7)
CORPORA = st.lists(WORDS, min_size=1, max_size=25).filter(any)
PRUNING = st.lists(st.integers(0, 3), max_size=4).map(sorted)


@given(CORPORA, st.integers(1, 4), PRUNING, st.none() | st.sets(st.sampled_from("abcdz")))
@example([["a"]], 1, [], None)
@example([["a"]], 4, [], None)
@example([[], ["a"], []], 3, [1], None)
@example([["a"] * 7] * 25, 3, [0, 0, 1], {"a"})
@example([["a"] * 7] * 25, 2, [], set())
def test_equal_to_the_formulas(
    sentences: list[list[str]], order: int, prune: list[int], vocabulary: set[str] | None
) -> None:
    check(sentences, order, prune[:order], vocabulary)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_equal_to_the_formulas_with_discounts_of_their_own(order: int) -> None:
    drawn = random.Random(1)
    words = [f"w{i}" for i in range(30 * order)]
    weights = [1 / (i + 1) for i in range(len(words))]
    sentences = [drawn.choices(words, weights, k=drawn.randrange(10)) for _ in range((45, 110, 130, 300)[order - 1])]
    assert not estimate(text_of(sentences), order).fallen_back
    for prune in ([], [0, 0, 1][:order], [1, 2][:order]):
        check(sentences, order, prune, None)
        check(sentences, order, prune, set(words[:20]))


@given(CORPORA, st.integers(1, 4))
def test_discounts_that_do_not_follow_are_named(sentences: list[list[str]], order: int) -> None:
    own = Oracle(sentences, order).own_discounts
    missing = [n for n, discounts in enumerate(own, 1) if discounts is None]
    assert estimate(text_of(sentences), order, fallback=FALLBACK).fallen_back == missing
    if missing:
        with pytest.raises(NoDiscounts, match=f"no discounts for {missing[0]}-grams") as raised:
            estimate(text_of(sentences), order)
        assert raised.value.order == missing[0]


@pytest.mark.shared
def test_equal_to_lmplz(shared: Path) -> None:
    model = estimate(read_pieces(shared / "data/multi30k/train.en.gz"), 4, fallback=FALLBACK)
    gold = gzip.decompress((shared / "gold/cdec/lm/en.4.arpa.gz").read_bytes()).decode()
    ours = arpa_of(model)
    if ours == gold:  # byte for byte, where the C library has the same logarithms
        return
    assert ours.split("\\1-grams", maxsplit=1)[0] == gold.split("\\1-grams", maxsplit=1)[0]
    for mine, theirs in zip(rows(ours), rows(gold), strict=True):
        assert mine[0] == theirs[0]  # the same n-grams in the same order
        assert abs(mine[1] - theirs[1]) < 1e-4
        assert abs(mine[2] - theirs[2]) < 1e-4


def same(text: list[bytes]) -> bool:
    return arpa_of(estimate(text, 3, fallback=FALLBACK)) == arpa_of(estimate([TEXT], 3, fallback=FALLBACK))


@given(st.lists(st.integers(0, len(TEXT))))
def test_pieces_may_end_anywhere(ends: list[int]) -> None:
    bounds = [0, *sorted(ends), len(TEXT)]
    assert same([TEXT[begin:end] for begin, end in pairwise(bounds)])


def test_what_parts_words_and_sentences() -> None:
    assert same([TEXT.rstrip(b"\n")])
    assert same([TEXT.replace(b"  ", b"\0")])
    assert not same([TEXT.replace(b"\n\n", b"\n")])  # an empty sentence is one too
    assert not same([TEXT.replace(b"  ", "\u00a0".encode())])
    model = estimate([TEXT], 2, fallback=FALLBACK)
    assert (model.sentences, model.words, model.fallen_back) == (4, 7, [2])


def test_order_of_ngrams_is_that_of_lmplz() -> None:
    ngrams = [" ".join(ngram) for ngram, _, _ in rows(arpa_of(estimate([TEXT], 2, fallback=FALLBACK)))]
    assert ngrams[:7] == ["<unk>", "<s>", "</s>", "the", "house", "a", "small"]
    assert ngrams[7:9] == ["<s> </s>", "house </s>"]
    assert ngrams[9:] == ["<s> the", "the house", "a house", "small house", "<s> a", "the small"]


def test_numbers_are_as_short_as_reads_back() -> None:
    text = arpa_of(estimate([b"a b\n"], 3, fallback=(1e-6, 1e-6, 1e-6)))
    fields = [field for line in text.split("\n") if "\t" in line for field in line.split("\t")[::2]]
    assert any("e-" in field for field in fields)
    for field in fields:
        mantissa, _, exponent = field.partition("e")
        assert len(mantissa.lstrip("-0.").replace(".", "")) <= 9
        assert not exponent or int(exponent) < -6


@pytest.mark.parametrize("word", ["<s>", "</s>", "<unk>", "<UNK>"])
def test_words_of_the_model_itself_are_refused(word: str) -> None:
    half = len(word) // 2
    with pytest.raises(BadText, match=f"line 2: expected text without <s>.*, found '{word}'"):
        estimate([b"a b\nc ", word[:half].encode(), word[half:].encode(), b" d\n"], 2)


@pytest.mark.parametrize("text", [[], [b""], [b"\n \n", b"\r\n"]], ids=str)
def test_no_words(text: list[bytes]) -> None:
    with pytest.raises(BadText, match="expected text, a sentence a line, found no words"):
        estimate(text, 2)


def test_words_have_a_longest() -> None:
    most = 1 << 16
    assert estimate([b"a" * most], 1, fallback=FALLBACK).words == 1
    for text in ([b"a" * (most + 1)], [b"a" * most, b"a"], [b"\na "] + [b"a"] * (most + 1)):
        with pytest.raises(BadText, match="a word of at most 65536 bytes"):
            estimate(text, 1)


def test_memory_has_a_limit() -> None:
    text = [b"a b c d e f g h\n" * 1000] * 20
    needed = estimate(text, 3, fallback=FALLBACK).peak_bytes
    assert needed < 15 * 10 * 20_000
    assert estimate(text, 3, fallback=FALLBACK, memory=needed).peak_bytes == needed
    read = 0

    def pieces() -> Iterator[bytes]:
        nonlocal read
        for piece in text:
            read += 1
            yield piece

    with pytest.raises(EstimateTooLarge, match="KB of memory, 1024 KB are allowed"):
        estimate(pieces(), 3, fallback=FALLBACK, memory=1 << 20)
    assert read < 10
    with pytest.raises(EstimateTooLarge):
        estimate(text, 3, fallback=FALLBACK, memory=needed - 1)


@pytest.mark.parametrize(
    ("order", "prune", "fallback", "message"),
    [
        (0, [], FALLBACK, "order: expected 1 to 16, found 0"),
        (17, [], FALLBACK, "order: expected 1 to 16, found 17"),
        (2, [0, 0, 1], FALLBACK, "at most 2 thresholds, one for each order, found 3"),
        (3, [1, 0], FALLBACK, "thresholds that do not fall, found 1 0"),
        (3, [-1], FALLBACK, "thresholds from 0 to .* found -1"),
        (3, [1 << 64], FALLBACK, "thresholds from 0 to .* found 18446744073709551616"),
        (3, [], (0.5, 2.5, 1), "counts of 2: expected 0 to 2, found 2.5"),
        (3, [], (0.5, 1, math.nan), "counts of 3 or more: expected 0 to 3, found nan"),
    ],
)
def test_settings_are_checked(order: int, prune: list[int], fallback: Discounts, message: str) -> None:
    with pytest.raises(BadSettings, match=message):
        estimate([b"a"], order, prune=prune, fallback=fallback)


def test_the_native_side_checks_too() -> None:
    wrong: list[tuple[int, list[int], Discounts | None]] = [
        (0, [], None),
        (17, [0] * 17, None),
        (2, [0], None),
        (2, [1, 0], None),
        (1, [0], (2.0, 1.0, 1.0)),
    ]
    for order, prune, fallback in wrong:
        with pytest.raises(ValueError, match=r"order|threshold|discount"):
            KneserNey(order, prune, fallback, 1 << 30)
    counter = KneserNey(2, [0, 0], FALLBACK, 1 << 30)
    counter.feed(b"a b")
    model = counter.finish()
    with pytest.raises(RuntimeError, match="the text has ended"):
        counter.feed(b"c")
    with pytest.raises(RuntimeError, match="the text has ended"):
        counter.finish()
    assert model.rows(2, 1, 1 << 40).count(b"\n") == model.count(2) - 1
    assert model.rows(2, 1 << 40, 1) == b""
    for order in (-1, 0, 3):
        with pytest.raises(IndexError):
            model.rows(order, 0, 1)
        with pytest.raises(IndexError):
            model.count(order)


def test_zero_is_written_as_arpa_files_do() -> None:
    entries = list(rows(arpa_of(estimate([b"a b\n"], 2, fallback=(0.0, 0.0, 0.0)))))
    assert min(prob for _, prob, _ in entries) == -99
    assert min(backoff for _, _, backoff in entries) == -99


def test_models_can_be_read(tmp_path: Path) -> None:
    kenlm = pytest.importorskip("kenlm")
    path = tmp_path / "lm.arpa.gz"
    model = estimate([TEXT * 3, b"x\xff\x0b\n"], 3, prune=[0, 0, 1], fallback=FALLBACK)
    model.write_arpa(path)
    sentences = ["the house", "a small house", "", "the new house"]
    scores, unknown = read_lm(path).score_sentences(sentences)
    assert unknown.tolist() == [0, 0, 0, 1]
    theirs = kenlm.Model(str(path))
    expected = pytest.approx([theirs.score(sentence) for sentence in sentences], abs=1e-5)
    assert scores.tolist() == expected
    write_lm(model.language_model(), tmp_path / "lm.bin")
    assert read_lm(tmp_path / "lm.bin").score_sentences(sentences)[0].tolist() == expected
    theirs = kenlm.Model(str(tmp_path / "lm.bin"))
    assert [theirs.score(sentence) for sentence in sentences] == expected


def test_spoilt_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(TEXT * 100)[:-9])
    with pytest.raises(FormatError, match=r"text\.gz:1: field 1: expected a complete compressed file"):
        estimate(read_pieces(path), 2)
