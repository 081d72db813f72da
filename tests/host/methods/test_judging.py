"""Scores, oracles, consensus and reports by methods of the host, and how they are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt
from smtformats.grammar.rules import Rule
from smtformats.hypergraph.graph import Edge, GraphBuilder
from smtplugins.contracts.errors import UsageError
from smtplugins.host.files.opening import find_format, write_all
from smtplugins.host.host import Host

LIST = """\
0 ||| the house is old ||| LM= -1 ||| -1
0 ||| a house is old ||| LM= -2 ||| -2
0 ||| a house was old ||| LM= -3 ||| -2.5
1 ||| good day ||| LM= -1 ||| -1
"""
BLEU = "bleu,tokenize=none,effective_order=true"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("test.nbest").write_text(LIST)
    Path("ref.en").write_text("a house is old\ngood day\n")
    Path("out.en").write_text("a house is <b>\ngood day\n")


def test_single_values_are_lists_of_one(host: Host) -> None:
    short = host.evaluate("ref.en", "out.en", BLEU, tests="bootstrap", samples=10)
    long = host.evaluate(["ref.en"], {"out.en": "out.en"}, [BLEU], tests=["bootstrap"], samples=10)
    assert short == long
    assert host.evaluate("ref.en", smt.read("test.nbest"), BLEU)[0].system == "test.nbest"
    assert host.oracle("test.nbest", "ref.en", BLEU) == host.oracle(smt.read("test.nbest"), [Path("ref.en")], [BLEU])


def test_an_evaluation_is_a_sequence_of_scores(host: Host) -> None:
    result = host.evaluate("ref.en", {"<base>": "out.en", "new": "ref.en"}, BLEU, tests=["bootstrap", "ar"], samples=20)
    assert len(result) == 2
    assert [score.system for score in result] == ["<base>", "new"]
    assert result[-1].score == pytest.approx(100) and result[:1] == (result[0],)
    assert repr(result).startswith("<Evaluation: <base> BLEU ") and repr(result).endswith(", new BLEU 100.00>")
    html = result._repr_html_()
    assert "&lt;base&gt;" in html and "<base>" not in html
    assert "<th>low</th><th>high</th><th>p(bootstrap)</th><th>p(ar)</th><th>signature</th>" in html


def test_oracles(host: Host) -> None:
    result = host.oracle("test.nbest", "ref.en", ["bleu,tokenize=none", "ter"])
    assert [(row.best_at, row.metric) for row in result] == [(k, name) for name in ("BLEU", "TER") for k in (1, 2, 3)]
    assert len(result) == 6 and result[1].score == pytest.approx(100) and result[:2] == result.rows[:2]
    assert repr(result) == "<Oracles of 2 lists: BLEU 100.00, TER 0.00>"
    assert '<td style="text-align: right">2</td>' in result._repr_html_()
    assert result.write("oracle") == 0
    assert Path("oracle").read_text() == "a house is old\ngood day\n"


def test_lists_sorted_by_expected_score(host: Host) -> None:
    done = host.mbr("test.nbest", BLEU, scale=0.5)
    assert (
        done.best() == host.mbr("test.nbest", BLEU, scale=0.5, whole=False).best() == ["the house is old", "good day"]
    )
    assert host.mbr("test.nbest", BLEU, scale=0.0).best() == ["a house is old", "good day"]
    assert [len(nbest) for nbest in done] == [3, 1]
    assert [len(nbest) for nbest in host.mbr("test.nbest", BLEU, scale=0.5, whole=False)] == [1, 1]
    assert [len(nbest) for nbest in host.mbr("test.nbest", BLEU, top=2)] == [2, 1]
    with pytest.raises(UsageError, match="top: expected a number of hypotheses"):
        host.mbr("test.nbest", BLEU, top=-1)


def test_consensus_of_forests(host: Host) -> None:
    builder = GraphBuilder()
    builder.add([Edge([], 0, {"f": 1.0}), Edge([], 1, {"f": 0.0})])
    graph = builder.graph("0", [Rule("X", ("a",), ("x",)), Rule("X", ("a",), ("y", "z"))])
    write_all(find_format("cdec-json-hypergraph"), [graph], "forest")
    Path("w").write_text("f 9\n")
    for weights in ("w", {"f": 9.0}):
        assert host.mbr_forests("forest", 50, BLEU, weights=weights).best() == ["x"]
        (linear,) = host.mbr_forests("forest", 50, "bleu,tokenize=none", weights=weights, linear=True)
        assert linear.texts == ["x"]
    with pytest.raises(UsageError, match="samples: expected 1 or more, found 0"):
        host.mbr_forests("forest", 0)


def test_a_report_of_lists(host: Host) -> None:
    report = host.report(lists="test.nbest", refs="ref.en", weights=None, metric=BLEU, title="<mine>", output="r.html")
    assert report.title == "<mine>" and report.judged is not None
    assert "&lt;mine&gt;" in Path("r.html").read_text()
    with pytest.raises(UsageError, match=r"nothing to report on: expected runs, lists \(lists\) or .* \(built\)"):
        host.report()
    with pytest.raises(UsageError, match=r"lists need references \(refs\) to be judged"):
        host.report(lists="test.nbest")
