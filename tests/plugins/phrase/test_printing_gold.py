"""What the sections of a moses.ini print, beside Moses' own output of the same sentences."""

from __future__ import annotations

import itertools
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


def test_parts_of_lines(host: smt.Host, tmp_path: Path) -> None:
    sections = "".join(f"[{key}]\ntrue\n" for key in ("output-hypo-score", "print-id", "print-alignment-info"))
    files = f"[alignment-output-file]\n{tmp_path}/words\n[output-unknowns]\n{tmp_path}/unknown\n"
    found = printed(host, tmp_path, f"{sections}{files}[start-translation-id]\n7\n")
    shown, ids, aligned = (lines(f"pb/out.{name}.txt") for name in ("hypo-score", "print-id", "print-alignment-info"))
    for line, score, key, alignment in zip(found, shown, ids, aligned, strict=True):
        number, _, text = key.partition(" ")
        assert line == f"{score.split()[0]} {int(number) + 7} {text}{alignment.removeprefix(text)}"
    assert lines(tmp_path / "words") == lines("pb/alignment.txt")
    assert lines(tmp_path / "unknown") == lines("pb/unknowns.txt")


def test_segments(host: smt.Host, tmp_path: Path) -> None:
    lists = f"[n-best-list]\n{tmp_path}/lists\n4\ndistinct\n"
    assert printed(host, tmp_path, f"[report-segmentation]\ntrue\n{lists}") == lines("pb/out.t.txt")
    theirs = host.read("pb/nbest100.labeled.distinct.txt.gz")
    for mine, other in zip(host.read(tmp_path / "lists"), theirs, strict=False):
        assert list(mine.texts) == list(other.texts[:4])
