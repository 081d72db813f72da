"""Translations that tags ask for, beside tables with and without the same phrases."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

import smtplugins as smt
from smtformats.corpus.segments import Mark
from smtplugins.contracts.data import Sentence
from smtplugins.core.graph.inference import kbest
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.markup import Asked, asked_by, barriers
from smtplugins.host.decode.translator import make_translator

Phrase = tuple[int, int, str, float]
CONFIG = """\
decoder:
  name: phrase
  search: stack
  stack_size: 0
  beam_threshold: 0
  distortion_limit: 2
  xml: MODE
model:
  tables: {path: table, name: TM, scores: 2}
  grammar_format: moses-phrases
  features: [oov, distortion, "word-penalty"]
  weights: weights
"""
WORDS = tuple("abcde")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("weights").write_text("TM[0] 1\nTM[1] 0.3\noov -20\ndistortion 0.2\nword-penalty 0.1\n")


def derivations(mode: str, phrases: Sequence[Phrase], marks: Sequence[Mark] = ()) -> list[tuple[str, float]]:
    """All translations of the words with their scores."""
    rows = [f"{' '.join(WORDS[i:j])} ||| {text} ||| {p} {p}\n" for i, j, text, p in phrases]
    Path("table").write_text("".join(sorted(rows)))
    Path("run.yaml").write_text(CONFIG.replace("MODE", mode))
    made = make_translator(smt.load_plugins(), load_config("run.yaml"), None, "off")
    (found,) = made.decode([Sentence("0", WORDS, marks=tuple(marks))], graphs=True)
    assert found.graph is not None
    listed = kbest(found.graph(), k=100_000)
    rounded = [round(score, 3) for score in listed.scores.tolist()]
    return sorted(zip(listed.texts(), rounded, strict=True))


def table(source: random.Random) -> list[Phrase]:
    found = [(i, i + 1, word.upper(), 0.5) for i, word in enumerate(WORDS)]
    for _ in range(4):
        first = source.randrange(4)
        last = min(5, first + source.randint(1, 3))
        found.append((first, last, " ".join(source.choices("XYZ", k=source.randint(1, 2))), source.random()))
    return sorted(set(found))


def asked(source: random.Random) -> tuple[list[Mark], list[Phrase]]:
    """A tag or two that do not overlap, and the same as phrases of a table."""
    marks, phrases = [], []
    for first, last in source.sample([(0, 1), (1, 3), (3, 5)], k=source.randint(1, 2)):
        texts = source.sample(["T", "U", "X", "X Y"], k=source.randint(1, 2))
        probabilities = [source.choice([0.5, 0.25, 1.0]) for _ in texts]
        given = {"translation": "||".join(texts), "prob": "||".join(map(str, probabilities))}
        marks.append(Mark("n", first, last, given))
        # A score for each of the two is half of the logarithm.
        phrases += [(first, last, text, math.sqrt(p)) for text, p in zip(texts, probabilities, strict=True)]
    return marks, phrases


@pytest.mark.parametrize("seed", range(6))
def test_the_same_as_a_table_with_these_phrases(seed: int) -> None:
    source = random.Random(seed)
    phrases = table(source)
    marks, more = asked(source)
    spans = [(mark.start, mark.end) for mark in marks]

    def free(phrase: Phrase) -> bool:
        return all(phrase[1] <= first or phrase[0] >= last for first, last in spans)

    def good(phrase: Phrase) -> bool:
        """It has all of each tag, and one of its texts among its words."""
        held = [one for one in spans if one[0] < phrase[1] and one[1] > phrase[0]]
        return all(
            phrase[0] <= first
            and last <= phrase[1]
            and any(f" {text} " in f" {phrase[2]} " for i, j, text, _ in more if (i, j) == (first, last))
            for first, last in held
        )

    # Words of a tag without a phrase of their own are copied, at a cost.
    covered = [i for first, last in spans for i in range(first, last)]

    def copied(kept: list[Phrase]) -> set[int]:
        return {i for i in covered if not any((i, i + 1) == phrase[:2] for phrase in kept)}

    plain = derivations("pass-through", phrases)
    assert derivations("ignore", phrases, marks) == plain
    assert derivations("inclusive", phrases, marks) == derivations("pass-through", phrases + more)
    for mode, test in (("exclusive", free), ("constraint", good)):
        kept = [phrase for phrase in phrases if test(phrase)] + more
        words = {WORDS[i] for i in copied(kept)}
        found = derivations(mode, phrases, marks)
        assert found == derivations("pass-through", kept), mode
        assert all(any(word in text for text, _ in found) for word in words)


def test_what_tags_ask_for() -> None:
    marks = [
        Mark("a", 0, 1, {"translation": "x y||z", "prob": "0.5||0"}),
        Mark("b", 1, 1, {"translation": "of nothing"}),
        Mark("zone", 0, 2, {}),
        Mark("ne", 0, 1, {"entity": "3", "translation": "no"}),
        Mark("c", 1, 2, {"english": "old"}),
    ]
    assert list(asked_by(marks)) == [
        Asked(0, 1, ("x", "y"), 0.5),
        Asked(0, 1, ("z",), 0.0),
        Asked(1, 2, ("old",), 1.0),
    ]


def test_no_probability_is_100_below() -> None:
    """As Moses has it; each of the two scores has half of that."""
    marks = [Mark("n", 0, 5, {"translation": "T", "prob": "0"})]
    phrases = [(0, 1, "A", 0.5), (0, 2, "B", 0.5)]
    (found,) = {score for text, score in derivations("exclusive", phrases, marks) if text == "T"}
    certain = dict(derivations("exclusive", phrases, [Mark("n", 0, 5, {"translation": "T"})]))["T"]
    assert found == pytest.approx(certain - 50 * 1.3, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "walls"),
    [("a , b c .", [1, 3]), ("a b , c", [2, 1]), (", a b", []), ("a , b", [1]), ("a b ? !", [2, 1, 2]), ("a b", [])],
)
def test_walls_around_punctuation(text: str, walls: list[int]) -> None:
    """Behind a mark and before it, as Moses has them: not before the second word, nor behind the first and last."""
    sentence = Sentence("0", tuple(text.split()))
    assert barriers(sentence, punctuation=True) == ({"walls": walls, "zones": []} if walls else {})
    assert barriers(sentence) == {}


def test_walls_and_zones_of_tags() -> None:
    marks = (Mark("wall", 2, 2), Mark("wall", 0, 0), Mark("zone", 1, 3), Mark("n", 0, 1), Mark("wall", 3, 5))
    sentence = Sentence("0", tuple("abcdef"), marks=marks)
    assert barriers(sentence) == {"walls": [1, 2, 3, 4], "zones": [1, 3]}
