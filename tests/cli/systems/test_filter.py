"""``smt filter``: lines of tables copied as they are, and decoding that does not notice."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smtplugins import load_plugins
from tests.formats.grammar.probing_folders import write_folder

Smt = Callable[..., Any]

PHRASES = b"\na b ||| A ||| 0.5 ||| 0-0\r\na|||A|||1\nb a ||| \xff ||| 0.5\na\t b  ||| B ||| 0.25"
REORDERING = b"b ||| B ||| 0.5 0.5\na b ||| A ||| 0.6 0.4\n"
RULES = b"a [X][X] b [X] ||| [X][X] A [X] ||| 1 ||| 1-0\nb [X][X] a [X] ||| B [X][X] [X] ||| 1 ||| 1-1\n"
CDEC = b"[X] ||| [X] b ||| [1] B ||| F=1\n [S] ||| [X] b ||| [1] B ||| F=1\n[X] ||| [X] [X] c ||| [1] [2] ||| F=1\n"
JOSHUA = b"[X] ||| [X,1] b ||| [X,1] B ||| 1\n[X] ||| a\x0bb ||| B ||| 1\n[X] ||| b [X,1] a ||| [X,1] ||| 1\n"
HOMEWORK = b"a ||| A ||| -1\nc ||| C ||| -1\n"


@pytest.mark.parametrize(
    ("table", "kept"),
    [
        (PHRASES, [1, 2, 4]),
        (REORDERING, [0, 1]),
        (RULES, [0]),
        (CDEC, [0, 1]),
        (JOSHUA, [0, 1]),
        (HOMEWORK, [0]),
    ],
    ids=["phrases", "reordering", "rules", "cdec", "joshua", "homework"],
)
def test_lines_are_copied(smt: Smt, table: bytes, kept: list[int]) -> None:
    lines = table.splitlines(keepends=True)
    Path("table.gz").write_bytes(gzip.compress(table))
    Path("input").write_text("a b\n")
    Path("more").write_text("a d b\n")
    smt("filter", "table.gz", "-i", "input", "-i", "more", "-o", "out", "-q").ok()
    assert Path("out").read_bytes().splitlines(keepends=True) == [lines[i] for i in kept]
    total = sum(bool(line.strip()) for line in lines)
    noted = smt("filter", "table.gz", "-i", "input", "-i", "more", "-o", "out.gz")
    assert noted.err == f"smt: note: {len(kept)} of {total} rules kept\n"
    assert gzip.decompress(Path("out.gz").read_bytes()) == Path("out").read_bytes()


def test_words_are_spelt_as_decoding_spells_them(smt: Smt) -> None:
    Path("table").write_text("&#91;x&#93; ||| A ||| 1\n")
    arguments = ("filter", "table", "-i", "-", "--escape", "moses", "--lowercase", "-q")
    assert smt(*arguments, stdin="[X]\n").ok() == Path("table").read_text()
    assert smt(*arguments[:4], "-q", stdin="[x]\n").code == 1


def test_tags_are_no_words_in_the_format_that_says_so(smt: Smt) -> None:
    Path("table").write_text("a b ||| A ||| 1\n")
    arguments = ("filter", "table", "-i", "-", "-q")
    tags = "<x>a</x> b\n"
    assert smt(*arguments, "--input-format", "moses-xml", stdin=tags).ok() == Path("table").read_text()
    assert smt(*arguments, stdin=tags).code == 1


def test_the_tables_of_a_folder(smt: Smt) -> None:
    Path("all").mkdir()
    Path("all/phrase-table.gz").write_bytes(gzip.compress(b"a ||| A ||| 1\nb ||| B ||| 1\n"))
    Path("all/reordering-table.x").write_bytes(REORDERING)
    Path("all/lex.e2f").write_text("A a 1\n")
    smt("convert", "all/phrase-table.gz", "all/mapped.smt", "-q").ok()
    smt("filter", "all", "-i", "-", "-o", "some", "-q", stdin="b\n").ok()
    assert gzip.decompress(Path("some/phrase-table.gz").read_bytes()) == b"b ||| B ||| 1\n"
    assert Path("some/reordering-table.x").read_bytes() == REORDERING.splitlines(keepends=True)[0]
    assert smt("convert", "some/mapped.smt", "-", "--to", "moses-phrases").ok() == "b ||| B ||| 1\n"
    Path("empty").mkdir()
    noted = smt("filter", "all", "-i", "-", "-o", "empty", stdin="b\n").err.splitlines()
    assert noted == ["smt: note: not filtered, left out: lex.e2f", "smt: note: 3 of 6 rules kept"]
    assert "expected a new or empty folder" in smt("filter", "all", "-i", "-", "-o", "some", stdin="b\n").err
    for name, text in (("all", "none of its 2 rules can match"), ("none", "expected tables of phrases")):
        Path(name).mkdir(exist_ok=True)
        assert text in smt("filter", name, "-i", "-", "-o", "new", stdin="c\n").err
        assert not Path("new").exists()


def test_mistakes(smt: Smt, tmp_path: Path) -> None:
    Path("table").write_text("a ||| A ||| 1\nb ||| B\n|||x ||| 1\n")
    Path("input").write_text("a\n")
    Path("empty").write_text("")
    write_folder(tmp_path / "probing", ["a ||| A ||| 0.5 ||| 0-0 ||| 1 1 1"])
    Path("lattice").write_text("((('x',0,1),),)\n")
    Path("whole").write_text("b ||| B ||| 1\n")
    cases = [
        (("table",), 2, "expected the sentences to be translated (-i FILE), found none"),
        (("-", "-i", "-"), 2, "only one of the table and the inputs can be read from standard input"),
        (
            ("table", "-i", "input", "--from", "moses-phrases"),
            1,
            "table:3: field 1: expected 1 to 1000 source symbols, found 0",
        ),
        (("table", "-i", "input", "--from", "moses-phrases,max_line=10"), 1, "expected a line of at most 10 bytes"),
        (("table", "-i", "empty", "--from", "moses-phrases"), 1, "empty: expected sentences, found none"),
        (("probing", "-i", "input"), 2, "moses-probing cannot be filtered, as decoders look up the phrases"),
        (("whole", "-i", "lattice", "--input-format", "plf-lattice"), 2, "expected words, found a lattice"),
        (("input", "-i", "input"), 1, "expected the shape of one of"),
    ]
    for arguments, code, text in cases:
        result = smt("filter", *arguments, "-o", "out")
        assert result.code == code, result.err
        assert text in result.err
        assert not Path("out").exists()
    assert "text.smt: the suffix is that of smt-table" in smt("filter", "whole", "-i", "input", "-o", "text.smt").err
    Path("out").write_text("as it was")
    assert "whole: none of its 1 rules can match the input" in smt("filter", "whole", "-i", "input", "-o", "out").err
    assert Path("out").read_text() == "as it was"


WORDS, LABELS = "abcd", ["[X]", "[X]", "[S]"]
SYMBOL = st.sampled_from([*WORDS, *WORDS, "[X]"])
RULE = st.tuples(st.lists(SYMBOL, min_size=1, max_size=4), st.sampled_from("UVW"), st.integers(1, 9))
INPUT = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), min_size=1, max_size=3)
RUN = "decoder: hiero\nmodel:\n  tables: [table]\n  features: [word-penalty]\n  weights: weights\n"


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(RULE, min_size=1, max_size=12), INPUT)
def test_decoding_is_the_same(tmp_path: Path, rules: list[Any], sentences: list[list[str]]) -> None:
    lines = []
    for source, target, value in rules:
        gaps = [f"[{number}]" for number in range(source.count("[X]"), 0, -1)]
        lines.append(f"[X] ||| {' '.join(source)} ||| {' '.join([*gaps, target])} ||| F=0.{value}\n")
    # Words that the input has, so that neither table is empty.
    lines.append(f"[X] ||| {sentences[0][0]} ||| T ||| F=1\n")
    host = load_plugins()
    text, table, config = tmp_path / "input", tmp_path / "table", tmp_path / "run.yaml"
    text.write_text("".join(f"{' '.join(words)}\n" for words in sentences))
    config.write_text(RUN)
    (tmp_path / "weights").write_text("F 1\nword-penalty -0.5\n")
    shown = []
    for name in ("whole", "kept"):
        if name == "whole":
            table.write_text("".join(lines))
        else:
            kept, read = host.filter_table(table, text, table)
            assert 1 <= kept <= read == len(lines)
        host.decode(config, tmp_path / name, text, nbest=20, cache="off")
        shown.append((tmp_path / name).read_bytes())
    assert shown[0] == shown[1]
