"""Opening and writing by format: names, options, limits, folders of files and folder formats."""

from __future__ import annotations

import gzip
import math
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

import pytest

import smtplugins as smt
from smtformats import Format, FormatError, all_formats
from smtformats.files import Lines
from smtplugins.contracts.errors import PluginError, UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.files.opening import find_format, format_options, number, open_known, write_all


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("mosess-nbest", "nbest", "unknown format 'mosess-nbest'; did you mean 'moses-nbest'"),
        (
            "moses-ini",
            "nbest",
            "format 'moses-ini' is of kind weights, expected nbest: cdec-mira-nbest, cdec-nbest",
        ),
        (
            "zzz",
            "weights",
            "unknown format 'zzz'; known: cdec-weights, joshua-config, moses-hypergraph-weights",
        ),
    ],
)
def test_wrong_format_names_the_fitting(name: str, kind: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_format(name, kind)


def test_short_names_mean_the_kind_at_hand() -> None:
    assert find_format("text", "nbest").name == "text-nbest"
    assert find_format("text").name == "text"
    assert find_format("moses-nbest", "nbest") is find_format("moses", "nbest")


def test_options_may_come_as_values() -> None:
    # A name with a comma needs no quotes here.
    record = find_format(Spec("plf-lattice", {"name": "a,b", "text": False}))
    assert record.parse is not None
    assert record.parse.keywords == {"name": "a,b", "text": False}  # type: ignore[attr-defined]
    assert find_format("cdec-json").name == "cdec-json-hypergraph"
    with pytest.raises(UsageError, match="unknown format 'moses'"):
        find_format("moses")


def test_options_of_a_format_reach_its_functions(tmp_path: Path) -> None:
    def parse(lines: Lines, *, column: int = 0, flag: bool = False) -> Iterator[tuple[str, bool]]:
        for line in lines:
            yield line.split()[column], flag

    columns = Format(name="columns", kind="words", summary="a column of words", parse=parse)
    assert list(format_options(columns)) == ["column", "flag"]
    (tmp_path / "file").write_text("a b\nc d\n")
    for name, expected in (("columns", ["a", "c"]), ("columns,column=1", ["b", "d"])):
        opened = open_known(tmp_path / "file", "words", name, [columns])
        assert list(opened.records()) == [(word, False) for word in expected]
    with pytest.raises(UsageError, match=r"format 'columns' has no option 'colum'; did you mean 'column'"):
        find_format("columns,colum=1", None, [columns])
    with pytest.raises(UsageError, match=r"format 'columns': column: expected a whole number, found 'x'"):
        find_format("columns,column=x", None, [columns])


def test_a_format_that_loads_has_the_options_of_its_parser() -> None:
    def parse(lines: Lines, *, column: int = 0) -> Iterator[str]:
        yield from ()

    def load(stream: BinaryIO, name: str) -> Any:
        raise NotImplementedError

    columns = Format(name="columns", kind="words", summary="a column of words", parse=parse, load=load)
    with pytest.raises(PluginError, match="expected `load` to have the options of `parse`, it lacks 'column'"):
        find_format("columns,column=1", None, [columns])


@pytest.mark.parametrize("fmt", all_formats(), ids=lambda fmt: fmt.name)
def test_options_have_types(fmt: Format) -> None:
    assert not [name for name, option in format_options(fmt).items() if isinstance(option.annotation, str)]


@pytest.mark.parametrize("limit", ["max_line", "max_size"])
@pytest.mark.parametrize("value", [0, -1])
def test_limits_let_something_through(limit: str, value: int) -> None:
    with pytest.raises(UsageError, match=f"^format 'text': {limit}: expected at least 1 byte, found {value}$"):
        find_format(f"text,{limit}={value}")


def test_numbers_read_back_or_have_the_digits_asked_for() -> None:
    assert number(None)(0.1 + 0.2) == "0.30000000000000004"
    assert number(None)(2.0) == "2"
    assert number(3)(math.pi) == "3.14"
    for wrong in (0, 18):
        with pytest.raises(UsageError, match=f"precision: expected 1 to 17 significant digits, found {wrong}"):
            number(wrong)


class Note(NamedTuple):
    id: str
    text: str


def parse_note(lines: Lines) -> Iterator[Note]:
    yield Note(Path(lines.name).name.split(".")[0], "".join(lines))


def write_note(records: Iterable[Note], out: TextIO, number: Any) -> int:
    return sum(out.write(note.text) > 0 for note in records)


def parse_box(path: Path) -> Iterator[list[str]]:
    yield sorted(path.name for path in path.iterdir())


NOTE = Format(
    name="note-kind",
    kind="kind",
    summary="",
    matches=lambda head: head.startswith(b"note"),
    parse=parse_note,
    write=write_note,
    suffixes=(".note.gz",),
    single=True,
)
OTHER = Format(name="other-kind", kind="kind", summary="", matches=lambda head: head[:1] == b"o", parse=parse_note)
SECOND = Format(
    name="second-kind", kind="kind", summary="", matches=lambda head: head[:1] == b"s", parse=parse_note, single=True
)
BOX = Format(
    name="box-kind", kind="kind", summary="", matches=lambda names: b"lid\n" in names, parse=parse_box, folder=True
)
KNOWN = [NOTE, OTHER, SECOND, BOX]


class TestFolders:
    def test_files_in_the_order_of_their_numbers(self, tmp_path: Path) -> None:
        for name in ("10", "9", "2.b"):
            (tmp_path / name).write_text(f"note {name}")
        (tmp_path / "weights").write_text("LM0 1")
        (tmp_path / ".hidden").write_text("?")
        (tmp_path / "inner").mkdir()
        opened = open_known(tmp_path, None, None, KNOWN)
        assert opened.record is NOTE
        assert list(opened.records()) == [("2", "note 2.b"), ("9", "note 9"), ("10", "note 10")]
        assert [note.id for note in opened.again().records()] == ["2", "9", "10"]

    def test_formats_are_not_mixed_unless_one_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "0.a").write_text("note")
        (tmp_path / "0.b").write_text("second")
        with pytest.raises(FormatError) as caught:
            open_known(tmp_path, "kind", None, KNOWN)
        assert str(caught.value) == (
            f"{tmp_path}/0.b:1: field 1: expected one format in a folder, note-kind as in its first file "
            "(format names one), found second-kind"
        )
        assert [note.text for note in open_known(tmp_path, "kind", "second", KNOWN).records()] == ["second"]

    def test_a_folder_that_is_one_thing(self, tmp_path: Path) -> None:
        (tmp_path / "lid").write_text("")
        for name in (None, "box"):
            assert list(open_known(tmp_path, "kind", name, KNOWN).records()) == [["lid"]]
        with pytest.raises(UsageError, match=r"'box-kind': expected a folder, found the file .*lid"):
            open_known(tmp_path / "lid", "kind", "box", KNOWN)
        with pytest.raises(UsageError, match="format 'other-kind': expected a file, found the folder"):
            open_known(tmp_path, "kind", "other", KNOWN)

    def test_nothing_in_it(self, tmp_path: Path) -> None:
        for name in (None, "note"):
            with pytest.raises(FormatError, match="expected files of a sentence each, or a packed grammar, found none"):
                open_known(tmp_path, "kind", name, KNOWN)

    def test_lines_are_those_of_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "lid").write_text("")
        with pytest.raises(IsADirectoryError, match="expected a file, found a folder"):
            open_known(tmp_path, None, None, KNOWN).lines()


class TestWritingFolders:
    def test_a_file_for_each_sentence(self, tmp_path: Path) -> None:
        assert write_all(NOTE, [Note("0", "a"), Note("1", "b")], f"{tmp_path}/out/") == 2
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["0.note.gz", "1.note.gz"]
        assert gzip.decompress((tmp_path / "out/1.note.gz").read_bytes()) == b"b"

    def test_a_file_holds_one(self, tmp_path: Path) -> None:
        assert write_all(NOTE, [Note("0", "a")], tmp_path / "one") == 1
        with pytest.raises(UsageError, match="note-kind holds one sentence per file: write to a folder, such as out"):
            write_all(NOTE, [Note("0", "a"), Note("1", "b")], tmp_path / "two")
        assert [path.name for path in tmp_path.iterdir()] == ["one"]

    def test_nothing_is_written_before_a_second_is_found(self, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        with pytest.raises(UsageError, match="note-kind holds one sentence per file"):
            write_all(NOTE, [Note("0", "a"), Note("1", "b")], "-")
        assert capfdbinary.readouterr().out == b""

    @pytest.mark.parametrize("ids", [("0", "0"), ("../0",), (".x",)])
    def test_ids_name_files(self, tmp_path: Path, ids: tuple[str, ...]) -> None:
        with pytest.raises(UsageError, match=f"expected distinct ids that are valid file names, found '{ids[-1]}'"):
            write_all(NOTE, [Note(key, "a") for key in ids], tmp_path)


class TestLimits:
    def test_longest_line(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("o\n" + "o" * 40)
        with pytest.raises(FormatError, match="file:2: field 1: expected a line of at most 20 bytes"):
            list(open_known(tmp_path / "file", None, "other-kind,max_line=20", KNOWN).records())

    def test_decompressed_size(self, tmp_path: Path) -> None:
        (tmp_path / "file.gz").write_bytes(gzip.compress(b"o\n" * 1_000_000))
        message = r"found more than 1000000 bytes, decompressed \(the option max_size sets the limit\)"
        with pytest.raises(FormatError, match=message):
            list(open_known(tmp_path / "file.gz", None, "other-kind,max_size=1000000", KNOWN).records())


def test_grammars_are_kept_in_the_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, cache = tmp_path / "rules", tmp_path / "cache"
    path.write_text("[X] ||| haus ||| house ||| F=0.5 ||| 0-0\n")
    os.utime(path, (1, 1))
    monkeypatch.setenv("SMT_CACHE", str(cache))
    time.sleep(0.03)  # a file changed a moment ago is not kept
    for _ in range(2):
        columns = smt.load_grammar(path)
        assert columns.rule(0).features() == {"F": 0.5}
        assert len(list(cache.iterdir())) == 1
    assert smt.load_grammar(path, cache="off").rule(0).target == ("house",)
    with pytest.raises(UsageError, match="format 'moses-nbest' is of kind nbest, expected grammar"):
        smt.load_grammar(path, format="moses-nbest")
    path.write_text("[X] ||| haus ||| home ||| F=0.5 ||| 0-0\n")
    assert smt.load_grammar(path).rule(0).target == ("home",)


@pytest.mark.shared
def test_packed_grammars_are_loaded_from_their_folder(shared: Path) -> None:
    folder = shared / "gold/joshua/num_translation_options"
    packed, text = (smt.load_grammar(folder / name, cache="off") for name in ("grammar.packed", "grammar.gz"))
    assert len(packed) == len(text) == 5


def test_an_option_that_is_needed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a\nb\n")
    with pytest.raises(UsageError, match=r"format 'lines' needs its option n: lines,n=\.\.\."):
        open_known(tmp_path / "file", "nbest", "lines")
    assert len(list(open_known(tmp_path / "file", "nbest", "lines,n=1").records())) == 2
