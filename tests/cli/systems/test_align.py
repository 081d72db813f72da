"""``smt align``: alignments of a text and from files."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]

FORWARD = "0-0 1-1\n\n0-0 1-1 2-3 3-2\n"
BACKWARD = "0-0 1-2\n1-0\n0-0 2-3\n"


@pytest.fixture
def text() -> None:
    Path("de").write_text("das haus\ndas buch\nein buch\n\nein haus\n" * 4)
    Path("en.gz").write_bytes(gzip.compress(b"the house\nthe book\na book\n\na house\n" * 4))


@pytest.mark.usefixtures("text", "aligners")
def test_text(smt: Smt) -> None:
    result = smt("align", "-s", "de", "-t", "en.gz", "--model", "ibm1", "--iterations", 10, "-o", "out.gz")
    assert (result.code, result.out) == (0, "")
    assert result.err == "smt: note: 4 sentence pairs with an empty side: no links\n"
    assert gzip.decompress(Path("out.gz").read_bytes()).decode() == "0-0 1-1\n0-0 1-1\n0-0 1-1\n\n0-0 1-1\n" * 4


@pytest.mark.usefixtures("text", "aligners")
def test_two_jobs_and_directions_kept(start: Callable[..., Any]) -> None:
    outputs = []
    for jobs in (1, 2):
        keep = ("--keep-forward", f"f{jobs}", "--keep-backward", f"b{jobs}.gz")
        process = start("align", "-q", "-s", "de", "-t", "en.gz", "--model", "hmm", "-j", jobs, *keep)
        out, err = process.communicate()
        assert (process.returncode, err) == (0, b"")
        kept = Path(f"f{jobs}").read_bytes(), gzip.decompress(Path(f"b{jobs}.gz").read_bytes())
        outputs.append((out, kept))
    assert outputs[0] == outputs[1]
    process = start("align", "--forward", "f1", "--backward", "b1.gz")
    assert process.communicate() == (outputs[0][0], b"")


def test_files_of_both_directions(smt: Smt) -> None:
    Path("f").write_text(FORWARD)
    Path("b").write_text(BACKWARD)
    options = ("align", "--forward", "f", "--backward", "b", "--heuristic")
    assert smt(*options, "intersection").ok() == "0-0\n\n0-0 2-3\n"
    assert smt(*options, "union").ok() == "0-0 1-1 1-2\n1-0\n0-0 1-1 2-3 3-2\n"
    assert smt(*options, "grow-diag-final-and").ok() == "0-0 1-1 1-2\n1-0\n0-0 1-1 2-3 3-2\n"
    assert smt(*options, "forward").ok() == FORWARD
    assert smt("align", "--forward", "-", "--backward", "b", "--heuristic", "backward", stdin=FORWARD).ok() == BACKWARD


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("-s", "de", "-t", "one"), 1, "one:2: expected a line for line 2 of de, found the end of the file"),
        (("-s", "one", "-t", "de"), 1, "de:2: expected 1 lines, as one has, found more"),
        (("-s", "none", "-t", "none"), 1, "none:1: expected a sentence on each line, found an empty file"),
        (("--forward", "f", "--backward", "one"), 1, "one:1: field 1: expected the shape of one of bal-alignment"),
        (("-s", "de"), 2, "expected both --source and --target, found one of them"),
        (("-s", "de", "-t", "de", "--to", "bal"), 2, "bal-alignment can only be read; name another format with --to"),
    ],
)
@pytest.mark.usefixtures("text")
def test_mistakes(smt: Smt, options: tuple[str, ...], code: int, message: str) -> None:
    Path("f").write_text(FORWARD)
    Path("one").write_text("a\n")
    Path("none").write_text("")
    result = smt("align", *options, "-o", "out")
    assert result.code == code and result.err.startswith(f"smt: {message}")
    assert not Path("out").exists()
