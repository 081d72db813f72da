"""Sources and annotations for lists in any order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import smtplugins as smt
from smtformats import FormatError
from smtplugins.contracts.errors import SmtError
from smtplugins.host.files.sides import _Lines, open_side
from smtplugins.host.host import Host


def lists(path: Path, *ids: object) -> Path:
    path.write_text("".join(json.dumps({"id": key, "nbest": [f"of {key}"]}) + "\n" for key in ids))
    return path


def test_ids_in_any_order_get_their_lines(host: Host, tmp_path: Path) -> None:
    (tmp_path / "src").write_text("s0\ns1\ns2\n")
    joined = host.read(lists(tmp_path / "l", 2, 0, 1), source=tmp_path / "src", annotations={"topic": tmp_path / "src"})
    for _ in range(2):
        assert [(nbest.id, nbest.source, nbest.annotations["topic"]) for nbest in joined] == [
            ("2", "s2", "s2"),
            ("0", "s0", "s0"),
            ("1", "s1", "s1"),
        ]
    partial = smt.read(lists(tmp_path / "l", 2, 0), source=tmp_path / "src", allow_partial=True)
    assert [nbest.source for nbest in partial] == ["s2", "s0"]
    with pytest.raises(SmtError, match=r"l: expected a list for id 1, line 2 of .*src, found none; allow_partial=True"):
        list(smt.read(tmp_path / "l", source=tmp_path / "src"))
    with pytest.raises(SmtError, match=r"l:2: expected an id below 3, as .*src has 3 lines .*, found '3'"):
        list(smt.read(lists(tmp_path / "l", 0, 3), source=tmp_path / "src"))


def test_sources_with_ids(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.write_text('{"id": "b", "source": "sb"}\n{"id": "a", "source": "sa"}\n')
    path = lists(tmp_path / "l", "a", "b")
    assert [nbest.source for nbest in smt.read(path, source=source)] == ["sa", "sb"]
    assert smt.load(path, source=source).sources == ("sa", "sb")
    with pytest.raises(SmtError, match=r"l: expected a list for id b \(.*src:1\), found none; allow_partial=True"):
        list(smt.read(lists(tmp_path / "l", "a"), source=source))
    source.write_text("s0\n")
    with pytest.raises(
        SmtError, match=r"l:1: expected line numbers of .*src as ids, found 'a': a text has no other ids"
    ):
        list(smt.read(tmp_path / "l", source=source))
    (tmp_path / "m").write_text("7 ||| a ||| F0= 1 ||| 0\n")
    source.write_text("id\tsource\n7\tein haus\n")
    assert [nbest.source for nbest in smt.read(tmp_path / "m", source=source)] == ["ein haus"]
    assert smt.load(tmp_path / "m", source=source).sources == ("ein haus",)


def test_lines_go_by_once(tmp_path: Path) -> None:
    (tmp_path / "src").write_text("a\nb\n")
    with open_side(tmp_path / "src", False, True, True) as side:
        assert isinstance(side, _Lines)
        assert side.text_of("1", "x", 1) == "b"
        with pytest.raises(
            FormatError, match=r"x:2: field 1: expected a line number of .*src as id, 1 or more, found '0'"
        ):
            side.text_of("0", "x", 2)


def test_json_is_no_source(tmp_path: Path) -> None:
    (tmp_path / "src").write_text('{"messages": []}\n')
    with pytest.raises(
        FormatError, match=r"src:1: field 1: expected .* or plain text, found JSON objects with messages"
    ):
        list(smt.read(lists(tmp_path / "l", 0), source=tmp_path / "src"))
    # A tab in an annotation is part of it.
    (tmp_path / "topic").write_text("seg-1\tnews\n")
    (nbest,) = smt.load_plugins().read(tmp_path / "l", annotations={"topic": tmp_path / "topic"})
    assert nbest.annotations == {"topic": "seg-1\tnews"}
