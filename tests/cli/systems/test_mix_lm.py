"""``smt lm mix``: one language model of several, with tuned weights."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smtplugins.core.lm.estimate import estimate
from smtplugins.core.lm.ngram_model import read_lm, write_lm
from smtplugins.host.methods.estimation import Estimation

Smt = Callable[..., Any]

TUNE = "the dog\na small house\nthe cat\n"
SENTENCES = ["the dog", "a small house", "the house dog"]


@pytest.fixture(autouse=True)
def _models() -> None:
    for name, order, text in (
        ("news.arpa", 3, "the house\na house\nthe small house\n"),
        ("web.arpa", 2, "a small dog\nthe dog\n"),
    ):
        estimate([text.encode()], order, fallback=(0.5, 1.0, 1.5)).write_arpa(name)
    Path("tune").write_text(TUNE)


def shared(model: Any, line: str) -> list[float]:
    """The scores of the words that both models know, and of the end."""
    scores = [score for score, _, _ in model.full_scores(line)]
    words = [*line.split(), "</s>"]
    return [score for word, score in zip(words, scores, strict=True) if word not in {"dog", "house", "cat"}]


def test_weights_and_perplexities(smt: Smt) -> None:
    result = smt("lm", "mix", "news.arpa", "web.arpa", "--tune", "tune", "-o", "mixed.arpa.gz", "--binary", "mixed.bin")
    assert result.code == 0
    notes = result.err.splitlines()
    assert notes[:3] == [
        "smt: note: news.arpa knows 4 of 5 words; the probability of the others is that of the other models alone",
        "smt: note: web.arpa knows 4 of 5 words; the probability of the others is that of the other models alone",
        "smt: note: tune: 1 of 10 words are unknown to all models, and not counted",
    ]
    assert notes[3].startswith("smt: note: ")
    assert "mixed.bin" in "".join(notes[3:])
    rows = [line.split() for line in result.out.splitlines()]
    assert " ".join(rows[0]) == "model weight perplexity unknown of shared words"
    assert [row[0] for row in rows[1:]] == ["news.arpa", "web.arpa", "mixed"]
    assert [row[-2] for row in rows[1:]] == ["2", "2", "1"]
    weights = [float(row[1]) for row in rows[1:3]]
    assert sum(weights) == pytest.approx(1, abs=1e-3)
    # The perplexity is that of the model which was written, without the unknown word.
    model = read_lm("mixed.arpa.gz")
    scores = [score for line in TUNE.splitlines() for score, _, unknown in model.full_scores(line) if not unknown]
    assert float(rows[3][1]) == pytest.approx(10 ** (-sum(scores) / len(scores)), abs=0.006)
    # All models are judged by the same words.
    news = [score for line in ("the dog", "a small house", "the cat") for score in shared(read_lm("news.arpa"), line)]
    assert float(rows[1][-1]) == pytest.approx(10 ** (-sum(news) / len(news)), abs=0.006)
    assert read_lm("mixed.bin").score_sentences(SENTENCES)[0].tolist() == model.score_sentences(SENTENCES)[0].tolist()


def test_given_weights_are_those_of_the_call_in_python(smt: Smt) -> None:
    call = ("lm", "mix", "news.arpa", "web.arpa", "-o", "mixed", "--weights", 0.25, 0.75, "-q", "-f", "json")
    rows = json.loads(smt(*call).ok())
    assert [(row["model"], row["weight"]) for row in rows] == [("news.arpa", 0.25), ("web.arpa", 0.75), ("mixed", None)]
    mixed = Estimation().mix_lms(["news.arpa", "web.arpa"], "again", weights=[0.25, 0.75])
    assert Path("again").read_bytes() == Path("mixed").read_bytes()
    assert (mixed.weights, mixed.mixed.perplexity) == ([0.25, 0.75], None)
    assert mixed.counts == tuple(read_lm("mixed").counts)
    alone = [10 ** read_lm(name).full_scores("dog")[0][0] for name in ("news.arpa", "web.arpa")]
    # news.arpa does not know the word, and has no probability for it.
    assert math.isclose(10 ** read_lm("mixed").full_scores("dog")[0][0], 0.75 * alone[1], rel_tol=1e-5)


def test_words_are_escaped_as_those_of_the_models(smt: Smt) -> None:
    text = "the [X] &\n<s> the\n"
    Path("text").write_text(text)
    for name in ("a", "b"):
        assert smt("lm", "text", "--order", 2, "--escape", "moses", "--discount-fallback", "-q", "-o", name).ok() == ""
    call = ("lm", "mix", "a", "b", "--tune", "text", "-o", "out", "-q", "-f", "json")
    assert [row["unknown"] for row in json.loads(smt(*call, "--escape", "moses").ok())] == [0, 0, 0]
    assert smt(*call).err == (
        "smt: text:2: expected text without <s>, </s> and <unk>, which models have of their own, found '<s>'\n"
    )


def test_the_text_may_be_a_file_called_mix(smt: Smt) -> None:
    Path("mix").write_text(TUNE)
    arpa = smt("lm", "./mix", "--order", 2, "--discount-fallback", "-q").ok()
    assert arpa == smt("lm", "-i", "mix", "--order", 2, "--discount-fallback", "-q").ok()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("news.arpa", "--tune", "tune"), 2, "expected two or more models, found 1"),
        (
            ("news.arpa", "web.arpa"),
            2,
            "expected either a text to tune on (--tune) or weights (--weights)",
        ),
        (
            ("news.arpa", "web.arpa", "--tune", "tune", "--weights", 0.5, 0.5),
            2,
            "expected either a text to tune on (--tune) or weights (--weights)",
        ),
        (
            ("news.arpa", "web.arpa", "--weights", 1),
            2,
            "--weights: expected a weight for each of 2 models, found 1",
        ),
        (
            ("news.arpa", "web.arpa", "--weights", 0.5, 0.6),
            2,
            "--weights: expected weights from 0 to 1 that add up to 1, found 0.5 0.6",
        ),
        (
            ("words.arpa", "words.arpa", "--tune", "tune", "--binary", "new"),
            2,
            "--binary: expected a model of order 2 or more, as KenLM has no files for unigrams",
        ),
        (("news.arpa", "tune", "--tune", "tune"), 1, "tune:3: expected \\data\\, found the end of the file"),
        (
            ("news.arpa", "binary", "--tune", "tune"),
            1,
            "binary: expected an ARPA file, as the n-grams of other models cannot be listed, found a KenLM file",
        ),
        (("news.arpa", "absent", "--tune", "tune"), 1, "absent: No such file or directory"),
        (
            ("news.arpa", "web.arpa", "--tune", "empty"),
            1,
            "empty: expected text, a sentence a line, found no words",
        ),
        (
            ("news.arpa", "web.arpa", "--tune", "tune", "--binary", "-"),
            2,
            "--binary: expected the name of a file, found '-'",
        ),
        (
            ("news.arpa", "web.arpa", "--tune", "tune", "--binary", "out"),
            2,
            "--binary: expected another file than the ARPA file, found out twice",
        ),
    ],
)
def test_what_is_wrong(smt: Smt, arguments: tuple[object, ...], code: int, message: str) -> None:
    write_lm(read_lm("web.arpa"), "binary")
    Path("empty").write_text("\n\n")
    estimate([b"a"], 1, fallback=(0.5, 1.0, 1.5)).write_arpa("words.arpa")
    result = smt("lm", "mix", *arguments, "-o", "out", "-q")
    assert (result.code, result.out, result.err) == (code, "", f"smt: {message}\n")
    assert "out" not in os.listdir()


def test_standard_output_has_the_table(smt: Smt) -> None:
    result = smt("lm", "mix", "news.arpa", "web.arpa", "--weights", 0.5, 0.5, "-o", "-")
    assert (result.code, result.err) == (
        2,
        "smt: --output: expected the name of a file, found '-': standard output has the table of weights\n",
    )
