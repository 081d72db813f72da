"""Random language models as ARPA text, and a slow reading of the definition to check them against."""

from __future__ import annotations

import itertools
import random

import pytest

from smtplugins.core._core import ArpaReader, LanguageModel

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
    scales = [-2.0, -1.0] if as_kenlm_wants else [-2.0, -1.0, 0.1]
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
        # Sums of 32-bit floats: at 100, which stands for minus infinity, two of their steps are 1.5e-5.
        assert prob == pytest.approx(expected, rel=2**-22, abs=1e-5)
