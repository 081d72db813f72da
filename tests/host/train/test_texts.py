"""What is checked of texts before a system is built, and of words once they are prepared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.recipes import Ingredients, RecipeStep
from smtplugins.host.estimate.prepare import PrepareSettings, prepare
from smtplugins.host.train.plan import TextPair, TrainPlan
from smtplugins.host.train.texts import check_texts, check_words


def text(folder: Path, name: str, *sides: Sequence[str]) -> TextPair:
    paths = [folder / f"{name}.{number}" for number in range(len(sides))]
    for path, lines in zip(paths, sides, strict=True):
        path.write_text("".join(f"{line}\n" for line in lines))
    return TextPair.of(name, paths)


def said(plan: TrainPlan) -> list[str]:
    notes: list[str] = []
    check_texts(plan, notes.append)
    return notes


def test_misleading_texts_are_noted(tmp_path: Path) -> None:
    train = text(tmp_path, "train", ["ein haus", "das haus", "der tag"], ["a house", "the house", "the day"])
    dev = text(tmp_path, "dev", ["ein haus", "", "das haus"], ["a home", "x", "this house"], ["a house", "y", " "])
    other = text(tmp_path, "test", ["das haus"], ["a house"])
    assert said(TrainPlan(model="phrase", train=train, dev=dev, test=other)) == [
        "note: dev: 2 of 3 lines have an empty side, the first is line 2",
        "note: dev: 1 of 3 sentence pairs are in the training text, too",
    ]
    assert said(TrainPlan(model="phrase", train=train, dev=other)) == []
    assert said(TrainPlan(model="phrase", train=train, dev=other, test=train)) == [
        "note: test: 3 of 3 sentence pairs are in the training text, too"
    ]
    new = text(tmp_path, "new", ["der see", "der tag"], ["the sea", "the day"], ["the lake", "this day"])
    assert said(
        TrainPlan(model="phrase", train=train, dev=text(tmp_path, "a", ["der see"], ["the lake"]), test=new)
    ) == [
        "note: test: 1 of 2 sentence pairs are in the training text, too",
        "note: test: 1 of 2 sentence pairs are in the dev text, too",
    ]


def test_texts_are_raw(tmp_path: Path) -> None:
    raw = text(tmp_path, "raw", ["Ein Haus"], ["A house"])
    made = {}
    for case in ("lower", "keep"):
        prepare(tmp_path / case, raw.source, raw.targets, PrepareSettings(case=case), lambda note: None, True)
        made[case] = TextPair.of("dev", [tmp_path / case / "source", tmp_path / case / "target"])
    # It is cleaned, and its words are those of raw text.
    assert said(TrainPlan(model="phrase", train=made["keep"], dev=text(tmp_path, "dev", ["x"], ["y"]))) == []
    for plan, file, case in (
        (TrainPlan(model="phrase", train=made["lower"], dev=raw), "source", "lower"),
        (TrainPlan(model="phrase", train=raw, dev=made["keep"]), "source", "keep"),
        (TrainPlan(model="phrase", train=raw, dev=raw, test=made["keep"]), "source", "keep"),
        (TrainPlan(model="phrase", train=raw, dev=raw, monolingual=made["lower"].targets), "target", "lower"),
    ):
        message = (
            f"{case}/{file}: expected raw text, found text prepared with tokenize none case {case}: name the raw file"
        )
        with pytest.raises(UsageError, match=message):
            said(plan)


def test_text_without_blanks_is_noted(tmp_path: Path) -> None:
    dev = text(tmp_path, "dev", ["x"], ["y"])
    japanese = ["彼女は東京大学の学生です。", "これは本です。", "昨日は友達と映画を見ました。"]
    message = "note: target: expected blanks between words, found none in most lines: no tokenizer here adds them"
    assert said(TrainPlan(model="phrase", train=text(tmp_path, "train", ["a", "b", "c"], japanese), dev=dev)) == [
        message
    ]
    segmented = [" ".join(line) for line in japanese]
    assert said(TrainPlan(model="phrase", train=text(tmp_path, "train", segmented, ["a", "b", "c"]), dev=dev)) == []


def test_words_that_a_model_refuses_are_found_before_it_is_built(tmp_path: Path) -> None:
    basics = Ingredients()
    (tmp_path / "text/train").mkdir(parents=True)
    (tmp_path / basics.source).write_text("a\nb [X,1] c\nd [ e ] | <s >\n[X]\n")
    (tmp_path / basics.target).write_text("a\nb\nc\nd\n")
    prepared = RecipeStep(name="prepare", summary="", command=("prepare",), makes=("text/train",))
    steps = [prepared, basics.align(), basics.extract("--phrases", escape=False)]
    check_words(tmp_path, steps[1], steps)
    check_words(tmp_path, prepared, [prepared, basics.align(), basics.extract("--phrases"), basics.language_model()])
    message = r"text/train/source: this model takes no words like '\[X,1\]', which stand in 2 lines, first in 'b \["
    with pytest.raises(SmtError, match=message):
        check_words(tmp_path, prepared, steps)
    more = replace(prepared, name="prepare-monolingual-1", makes=("text/monolingual-1",))
    (tmp_path / "text/monolingual-1").mkdir()
    (tmp_path / "text/monolingual-1/target").write_text("a\n<s> b\n")
    with pytest.raises(SmtError, match=r"text/monolingual-1/target: this model takes no words like '<s>'"):
        check_words(tmp_path, more, steps)
