"""``smt extract --rules``: rule tables from word-aligned text, for three toolkits, read again and decoded with."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]

SOURCE = """\
er hat das haus gesehen
sie hat das boot gesehen
das haus ist alt
das boot ist alt
"""
TARGET = """\
he has seen the house
she has seen the boat
the house is old
the boat is old
"""
LINKS = """\
0-0 1-1 2-3 3-4 4-2
0-0 1-1 2-3 3-4 4-2
0-0 1-1 2-2 3-3
0-0 1-1 2-2 3-3
"""
CALL = ("extract", "--rules", "-s", "s", "-t", "t", "-a", "a", "-o", "out")
CDEC = "formalism=scfg\nadd_pass_through_rules=true\ngrammar=out/grammar.gz\n"
CDEC_WEIGHTS = "EgivenF -1\nFgivenE -0.5\nMaxLexEgivenF -0.5\nGlue -0.3\nPassThrough -9\n"
MOSES = """\
[search-algorithm]
3
[mapping]
0 T 0
1 T 1
[max-chart-span]
20
1000
[feature]
UnknownWordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TM num-features=4 path=out/rule-table.gz
PhraseDictionaryMemory name=Glue num-features=1 path=out/glue-grammar
[weight]
UnknownWordPenalty0= 1
PhrasePenalty0= -0.1
TM= 0.2 0.2 0.5 0.2
Glue= -0.3
"""
JOSHUA = """\
tm = thrax pt 12 out/grammar.gz
tm = thrax glue -1 out/glue-grammar
goal-symbol = GOAL
top-n = 0
output-format = %s
feature-function = OOVPenalty
OOVPenalty 1
e_given_f_phrase -0.5
e_given_f_lex -0.5
f_given_e_phrase -0.2
phrase_penalty -0.1
tm_glue_0 -0.3
"""


USES = "smt: note: in a run.yaml, or by `smt config new`:\nmodel:\n  tables: [out/rule-table.gz]\n"


@pytest.fixture(autouse=True)
def _text() -> None:
    for name, text in (("s", SOURCE), ("t", TARGET), ("a", LINKS)):
        Path(name).write_text(text)


def lines(path: str) -> list[str]:
    return gzip.decompress(Path(path).read_bytes()).decode().splitlines()


def test_a_table_for_moses(smt: Smt) -> None:
    result = smt(*CALL)
    table = lines("out/rule-table.gz")
    assert (result.code, result.out, result.err) == (0, "", f"smt: note: {len(table)} rules\n{USES}")
    assert sorted(os.listdir("out")) == ["glue-grammar", "lex.e2f", "lex.f2e", "rule-table.gz"]
    assert "alt [X] ||| old [X] ||| 1 1 1 1 ||| 0-0 ||| 2 2 2 ||| |||" in table
    assert [line for line in table if line.startswith("hat [X][X] gesehen [X] ||| ")] == [
        "hat [X][X] gesehen [X] ||| has seen [X][X] [X] ||| 1 1 1 1 ||| 0-0 1-2 2-1 ||| "
        "0.666666 0.666666 0.666666 ||| |||"
    ]
    assert "moses-rules" in smt("info", "out/rule-table.gz").ok()
    assert "moses-rules" in smt("info", "out/glue-grammar").ok()
    Path("moses.ini").write_text(MOSES)
    translations = smt(
        "decode", "-c", "moses.ini", "-q", stdin="sie hat das haus gesehen\ner hat das boot gesehen\n"
    ).ok()
    assert translations == "she has seen the house\nhe has seen the boat\n"


@pytest.mark.parametrize("name", ["cdec", "cdec-grammar"])
def test_a_grammar_for_cdec(smt: Smt, name: str) -> None:
    assert smt(*CALL, "-q", "--to", name).ok() == ""
    # cdec has glue rules of its own.
    assert sorted(os.listdir("out")) == ["grammar.gz", "lex.e2f", "lex.f2e"]
    assert (
        "[X] ||| sie hat das boot gesehen ||| she has seen the boat ||| EgivenF=0 FgivenE=0 CountEF=0.30103 "
        "MaxLexFgivenE=0 MaxLexEgivenF=0 IsSingletonF=1 IsSingletonFE=1 ||| 0-0 1-1 2-3 3-4 4-2"
    ) in lines("out/grammar.gz")
    assert "cdec-grammar" in smt("info", "out/grammar.gz").ok()
    Path("cdec.ini").write_text(CDEC)
    Path("weights").write_text(CDEC_WEIGHTS)
    translations = smt("decode", "-c", "cdec.ini", "-w", "weights", "-q", stdin="sie hat das haus gesehen\n").ok()
    assert translations == "she has seen the house\n"


@pytest.mark.parametrize("name", ["joshua", "joshua-grammar"])
def test_a_grammar_for_joshua(smt: Smt, name: str) -> None:
    assert smt(*CALL, "-q", "--to", name).ok() == ""
    assert sorted(os.listdir("out")) == ["glue-grammar", "grammar.gz", "lex.e2f", "lex.f2e"]
    scores = "e_given_f_lex=0 e_given_f_phrase=0 f_given_e_lex=0 f_given_e_phrase=0 phrase_penalty=1 rarity=0.36788"
    assert f"[X] ||| alt ||| old ||| {scores} ||| 0-0 ||| 2" in lines("out/grammar.gz")
    assert "joshua-grammar" in smt("info", "out/grammar.gz").ok()
    assert "joshua-grammar" in smt("info", "out/glue-grammar").ok()
    Path("joshua.config").write_text(JOSHUA)
    translations = smt("decode", "-c", "joshua.config", "-q", stdin="sie hat das haus gesehen\n").ok()
    assert translations == "she has seen the house\n"


def test_limits(smt: Smt) -> None:
    def sources(*options: Any) -> set[str]:
        assert smt(*CALL, "-q", *options).ok() == ""
        return {line.split(" [X] ||| ")[0] for line in lines("out/rule-table.gz")}

    usual = sources()
    assert sources("--limits", "moses") == usual
    assert "hat [X][X] gesehen" in usual
    assert "das [X][X]" in usual  # of "das haus ist alt": the gap is two words and more
    small = sources("--min-hole", 1)
    assert usual < small
    assert "[X][X] ist [X][X]" in small
    assert sources("--max-nonterminals", 0) == {side for side in usual if "[X][X]" not in side}
    assert sources("--max-span", 3) < usual
    assert max(len(side.split()) for side in sources("--max-source-symbols", 3)) == 3
    assert "er hat das haus gesehen" not in sources("--max-source-words", 4)
    assert not any("[X][X] [X][X]" in side for side in small)
    assert any("[X][X] [X][X]" in side for side in sources("--min-hole", 1, "--allow-adjacent"))
    assert all(side.count(" ") >= 2 for side in sources("--min-words", 2) if "[X][X]" in side)
    # Nobody's limits need other options.
    for name in ("chiang", "cdec", "thrax"):
        assert "[X][X] ist [X][X]" in sources("--limits", name)


def test_unaligned_words(smt: Smt) -> None:
    Path("a").write_text(LINKS.replace("0-0 1-1 2-2 3-3", "0-0 1-1 3-3"))

    def sources(*options: Any) -> set[str]:
        assert smt(*CALL, "-q", "--min-hole", 1, *options).ok() == ""
        return {line.split(" ||| ")[0] for line in lines("out/rule-table.gz")}

    assert {"haus ist [X]", "ist [X][X] [X]"} & sources() == {"haus ist [X]"}
    assert {"haus ist [X]", "ist [X][X] [X]"} & sources("--only-tight") == set()
    assert {"haus ist [X]", "ist [X][X] [X]"} & sources("--allow-unaligned") == {"haus ist [X]", "ist [X][X] [X]"}
    # A rule whose words have no links is read again in any format.
    for name in ("cdec", "joshua"):
        assert smt(*CALL, "-q", "--to", name, "--allow-unaligned", "--loose").ok() == ""
        assert f"{name}-grammar" in smt("info", "out/grammar.gz").ok()


def test_counts(smt: Smt) -> None:
    def count(*options: Any) -> str:
        assert smt(*CALL, "-q", "--min-hole", 1, *options).ok() == ""
        line = next(line for line in lines("out/rule-table.gz") if line.startswith("ist [X][X] [X]"))
        return line.split(" ||| ")[4]

    assert count("--counts", "unit") == "2 2 2"
    assert count("--counts", "places") == "2 2 2"
    assert count() == count("--counts", "fractional") == "0.666666 0.666666 0.666666"


def test_given_lexical_tables(smt: Smt) -> None:
    Path("f2e").write_text("old alt 0.5\n")
    Path("e2f").write_text("alt old 0.25\n")
    assert smt(*CALL, "-q", "--lexical", "f2e", "e2f").ok() == ""
    assert sorted(os.listdir("out")) == ["glue-grammar", "rule-table.gz"]
    assert "alt [X] ||| old [X] ||| 1 0.25 1 0.5 ||| 0-0 ||| 2 2 2 ||| |||" in lines("out/rule-table.gz")


def test_neither_memory_nor_threads_nor_runners_change_anything(smt: Smt) -> None:
    for name, text in (("s", SOURCE), ("t", TARGET)):
        # Words of their own for every sentence, and so many rules.
        own = [f"{line} x{i}" for i in range(300) for line in text.splitlines()]
        Path(name).write_text("\n".join(own) + "\n")
    Path("a").write_text("".join(f"{line} {line.count('-')}-{line.count('-')}\n" for line in LINKS.splitlines()) * 300)
    assert smt(*CALL, "-q").ok() == ""
    result = smt(*CALL[:-1], "less", "--memory", "1M", "-j", 2)
    assert result.err.startswith("smt: note: more than --memory allows: sorted on disk\n")
    assert smt(*CALL[:-1], "spread", "-q", "--runner", "processes", "-j", 2).ok() == ""
    names = sorted(os.listdir("out"))
    for other in ("less", "spread"):
        assert names == sorted(os.listdir(other))
        assert [Path("out", name).read_bytes() for name in names] == [Path(other, name).read_bytes() for name in names]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--max-length", 3), "--max-length needs --phrases"),
        (("--occurrences",), "--occurrences needs --phrases"),
        (("--to", "cdc"), "rules are written to moses, cdec, joshua, not to 'cdc'; did you mean 'cdec'?"),
        (("--limits", "chang"), "unknown limits 'chang'; did you mean 'chiang'?"),
        (("--max-span", 0), "--max-span: expected 1 or more, found 0"),
        (("--max-span", 300), "--max-span: expected at most 255, found 300"),
        (("--max-span", 2), "--max-span: expected 3 or more (a gap of 2 words and 1 word), found 2"),
        (("--min-words", 5), "--max-source-symbols: expected 6 or more (a gap and 5 words), found 5"),
        (("--counts", "all"), "--counts: expected one of fractional, unit, places, found 'all'"),
        (("-j", 0), "--jobs: expected 1 or more, found 0"),
        (("--memory", "10K"), "--memory: expected at least 1M, found 10240 bytes"),
        (("-o", "s"), "--output: expected a folder, found the file 's'"),
    ],
)  # fmt: skip
def test_wrong_calls(smt: Smt, options: tuple[Any, ...], message: str) -> None:
    result = smt(*CALL, *options)
    assert (result.code, result.err) == (2, f"smt: {message}\n")
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "option", ["--loose", "--only-tight", "--no-adjacent", "--limits=moses", "--max-span=3", "-j2"]
)
def test_options_of_rules_say_nothing_about_phrases(smt: Smt, option: str) -> None:
    result = smt("extract", "--phrases", *CALL[2:], option)
    assert result.code == 2
    needs = "-j 2 needs --rules or --runner" if option == "-j2" else f"{option.partition('=')[0]} needs --rules"
    assert result.err == f"smt: {needs}\n"


def test_words_in_brackets(smt: Smt) -> None:
    Path("s").write_text(SOURCE.replace("alt", "[alt]"))
    result = smt(*CALL)
    assert result.code == 1
    assert result.err == (
        "smt: s:3: expected words without brackets around them, which mark gaps in tables "
        "(`--escape moses` makes them &#91; and &#93;), found '[alt]'\n"
    )
    assert not Path("out").exists()


def test_nothing_to_take(smt: Smt) -> None:
    Path("a").write_text("\n" * 4)
    assert smt(*CALL).err == "smt: note: 0 rules\n"
    assert lines("out/rule-table.gz") == []
