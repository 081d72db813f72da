"""Features with states on forests that Moses wrote, against the values that it printed for each edge."""

from __future__ import annotations

import gzip
import io
import itertools
from pathlib import Path

import numpy as np
import pytest

import smtplugins as smt
from smtformats.files import Lines
from smtformats.hypergraph import moses_hypergraph, moses_search
from smtformats.hypergraph.graph import GraphColumns
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.core.graph.hypergraph import Hypergraph, Subgraph
from smtplugins.host.features.scoring import activate
from smtplugins.host.host import Host
from smtplugins.testing.features.forest_scoring import score_forest

NAMES = "UnknownWordPenalty0 WordPenalty0 PhrasePenalty0 TranslationModel0:4 LexicalReordering0:6 Distortion0 LM0"
START = "0 hyp=0 stack=0 forward=1 fscore=-1.000\n"
STEP = "0 hyp={0} stack={0} back={1} score=-1.000 transition=0.000 forward={2} fscore=-1.000 covered={3}-{3} {4}\n"
EXTENDED = (
    START
    + STEP.format(1, 0, 2, 1, 'scores="core=(0.000) " out="haus|house"')
    + STEP.format(2, 1, -1, 0, 'scores="core=(0.000) " out="das|the"')
)
PLAIN = START + STEP.format(1, 0, 2, 1, "out=house") + STEP.format(2, 1, -1, 0, "out=the")


@pytest.fixture(scope="module")
def host() -> Host:
    return smt.load_plugins()


def graph_of(text: str) -> Hypergraph:
    (columns,) = moses_search.parse(Lines(io.BytesIO(text.encode()), "graph"))
    return Hypergraph.from_columns(columns)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "orientations"
    path.write_text("haus ||| house ||| 0.1 0.2 0.7\ndas ||| the ||| 0.3 0.6 0.1\n")
    return path


def test_a_swap(host: Host, table: Path) -> None:
    features = activate(host.registry, ["distortion,name=d", f"lexical-reordering,path={table},model=msd,name=r"])
    scored = score_forest(graph_of(EXTENDED), features, {"d": 1.0, "r[2]": 10.0}, exact=True).graph
    columns = dict(zip([scored.names[i] for i in scored.dense_names], scored.dense.T.tolist(), strict=True))
    # From the start, two phrases, and above the last.
    assert columns["d"] == [0, -1, -2, 0]
    assert columns["r[2]"] == pytest.approx([0, np.log(0.7), 0, 0])
    assert columns["r[1]"] == pytest.approx([0, 0, np.log(0.6), 0])
    assert scored.edge_scores is not None
    assert scored.edge_scores.tolist() == pytest.approx([0, -1 + 10 * np.log(0.7), -2, 0])


def test_what_a_forest_lacks_is_named(host: Host, table: Path) -> None:
    d, r = activate(host.registry, ["distortion", f"lexical-reordering,path={table},model=msd"])
    plain = graph_of(PLAIN)
    score_forest(plain, [d], {}, exact=True)
    with pytest.raises(UsageError, match="needs the source, which forest 0 does not have"):
        score_forest(plain, [d, r], {}, exact=True)
    score_forest(plain, [d, r], {}, Sentence("0", ("das", "haus")), exact=True)
    lines = Lines(io.BytesIO(moses_hypergraph.FORMAT.example.encode()), "0.txt")
    counted = Hypergraph.from_columns(next(iter(moses_hypergraph.parse(lines))))
    with pytest.raises(UsageError, match=r"'distortion' needs the segmentation, forest .*does not say which source"):
        score_forest(counted.with_scores(np.zeros(len(counted))), [d], {}, exact=True)


@pytest.mark.shared
def test_edges_of_moses_search_graphs(host: Host, shared: Path) -> None:
    """All steps of all derivations; no node has to be split, so that our states are equal where Moses' are."""
    moses = shared / "gold/moses"
    table = moses / "model/reordering-table.wbe-msd-bidirectional-fe.gz"
    specs = [
        f"lexical-reordering,path={table},model=wbe-msd-bidirectional-fe-allff,name=LexicalReordering0",
        "distortion,name=Distortion0",
    ]
    features = activate(host.registry, [spec + "-ours" for spec in specs])
    with gzip.open(moses / "pb/osgx.txt.gz") as stream:
        for columns in itertools.islice(moses_search.parse(Lines(stream, "osgx"), names=NAMES), 4):
            graph = Hypergraph.from_columns(columns)
            made = score_forest(graph, features, {}, exact=True)
            assert made.graph.nodes == graph.nodes
            assert compared(columns, made) >= 7 * len(graph)


def compared(columns: GraphColumns, made: Subgraph) -> int:
    """Our values of each edge against those printed; how many there were."""
    scored, count = made.graph, 0
    names = [scored.names[i] for i in scored.dense_names]
    for before, row in zip(made.edges.tolist(), scored.dense.tolist(), strict=True):
        printed = columns.edge_features(before) if before >= 0 else {}
        for name, value in zip(names, row, strict=True):
            if "-ours" in name and (before >= 0 or value):
                count += 1
                wanted = printed.get(name.replace("-ours", ""), 0.0)
                assert abs(value - wanted) <= 6e-4, f"{columns.id}, edge {before}: {name}"
    return count
