"""Truecasing: models and texts as Moses' scripts make them, by hand."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError
from smtplugins.host.text.casing import CaseCounts, Truecaser, capitalized

TEXT = """\
The house is in the Hague .
" The dog : The cat . " The end
(
the Hague . and the House ? The hague
IBM
A house house
"""


def counted(text: str) -> CaseCounts:
    counts = CaseCounts()
    for line in text.splitlines():
        counts.add(line.split())
    return counts


def model(text: str) -> str:
    out = io.StringIO()
    counted(text).write(out)
    return out.getvalue()


def test_words_that_do_not_begin_a_sentence_are_counted() -> None:
    # Behind a mark that ends a sentence, the next word is the first, be it a quotation mark.
    assert model(TEXT).splitlines() == [
        ". (3/3)",
        ": (1/1)",
        "? (1/1)",
        "cat (1/1)",
        "dog (1/1)",
        "end (1/1)",
        "Hague (2/3) hague (1)",
        "house (3/4) House (1)",
        "in (1/1)",
        "is (1/1)",
        "the (2/3) The (1)",
    ]


def test_of_equal_counts_lower_case_is_chosen() -> None:
    assert model("a The a the a THE") == "a (2/2)\nthe (1/3) The (1) THE (1)\n"


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("The House", "the House"),
        ("HOUSE of the Hague", "house of the Hague"),
        ("( \" The dog : ' THE Hague . IBM", "( \" the dog : ' the Hague . IBM"),
        ("a DOG is a CAT", "a dog is a cat"),  # a form that the model does not know
        ("Hague hague . hague", "Hague hague . Hague"),
        ("", ""),
    ],
)
def test_texts(sentence: str, wanted: str, tmp_path: Path) -> None:
    (tmp_path / "model").write_text(model(TEXT))
    for truecaser in (Truecaser(counted(TEXT).forms()), Truecaser.read(tmp_path / "model")):
        assert truecaser.cased(sentence.split()) == wanted.split()


@pytest.mark.parametrize("line", ["", "the", "the (1)", "the (1/1) The", "the 1/1", "the (1/1) The (x)"])
def test_a_line_that_is_none_of_a_model(line: str, tmp_path: Path) -> None:
    (tmp_path / "model").write_text(f"a (1/1)\n{line}\n")
    with pytest.raises(FormatError, match=r"model:2: expected a form of a word with its count and total"):
        Truecaser.read(tmp_path / "model")


def test_sentences_begin_with_upper_case() -> None:
    text = "\" ( ein haus . ' ein haus : ja ? ok"
    assert " ".join(capitalized(text.split())) == "\" ( Ein haus . ' Ein haus : Ja ? Ok"
    assert capitalized([]) == []


@given(st.lists(st.lists(st.sampled_from("a A b B . : \" ( I'm".split()), max_size=8), max_size=8))
def test_a_model_is_written_and_read_back(text: list[list[str]]) -> None:
    counts = CaseCounts()
    for sentence in text:
        counts.add(sentence)
    once = [Truecaser(counts.forms()).cased(sentence) for sentence in text]
    assert [[word.lower() for word in sentence] for sentence in once] == [[w.lower() for w in line] for line in text]
    assert [Truecaser(counts.forms()).cased(sentence) for sentence in once] == once
    wanted = 0
    for sentence in text:
        start = next((i for i, word in enumerate(sentence) if word not in '"('), len(sentence))
        wanted += sum(i > start and sentence[i - 1] not in ".:" for i in range(len(sentence)))
    assert sum(counts.counts.values()) == wanted
