"""`smt cdlm grammar`: options, files, what it says, and errors."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from smtplugins.cli.main import main
from smtplugins.host.files.opening import load_grammar

GRAMMAR = """\
[X] ||| haus ||| house ||| p=0.5 q=1
[X] ||| haus ||| home ||| p=0.25 q=3
[X] ||| haus ||| building ||| p=0.25 q=2
[X] ||| [X,1] von [X,2] ||| [1] of [2] ||| p=0.5 q=1
[X] ||| [X,1] von [X,2] ||| [2] 's [1] ||| p=0.5 q=1
[S] ||| [S,1] [X,2] ||| [1] [2] ||| glue=1
"""
PAIRS = """\
[X] ||| building ||| building |||
[X] ||| building ||| home |||
[X] ||| building ||| house |||
[X] ||| home ||| building |||
[X] ||| home ||| home |||
[X] ||| home ||| house |||
[X] ||| house ||| building |||
[X] ||| house ||| home |||
[X] ||| house ||| house |||
[X] ||| [X] 's [X] ||| [1] 's [2] |||
[X] ||| [X] 's [X] ||| [2] of [1] |||
[X] ||| [X] of [X] ||| [1] of [2] |||
[X] ||| [X] of [X] ||| [2] 's [1] |||
"""


@pytest.fixture
def grammar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "grammar"
    path.write_text(GRAMMAR)
    return path


def run(*args: object) -> int:
    return main(["cdlm", "grammar", *map(str, args)])


def stripped(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def test_all_pairs(grammar: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("-i", grammar, "--report", "report.json") == 0
    out, err = capfd.readouterr()
    assert sorted(stripped(out).splitlines()) == sorted(PAIRS.splitlines())
    assert "6 rules, 1 left out, 2 source sides" in err
    assert "13 pairs of target sides: 13 confusion rules" in err
    report = json.loads(Path("report.json").read_text())
    assert report["rules"] == 6 and report["uncapped"] == report["pairs"] == 13
    assert run("-i", grammar, "-q", "--no-identity", "--keep-glue", "--max-gaps", "0", "-o", "out") == 0
    assert capfd.readouterr() == ("", "")
    wanted = [line for line in PAIRS.splitlines()[:9] if line.split()[2] != line.split()[4]]
    assert stripped(Path("out").read_text()).splitlines() == wanted


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ([], {"house", "home"}),
        (["--best", "order"], {"house", "home"}),
        (["--best", "q"], {"home", "building"}),
        (["--best=-q"], {"house", "building"}),
        (["--best", "count"], {"building", "house"}),
        (["--best-weights", "weights"], {"building", "home"}),
    ],
)
def test_cap(grammar: Path, options: list[str], kept: set[str], capfd: pytest.CaptureFixture[str]) -> None:
    Path("weights").write_text("p -2\nq 0.25\n")
    more = grammar.parent / "more"
    more.write_text("[X] ||| haus ||| building ||| p=0.25 q=2\n")
    assert run("-i", grammar, more, "--cap", "2", "-o", "out", *options) == 0
    words = {line.split()[2] for line in Path("out").read_text().splitlines()} - {"[X]"}
    assert words == kept
    assert (
        "13 pairs of target sides, 8 with at most 2 for each source side: 8 confusion rules" in capfd.readouterr().err
    )


@pytest.mark.parametrize("weights", ["none", "relfreq"])
@pytest.mark.parametrize(
    "name",
    ["cdec-grammar", "cdec-grammar,max_symbols=9", "joshua-grammar", "moses-rules", "moses-rules,table=T"],
)
def test_formats_hold_the_same_rules(grammar: Path, name: str, weights: str) -> None:
    options = ["-i", grammar, "-q", "--weights", weights]
    assert run(*options, "-o", "reference.gz") == 0
    assert run(*options, "--to", name, "-o", "other.gz") == 0
    assert gzip.decompress(Path("other.gz").read_bytes())
    one, other = load_grammar("reference.gz"), load_grammar("other.gz", format=name)
    assert len(one) == len(other) == 13
    for i in range(13):
        first, second = one.rule(i), other.rule(i)
        assert (first.lhs, first.source, first.target) == (second.lhs, second.source, second.target)
        values = [sum(rule.values) for rule in (first, second)]
        assert values[0] == pytest.approx(-values[1] if name.startswith("moses") else values[1], abs=1e-6)
        assert first.names == (("Confusion",) if weights == "relfreq" else ())


def test_format_of_one_number(grammar: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = ["-i", grammar, "-q", "--max-gaps", "0", "--weights", "relfreq"]
    assert run(*options, "--to", "homework-phrases,feature=Confusion") == 0
    assert capfd.readouterr().out.splitlines()[1] == "building ||| home ||| 1.0986123"
    assert run(*options, "--to", "homework-phrases") == 1
    assert "only the feature log10p" in capfd.readouterr().err


RUN = """\
decoder: {name: hiero, search: full, pass_through: all}
model: {tables: grammar, features: [pass-through], weights: weights}
"""


def test_forests(grammar: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("weights").write_text("p 1\npass-through -10\n")
    Path("run.yaml").write_text(RUN)
    Path("source").write_text("haus von haus\nhaus\n")
    assert main(["decode", "-c", "run.yaml", "-i", "source", "--forests", "forests", "-o", "out", "-q"]) == 0
    capfd.readouterr()
    assert run("--forests", "forests", "-o", "confusions") == 0
    assert stripped(Path("confusions").read_text()) == PAIRS
    assert "left out" in capfd.readouterr().err
    assert run("--forests", "forests/0.json.gz", "forests/1.json.gz", "--keep-oov", "-q", "-o", "with-oov") == 0
    assert "||| house ||| haus |||" in Path("with-oov").read_text()
    assert run("--forests", "forests", "--scope", "cell", "--weights", "relfreq", "-q", "-o", "cells") == 0
    assert "Confusion=1.0986123" in Path("cells").read_text()
    assert run("--forests", "forests", "--no-same-rule", "-q", "-o", "others") == 0
    assert len(Path("others").read_text().splitlines()) == 13 - 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-i", "grammar", "--scope", "cell"], "--scope is an option for hypergraphs"),
        (["-i", "grammar", "--no-same-rule"], "--no-same-rule is an option for hypergraphs"),
        (["--forests", "grammar", "--cap", "3"], "--cap is an option for grammars"),
        (["-i", "grammar", "--cap", "-3"], "--cap: expected 1 or more, found -3"),
        (["-i", "grammar", "--best", "p"], "add --cap N"),
        (["-i", "grammar", "--cap", "1", "--best", "r"], "features of the grammar (glue, p, q), found r"),
        (["-i", "grammar", "--max-gaps", "-1"], "--max-gaps: expected 0 or more"),
        (["-i", "grammar", "--memory", "much"], "expected a size like 500M"),
        (["-i", "grammar", "--memory", "1K"], "expected at least 1M"),
        (["-i", "grammar", "--label", "a b"], "label: expected a name"),
        (["-i", "grammar", "--to", "cdec-gramar"], "cdec-grammar"),
        (["-i", "grammar", "--to", "joshua-packed"], "joshua-packed"),
        (["-i", "grammar", "-o", "nowhere/out"], "nowhere"),
        (["-i", "nothing"], "nothing"),
        (["-i", "bad"], "bad:2"),
        (["--forests", "grammar"], "grammar"),
    ],
)
def test_errors(grammar: Path, options: list[str], said: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("bad").write_text("[X] ||| a ||| b\n[X] ||| [X,1] ||| b\n")
    assert run(*options) in (1, 2)
    out, err = capfd.readouterr()
    assert said in err and "Traceback" not in err and not out
    assert not Path("out").exists()
    assert not [one for one in Path().iterdir() if one.name.startswith(".")]
