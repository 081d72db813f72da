"""The language model's scorer in plain Python: pieces in any order give what lists give."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from smtformats import Candidates
from smtplugins.contracts.data import Sentence
from smtplugins.core.grammar.rules import Edges, Rules
from smtplugins.plugins.standard.features import LanguageModelScore
from smtplugins.testing.features.stateful_features import Node, bracketed

WORDS = ("a", "b", "c")


def model_file(path: Path, order: int, source: random.Random) -> Path:
    """A model with half of all n-grams, each with a back-off."""
    grams = [[(word,) for word in ("<unk>", "<s>", "</s>", *WORDS)]]
    for size in range(2, order + 1):
        known = set(grams[-1])
        every = itertools.product(("<s>", *WORDS), *[WORDS] * (size - 2), (*WORDS, "</s>"))
        grams.append([one for one in every if one[:-1] in known and one[1:] in known and source.random() < 0.5])
    lines = ["\\data\\", *(f"ngram {size}={len(some)}" for size, some in enumerate(grams, 1))]
    for size, some in enumerate(grams, 1):
        lines += ["", f"\\{size}-grams:"]
        for one in some:
            backoff = f"\t{-source.random():.4f}" if size < order else ""
            lines.append(f"{-2 * source.random():.4f}\t{' '.join(one)}{backoff}")
    path.write_text("\n".join([*lines, "", "\\end\\", ""]), encoding="utf-8")
    return path


def total(scorer: Any, root: Node) -> float:
    """The score of a derivation, edge by edge."""

    def below(node: Node) -> tuple[float, Any]:
        scores, states = zip(*map(below, node.children), strict=True) if node.children else ((), ())
        (score,), (state,) = scorer.combine(Edges(Rules.from_targets([node.symbols])), [states])
        return score + sum(scores), state

    score, state = below(root)
    return float(score + scorer.finish([state])[0])


def on_list(model: LanguageModelScore, words: Sequence[str]) -> float:
    (score,) = model.score_candidates(None, Candidates("0", [" ".join(words)], [()], [[]]))
    return float(score)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize(("bos", "eos"), [(True, True), (False, True), (False, False)])
def test_bracketings_score_as_lists_do(order: int, bos: bool, eos: bool, tmp_path: Path) -> None:
    source = random.Random(order)
    model = LanguageModelScore(model_file(tmp_path / "lm", order, source), bos=bos, eos=eos)
    scorer = model.start(Sentence("0", ()))
    for _ in range(60):
        words = [source.choice([*WORDS, "zzz"]) for _ in range(source.randint(0, 9))]
        assert total(scorer, bracketed(words, source)) == pytest.approx(on_list(model, words), abs=1e-5)


def test_words_stand_for_their_classes(tmp_path: Path) -> None:
    source = random.Random(1)
    classes = tmp_path / "classes"
    classes.write_text("ein a\neine a\nhaus b\n", encoding="utf-8")
    model = LanguageModelScore(model_file(tmp_path / "lm", 3, source), class_path=classes, base="10")
    scorer = model.start(Sentence("0", ()))
    for words in (["ein", "haus"], ["eine", "haus", "ein", "hund", "haus"]):
        assert total(scorer, bracketed(words, source)) == pytest.approx(on_list(model, words), abs=1e-5)
    assert on_list(model, ["ein", "haus"]) == on_list(model, ["eine", "haus"])


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_rules_can_hold_the_marks(order: int, tmp_path: Path) -> None:
    source = random.Random(order)
    model = LanguageModelScore(model_file(tmp_path / "lm", order, source), markers="rules")
    scorer = model.start(Sentence("0", ()))
    for _ in range(40):
        words = [source.choice(WORDS) for _ in range(source.randint(0, 6))]
        inside = bracketed(words, source)
        begun = Node(["<s>"])
        for root in (
            Node(["<s>", *words, "</s>"]),
            Node(["<s>", 0, "</s>"], [inside]),
            Node([0, "</s>"], [Node([0, 1], [begun, inside])]),
            Node([0, 1, "</s>"], [begun, inside]),
        ):
            assert total(scorer, root) == pytest.approx(on_list(model, words), abs=1e-5)


def test_guesses_are_the_words_between_gaps(tmp_path: Path) -> None:
    model = LanguageModelScore(model_file(tmp_path / "lm", 3, random.Random(2)), base="10")
    scorer = model.start(Sentence("0", ()))
    found = scorer.estimate(Edges(Rules.from_targets([["a", "b", 0, "c"], [0], []])))
    parts = [model._model.full_scores(text, False, False) for text in ("a b", "c")]
    assert found == pytest.approx([sum(score for part in parts for score, _, _ in part), 0.0, 0.0])
