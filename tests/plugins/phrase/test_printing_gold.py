"""What the sections of a moses.ini print, beside Moses' own output of the same sentences."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import pytest

import smtplugins as smt
from smtformats.files import open_lines

CONFIG = Path("model/moses.pb.tuned.ini")
SENTENCES = 10

pytestmark = pytest.mark.shared


@pytest.fixture(autouse=True)
def _here(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shared / "gold/moses")


@pytest.fixture(scope="module")
def host() -> smt.Host:
    return smt.load_plugins()


def lines(path: Path | str) -> list[str]:
    """The lines of the first sentences, without the blanks at their ends, which Moses prints."""
    with open_lines(path) as read:
        return [line.rstrip() for line in itertools.islice(read, SENTENCES)]


def printed(host: smt.Host, folder: Path, sections: str) -> list[str]:
    """The translations of a configuration with more sections."""
    config = folder / "moses.ini"
    config.write_text(CONFIG.read_text() + sections)
    host.decode(config, folder / "out", "pb/t10.de", cache=str(folder / "cache"))
    return lines(folder / "out")


def test_minimum_bayes_risk(host: smt.Host, tmp_path: Path) -> None:
    """Of lists of 100 texts, Moses' choices are ours."""
    found = printed(host, tmp_path, "[minimum-bayes-risk]\ntrue\n[mbr-size]\n100\n[report-segmentation]\nfalse\n")
    assert found == lines("pb/out.mbr.txt")
    assert found != lines("pb/1best.txt")


def test_consensus(host: smt.Host, tmp_path: Path) -> None:
    assert printed(host, tmp_path, "[consensus-decoding]\ntrue\n[stack]\n100\n") == lines("pb/out.consensus.txt")


def gains(path: Path | str) -> dict[str, dict[str, tuple[list[float], float]]]:
    """The sums and the gain of each text of each sentence."""
    found: dict[str, dict[str, tuple[list[float], float]]] = {}
    for line in Path(path).read_text().splitlines():
        key, text, sums, gain = line.split("|||")
        numbers = sums.replace("map:", "").replace("w:", "").split()
        found.setdefault(key.strip(), {})[text.strip()] = [float(number) for number in numbers], float(gain)
    return found


def test_lattice_minimum_bayes_risk(host: smt.Host, tmp_path: Path) -> None:
    """Moses' choices are ours. Gains are where stacks keep the same hypotheses; else some bad ones are missing."""
    sections = f"[lminimum-bayes-risk]\ntrue\n[stack]\n100\n[n-best-list]\n{tmp_path}/gains 10\n"
    found = printed(host, tmp_path, sections)
    ours, theirs = gains(tmp_path / "gains"), gains("pb/nbest10.lmbr.txt")
    equal = 0
    for text, key in zip(found, theirs, strict=True):
        mine, other = ours[key], theirs[key]
        assert [text] == list(other)[:1] == list(mine)[:1]
        both = mine.keys() & other.keys()
        assert len(mine) == 10
        assert len(both) >= 9
        for each in both:
            assert mine[each][0][:2] == pytest.approx(other[each][0][:2], rel=1e-5)
            assert mine[each][0][2:] == pytest.approx(other[each][0][2:], abs=0.15)
        equal += all(mine[each][1] == pytest.approx(other[each][1], abs=2e-4) for each in both)
    assert equal >= 4


def test_ngrams_of_moses_own_graphs(host: smt.Host) -> None:
    """Its graphs have three decimals, so that ties are others in two sentences of ten."""
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.decode.printing.search_graph import best_part, ngram_counts, ngram_scores
    from smtplugins.host.files.opening import open_known

    theirs = gains("pb/nbest10.lmbr.txt")
    with open_known("pb/osg.txt.gz", "hypergraph", "moses-search-graph") as opened:
        for columns, best in zip(itertools.islice(opened.records(), 1, 3), lines("pb/1best.txt")[1:], strict=False):
            graph = Hypergraph.from_columns(columns)
            heads = graph.heads[: graph.edge_offsets[-2]].tolist()
            known = ngram_scores(best_part(graph, heads, 30 * len(best.split())), 1.0, once=True)
            for text, (sums, _) in theirs[columns.id].items():
                mine = [0.0] * 4
                for ngram, count in ngram_counts(text.split()).items():
                    mine[len(ngram) - 1] += count * math.exp(known.get(ngram, -20.0))
                assert mine == pytest.approx(sums[2:], abs=1e-3)


def test_parts_of_lines(host: smt.Host, tmp_path: Path) -> None:
    sections = "".join(f"[{key}]\ntrue\n" for key in ("output-hypo-score", "print-id", "print-alignment-info"))
    sections += f"[translation-details]\n{tmp_path}/details\n"
    files = f"[alignment-output-file]\n{tmp_path}/words\n[output-unknowns]\n{tmp_path}/unknown\n"
    found = printed(host, tmp_path, f"{sections}{files}[start-translation-id]\n7\n")
    shown, ids, aligned = (lines(f"pb/out.{name}.txt") for name in ("hypo-score", "print-id", "print-alignment-info"))
    for line, score, key, alignment in zip(found, shown, ids, aligned, strict=True):
        number, _, text = key.partition(" ")
        assert line == f"{score.split()[0]} {int(number) + 7} {text}{alignment.removeprefix(text)}"
    assert lines(tmp_path / "words") == lines("pb/alignment.txt")
    assert lines(tmp_path / "unknown") == lines("pb/unknowns.txt")
    same_details((tmp_path / "details").read_text(), Path("pb/translation-details.txt").read_text())


def same_details(ours: str, theirs: str) -> None:
    """The same text, with numbers that may differ in the last digit."""
    pattern = re.compile(r"(?<=core=\().*(?=\)  weighted)")
    mine, other = (pattern.findall(text) for text in (ours, theirs))
    assert len(mine) == SENTENCES
    for one, two in zip(mine, other, strict=False):
        assert list(map(float, one.split(","))) == pytest.approx(list(map(float, two.split(","))), abs=0.0011)
    plain, wanted = (pattern.sub("", text) for text in (ours, theirs))
    assert wanted.startswith(plain)


def test_segments(host: smt.Host, tmp_path: Path) -> None:
    lists = f"[n-best-list]\n{tmp_path}/lists\n4\ndistinct\n"
    assert printed(host, tmp_path, f"[report-segmentation]\ntrue\n{lists}") == lines("pb/out.t.txt")
    theirs = host.read("pb/nbest100.labeled.distinct.txt.gz")
    for mine, other in zip(host.read(tmp_path / "lists"), theirs, strict=False):
        assert list(mine.texts) == list(other.texts[:4])
