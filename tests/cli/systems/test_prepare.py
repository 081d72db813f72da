"""``smt prepare``: clean text and say what was dropped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Smt = Callable[..., Any]


def test_a_table_of_what_was_dropped(smt: Smt) -> None:
    Path("s").write_text("ein haus\n\nein haus\n")
    Path("t").write_text("a house\na\na house\n")
    assert smt("prepare", "-s", "s", "-t", "t", "-o", "out").ok() == (
        "what                                  lines  share     first line\n"
        "read                                  3      100.00 %\n"
        "dropped: empty                        1      33.33 %   2\n"
        "dropped: over 80 words                0      0.00 %\n"
        "dropped: length ratio over 9          0      0.00 %\n"
        "dropped: duplicate                    1      33.33 %   3\n"
        "kept                                  1      33.33 %\n"
        "kept: invalid characters replaced     0      0.00 %\n"
        "kept: words that need --escape moses  0      0.00 %\n"
    )
    assert Path("out/dropped.tsv").read_text() == "2\tempty\n3\tduplicate\n"


def test_standard_input_and_json(smt: Smt) -> None:
    rows = json.loads(smt("prepare", "-t", "-", "-o", "out", "-f", "json", stdin="a\n\na [X]\n").ok())
    assert rows[0] == {"what": "read", "lines": 3, "first": None}
    assert rows[-1] == {"what": "kept: words that need --escape moses", "lines": 1, "first": 3}
    assert Path("out/target").read_text() == "a\na [X]\n"


def test_several_references_like_other_text(smt: Smt) -> None:
    for name in "stu":
        Path(name).write_text(f"{name}\n\n")
    assert smt("prepare", "-s", "s", "-t", "t", "-o", "train", "--max-length", 5).code == 0
    smt("prepare", "-s", "s", "-t", "t", "-t", "u", "-o", "dev", "--like", "train").ok()
    assert [Path("dev", name).read_text() for name in ("source", "target", "target.1")] == ["s\n\n", "t\n\n", "u\n\n"]
    result = smt("prepare", "-s", "s", "-o", "dev2", "--like", "train", "--max-length", 4)
    assert (result.code, result.err) == (
        2,
        "smt: --max-length cannot be used with --like, which has its own\n",
    )


def test_tokens_and_case(smt: Smt) -> None:
    Path("s.de").write_text("Ein Haus, ein Haus.\n")
    Path("t.en").write_text("A house, a house.\n")
    smt("prepare", "-s", "s.de", "-t", "t.en", "-o", "o", "--tokenize", "13a", "--case", "true").ok()
    assert Path("o/source").read_text() + Path("o/target").read_text() == "ein Haus , ein Haus .\na house , a house .\n"
    result = smt("prepare", "-s", "s.de", "-t", "-", "-o", "o", "--tokenize", "moses", stdin="a\n")
    assert (result.code, "moses needs the languages of the text (--languages)" in result.err) == (2, True)
    result = smt("prepare", "-t", "-", "-o", "lm", "--tokenize", "intl", "--languages", "en", stdin="A.\n")
    assert (result.code, Path("lm/target").read_text()) == (0, "A .\n")


def test_options_are_named_as_on_the_command_line(smt: Smt) -> None:
    result = smt("prepare", "-o", "out")
    assert (result.code, result.err) == (2, "smt: expected a source (-s), a target (-t) or both, found none\n")
