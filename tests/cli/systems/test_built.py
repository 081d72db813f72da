"""``smt decode --built`` and ``smt report --built``: trees as decoders built them, out of one and into the other."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smtplugins.host.decode.built_steps import BuiltFile, children, source_words

Smt = Callable[..., Any]
EXAMPLE = Path(__file__).resolve().parents[3] / "examples/decode-hiero"

# Translates word by word, beginning in the middle: up to the goal's rule, then down.
GROWING = """
import smtplugins as smt
from smtplugins.contracts.decoders import BuiltStep, Decoding

class Growing:
    def __init__(self, *, wrong: bool = False):
        self.wrong = wrong

    def decode(self, sentences, model, *, threads=1):
        for one in sentences:
            words = one.tokens
            if not words:
                yield Decoding(one.id, "", found=False)
                continue
            built = lambda words=words: list(self.steps(words))
            yield Decoding(one.id, " ".join(words).upper(), score=-1 / 3, built=built)

    def steps(self, words):
        gaps = " ".join(f"[X,{i + 1}]" for i in range(len(words)))
        order = [len(words) // 2, *(i for i in range(len(words)) if i != len(words) // 2)]
        for number, i in enumerate(order):
            rule = f"[X] ||| {words[i]} ||| {words[i].upper()}"
            yield BuiltStep(rule, i, i + 1, 1 if number else -1, False, i if number else 0, -0.1)
            if not number:
                yield BuiltStep(f"[S] ||| {gaps} ||| {gaps}", 0, len(words), 7 if self.wrong else 0, True, i, 1 / 3)

class Silent:
    def decode(self, sentences, model, *, threads=1):
        for one in sentences:
            yield Decoding(one.id, one.text)

@smt.hookimpl
def smt_decoders():
    yield smt.Offer(name="growing", make=Growing, summary="word by word from the middle")
    yield smt.Offer(name="silent", make=Silent, summary="says nothing of how it works")
"""
CONFIG = "decoder: growing\nplugins: [growing.py]\n"


@pytest.fixture(autouse=True)
def _system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMT_CACHE", "off")
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    Path("growing.py").write_text(GROWING)
    Path("growing.yaml").write_text(CONFIG)
    Path("in").write_text("eins zwei drei\n\nvier [X,1] |||\n")


def decode(smt: Smt, *options: Any, config: str = "growing.yaml") -> Any:
    return smt("decode", "-c", config, "-i", "in", "--from", "text", "-q", *options)


def data_of(page: str) -> Any:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    return json.loads(match[1])


def opened(block: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(block)))


class TestDecode:
    def test_a_line_for_each_sentence(self, smt: Smt) -> None:
        assert decode(smt, "--built", "b.jsonl").ok() == "EINS ZWEI DREI\n\nVIER [X,1] |||\n"
        first, second, third = map(json.loads, Path("b.jsonl").read_text().splitlines())
        assert (first["id"], first["source"], first["translation"], first["score"]) == (
            "0", ["eins", "zwei", "drei"], "EINS ZWEI DREI", -0.33333334,
        )  # fmt: skip
        assert first["steps"][:2] == [
            {"rule": "[X] ||| zwei ||| ZWEI", "first": 1, "last": 2, "beside": -1, "above": False, "child": 0,
             "score": -0.1},
            {"rule": "[S] ||| [X,1] [X,2] [X,3] ||| [X,1] [X,2] [X,3]", "first": 0, "last": 3, "beside": 0,
             "above": True, "child": 1, "score": 0.33333334},
        ]  # fmt: skip
        assert second == {"id": "1", "source": [], "translation": "", "score": None, "steps": []}
        for sentence in BuiltFile("b.jsonl"):
            assert source_words(sentence.steps) == sentence.source
        assert third["source"] == ["vier", "[X,1]", "|||"]

    def test_any_number_of_jobs_writes_the_same(self, smt: Smt) -> None:
        Path("in").write_text(Path("source.de").read_text() * 5)
        for config in ("growing.yaml", "run.yaml"):
            texts = []
            for jobs in (1, 2):
                decode(smt, "--built", f"{jobs}.gz", "-o", "out", "-j", jobs, config=config).ok()
                texts.append(gzip.decompress(Path(f"{jobs}.gz").read_bytes()))
            assert texts[0] == texts[1]
            assert texts[0].count(b"\n") == 45

    def test_the_charts_decoder(self, smt: Smt) -> None:
        lists = smt("decode", "-c", "run.yaml", "-k", 1, "--built", "b.jsonl").ok().splitlines()
        for sentence, line in zip(BuiltFile("b.jsonl"), lists, strict=True):
            assert (sentence.id, sentence.translation, sentence.score) == (
                line.split(" ||| ")[0], line.split(" ||| ")[1], float(line.split(" ||| ")[3]),
            )  # fmt: skip
            assert sum(step.score for step in sentence.steps) == pytest.approx(sentence.score, abs=1e-4)
            assert source_words(sentence.steps) == sentence.source
            # Children come first.
            for number, below in enumerate(children(sentence.steps)):
                assert all(child < number for child in below.values())

    def test_marks_of_sentences_are_words_of_rules(self, smt: Smt) -> None:
        smt("decode", "-c", "run.yaml", "--set", "decoder.markers=true", "--built", "b.jsonl", "-o", "out").ok()
        for sentence in BuiltFile("b.jsonl"):
            assert source_words(sentence.steps) == ("<s>", *sentence.source, "</s>")

    def test_of_a_lattice_the_path_that_was_taken(self, smt: Smt) -> None:
        given = "((('der',0.0,1),('die',-0.7,1),),(('koch',0.0,1),),)\n"
        assert smt("decode", "-c", "run.yaml", "-i", "-", "--built", "b.jsonl", stdin=given).ok() == "the cook\n"
        (sentence,) = BuiltFile("b.jsonl")
        assert sentence.source == ("der", "koch")

    def test_precision(self, smt: Smt) -> None:
        decode(smt, "--built", "b.jsonl", "--precision", 2).ok()
        (sentence, *_) = BuiltFile("b.jsonl")
        assert (sentence.score, sentence.steps[1].score) == (-0.33, 0.33)

    @pytest.mark.parametrize(
        ("options", "code", "message"),
        [
            (["--decoder", "silent"], 2,
             "this decoder does not report the building steps of trees"),
            (["--decoder", "growing,wrong=true"], 1,
             "sentence 0: the decoder's steps: expected step 1 beside an earlier one, or beside -1, found 7"),
            (["--built", "out"], 2, "expected different files for translations and building steps, found out for both"),
            (["--built", "nowhere/b"], 1, "nowhere/b: No such file or directory"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_written(self, smt: Smt, options: list[str], code: int, message: str) -> None:
        Path("b.jsonl").write_text("as before\n")
        result = decode(smt, "--built", "b.jsonl", "-o", "out", *options)
        assert message in result.err
        assert result.code == code
        assert Path("b.jsonl").read_text() == "as before\n"
        assert not Path("out").exists()


class TestReport:
    def test_of_trees_alone(self, smt: Smt) -> None:
        decode(smt, "--built", "b.jsonl").ok()
        assert smt("report", "--built", "b.jsonl", "-o", "page.html", "--manifest", "m.json").ok() == ""
        text = Path("page.html").read_text()
        assert "<title>Report of b.jsonl</title>" in text
        data = data_of(text)
        assert list(data) == ["trees"]
        assert (data["trees"]["ids"], data["trees"]["sizes"]) == (["0", "1", "2"], [4, 0, 4])
        assert opened(data["trees"]["blocks"][0])["steps"][1][2] == [0, 1, 2]
        assert list(json.loads(Path("m.json").read_text())["inputs"]) == ["b.jsonl"]
        assert smt("report", "--built", "-", stdin=Path("b.jsonl").read_bytes()).ok().count("<section") == 2

    def test_beside_lists(self, smt: Smt) -> None:
        smt("decode", "-c", "run.yaml", "-k", 5, "-o", "lists", "--built", "b.jsonl").ok()
        text = smt("report", "-i", "lists", "-r", "ref.en", "-w", "weights", "--built", "b.jsonl").ok()
        data = data_of(text)
        assert data["ids"] == data["trees"]["ids"]
        assert '<a href="#built">How translations were built</a>' in text

    def test_only_the_first_are_drawn(self, smt: Smt) -> None:
        decode(smt, "--built", "b.jsonl").ok()
        text = smt("report", "--built", "b.jsonl", "--to", "html,trees=2").ok()
        assert data_of(text)["trees"]["ids"] == ["0", "1"]
        assert "<p>The first 2 of 3 sentences.</p>" in text

    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            (["--built", "none"], 1, "none"),
            (["--built", "in"], 1, "in:1: expected `{` at column 1, found 'eins zwei drei'"),
            (["--built", "b.jsonl", "-r", "ref.en"], 2, "-r needs lists (-i)"),
            (["--built", "b.jsonl", "--to", "html,trees=0"], 2, "trees: expected 1 or more, found 0"),
        ],
    )
    def test_wrong_calls(self, smt: Smt, arguments: list[str], code: int, message: str) -> None:
        decode(smt, "--built", "b.jsonl").ok()
        result = smt("report", *arguments, "-o", "page.html")
        assert message in result.err
        assert not Path("page.html").exists()
        assert result.code == code
