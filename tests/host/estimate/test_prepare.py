"""Text prepared into a folder: its files, errors, and what a run that fails or is killed leaves."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from smtformats import FormatError
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.estimate import prepare as module
from smtplugins.host.estimate.sifting import Tally
from smtplugins.host.methods.estimation import Estimation
from tests.host.killing import killed, tree

host = Estimation()

SOURCE = "ein  haus\n\nein haus\n[X] \x01b\na a a\nzwei\n"
TARGET = "a house\nnothing\na\thouse\nc d\nb\none two three four five six seven eight nine ten\n"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s").write_text(SOURCE)
    Path("t").write_text(TARGET)


def files(folder: str) -> dict[str, str]:
    return {path.name: path.read_text() for path in Path(folder).iterdir()}


@pytest.mark.parametrize("block", [1, 2, 100])
def test_the_files_of_a_folder(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    result = host.prepare("out", "s", "t")
    found = files("out")
    record = json.loads(found.pop("prepared.json"))
    assert found == {
        "source": "ein haus\n[X] b\na a a\n",
        "target": "a house\nc d\nb\n",
        "dropped.tsv": "2\tempty\n3\tduplicate\n6\tlength ratio over 9\n",
    }
    assert record["limits"] == {"max_length": 80, "max_ratio": 9.0, "keep_duplicates": False}
    assert record["lines"] == {"read": 6, "kept": 3}
    assert [*record["sides"]] == ["source", "target"]
    assert (result.read, result.kept) == (6, 3)
    assert result.dropped == {
        "empty": Tally(1, 2),
        "over 80 words": Tally(),
        "length ratio over 9": Tally(1, 6),
        "duplicate": Tally(1, 3),
    }
    assert [*result.noted.values()] == [Tally(1, 4), Tally(1, 4)]


def test_limits_are_arguments() -> None:
    result = host.prepare("out", "s", "t", max_length=10, max_ratio=10, keep_duplicates=True)
    assert (result.kept, [*result.dropped]) == (5, ["empty", "over 10 words", "length ratio over 10"])
    assert host.prepare("out", "s", "t", max_length=2).dropped["over 2 words"] == Tally(2, 5)
    assert host.prepare("out", "s", "t", max_ratio=2.9).dropped["length ratio over 2.9"] == Tally(2, 5)


def test_compressed_files_line_ends_and_byte_order_marks() -> None:
    Path("s.gz").write_bytes(gzip.compress("\ufeffein haus\r\nzwei\ufeffhäuser\r\n".encode()))
    Path("u").write_text("a house\ntwo houses")
    result = host.prepare("out", "s.gz", "u")
    assert Path("out/source").read_text() == "ein haus\nzweihäuser\n"
    assert Path("out/target").read_text() == "a house\ntwo houses\n"
    assert result.noted["invalid characters replaced"] == Tally(1, 2)


def test_one_side_alone() -> None:
    result = host.prepare("out", target="t", max_length=9)
    assert Path("out/target").read_text() == "a house\nnothing\na house\nc d\nb\n"
    assert sorted(files("out")) == ["dropped.tsv", "prepared.json", "target"]
    assert [*result.dropped] == ["empty", "over 9 words"]


def test_like_drops_nothing_and_clean_drops() -> None:
    host.prepare("train", "s", "t", max_length=5, keep_duplicates=True)
    Path("t2").write_text(TARGET.upper())
    result = host.prepare("dev", "s", ["t", "t2"], like="train")
    assert (result.read, result.kept, result.dropped) == (6, 6, {})
    found = files("dev")
    assert found["source"] == "ein haus\n\nein haus\n[X] b\na a a\nzwei\n"
    assert found["target.1"] == found["target"].upper()
    assert (found["dropped.tsv"], sorted(found)) == (
        "",
        ["dropped.tsv", "prepared.json", "source", "target", "target.1"],
    )
    assert host.prepare("more", "s", "t", like="train", clean=True).kept == 4
    assert json.loads(files("more")["prepared.json"])["limits"] == json.loads(files("train")["prepared.json"])["limits"]
    # As a whole it is what a folder is prepared like.
    assert host.prepare("again", "s", "t", like="dev", clean=True).dropped["over 5 words"] == Tally(1, 6)


@pytest.mark.parametrize("block", [1, 100])
def test_tokens_and_case(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    Path("s.de").write_text("Das Haus, das\n\nEs ist das Haus!\nDAS ist es.\n")
    Path("t.en").write_text("The house, the\nx\nIt is the house!\nTHE is it.\n")
    host.prepare("out", "s.de", "t.en", tokenize="13a", case="true")
    found = files("out")
    assert found["source"] == "das Haus , das\nes ist das Haus !\ndas ist es .\n"
    assert found["target"] == "the house , the\nit is the house !\nthe is it .\n"
    assert found["case.source"].splitlines()[3:5] == ["das (2/2)", "es (1/1)"]
    settings = {"tokenize": "13a", "case": "true"}
    assert json.loads(found["prepared.json"])["sides"] == {
        "source": {**settings, "language": "de"},
        "target": {**settings, "language": "en"},
    }
    # A text like it has these models.
    Path("u").write_text("The house\n" * 4)
    host.prepare("dev", target=["u", "t.en"], like="out")
    like = files("dev")
    assert (like["target"], like["case.target"]) == ("the house\n" * 4, found["case.target"])
    assert like["target.1"].splitlines()[0] == "the house , the"


def test_lower_case_and_moses() -> None:
    pytest.importorskip("sacremoses")
    Path("s").write_text("Er sagt: «Dr. X's»\n")
    notes: list[str] = []
    result = host.prepare("out", "s", tokenize="moses", case="lower", languages="xx", note=notes.append)
    assert files("out")["source"] == "er sagt : « dr. x ' s »\n"
    assert notes == ["sacremoses knows no abbreviations of xx: it takes those of English"]
    assert result.kept == 1


def test_lengths_and_duplicates_are_those_of_tokens() -> None:
    Path("s").write_text("a, b\na , b\nA , b\n")
    result = host.prepare("out", "s", "s", tokenize="13a", case="lower", max_length=3)
    assert result.dropped["duplicate"] == Tally(2, 2)
    assert host.prepare("out", "s", "s", tokenize="13a", max_length=3).kept == 2
    with pytest.raises(SmtError, match="3 over 2 words"):
        host.prepare("out", "s", "s", tokenize="13a", max_length=2)


def test_unequal_lengths_name_both_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", 2)
    Path("short").write_text("a\n" * 4)
    for sides, text in (
        (("s", "short"), r"short: expected as many lines as s has, 6, found 4"),
        (("short", "t"), r"t: expected as many lines as short has, 4, found 6"),
    ):
        with pytest.raises(FormatError, match=text):
            host.prepare("out", *sides)
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (b"a\nb\xff\n", r"u:2: .*expected UTF-8 text, found byte 0xff at column 2"),
        (b"", r"u:1: expected a sentence on each line, found an empty file"),
        (gzip.compress(b"a\n" * 99, mtime=0)[:-12], r"u:1: .*expected a complete compressed file"),
    ],
    ids=["byte", "empty", "cut"],
)
def test_bad_files(text: bytes, error: str) -> None:
    Path("u").write_bytes(text)
    host.prepare("out", "s", "t")
    before = files("out")
    with pytest.raises(FormatError, match=error):
        host.prepare("out", "u")
    assert files("out") == before


def test_nothing_to_keep() -> None:
    Path("u").write_text("\n\na b\n")
    with pytest.raises(SmtError, match="expected lines to keep, found none: of 3 lines 2 empty, 1 over 1 words"):
        host.prepare("out", "u", max_length=1)
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, r"expected a source \(source\), a target \(target\) or both"),
        ({"target": ["t", "t"]}, "target: expected one file, found several"),
        ({"source": "-", "target": "-"}, "only one of source and target"),
        ({"source": "out/source"}, "expected a folder without the text itself, found out/source in it"),
        ({"source": "s", "clean": True}, "clean needs like"),
        ({"source": "s", "like": "out"}, "like: expected another folder than that of the output"),
        ({"source": "s", "like": "."}, "expected a folder that `smt prepare` wrote"),
        ({"source": "s", "like": ".", "max_ratio": 2}, "max_ratio cannot be used with like"),
        ({"source": "s", "like": ".", "languages": "de"}, "languages cannot be used with like"),
        ({"source": "s", "tokenize": "moses"}, "tokenize moses needs the languages"),
        ({"source": "s", "languages": ["de", "en"]}, "languages: expected one for each side, source, found de en"),
        (
            {"source": "done/source", "tokenize": "13a"},
            r"done/source: expected raw text to tokenize, found text tokenized by intl",
        ),
        ({"source": "s", "max_length": 0}, "max_length: expected 1 or more, found 0"),
    ],
)
def test_wrong_calls(arguments: dict[str, Any], error: str) -> None:
    host.prepare("done", "s", tokenize="intl")
    with pytest.raises(UsageError, match=error):
        host.prepare("out", **arguments)
    assert not Path("out").exists()


def test_a_new_run_replaces_all_of_an_earlier_one() -> None:
    host.prepare("out", "s", "t")
    Path("out/.source.1234.part").write_text("left by a killed run")
    Path("out/mine").write_text("")
    host.prepare("out", target="t")
    assert sorted(os.listdir("out")) == ["dropped.tsv", "mine", "prepared.json", "target"]


def test_a_killed_run_leaves_nothing_that_looks_complete() -> None:
    host.prepare("before", "s", "t")
    host.prepare("wanted", "s", "t", case="true")
    before, wanted = tree("before"), tree("wanted")
    events = killed(lambda: host.prepare("out", "s", "t", case="true"), 1 << 30, ())
    assert events > 8
    for at in range(events):
        for folder in (f"new{at}", f"old{at}"):
            if folder.startswith("old"):
                shutil.copytree("before", folder)
            assert killed(lambda out=folder: host.prepare(out, "s", "t", case="true"), at, ()) == at  # type: ignore[misc]
            left = tree(folder)
            if "prepared.json" in left:
                files = {name: data for name, data in left.items() if not name.endswith(".part")}
                assert files in (before, wanted)
            host.prepare(folder, "s", "t", case="true")
            assert tree(folder) == wanted


def test_the_record_is_written_last(monkeypatch: pytest.MonkeyPatch) -> None:
    host.prepare("out", "s", "t")
    moved: list[str] = []
    replace = os.replace

    def watch(old: Any, new: Any) -> None:
        assert not Path("out/prepared.json").exists()
        moved.append(Path(new).name)
        replace(old, new)

    monkeypatch.setattr(os, "replace", watch)
    host.prepare("out", "s", "t")
    assert moved[-1] == "prepared.json"
    assert sorted(moved[:-1]) == ["dropped.tsv", "source", "target"]
