"""What all grammars of lines share: compressed files, spoilt ones, rules written as they come."""

from __future__ import annotations

import bz2
import gzip
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from smtformats import FormatError, open_bytes
from smtformats.format import shortest
from smtformats.grammar import homework, joshua, moses_phrases, moses_rules
from smtformats.grammar.rules import Rule
from tests.formats.grammar.faces import Faces

EVERY = [Faces(module) for module in (homework, joshua, moses_phrases, moses_rules)]
each = pytest.mark.parametrize("faces", EVERY, ids=[faces.format.name for faces in EVERY])


@each
def test_the_example(faces: Faces) -> None:
    rule = faces.rule(faces.format.example)
    assert rule.origin == faces.format.name
    assert faces.written([rule]) == faces.format.example


@each
def test_compressed(faces: Faces, tmp_path: Path) -> None:
    text = faces.format.example.encode() * 3000
    load = faces.format.load
    assert load is not None
    members = gzip.compress(text[:100007]) + gzip.compress(text[100007:]) + b"\0" * 99
    assert len(load(io.BytesIO(members), "x")) == 3000
    path = tmp_path / "x.bz2"
    path.write_bytes(bz2.compress(text))
    with open_bytes(path) as stream:
        assert len(load(stream, "x")) == 3000


@each
@pytest.mark.parametrize("spoil", ["cut", "checksum", "behind"])
def test_spoilt_compression(faces: Faces, spoil: str) -> None:
    data = bytearray(gzip.compress(faces.format.example.encode() * 1000))
    if spoil == "cut":
        del data[-20:]
    elif spoil == "checksum":
        data[-6] ^= 1
    else:
        data += b"more"
    assert faces.format.load is not None
    with pytest.raises(FormatError, match=r"x:\d+: field 1: expected a complete compressed file, found "):
        faces.format.load(io.BytesIO(data), "x")


@each
def test_rules_are_written_as_they_come(faces: Faces) -> None:
    out = io.StringIO()
    rule = faces.rule(faces.format.example)
    bare = rule.with_features(rule.names, rule.values)

    def rules() -> Iterator[Rule]:
        yield rule
        assert out.getvalue() == faces.format.example
        yield bare
        assert out.getvalue().count("\n") == 2

    assert faces.format.write is not None
    assert faces.format.write(rules(), out, shortest) == 2
    assert faces.format.write([], out, shortest) == 0


@each
def test_numbers_are_printed_by_the_one_given(faces: Faces) -> None:
    rule = faces.rule(faces.format.example)
    rule = rule.with_features(rule.names, rule.values)
    out = io.StringIO()
    assert faces.format.write is not None
    assert faces.format.write([rule], out, lambda value: f"{value:.5f}") == 1
    again = faces.rule(out.getvalue())
    assert again.values == pytest.approx(rule.values, abs=1e-4)
    assert again.counts == rule.counts
    printed = re.findall(r"[0-9]\.[0-9]*", out.getvalue())
    assert printed
    assert all(len(text) == 7 for text in printed)
