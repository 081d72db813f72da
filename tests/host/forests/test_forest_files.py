"""Graphs in a folder: file names, and the feature order of Moses' formats."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import Edge
from smtplugins.contracts.errors import UsageError
from smtplugins.core.graph.hypergraph import Hypergraph, HypergraphBuilder
from smtplugins.host.files.opening import open_known
from smtplugins.host.forests.forest_files import ForestFiles
from smtplugins.host.host import Host

GAP = NonTerminal("X", 1)
NAMES = ("LM", "TM[0]", "TM[1]")
WEIGHTS = {"LM": 0.5, "TM[0]": 1.0, "TM[1]": 2.0}


@pytest.fixture(scope="module")
def host() -> Host:
    return smt.load_plugins()


@pytest.fixture
def graph() -> Hypergraph:
    builder = HypergraphBuilder()
    builder.add([])
    builder.add([Edge((0,), 0, {"sp": 1.5, "TM[1]": 0.1, "LM": -3}, (0, 1), -1.3)])
    builder.add([Edge((1,), 1, {}, (1, 1), 0.0)])
    return builder.build("x", [Rule("X", (GAP, "a"), (GAP, "b")), Rule("X", (GAP,), (GAP,))])


def files(host: Host, folder: Path, format: str | None = None) -> ForestFiles:
    return ForestFiles.of(host, folder, format, NAMES, WEIGHTS, None)


def text(folder: Path, format: str) -> str:
    """The one file of the folder, written anew."""
    from smtformats.files import open_bytes

    (name,) = folder.iterdir()
    with open_bytes(name) as stream:
        return stream.read().decode()


@pytest.mark.parametrize(
    ("format", "name"),
    [
        (None, "3.json.gz"),
        ("cdec-binary-hypergraph", "3.bin.gz"),
        ("moses-hypergraph", "3.txt.gz"),
        ("moses-search-graph", "3.txt.gz"),
        ("slf-lattice", "3.slf.gz"),
    ],
)
def test_names_of_files(host: Host, tmp_path: Path, graph: Hypergraph, format: str | None, name: str) -> None:
    files(host, tmp_path / "f", format).write(graph, "3")
    assert os.listdir(tmp_path / "f") == [name]
    with open_known(tmp_path / "f" / name, "hypergraph") as opened:
        assert [graph.id for graph in opened.records()] == ["3"]


def test_features_stand_in_moses_order(host: Host, tmp_path: Path, graph: Hypergraph) -> None:
    files(host, tmp_path, "moses-hypergraph").write(graph, "3")
    assert "[0] b  ||| LM=-3 TM_1=0 TM_2=0.1 sp=1.5  ||| 1\n" in text(tmp_path, "moses-hypergraph")
    other = tmp_path / "other"
    files(host, other, "moses-search-graph,extended=true").write(graph, "3")
    assert 'scores="core=(-3,0,0.1) sp=1.5 " out="a|b"\n' in text(other, "moses-search-graph")
    third = tmp_path / "third"
    files(host, third, "moses-search-graph,extended=true,names=TM:2").write(graph, "3")
    assert 'scores="core=(0,0.1) LM=-3 sp=1.5 " out="a|b"\n' in text(third, "moses-search-graph")


def test_weights_beside_hypergraphs(host: Host, tmp_path: Path) -> None:
    for name in (None, "slf-lattice", "moses-hypergraph"):
        files(host, tmp_path / "f", name).write_beside()
        assert (tmp_path / "f").is_dir() == (name == "moses-hypergraph")
    assert (tmp_path / "f/weights").read_text() == "LM 0.5\nTM_1 1\nTM_2 2\n"


def test_what_cannot_be_written(host: Host, tmp_path: Path, graph: Hypergraph) -> None:
    def fails(message: str, *given: Any) -> None:
        with pytest.raises(UsageError, match=message):
            files(host, tmp_path / "f").write(*given)

    fails("forest output needs a decoder that returns graphs", None, "3")
    fails("expected an id that is a valid file name, found '../3'", graph, "../3")
    with pytest.raises(UsageError, match="moses-chart-graph can only be read; name another format: "):
        files(host, tmp_path, "moses-chart-graph")


def test_a_forest_does_not_depend_on_the_sentences_before(tmp_path: Path) -> None:
    """Features of an open set are numbered as they are met; so do several processes, each with its own sentences."""
    (tmp_path / "plug.py").write_text(
        "from smtplugins import feature\n\n\n@feature('word')\ndef word(rule_target):\n"
        "    return dict.fromkeys(rule_target.split(), 1.0)\n"
    )
    (tmp_path / "rules").write_text("".join(f"[X] ||| {word} ||| {word.upper()} ||| p=1\n" for word in "abc"))
    (tmp_path / "run.yaml").write_text("decoder: hiero\nmodel: {tables: [rules], features: [word]}\n")
    host = smt.load_plugins([tmp_path / "plug.py"])
    for name, sentences in {"both": ["c a", "b a c"], "second": ["", "b a c"]}.items():
        host.decode(
            tmp_path / "run.yaml", tmp_path / name, sentences, weights={"word:A": 1.0}, forests=tmp_path / f"{name}-f"
        )
    assert (tmp_path / "both-f/1.json.gz").read_bytes() == (tmp_path / "second-f/1.json.gz").read_bytes()
    assert b"word:B" in gzip.decompress((tmp_path / "both-f/1.json.gz").read_bytes())
