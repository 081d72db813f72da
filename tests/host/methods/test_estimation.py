"""Tables and language models from text by methods of the host."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.host import Host

TEXT = ("er hat das haus gesehen\ndas haus ist alt\n", "he has seen the house\nthe house is old\n")
LINKS = "0-0 1-1 2-3 3-4 4-2\n0-0 1-1 2-2 3-3\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in zip("sta", (*TEXT, LINKS), strict=True):
        Path(name).write_text(text)


def test_phrases(host: Host) -> None:
    notes: list[str] = []
    assert host.extract_phrases("s", "t", "a", "out", max_length=1, reordering="msd", note=notes.append) == 7
    assert sorted(os.listdir("out")) == [
        "lex.e2f", "lex.f2e", "phrase-table.gz", "reordering-table.wbe-msd-backward-fe.gz"
    ]  # fmt: skip
    with pytest.raises(UsageError, match="max_length: expected 1 to"):
        host.extract_phrases("s", "t", "a", "out", max_length=0)
    with pytest.raises(UsageError, match="folder: expected a folder, found the file 's'"):
        host.extract_phrases("s", "t", "a", "s")
    with pytest.raises(SmtError, match="use smoothing='none'"):
        host.extract_phrases("s", "t", "a", "out", smoothing="kneser-ney")


def test_rules(host: Host) -> None:
    many = host.extract_rules("s", "t", "a", "moses")
    few = host.extract_rules("s", "t", "a", "short", max_span=2, min_hole=1)
    assert 0 < few < many
    assert sorted(os.listdir("moses")) == ["glue-grammar", "lex.e2f", "lex.f2e", "rule-table.gz"]
    host.extract_rules("s", "t", "a", "cdec", to_format="cdec", lexical=("moses/lex.f2e", "moses/lex.e2f"))
    assert sorted(os.listdir("cdec")) == ["grammar.gz"]
    with pytest.raises(UsageError, match="max_span: expected 1 or more, found 0"):
        host.extract_rules("s", "t", "a", "out", max_span=0)
    with pytest.raises(UsageError, match="jobs: expected 1 or more, found 0"):
        host.extract_rules("s", "t", "a", "out", jobs=0)


def test_a_language_model(host: Host) -> None:
    model = host.estimate_lm("t", 2, "lm.arpa", binary="lm.bin", discount_fallback=(), prune=0)
    assert model.order == 2 and Path("lm.arpa").read_text().startswith("\\data\\") and Path("lm.bin").stat().st_size
    assert host.estimate_lm("t", 2, discount_fallback=0.5).counts == model.counts
    assert not Path("-").exists()
    with pytest.raises(SmtError, match="; discount_fallback sets fixed ones"):
        host.estimate_lm("t", 2)
    with pytest.raises(UsageError, match="binary: expected the name of a file, found '-'"):
        host.estimate_lm("t", 2, binary="-", discount_fallback=())


def test_alignments_of_both_directions(host: Host) -> None:
    Path("f").write_text("0-0\n")
    (links,) = host.align(forward="f", backward="f", heuristic="union")
    assert links.points == ((0, 0),)
    with pytest.raises(UsageError, match=r"expected a text .source and target. or alignments .forward and backward."):
        host.align()
