"""Joining texts and lists by id, in any order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import smtplugins as smt
from smtformats import FormatError
from smtplugins.contracts.errors import SmtError
from smtplugins.host.files.joining import Joined, Texts, by_line, find_places, references_of, texts_of

IDS = ["seg-2", "seg-0", "seg-1"]


def of(ids: list[str] | None, name: str = "x", texts: list[str | None] | None = None) -> Texts:
    listed = texts or [f"text {key}" for key in ids or ["0", "1", "2"]]
    return Texts(listed, name, ids is not None, [i + 1 for i in range(len(listed))] if ids else (), ids)


def lines(path: Path, *rows: object) -> str:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)


def test_any_order() -> None:
    first, second = of(IDS), of(sorted(IDS), "y")
    joined = Joined([first, second])
    assert joined.streams[0].texts == joined.streams[1].texts == [f"text {key}" for key in IDS]
    assert [joined.place(key, "here") for key in sorted(IDS)] == [1, 2, 0]
    assert joined.streams[1].place(0) == "y:3"
    numbers = Joined([of(["10", "9"]), of(["9", "10"], "y")])
    assert numbers.streams[0].texts == ["text 9", "text 10"]
    assert numbers.place("09", "here") == 0


def test_numbers_are_lines_of_a_text() -> None:
    joined = Joined([of(None), of(["1", "0", "2"], "y")])
    assert joined.streams[0].texts == joined.streams[1].texts == ["text 0", "text 1", "text 2"]
    assert Joined([of(None)]).place("2", "here") == 2
    for key in ("3", "12345678901234567890", "\u00b2"):
        with pytest.raises(SmtError, match=r"^here: expected "):
            Joined([of(None)]).place(key, "here")


def test_ids_that_a_text_has_not() -> None:
    message = "expected line numbers of plain as ids, found 'seg-[02]': a text has no other ids; use a file that"
    with pytest.raises(SmtError, match=f"^here: {message}"):
        Joined([of(None, "plain")]).place("seg-0", "here")
    with pytest.raises(SmtError, match=f"^y:1: {message}"):
        Joined([of(None, "plain"), of(IDS, "y")])


def test_what_lacks_is_named() -> None:
    joined = Joined([of(IDS), of(IDS[:2], "y")])
    with pytest.raises(SmtError, match=r"^here: expected an id of y, found 'seg-1'$"):
        joined.place("seg-1", "here")
    with pytest.raises(
        SmtError, match=r"^lists: expected a list for id seg-0 \(x:2\), found none; allow_partial=True goes"
    ):
        joined.check_complete("lists", {0}, "goes on")
    assert joined.streams[1].lacks(2, joined.streams[0]) == "y: expected id seg-1 (x:3), found none"
    with pytest.raises(SmtError, match=r"^l:3: expected each id once, found 01 again \(first at l:1\)$"):
        find_places([("1", "l:1"), ("2", "l:2"), ("01", "l:3")], Joined([of(None)]))


def test_without_texts_every_id_has_a_place() -> None:
    joined = Joined([])
    assert [joined.place(key, "") for key in ("b", "7", "07", "a")] == [0, 1, 1, 2]


def test_files_with_ids(tmp_path: Path) -> None:
    rows = [{"id": key, "source": f"s {key}", "references": [f"a {key}", f"b {key}"]} for key in IDS]
    both = lines(tmp_path / "both", *rows)
    first, second = references_of([both])
    assert (list(first.texts), list(second.texts)) == ([f"a {key}" for key in IDS], [f"b {key}" for key in IDS])
    assert list(texts_of(both, role="source").texts) == [f"s {key}" for key in IDS]
    table = lines(tmp_path / "table", *(f"{key}\tthe text of {key}" for key in IDS))
    for role in ("system", "reference", "source"):
        assert list(texts_of(table, role=role).texts) == [f"the text of {key}" for key in IDS]  # type: ignore[arg-type]
    cdec = lines(tmp_path / "cdec", "das haus ||| a house ||| the house", '<seg id="7">ein hut</seg> ||| a hat ||| hat')
    assert [(texts.ids, list(texts.texts)) for texts in references_of([cdec])] == [
        (["0", "7"], ["a house", "a hat"]),
        (["0", "7"], ["the house", "hat"]),
    ]
    for path, role, message in (
        (both, "system", "both:1: expected a text that may be a translation, found a source and references"),
        (lines(tmp_path / "refs", {"ref": "a"}), "source", "refs:1: expected a source, found a reference"),
        (lines(tmp_path / "src", {"source": "a"}), "reference", "src:1: expected a reference, found a source"),
        (lines(tmp_path / "pair", "ein haus\ta house"), "system", "pair:1: expected a text that may be"),
    ):
        with pytest.raises(FormatError, match=message):
            texts_of(path, role=role)  # type: ignore[arg-type]


def test_documents(tmp_path: Path) -> None:
    segment = '<{0}><doc docid="d" sysid="{1}"><seg id="a">{1} text</seg></doc></{0}>'
    path = lines(tmp_path / "one.sgm", segment.format("refset", "r1"))
    assert [(ref.ids, list(ref.texts)) for ref in references_of([path])] == [(["0"], ["r1 text"])]
    two = lines(tmp_path / "two.sgm", segment.format("refset", "r1"), segment.format("tstset", "s1"))
    with pytest.raises(FormatError, match=r"two.sgm:1: expected one text of each segment \(.*sysid=NAME.*, found 2"):
        references_of([two])


def test_lists_as_texts() -> None:
    lists = [smt.candidates(["a", "b"], id=key, scores=[0.0, 1.0]) for key in IDS]
    texts = texts_of(lists)
    assert (list(texts.texts), texts.ids) == (["b"] * 3, IDS)
    with pytest.raises(SmtError, match=r"<lists>: expected each id once, found seg-2 again \(first at <lists>\)"):
        texts_of([*lists, lists[0]])


def test_references_of_numbered_sentences() -> None:
    assert [texts.texts for texts in by_line([of(["1", "0"])])] == [["text 0", "text 1"]]
    assert by_line([]) == []
    with pytest.raises(SmtError, match="x:1: expected ids that are the numbers from 0 on, found '1' in place of 0"):
        by_line([of(["1", "2"])])
    with pytest.raises(SmtError, match="y:2: expected a sentence for id 1"):
        by_line([of(None), of(None, "y", ["a"])])


def test_tables_are_no_sentences(tmp_path: Path) -> None:
    scored = lines(tmp_path / "scored", "a house\t-1", "the man\t-2")
    for read in (texts_of, lambda path: references_of([path])):
        with pytest.raises(FormatError, match="scored:1: expected sentences without tabs, or a file that carries ids"):
            read(scored)
    named = lines(tmp_path / "named", "seg\thyp\tscore", "0\ta house\t-1")
    with pytest.raises(FormatError, match=r"smt convert --from tsv-nbest,id=seg,text=hyp,total=score reads others"):
        texts_of(named)
    assert texts_of(lines(tmp_path / "some", "a house\t-1", "the man")).texts == ["a house\t-1", "the man"]


def test_special_tokens_around_all_translations(tmp_path: Path) -> None:
    for rows in (["", "a house</s>", "<pad> the man</s>"], ["0 ||| a house </s> ||| F0= -1 ||| -1"]):
        with pytest.raises(SmtError, match="expected translations, found special tokens or a code fence around each"):
            texts_of(lines(tmp_path / "all", *rows))
    assert texts_of(lines(tmp_path / "some", "a house</s>", "the man")).texts == ["a house</s>", "the man"]
    kept = lines(tmp_path / "kept.jsonl", '{"hypotheses": ["a house</s>"]}')
    assert texts_of(kept, format="jsonl-nbest,wrapping=keep").texts == ["a house</s>"]


def test_thoughts_are_no_translations(tmp_path: Path) -> None:
    text = lines(tmp_path / "text", "a house", "<think>hm</think> the man")
    with pytest.raises(SmtError, match="text:2: expected a translation, found thoughts, '<think>hm</think> the man'"):
        texts_of(text)
    moses = lines(tmp_path / "moses", "0 ||| hm </think> a house ||| F0= -1 ||| -1")
    with pytest.raises(SmtError, match="moses:1: expected a translation, found thoughts"):
        texts_of(moses)
    assert references_of([text])[0].texts[1] == "<think>hm</think> the man"
    assert texts_of(lines(tmp_path / "other", "a <b> [c]")).texts == ["a <b> [c]"]
