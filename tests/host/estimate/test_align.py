"""Word alignments of a text, and from files of both directions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from smtformats import FormatError
from smtformats.alignment.links import Alignment
from smtplugins.contracts.errors import UsageError
from smtplugins.host.estimate.aligners import MODELS, align_words, model_stages
from smtplugins.host.host import Host

# Each word has one translation, and every order occurs: what any model has to find.
LEXICON = {"das": "the", "haus": "house", "ist": "is", "klein": "small", "buch": "book", "alt": "old"}
SOURCE = ["das haus ist klein", "das buch ist alt", "klein ist das buch", "haus alt", "buch klein", "alt ist haus"] * 6
TARGET = [" ".join(LEXICON[word] for word in line.split()) for line in SOURCE]
MIRRORED = [" ".join(LEXICON[word] for word in reversed(line.split())) for line in SOURCE]


def points(alignments: list[Alignment]) -> list[tuple[tuple[int, int], ...]]:
    return [alignment.points for alignment in alignments]


@pytest.mark.usefixtures("aligners")
@pytest.mark.parametrize("model", MODELS)
def test_models_find_the_translations(host: Host, model: str) -> None:
    # eflomal's own number of passes grows as the text gets shorter.
    passes = 24 if model == "eflomal" else None
    alignments = list(host.align(SOURCE, TARGET, model=model, iterations=passes))
    assert [(alignment.source, alignment.target) for alignment in alignments] == [
        (tuple(source.split()), tuple(target.split())) for source, target in zip(SOURCE, TARGET, strict=True)
    ]
    links = [link for alignment in alignments for link in alignment.points]
    words = sum(len(line.split()) for line in SOURCE)
    assert sum(i == j for i, j in links) >= 0.9 * words and sum(i != j for i, j in links) <= 0.1 * words
    assert points(list(host.align(SOURCE, TARGET, model=model, iterations=passes))) == points(alignments)


@pytest.mark.usefixtures("aligners")
def test_directions_are_the_right_way_round(host: Host) -> None:
    for heuristic in ("forward", "backward", "intersection"):
        alignments = list(host.align(SOURCE, MIRRORED, model="ibm1,iterations=15", heuristic=heuristic))
        assert points(alignments)[0] == ((0, 3), (1, 2), (2, 1), (3, 0)), heuristic
    # Two words for one: forward gives both a link, backward one of them.
    source, target = ["a b", "a", "b"] * 5, ["x x y", "x x", "y"] * 5
    forward = next(iter(host.align(source, target, model="ibm1", heuristic="forward")))
    assert forward.points == ((0, 0), (0, 1), (1, 2))
    assert len(next(iter(host.align(source, target, model="ibm1", heuristic="backward"))).points) == 2


@pytest.mark.usefixtures("aligners")
def test_words_of_the_library_are_words_like_others(host: Host) -> None:
    reserved = dict(zip(LEXICON, ("NULL", "UNKNOWN_WORD", "<UNUSED_WORD>", "NULL_", "<s>", "é"), strict=True))
    source = [" ".join(reserved[word] for word in line.split()) for line in SOURCE]
    alignments = list(host.align(source, source, model="ibm1"))
    assert points(alignments) == points(list(host.align(SOURCE, SOURCE, model="ibm1")))
    assert alignments[0].points == ((0, 0), (1, 1), (2, 2), (3, 3))
    assert alignments[0].source == ("NULL", "UNKNOWN_WORD", "<UNUSED_WORD>", "NULL_")


@pytest.mark.usefixtures("aligners")
def test_pairs_that_no_model_takes(host: Host) -> None:
    notes: list[str] = []
    long = ["w " * 201, "v"]
    pairs = [*SOURCE, "", "das", "", long[0]], [*TARGET, "the", "", "", long[1]]
    links = points(list(host.align(*pairs, model="hmm", note=notes.append)))
    assert links[len(SOURCE) :] == [()] * 4
    assert links[: len(SOURCE)] == points(list(host.align(SOURCE, TARGET, model="hmm")))
    assert notes == [
        "3 sentence pairs with an empty side: no links",
        "1 sentence pair of more than 200 words: no links",
    ]
    assert points(list(host.align(["", "a"], ["x", ""]))) == [(), ()]


def test_iterations_and_seed() -> None:
    assert [stage.passes for stage in model_stages("hmm,ibm1=3", 7)] == [3, 7]
    assert [stage.passes for stage in model_stages("ibm4")] == [5, 5, 3, 3]
    (stage,) = model_stages("eflomal,samplers=2", None, 9)
    assert (stage.passes, stage.settings["seed"], stage.settings["num_samplers"]) == (None, 9, 2)


@pytest.mark.usefixtures("aligners")
def test_samples_follow_from_the_seed() -> None:
    text = [line.split() for line in SOURCE], [line.split() for line in MIRRORED]
    links = {seed: align_words(model_stages("eflomal,samplers=1", 4, seed), *text)[0] for seed in range(4)}
    assert links[1] == align_words(model_stages("eflomal,samplers=1", 4, 1), *text)[0]
    assert any(links[seed] != links[1] for seed in links)


def test_iterations_are_done(monkeypatch: pytest.MonkeyPatch, aligners: Any) -> None:
    calls = []

    class Counted(aligners.Ibm1AlignmentModel):  # type: ignore[misc]
        def train(self) -> None:
            calls.append(1)
            super().train()

    monkeypatch.setattr(aligners, "Ibm1AlignmentModel", Counted)
    align_words(model_stages("ibm2,ibm1=3", 2), [["a"]], [["x"]])
    align_words(model_stages("ibm1", 4), [["a"]], [["x"]])
    assert len(calls) == 3 + 4


@pytest.mark.parametrize(
    ("model", "iterations", "message"),
    [
        ("ibm5", None, "unknown alignment model 'ibm5'; did you mean 'ibm"),
        ("ibm1,p0=0.1", None, "model 'ibm1' has no option 'p0'; known: iterations"),
        ("hmm,p0=1.5", None, "model: p0: expected a number between 0 and 1, found 1.5"),
        ("hmm,ibm1=0", None, "model 'hmm': expected 1 iteration or more, found 0"),
        ("hmm,iterations=x", None, "model 'hmm': iterations: expected a whole number, found 'x'"),
        ("hmm,iterations=2", 3, "expected iterations or the model's option iterations, found both"),
        ("hmm", -1, "model 'hmm': expected 1 iteration or more, found -1"),
        ("eflomal,samplers=0", None, "model: samplers: expected 1 or more, found 0"),
    ],
)
def test_bad_models(host: Host, model: str, iterations: int | None, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        host.align(SOURCE, TARGET, model=model, iterations=iterations)
    assert str(caught.value).startswith(message)


def test_without_the_library(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [module for module in sys.modules if module.split(".")[0] == "thot"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"need the package sil-thot: pip install 'smtplugins\[align\]'"):
        list(host.align(SOURCE, TARGET))


GIZA = """\
# Sentence pair (1) source length 2 target length 3 alignment score : 0.3
ja , gut
NULL ({{ 2 }}) yes ({{ 1 }}) good ({{ 3 }})
# Sentence pair (2) source length 1 target length 1 alignment score : 0.3
{last}
NULL ({{ }}) {last} ({{ 1 }})
"""
INVERSE = """\
# Sentence pair (1) source length 3 target length 2 alignment score : 0.2
yes good
NULL ({ }) ja ({ 1 2 }) , ({ }) gut ({ })
# Sentence pair (2) source length 1 target length 1 alignment score : 0.2
x
NULL ({ }) x ({ 1 })
"""


def test_files_are_turned_around(host: Host, tmp_path: Path) -> None:
    backward, forward = tmp_path / "backward", tmp_path / "forward"
    backward.write_text(GIZA.format(last="x"))
    forward.write_text(INVERSE)
    source, target = ["ja , gut", "x"], ["yes good", "x"]
    for text in ((None, None), (source, target)):
        first, second = host.align(*text, forward=forward, backward=backward, heuristic="union")
        assert first == Alignment(((0, 0), (0, 1), (2, 1)), ("ja", ",", "gut"), ("yes", "good"))
        assert second == Alignment(((0, 0),), ("x",), ("x",))
    turned = next(iter(host.align(target, source, forward=forward, backward=backward, heuristic="union")))
    assert turned == Alignment(((0, 0), (1, 0), (1, 2)), ("yes", "good"), ("ja", ",", "gut"))
    first, _ = host.align(forward=forward, backward=backward, heuristic="backward")
    assert first.points == ((0, 0), (2, 1))


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (["a", "b"], ["x"], "<target>:2: expected a line for line 2 of <source>, found the end of the file"),
        (["a"], ["x", "y"], "<target>:2: expected 1 lines, as <source> has, found more"),
        ([], [], "<source>:1: expected a sentence on each line, found an empty file"),
    ],
)
def test_texts_that_do_not_fit(host: Host, source: list[str], target: list[str], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        list(host.align(source, target, model="ibm1"))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("forward", "backward", "text", "message"),
    [
        ("0-0\n", "0-0\n0-0\n", None, "f: expected an alignment of sentence pair 2, as b has, found the end"),
        ("0-0\n1-0\n", "0-0\n", None, "b: expected an alignment of sentence pair 2, as f has, found the end"),
        ("0-0\n", "0-0\n", ["a", "b"], "f: expected an alignment of sentence pair 2, as the text has, found the end"),
        ("0-0\n0-0\n", "0-0\n0-0\n", ["a"], "f:2: expected 1 sentence pairs, as the text has, found more"),
        ("0-0\n", "0-0\n0-1\n", ["a", "b"], "f: expected an alignment of sentence pair 2, as the text has"),
        ("0-0\n0-0\n", "0-0\n0-1\n", ["a", "b"], "b:2: expected links within 1 and 1 words, found 0-1"),
        ("", "0-0\n", None, "f:1: field 1: expected a line of points for each pair, found an empty file"),
        ("c ||| d ||| 0-0\n", "0-0\n", ["a"], "f:1: expected the words 'a' and 'A', found 'c ||| d'"),
    ],
)
def test_files_that_do_not_fit(
    host: Host,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    forward: str,
    backward: str,
    text: list[str] | None,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f").write_text(forward)
    Path("b").write_text(backward)
    other = None if text is None else [sentence.upper() for sentence in text]
    with pytest.raises(FormatError) as caught:
        list(host.align(text, other, forward="f", backward="b"))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "expected a text"),
        ({"source": "a"}, "expected both source and target"),
        ({"forward": "a"}, "expected both forward and backward"),
        ({"forward": "a", "backward": "b", "model": "hmm"}, "model, iterations and seed cannot be used with"),
        ({"forward": "-", "backward": "-"}, "can be read from standard input"),
        ({"source": "-", "target": "-"}, "can be read from standard input"),
        ({"source": "a", "target": "b", "jobs": 0}, "jobs: expected 1 or more"),
        ({"source": "a", "target": "b", "heuristic": "och"}, "unknown heuristic 'och'"),
    ],
)
def test_bad_calls(host: Host, options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        list(host.align(**options))
