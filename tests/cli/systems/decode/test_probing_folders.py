"""A moses.ini with a ProbingPT folder whose source sides nothing tells: sentences are looked up, from a stream, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtformats.grammar.shared import probing_lookup
from smtplugins import load_plugins
from smtplugins.core.grammar import lookup
from tests.cli.systems.decode.systems import Smt
from tests.formats.grammar.probing_folders import write_folder

INI = """\
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
Distortion
ProbingPT name=TM num-features=2 path=table input-factor=0 output-factor=0 load=lazy cache-size=5
LexicalReordering name=LR num-features=3 type=wbe-msd-backward-fe-allff input-factor=0 output-factor=0 property-index=0
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.1
PhrasePenalty0= -0.1
Distortion0= 0.3
TM= 1 0.5
LR= 0.3 0.1 0.2
"""
LINES = [
    f"{source} ||| {target} ||| {scores} ||| 0-0 ||| 1 1 1 ||| ||| {{{{LexRO 0.5 0.25 0.{k}}}}}"
    for k, (source, target, scores) in enumerate(
        [
            ("a b", "B A", "0.5 0.25"),
            ("w1 w2 w3 w4 w5 w6", "far", "0.5 0.5"),
            ("w1 w2 w3 w4 w5 w6", "away", "0.25 0.5"),
        ],
        1,
    )
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "table", LINES, lex=3, cached=0)
    Path("text").write_text("".join(f"{line}\n" for line in LINES))
    Path("lex").write_text("".join(" ||| ".join([*line.split(" ||| ")[:2], line[-15:-2]]) + "\n" for line in LINES))
    Path("moses.ini").write_text(INI)
    text = INI.replace("ProbingPT", "PhraseDictionaryMemory").replace("path=table", "path=text")
    text = text.replace(" load=lazy cache-size=5", "").replace("property-index=0", "path=lex")
    Path("text.ini").write_text(text)
    return tmp_path


SENTENCES = "x w1 w2 w3 w4 w5 w6\na b a b\n\n"


def test_sentences_from_a_stream(here: Path, smt: Smt) -> None:
    shown = [smt("decode", "-c", f"{name}.ini", "-k", 9, "-q", stdin=SENTENCES).ok() for name in ("moses", "text")]
    assert "x far" in shown[0]
    assert shown[0] == shown[1]


def test_lattices_of_many_phrases(here: Path, smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "MOST_PHRASES", 2)
    table = "model:\n  tables: [{{path: {}, name: TM, format: {}}}]\n  weights: weights\n  features: [distortion]\n"
    Path("weights").write_text("TM[0] 0.01\nTM[1] 0.01\ndistortion 0.1\n")
    lattice = "((('x',0,1),('a',0,1),),(('b',0,1),),(('a',0,1),('y',0,1),),)\n"
    shown = []
    write_folder(Path("listed"), LINES[:1], lex=3)
    for path, kind in (("listed,sources=text", "moses-probing"), ("text", "moses-phrases")):
        name, _, option = path.partition(",")
        text = table.format(name, f'"{kind},{option}"' if option else kind)
        Path("run.yaml").write_text(f"decoder: phrase\n{text}")
        shown.append(smt("decode", "-c", "run.yaml", "--from", "plf-lattice", "-k", 9, "-q", stdin=lattice).ok())
    assert "B A" in shown[0]
    assert shown[0] == shown[1]


def test_the_folder_is_opened_once(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    class Counted(probing_lookup.ProbingFolder):
        def __init__(self, folder: str) -> None:
            opened.append(Path(folder).name)
            super().__init__(folder)

    monkeypatch.setattr(probing_lookup, "ProbingFolder", Counted)
    translator = load_plugins().translator("moses.ini", cache="off")
    assert [decoding.best for decoding in translator.decode(["w1 w2 w3 w4 w5 w6", "a b"])] == ["far", "B A"]
    assert opened == ["table"]
