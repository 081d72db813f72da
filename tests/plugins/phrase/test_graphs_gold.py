"""Search graphs in Moses' formats, beside those that Moses wrote of the same sentences with stacks of 100.

What is kept differs in the bad derivations, of which Moses keeps up to twice as many before it prunes; the best ones
are the same, with the same scores and features.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.graph.inference import kbest
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.job import Outputs, run
from smtplugins.host.decode.translator import make_translator
from smtplugins.host.files.opening import open_known
from smtplugins.host.host import Host

CONFIG = "model/moses.pb.tuned.ini"
NAMES = "UnknownWordPenalty0 WordPenalty0 PhrasePenalty0 TranslationModel0:4 LexicalReordering0:6 Distortion0 LM0"
SENTENCES = 3
BEST = 300

pytestmark = pytest.mark.shared


@pytest.fixture(autouse=True)
def _here(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shared / "gold/moses")


@functools.cache
def host() -> Host:
    return smt.load_plugins()


@functools.cache
def weights() -> dict[str, float]:
    return dict(host().read_weights(CONFIG))


def graphs(path: Path, format: str) -> list[Hypergraph]:
    """The graphs of a file or a folder."""
    with open_known(path, "hypergraph", format) as opened:
        found = [one for one, _ in zip(opened.records(), range(SENTENCES), strict=False)]
    return [Hypergraph.from_columns(one) for one in found]


def written(folder: Path, format: str) -> list[Hypergraph]:
    """Ours, written by the decoder and read again, in the order of the sentences."""
    from smtplugins.contracts.data import Sentence

    translator = make_translator(host(), load_config(CONFIG, ["decoder.stack_size=100"]), None, "off")
    lines = Path("in/test50.de").read_text().splitlines()[:SENTENCES]
    sentences = [Sentence(str(i), tuple(line.split())) for i, line in enumerate(lines)]
    run(host(), translator, sentences, Outputs(folder / "out", forests=folder / "f", forests_format=format))
    name = f"{format.partition(',')[0]},names={NAMES}" if "extended" in format else format
    return [one for path in sorted((folder / "f").glob("[0-9]*")) for one in graphs(path, name)]


def derivations(graph: Hypergraph, scores: Any = None) -> dict[Any, float]:
    """The scores of the best derivations, by texts and the order of source phrases; the better one of two alike."""
    found = kbest(graph, scores, k=BEST)
    spans = graph.spans.tolist()
    keys: dict[Any, float] = {}
    for one, text in zip(found, found.texts(), strict=True):
        path = [tuple(spans[edge]) for edge in reversed(one.edges.tolist()) if spans[edge][0] < spans[edge][1]]
        keys.setdefault((text, tuple(path)), one.score)
    return keys


@pytest.mark.parametrize(("format", "file"), [("", "osg"), (",extended=true", "osgx")])
def test_search_graphs(tmp_path: Path, format: str, file: str) -> None:
    ours = written(tmp_path, f"moses-search-graph{format}")
    theirs = graphs(Path(f"pb/{file}.txt.gz"), f"moses-search-graph,names={NAMES}" if format else "moses-search-graph")
    for mine, one in zip(ours, theirs, strict=True):
        known, wanted = derivations(mine), derivations(one)
        both = known.keys() & wanted.keys()
        assert len(both) >= 0.95 * BEST
        # Moses prints three decimals of each step.
        assert all(known[key] == pytest.approx(wanted[key], abs=0.004) for key in both)
        best, other = kbest(mine)[0], kbest(one)[0]
        assert best.text == other.text
        if format:
            by_name = dict(zip(mine.names[:], best.features(), strict=True))
            for name, value in zip(one.names[:], other.features(), strict=True):
                assert by_name[name] == pytest.approx(value, abs=0.01), name
            assert mine.scores(weights()) == pytest.approx(mine.edge_scores, abs=1e-4)


def test_hypergraphs(tmp_path: Path) -> None:
    """Moses' have ``<s>`` and ``</s>`` as words, ours do not."""
    for mine, one in zip(
        written(tmp_path, "moses-hypergraph"), graphs(Path("pb/hg_gz"), "moses-hypergraph"), strict=True
    ):
        assert set(mine.names[:]) >= set(one.names[:])
        found, other = kbest(mine.reweighted(weights()), k=BEST), kbest(one.reweighted(weights()), k=BEST)
        assert [f"<s> {text} </s>" for text in found.texts()[:10]] == other.texts()[:10]
        assert found.scores.tolist() == pytest.approx(other.scores.tolist(), abs=0.02)
        assert found.scores[0] == pytest.approx(other.scores[0], abs=1e-4)


def test_word_graphs(tmp_path: Path) -> None:
    for mine, one in zip(
        written(tmp_path, "moses-word-graph"), graphs(Path("pb/osg.txt.gz"), "moses-search-graph"), strict=True
    ):
        best = kbest(mine.reweighted({"a": 1.0}))
        assert best.texts() == kbest(one).texts()
        assert best.scores[0] == pytest.approx(kbest(one).scores[0], abs=0.004)


def test_lattices(tmp_path: Path) -> None:
    """Each link has its own scores, so that they can be weighted by the scales, as those of Moses' own cannot."""
    from smtformats import open_lines
    from smtformats.hypergraph.slf import parse

    written(tmp_path, "slf-lattice")
    theirs = graphs(Path("pb/osg.txt.gz"), "moses-search-graph")
    for i, one in enumerate(theirs):
        with open_lines(tmp_path / f"f/{i}.slf.gz") as lines:
            (columns,) = parse(lines)
        scales = columns.extras["scales"]
        assert {columns.extras["names"][name] for name in scales} >= {"LM0", "Distortion0", "TranslationModel0[3]"}
        best = kbest(Hypergraph.from_columns(columns).reweighted(scales))
        assert best.texts() == kbest(one).texts()
        assert best.scores[0] == pytest.approx(kbest(one).scores[0], abs=0.004)
