"""``smt info`` on a file of each kind."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.core.kenlm_files import TrieWriter
from tests.core.ngrams import Table, arpa

Smt = Callable[..., Any]


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("moses.nbest", {"format": "moses-nbest", "lists": 20, "hypotheses": 400}),
        ("cdec.kbest", {"format": "cdec-nbest", "lists": 20, "hypotheses": 400}),
        ("weights.cdec", {"format": "cdec-weights", "kind": "weights", "weights": 11}),
        ("moses.ini", {"format": "moses-ini", "kind": "weights", "weights": 15}),
        ("ref.en", {"format": "text", "kind": "corpus", "lines": 20}),
    ],
)
def test_kinds(smt: Smt, example: Path, name: str, facts: dict[str, Any]) -> None:
    description = json.loads(smt("info", name, "-f", "json").ok())
    assert {key: description[key] for key in facts} == facts
    text = smt("info", name).ok()
    for key, value in facts.items():
        assert any(line.split()[:1] == [key] and line.endswith(str(value)) for line in text.splitlines())


def test_features_and_problems_have_tables_of_their_own(smt: Smt, nbest: Path) -> None:
    nbest.write_text(nbest.read_text().replace("the house", "the\u00a0house").replace("-2.50", "0"))
    facts, features, problems = smt("info", nbest).ok().split("\n\n")
    assert facts.startswith("what ")
    assert features.splitlines()[0].split() == ["feature", "hypotheses", "min", "mean", "max"]
    assert features.splitlines()[1].split() == ["LM0", "3", "-4.00", "-2.33", "-1.00"]
    assert problems.splitlines()[1:] == ["1     list 0 is not sorted by total", "3     the text has a no-break space"]
    assert smt("info", "-f", "tsv", "-", stdin=nbest.read_text()).ok().startswith("what\tvalue\nformat\tmoses-nbest\n")


def test_format_can_be_named(smt: Smt, nbest: Path) -> None:
    assert json.loads(smt("info", nbest, "--from", "text", "-f", "json").ok())["lines"] == 3


def test_several_files(smt: Smt, nbest: Path) -> None:
    Path("text").write_text("a house\n")
    Path("x").write_text("0 ||| a ||| f= x ||| 0\n")
    records = json.loads(smt("info", nbest, "text", "-f", "json").ok())
    assert [(record["file"], record["format"]) for record in records] == [(str(nbest), "moses-nbest"), ("text", "text")]
    assert {key: value for key, value in records[1].items() if key != "file"} == json.loads(
        smt("info", "text", "-f", "json").ok()
    )
    shown = smt("info", "text", nbest, "-f", "tsv").ok()
    assert shown.startswith("what\tvalue\nfile\ttext\nformat\ttext\n")
    assert f"\n\nwhat\tvalue\nfile\t{nbest}\nformat\tmoses-nbest\n" in shown
    result = smt("info", "text", "x")
    assert (result.code, result.out.count("text")) == (1, 3)
    assert result.err.startswith("smt: x:1: field 3: expected a finite number, found 'x'")
    # The others are described all the same.
    result = smt("info", "none", "text", "x", nbest, "-f", "json")
    assert (result.code, [record["file"] for record in json.loads(result.out)]) == (1, ["text", str(nbest)])
    first, second = result.err.splitlines()
    assert first == "smt: none: No such file or directory"
    assert second.startswith("smt: x:1: field 3: expected a finite number, found 'x'")


def test_unreadable_file(smt: Smt) -> None:
    Path("x").write_text("0 ||| a ||| f= x ||| 0\n")
    result = smt("info", "x")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("smt: x:1: field 3: expected a finite number, found 'x'")


def test_language_models(smt: Smt, tmp_path: Path) -> None:
    table: Table = {(word,): (-1.0, -0.5) for word in ("<s>", "</s>", "a")}
    table[("a", "a")] = (-0.25, 0.0)
    (tmp_path / "lm.arpa").write_text(arpa(table, 2))
    (tmp_path / "lm.arpa.gz").write_bytes(gzip.compress(b"\n" + arpa(table, 2).encode()))
    (tmp_path / "lm.klm").write_bytes(TrieWriter(table, 2, bins=(3, 3), spellings=False).write())
    shown = {"kind": "language model", "order": 2, "words": 4}
    for name in ("lm.arpa", "lm.arpa.gz"):
        facts = json.loads(smt("info", tmp_path / name, "-f", "json").ok())
        assert {key: facts[key] for key in shown} == shown
        assert (facts["format"], facts["n-grams"]) == ("arpa", "3 1-grams, 1 2-grams")
    facts = json.loads(smt("info", tmp_path / "lm.klm", "-f", "json").ok())
    assert {key: facts[key] for key in shown} == shown
    assert (facts["format"], facts["type"]) == ("kenlm", "trie, quantised")
    assert facts["without"] == "the words: they are known by their hashes"
    (tmp_path / "bad.arpa").write_text(arpa(table, 2).replace("-0.25", "0.25"))
    refused = smt("info", tmp_path / "bad.arpa")
    assert refused.code == 1
    assert "bad.arpa:11: expected a log10 probability of at most 0" in refused.err


def test_named_language_models_and_lexical_tables(smt: Smt, tmp_path: Path) -> None:
    (tmp_path / "lm").write_text(arpa({(word,): (-1.0, 0.0) for word in ("<s>", "</s>", "a")}, 1))
    (tmp_path / "lex").write_text("the das 0.75\nNULL das 0.25\nthe NULL 1\na ein 1e-3\n")
    (tmp_path / "text").write_text("the das 3\n")
    assert json.loads(smt("info", tmp_path / "lm", "--from", "arpa", "-f", "json").ok())["order"] == 1
    facts = json.loads(smt("info", tmp_path / "lex", "-f", "json").ok())
    wanted = {"format": "lexical-table", "pairs": 4, "words": 3, "given words": 3, "pairs with NULL": 2}
    assert {name: facts[name] for name in wanted} == wanted
    assert facts["sums"] == "0.001 to 1 for a given word"
    assert json.loads(smt("info", tmp_path / "text", "-f", "json").ok())["format"] == "text"
    assert "lm:1: expected an n-gram language model as KenLM maps it (kenlm), found data of the format arpa" in (
        smt("info", tmp_path / "lm", "--from", "kenlm").err
    )
    (tmp_path / "lex").write_text("the das 0.75\n" * 60 + "das\n")
    assert "lex:61: expected a word, the word it is given, and a probability" in smt("info", tmp_path / "lex").err
    assert "format 'kenlm' has no records: `smt info` describes such a file" in (
        smt("convert", tmp_path / "lm", "out", "--from", "kenlm").err
    )
    assert "lm:1: expected a known format, found a language model" in smt("convert", tmp_path / "lm", "out").err


def test_on_disk_tables_are_named(smt: Smt, tmp_path: Path) -> None:
    for name in ("Misc.dat", "Source.dat", "TargetColl.dat", "TargetInd.dat", "Vocab.dat"):
        (tmp_path / name).touch()
    assert "expected a table that can be read, found a folder of CreateOnDiskPt; give the text table" in (
        smt("info", tmp_path).err
    )


@pytest.mark.shared
def test_binary_tables_of_moses(smt: Smt, shared: Path) -> None:
    gold = shared / "gold/moses/binary/moses"

    def facts(path: str) -> dict[str, Any]:
        return dict(json.loads(smt("info", gold / path, "-f", "json").ok()))

    for variant in ("", ".fp24", ".join", ".quantize20"):
        found = facts(f"compact/reordering-table{variant}.minlexr")
        assert (found["format"], found["phrases"], found["scores"]) == ("moses-compact-reordering", 5168, 6)
    for variant in ("", ".fp8", ".join", ".noalign", ".none", ".quantize50", ".renc"):
        found = facts(f"compact/phrase-table{variant}.minphr")
        assert (found["format"], found["source phrases"], found["scores"]) == ("moses-compact", 325, 4)
        assert found["listed"].startswith("no: source phrases to look up")
    found = facts("probing/nolog-lex")
    assert (found["source phrases"], found["reordering scores"], found["rules"]) == (325, 6, 5168)
    assert (found["stored as"], len(found["features"])) == ("probabilities", 4)
    assert "reordering-table.minlexr:1: expected phrase pairs to look up" in (
        smt("convert", gold / "compact/reordering-table.minlexr", "out", "--to", "moses-reordering").err
    )
