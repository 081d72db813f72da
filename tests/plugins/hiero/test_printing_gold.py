"""What the sections of a moses.ini for charts print, beside Moses' own output of the same sentences."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import smtplugins as smt
from smtformats.files import open_lines

CONFIG = Path("model/moses.hiero.tuned.ini")
SENTENCES = 10

pytestmark = pytest.mark.shared


@pytest.fixture(autouse=True)
def _here(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shared / "gold/moses")


def lines(path: Path | str) -> list[str]:
    """The lines of the first sentences, without the blanks at their ends, which Moses prints."""
    with open_lines(path) as read:
        return [line.rstrip() for line in itertools.islice(read, SENTENCES)]


def test_alignments_and_unknown_words(tmp_path: Path) -> None:
    """Alignments count the marks of sentences on both sides."""
    config = tmp_path / "moses.ini"
    files = f"[alignment-output-file]\n{tmp_path}/words\n[output-unknowns]\n{tmp_path}/unknown\n"
    lists = f"[n-best-list]\n{tmp_path}/lists\n3\n[print-alignment-info-in-n-best]\ntrue\n"
    config.write_text(f"{CONFIG.read_text()}[print-alignment-info]\ntrue\n{files}{lists}")
    host = smt.load_plugins()
    host.decode(config, tmp_path / "out", "hiero/t10.de", cache=str(tmp_path / "cache"))
    alignments = lines("hiero/alignment.txt")
    assert lines(tmp_path / "words") == alignments
    assert lines(tmp_path / "unknown") == lines("hiero/unknowns.txt")
    texts = lines("hiero/1best.txt")
    assert lines(tmp_path / "out") == [f"{text} ||| {own}" for text, own in zip(texts, alignments, strict=True)]
    theirs = host.read("hiero/nbest100.align.txt.gz")
    for mine, other in zip(host.read(tmp_path / "lists"), theirs, strict=False):
        # A text may have several derivations.
        known = set(zip(other.texts, other.extras["alignment"], strict=True))
        assert set(zip(mine.texts, mine.extras["alignment"], strict=True)) <= known
