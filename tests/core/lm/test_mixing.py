"""Mixed language models: every context against enumeration, the weights against a numeric optimum."""

from __future__ import annotations

import gzip
import itertools
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smtformats.errors import FormatError
from smtplugins.core.lm.estimate import estimate
from smtplugins.core.lm.mixing import ListedModel, MixedModel, WordNumbers, tune_weights
from smtplugins.core.lm.ngram_model import read_lm, write_lm

Words: TypeAlias = tuple[str, ...]
Entries: TypeAlias = dict[Words, tuple[float, float]]

PRUNED = """\\data\\
ngram 1=5
ngram 2=2
ngram 3=1

\\1-grams:
-2\t<unk>
-99\t<s>\t-0.3
-0.6\t</s>
-0.5\ta\t-0.2
-0.5\tb\t-0.1

\\2-grams:
-0.3\ta b
-0.2\t<s> a\t-0.4

\\3-grams:
-0.1\t<s> a a

\\end\\
"""
"""As SRILM prunes: the suffix `a a` is missing. The unigrams do not add up to 1."""


def entries_of(arpa: str) -> Entries:
    """Probabilities and back-offs of an ARPA file."""
    rows = [line.split("\t") for line in arpa.split("\n") if "\t" in line]
    return {
        tuple(fields[1].split(" ")): (10 ** float(fields[0]), 10 ** float(fields[2]) if len(fields) > 2 else 1.0)
        for fields in rows
    }


def prob(entries: Entries, context: Words, word: str) -> float:
    """The probability that a back-off model gives, 0 for a word that it does not know."""
    if (word,) not in entries:
        return 0.0
    context = tuple(before if (before,) in entries else "<unk>" for before in context)
    if (*context, word) in entries:
        return entries[(*context, word)][0]
    return entries.get(context, (0.0, 1.0))[1] * prob(entries, context[1:], word)


def mix(folder: Path, texts: Sequence[str], weights: Sequence[float]) -> tuple[str, list[int]]:
    vocabulary = WordNumbers()
    models = []
    for number, text in enumerate(texts):
        (folder / f"{number}.arpa").write_text(text)
        models.append(ListedModel(folder / f"{number}.arpa", vocabulary))
    for model in models:
        model.bind(vocabulary)
    mixed = MixedModel(models, vocabulary, weights)
    return b"".join(mixed.arpa()).decode(), mixed.counts


def check(folder: Path, texts: Sequence[str], weights: Sequence[float]) -> None:
    arpa, counts = mix(folder, texts, weights)
    mixed, models = entries_of(arpa), [entries_of(text) for text in texts]
    union = set().union(*models)
    suffixes = {ngram[begin:] for ngram in union for begin in range(len(ngram))}
    assert mixed.keys() == union | suffixes
    assert counts == [sum(len(ngram) == order for ngram in mixed) for order in range(1, len(counts) + 1)]
    for ngram, (found, _) in mixed.items():
        expected = sum(
            weight * prob(model, ngram[:-1], ngram[-1]) for weight, model in zip(weights, models, strict=True)
        )
        assert math.isclose(found, expected, rel_tol=3e-6, abs_tol=1e-90), ngram
    drawn = [ngram[0] for ngram in mixed if len(ngram) == 1 and ngram != ("<s>",)]
    total = math.fsum(prob(mixed, (), word) for word in drawn)
    contexts = {ngram for ngram in mixed if len(ngram) < len(counts)} | set(itertools.product(drawn, repeat=2))
    for context in contexts:
        backed_off = not any(ngram[:-1] in {context[i:] for i in range(len(context))} for ngram in mixed if ngram[1:])
        own = math.fsum(prob(mixed, context, word) for word in drawn)
        assert math.isclose(own, total if backed_off else 1.0, abs_tol=4e-6), context


TEXTS = st.lists(st.lists(st.sampled_from("aabcdefg"), max_size=6), min_size=1, max_size=12).filter(any)


@st.composite
def arpas(draw: st.DrawFn) -> str:
    text = "".join(" ".join(words) + "\n" for words in draw(TEXTS)).encode()
    prune = draw(st.sampled_from([[], [0, 1], [1]]))
    order = draw(st.integers(1, 3))
    model = estimate([text], order, prune=prune[:order], fallback=(0.5, 1.0, 1.5))
    return b"".join(model.arpa()).decode()


@given(st.lists(arpas(), min_size=2, max_size=3), st.lists(st.integers(0, 3), min_size=3, max_size=3).filter(any))
@example([PRUNED, PRUNED], [1, 0, 0])
@example([b"".join(estimate([b"a c\nb a\n"], 3, fallback=(0.5, 1, 1.5)).arpa()).decode(), PRUNED], [1, 2, 0])
def test_equal_to_enumeration(tmp_path_factory: pytest.TempPathFactory, texts: list[str], parts: list[int]) -> None:
    parts = parts[: len(texts)] if any(parts[: len(texts)]) else [1] * len(texts)
    check(tmp_path_factory.mktemp("mix"), texts, [part / sum(parts) for part in parts])


def test_one_weight_of_1_is_the_model(tmp_path: Path) -> None:
    texts = [b"".join(estimate([text], 3, fallback=(0.5, 1, 1.5)).arpa()).decode() for text in (b"a b\nb\n", b"a\n")]
    mixed = entries_of(mix(tmp_path, texts, [1.0, 0.0])[0])
    for ngram, (own, backoff) in entries_of(texts[0]).items():
        assert mixed[ngram][0] == pytest.approx(own, rel=3e-6)
        if ngram[-1] != "</s>":
            assert mixed[ngram][1] == pytest.approx(backoff, rel=1e-4)


def test_kenlm_reads_it(tmp_path: Path) -> None:
    kenlm = pytest.importorskip("kenlm")
    texts = [
        b"".join(estimate([text], order, fallback=(0.5, 1, 1.5)).arpa()).decode()
        for order, text in ((3, b"the house\na house\nthe small house\n"), (2, b"a small dog\nthe dog\n"))
    ]
    (tmp_path / "mixed").write_text(mix(tmp_path, texts, [0.4, 0.6])[0])
    sentences = ["the house", "a small dog", "", "the new house", "dog house a"]
    scores = read_lm(tmp_path / "mixed").score_sentences(sentences)[0].tolist()
    theirs = kenlm.Model(str(tmp_path / "mixed"))
    assert scores == pytest.approx([theirs.score(sentence) for sentence in sentences], abs=1e-5)


def test_headers_blanks_and_spellings(tmp_path: Path) -> None:
    plain = mix(tmp_path, [PRUNED, PRUNED], [0.5, 0.5])
    odd = "made by\n\\hand\\\n" + PRUNED.replace("\t", " ").replace("a b", "a  b").replace("\n", "\r\n")
    assert mix(tmp_path, [odd.replace("<unk>", "<UNK>"), PRUNED], [0.5, 0.5]) == plain
    tight = PRUNED.replace(" b", " b\v").replace("\tb", "\tb\v")
    assert mix(tmp_path, [tight, tight], [0.5, 0.5])[0] == plain[0].replace("\tb", "\tb\v").replace(" b", " b\v")
    (tmp_path / "packed.gz").write_bytes(gzip.compress(PRUNED.encode()))
    assert ListedModel(tmp_path / "packed.gz", WordNumbers()).size == 2


def test_what_cannot_be_mixed(tmp_path: Path) -> None:
    (tmp_path / "arpa").write_text(PRUNED)
    write_lm(read_lm(tmp_path / "arpa"), tmp_path / "binary")
    with pytest.raises(FormatError, match=r"expected an ARPA file, .* found a KenLM file"):
        ListedModel(tmp_path / "binary", WordNumbers())
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FormatError, match="read twice, found a pipe"):
        ListedModel(tmp_path / "pipe", WordNumbers())
    with pytest.raises(FileNotFoundError):
        ListedModel(tmp_path / "absent", WordNumbers())
    (tmp_path / "endless").write_text(PRUNED.replace("</s>", "c"))
    with pytest.raises(FormatError, match="endless: expected a unigram </s>, as in models of sentences, found none"):
        ListedModel(tmp_path / "endless", WordNumbers())
    latin = "\n".join(line.replace("a", "\xe9") if "\t" in line else line for line in PRUNED.split("\n"))
    (tmp_path / "latin").write_bytes(latin.encode("latin-1"))
    with pytest.raises(FormatError, match="latin:10: expected UTF-8 text"):
        ListedModel(tmp_path / "latin", WordNumbers())


def likelihood(weights: np.ndarray, probs: np.ndarray) -> float:
    return float(np.log(weights @ probs).mean())


@given(st.integers(0, 1 << 20))
def test_weights_are_the_best(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    probs = drawn.random((2, 40)) ** drawn.uniform(0.2, 4)
    probs[:, 0] = 0  # no model knows it
    probs[0, 1:3] = 0
    weights = tune_weights(probs)
    assert weights.sum() == pytest.approx(1)
    grid = [np.array([at, 1 - at]) for at in np.linspace(0, 1, 400, endpoint=False)]
    best = max(grid, key=lambda pair: likelihood(pair, probs[:, 1:]))
    assert likelihood(weights, probs[:, 1:]) >= likelihood(best, probs[:, 1:]) - 1e-8
    assert abs(weights[0] - best[0]) < 0.01


def test_weights_of_three_models() -> None:
    drawn = np.random.default_rng(1)
    probs = drawn.random((3, 200))
    probs[1] *= 0.5
    weights = tune_weights(probs)
    for at, other in itertools.permutations(range(3), 2):
        moved = weights.copy()
        step = min(0.01, moved[at])
        moved[at] -= step
        moved[other] += step
        assert likelihood(moved, probs) <= likelihood(weights, probs) + 1e-9
    assert tune_weights(np.zeros((2, 5))).tolist() == [0.5, 0.5]
