"""``smt extract --phrases``: tables of phrase pairs from word-aligned text."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]

SOURCE = "das haus\ndas kleine haus\n"
TARGET = "the house\nthe small house\n"
LINKS = "0-0 1-1\n0-0 1-1 2-2\n"
TABLE = """\
das haus ||| the house ||| 1 1 1 1 ||| 0-0 1-1 ||| 1 1 1 ||| |||
das kleine haus ||| the small house ||| 1 1 1 1 ||| 0-0 1-1 2-2 ||| 1 1 1 ||| |||
das kleine ||| the small ||| 1 1 1 1 ||| 0-0 1-1 ||| 1 1 1 ||| |||
das ||| the ||| 1 1 1 1 ||| 0-0 ||| 2 2 2 ||| |||
haus ||| house ||| 1 1 1 1 ||| 0-0 ||| 2 2 2 ||| |||
kleine haus ||| small house ||| 1 1 1 1 ||| 0-0 1-1 ||| 1 1 1 ||| |||
kleine ||| small ||| 1 1 1 1 ||| 0-0 ||| 1 1 1 ||| |||
"""
LEXICAL = "house haus 1.0000000\nsmall kleine 1.0000000\nthe das 1.0000000\n"
CALL = ("extract", "--phrases", "-s", "s", "-t", "t", "-a", "a", "-o", "out")
USES = "smt: note: in a run.yaml, or by `smt config new`:\nmodel:\n  tables: [out/phrase-table.gz]\n"


@pytest.fixture(autouse=True)
def _text() -> None:
    for name, text in (("s", SOURCE), ("t", TARGET), ("a", LINKS)):
        Path(name).write_text(text)


def unpacked(path: str) -> str:
    return gzip.decompress(Path(path).read_bytes()).decode()


def test_tables_of_a_text(smt: Smt) -> None:
    result = smt(*CALL)
    assert (result.code, result.out, result.err) == (0, "", f"smt: note: 7 phrase pairs\n{USES}")
    assert sorted(os.listdir("out")) == ["lex.e2f", "lex.f2e", "phrase-table.gz"]
    assert unpacked("out/phrase-table.gz") == TABLE
    assert Path("out/lex.f2e").read_text() == LEXICAL


def test_the_lines_of_a_run_yaml(smt: Smt) -> None:
    told = smt(*CALL, "--reordering", "msd-bidirectional", "--reordering", "mslr-backward", "--escape", "moses").err
    lines = told.partition("smt config new`:\n")[2]
    assert lines.startswith(
        "escape: moses\nmodel:\n  tables: [out/phrase-table.gz]\n  features:\n  - {name: lexical-re"
    )
    Path("run.yaml").write_text(f"decoder: phrase\n{lines}")
    decoded = smt("decode", "-c", "run.yaml", "-i", "-", "-q", stdin="das haus\n").ok()
    assert decoded == "the house\n"


def test_reordering_tables(smt: Smt) -> None:
    assert smt(*CALL, "-q", "--reordering", "msd-bidirectional", "--reordering", "hier-mslr-backward-f").ok() == ""
    assert unpacked("out/reordering-table.wbe-msd-bidirectional-fe.gz").splitlines()[4] == (
        "haus ||| house ||| 0.714286 0.142857 0.142857 0.714286 0.142857 0.142857"
    )
    assert unpacked("out/reordering-table.hier-mslr-backward-f.gz").splitlines()[3] == "das ||| 0.625 0.125 0.125 0.125"
    assert smt(*CALL, "-q", "--reordering", "msd-backward-f", "--reordering-smoothing", 1).ok() == ""
    assert unpacked("out/reordering-table.wbe-msd-backward-f.gz").splitlines()[3] == "das ||| 0.6 0.2 0.2"


def test_the_tables_are_read_again(smt: Smt) -> None:
    assert smt(*CALL, "-q", "--reordering", "msd-bidirectional-fe").ok() == ""
    assert "moses-phrases" in smt("info", "out/phrase-table.gz").ok()
    assert "moses-reordering" in smt("info", "out/reordering-table.wbe-msd-bidirectional-fe.gz").ok()


def test_single_occurrences(smt: Smt) -> None:
    assert smt(*CALL, "-q", "--occurrences", "--max-length", 1).ok() == ""
    assert unpacked("out/extract.gz").splitlines()[:2] == ["das ||| the ||| 0-0", "haus ||| house ||| 0-0"]
    assert len(unpacked("out/extract.inv.gz").splitlines()) == 5
    assert unpacked("out/extract.o.gz").splitlines()[0] == "das ||| the |||"


def test_other_formats(smt: Smt) -> None:
    assert smt(*CALL, "-q", "--to", "cdec-grammar").ok() == ""
    assert sorted(os.listdir("out")) == ["grammar.gz", "lex.e2f", "lex.f2e"]
    assert unpacked("out/grammar.gz").splitlines()[0].startswith("[X] ||| das haus ||| the house ||| TranslationModel0")
    assert smt(*CALL, "-q", "--to", "joshua-grammar").ok() == ""
    assert unpacked("out/grammar.gz").count("\n") == 7
    assert smt(*CALL, "--to", "joshua-packed").code == 2
    assert smt(*CALL, "--to", "moses-phases").err.startswith("smt: unknown format 'moses-phases'; did you mean 'moses-")


def test_given_lexical_tables(smt: Smt) -> None:
    Path("f2e").write_text("the das 0.5\nhouse haus 0.25\n")
    Path("e2f").write_text("das the 0.125\n")
    assert smt(*CALL, "-q", "--lexical", "f2e", "e2f").ok() == ""
    assert os.listdir("out") == ["phrase-table.gz"]
    first = unpacked("out/phrase-table.gz").splitlines()[0]
    assert first == "das haus ||| the house ||| 1 0.125 1 0.125 ||| 0-0 1-1 ||| 1 1 1 ||| |||"
    Path("e2f").write_text("das the 0.125\nhaus\n")
    assert smt(*CALL, "--lexical", "f2e", "e2f").err == (
        "smt: e2f:2: expected a word, the word it is given, and a probability, found 'haus'\n"
    )


def test_little_memory_changes_nothing(smt: Smt) -> None:
    for name, text in (("s", SOURCE), ("t", TARGET)):
        # Words of their own for every sentence, and so many pairs.
        lines = [f"{line}{i}" for i in range(3000) for line in text.splitlines()]
        Path(name).write_text("\n".join(lines) + "\n")
    Path("a").write_text(LINKS * 3000)
    reordering = ("--reordering", "msd-bidirectional-fe")
    assert smt(*CALL, "-q", *reordering).ok() == ""
    result = smt(*CALL[:-1], "less", "--memory", "1M", *reordering)
    assert result.err.startswith("smt: note: more than --memory allows: sorted on disk\n")
    names = sorted(os.listdir("out"))
    assert names == sorted(os.listdir("less"))
    assert [Path("out", name).read_bytes() for name in names] == [Path("less", name).read_bytes() for name in names]


def test_one_side_from_standard_input(smt: Smt) -> None:
    assert smt("extract", "--phrases", "-q", "-s", "s", "-t", "t", "-a", "-", "-o", "out", stdin=LINKS).ok() == ""
    assert unpacked("out/phrase-table.gz") == TABLE
    result = smt("extract", "--phrases", "-s", "-", "-t", "t", "-a", "-", "-o", "out", stdin=LINKS)
    assert (result.code, result.err) == (
        2,
        "smt: only one of source, target and alignment can be read from standard input\n",
    )


def test_sentences_that_nothing_is_taken_from(smt: Smt) -> None:
    Path("s").write_text("das haus\n\nhaus\n")
    Path("t").write_text("the house\nhouse\nhouse\n")
    Path("a").write_text("0-0 1-1\n\n1-0\n")
    result = smt(*CALL)
    assert (result.code, result.err) == (
        1,
        "smt: a:3: expected links inside the sentences of 1 and 1 words, found '1-0'\n",
    )
    assert not Path("out").exists()
    assert smt(*CALL, "--skip-bad").err == (
        "smt: note: 1 sentence pair with an empty side: left out\n"
        "smt: note: 1 sentence pair with links outside the sentences: left out\n"
        f"smt: note: 3 phrase pairs\n{USES}"
    )


def test_words_that_tables_cannot_hold(smt: Smt) -> None:
    Path("s").write_text("das haus\ndas [*] haus\n")
    Path("t").write_text("the house\nthe [*] house\n")
    result = smt(*CALL)
    assert (result.code, result.err) == (
        1,
        "smt: s:2: expected words without brackets around them, which mark gaps in tables "
        "(`--escape moses` makes them &#91; and &#93;), found '[*]'\n",
    )
    assert not Path("out").exists()


@pytest.mark.parametrize("to_format", ["moses-phrases", "cdec-grammar", "joshua-grammar"])
def test_escaped_text_is_translated_and_unescaped(smt: Smt, to_format: str) -> None:
    for name, text in (("s", "das [*] ||| [X,1] haus |\n"), ("t", "the [*] ||| [X,1] house |\n")):
        Path(f"{name}.plain").write_text(text)
        assert smt("convert", f"{name}.plain", "--from", "text", "--escape", "moses", "-o", name, "-q").ok() == ""
    Path("a").write_text("0-0 1-1 2-2 3-3 4-4 5-5\n")
    assert smt(*CALL, "-q", "--to", to_format).ok() == ""
    table = "phrase-table.gz" if to_format == "moses-phrases" else "grammar.gz"
    Path("run.yaml").write_text(
        f"decoder: {{name: phrase}}\nmodel:\n  tables: out/{table}\n  features: [word-penalty]\n  weights: weights\n"
    )
    Path("weights").write_text("word-penalty -1\n")
    assert smt("decode", "-c", "run.yaml", "-i", "s", "-o", "found", "-q").ok() == ""
    assert smt("convert", "found", "--from", "text", "--unescape", "moses").ok() == Path("t.plain").read_text()


def test_a_failure_leaves_what_was_there(smt: Smt) -> None:
    assert smt(*CALL, "-q").ok() == ""
    Path("t").write_text("the house\n")
    assert smt(*CALL).err == "smt: t:2: expected a line for line 2 of the source side, found the end of the file\n"
    assert sorted(os.listdir("out")) == ["lex.e2f", "lex.f2e", "phrase-table.gz"]
    assert unpacked("out/phrase-table.gz") == TABLE


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--max-length", 0), "--max-length: expected 1 to 255, found 0"),
        (("--smoothing", "good-turin"), "unknown smoothing 'good-turin'; did you mean 'good-turing'?"),
        (
            ("--reordering", "msb"),
            "--reordering: expected a model name like wbe-msd-bidirectional-fe, found 'msb'",
        ),
        (
            ("--reordering", "msd", "--reordering", "wbe-msd-backward-fe"),
            "--reordering: expected different models, found the same one twice",
        ),
        (("--reordering-smoothing", 0), "--reordering-smoothing: expected more than 0, found 0"),
        (("--memory", "many"), "--memory: expected a size like 500M or 8G, found 'many'"),
        (("--memory", "10K"), "--memory: expected at least 1M, found 10240 bytes"),
        (("-o", "s"), "--output: expected a folder, found the file 's'"),
    ],
)
def test_wrong_calls(smt: Smt, options: tuple[Any, ...], message: str) -> None:
    result = smt(*CALL, *options)
    assert (result.code, result.err) == (2, f"smt: {message}\n")
    assert not Path("out").exists()


def test_no_smoothing_from_a_small_text(smt: Smt) -> None:
    result = smt(*CALL, "--smoothing", "kneser-ney")
    assert result.code == 1
    assert result.err.startswith("smt: a: no phrase pair occurs 3 times, and Kneser-Ney discounts follow from those")
    assert not Path("out").exists()


def test_no_such_file(smt: Smt) -> None:
    os.unlink("t")
    result = smt(*CALL)
    assert (result.code, result.err) == (1, "smt: t: No such file or directory\n")
    assert not Path("out").exists()
