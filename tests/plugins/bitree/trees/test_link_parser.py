"""Trees of Link Grammar's parser over the sentence's own words; the program itself is played by a script."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from smtplugins.cli.main import main
from smtplugins.contracts.errors import SmtError
from smtplugins.plugins.bitree.trees.link_parser import bracketed, parse, tag

TREE = "(S (NP a man.n) (VP is.v (VP riding.v {his} (NP bike{?}.n (PP at (NP joe{!} &apos{?}.n {;} {s} .))))))"
WORDS = "a man is riding his bike at Joe &apos;s .".split()
FOUND = (
    "(S (NP (DT a) (NN man)) (VP (VBZ is) (VP (VB riding) (PRP$ his) (NP (NN bike) (PP (IN at) "
    "(NP (XX Joe) (NN &apos;s)))))) (. .))"
)


def test_words_are_those_of_the_sentence() -> None:
    assert bracketed(WORDS, TREE) == FOUND
    assert bracketed(WORDS[:-1], TREE) == "()"
    assert bracketed([*WORDS, "x"], TREE) == "()"
    assert bracketed(WORDS, "") == "()"
    assert bracketed(["u.s", "."], "(S (NP u.s) .)") == "(S (NP (XX u.s)) (. .))"
    assert bracketed(["."], "(S (X .))") == "(S (. .))"
    assert tag("sees", "v-d") == "VBD"


def test_sentences_and_their_trees(tmp_path: Path) -> None:
    script = tmp_path / "parser.py"
    script.write_text(
        "import sys\nprint('settings')\n"
        "for line in sys.stdin:\n"
        "    line = line.strip()\n"
        "    if line == 'lost': continue\n"
        "    print(line)\n"
        "    if line == 'a man': print('(S (NP a man.n))\\n')\n"
        "print('Bye.')\n"
    )
    given = [["a", "man"], ["none"], ["a", "man"], ["lost"], ["a", "man"]]
    found = list(parse(given, [sys.executable, str(script)]))
    tree = "(S (NP (DT a) (NN man)))"
    assert found == [tree, "()", tree, "()", tree]
    with pytest.raises(SmtError, match="expected Link Grammar's parser, found no such program"):
        list(parse(given, [str(tmp_path / "nothing")]))
    with pytest.raises(SmtError, match=r"failed \(1\)"):
        list(parse(given, [sys.executable, "-c", "import sys; sys.exit('broken')"]))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "parser.py"
    script.write_text(
        "import sys\nfor line in sys.stdin:\n    print(line, end='')\n    print('(S (NP a man.n))')\n    print()\n"
    )
    (tmp_path / "text").write_text("a man\nb\na man\n")
    given = ["bitree", "trees", "-i", str(tmp_path / "text"), "-o", str(tmp_path / "out")]
    assert main([*given, "--parser", f"{sys.executable} {script}", "--batch", "2"]) == 0
    tree = "(S (NP (DT a) (NN man)))\n"
    assert (tmp_path / "out").read_text() == f"{tree}()\n{tree}"
    assert "3 sentences, 1 without a tree" in capsys.readouterr().err
    assert main([*given, "--batch", "0"]) == 2
