"""KenLM's own scores of sentences, words and fragments by models of every kind that `build_binary` writes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtplugins.core._core import LanguageModel, LmChartState
from smtplugins.core.lm.ngram_model import read_lm

pytestmark = pytest.mark.shared
FOLDER = "gold/moses/binary/kenlm"
NAMES = [
    *("en.2.nounk.probing", "en.2.nounk.trie", "en.2.probing.novocab", "en.2.probing.p1.2", "en.2.trie.a22"),
    *("en.2.trie.a22.q8b8", "en.2.trie", "en.2.trie.novocab", "en.2.trie.q8b8", "en.4.probing", "en.4.rest"),
    *("en.4.trie.a2", "en.4.trie.a22", "en.4.trie.a22.q8b8", "en.4.trie", "en.4.trie.q4b6", "en.4.trie.q8b8"),
]
KINDS = {
    "probing": "probing",
    "rest_probing": "probing, rest costs",
    "trie": "trie",
    "quant_trie": "trie, quantised",
    "array_trie": "trie, compressed pointers",
    "quant_array_trie": "trie, quantised, compressed pointers",
}


def lines(shared: Path, *name: str) -> list[str]:
    return (shared / FOLDER).joinpath(*name).read_text(encoding="utf-8").splitlines()


def rows(shared: Path) -> dict[str, dict[str, str]]:
    return {row["file"]: row for row in csv.DictReader(lines(shared, "models.tsv"), delimiter="\t")}


def test_all_models_are_tried(shared: Path) -> None:
    assert sorted(rows(shared)) == sorted(f"{name}.klm" for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_kenlms(shared: Path, name: str) -> None:
    row = rows(shared)[f"{name}.klm"]
    model = read_lm(shared / FOLDER / row["file"])
    assert (model.kind, model.order) == (KINDS[row["model_type"]], int(row["order"]))
    assert model.has_words == (row["has_vocabulary"] == "1")
    sentences = lines(shared, "sentences.en")
    _check_sentences(model, sentences, lines(shared, "scores", row["sentence_scores"]))
    _check_words(model, sentences, lines(shared, "scores", row["word_scores"]))
    _check_fragments(model, lines(shared, "fragments.en"), lines(shared, "scores", row["fragment_scores"]))
    _check_kenlm(model, sentences, shared / FOLDER / row["file"])


def _check_sentences(model: LanguageModel, sentences: list[str], expected: list[str]) -> None:
    scores, unknown = model.score_sentences(sentences)
    cells = [line.split() for line in expected[: len(sentences)]]
    np.testing.assert_allclose(scores, [float(cell[1]) for cell in cells], rtol=1e-5, atol=1e-5)
    assert unknown.tolist() == [int(cell[3]) for cell in cells]


def _check_words(model: LanguageModel, sentences: list[str], expected: list[str]) -> None:
    for sentence, line in zip(sentences, expected[: len(sentences)], strict=True):
        cells = [cell.rsplit("=", 1)[1].split(" ") for cell in line.split("\t") if "=" in cell]
        assert [*model.ids(sentence.split(" ")), model.id("</s>")] == [int(cell[0]) for cell in cells]
        for (prob, length, _), (_, matched, gold) in zip(model.full_scores(sentence), cells, strict=True):
            assert length == int(matched)
            assert prob == pytest.approx(float(gold), abs=1e-5)


def _check_fragments(model: LanguageModel, fragments: list[str], expected: list[str]) -> None:
    for number, fragment in enumerate(fragments):
        gold = expected[2 * number].split("\t")
        ids = model.ids(fragment.split(" ")).tolist()
        half = len(ids) // 2
        whole = model.score_rule(ids)
        first, second = model.score_rule(ids[:half]), model.score_rule(ids[half + 1 :])
        # Without words, the first half is no state.
        gaps = [first[1], second[1]] if half else [second[1]]
        joined = model.score_rule([*([-1] if half else []), ids[half], -len(gaps)], gaps)
        joined = (joined[0] + first[0] + second[0], joined[1])
        sentence = model.score_rule([-1, model.id("</s>")], [joined[1]], bos=True)[0] + joined[0]
        for at, (score, state) in zip((1, 3, 5, 7), (whole, first, second, joined), strict=True):
            assert (score, _shown(state)) == (pytest.approx(float(gold[at]), rel=1e-5, abs=1e-5), gold[at + 1])
        assert sentence == pytest.approx(float(gold[9]), rel=1e-5)
        assert joined[1] == whole[1]
        assert hash(joined[1]) == hash(whole[1])
        _check_fragment_words(model, ids, expected[2 * number + 1].split())


def _check_fragment_words(model: LanguageModel, ids: list[int], expected: list[str]) -> None:
    state: Any = model.null_state()
    for i, (word, cell) in enumerate(zip(ids, expected, strict=True)):
        prob, state = model.score_word(state, word)
        gold, rest, _, independent = cell.split("/")
        assert prob == pytest.approx(float(gold), abs=1e-5)
        if i == 0:
            shown = float(gold if independent == "1" else rest)
            assert model.score_rule([word])[0] == pytest.approx(shown, abs=1e-5)


def _shown(state: LmChartState) -> str:
    return f"{state.open} {int(state.full)} {len(state.words)}"


def _check_kenlm(model: LanguageModel, sentences: list[str], path: Path) -> None:
    kenlm = pytest.importorskip("kenlm")
    theirs = kenlm.Model(str(path))
    expected = [sum(score[0] for score in theirs.full_scores(line)) for line in sentences]
    np.testing.assert_allclose(model.score_sentences(sentences)[0], expected, rtol=0, atol=1e-5)
