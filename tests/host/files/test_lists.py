"""Streams of lists: joined by id, rescored, sorted, merged, read again, written."""

from __future__ import annotations

import gzip
import lzma
import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import smtplugins as smt
from smtformats import Candidates, FormatError
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.files.lists import as_stream, write_best
from smtplugins.host.files.opening import find_format
from smtplugins.host.host import Host

LIST = """\
0 ||| a house  ||| LM0= -2 TM0= -1 -3 ||| -1.5
0 ||| a home  ||| LM0= -1 TM0= -2 -2 ||| -2.50
1 ||| the house  ||| LM0= -4 TM0= -1 -1 ||| -0.5
"""
WEIGHTS = {"LM0": 1.0, "TM0[0]": 0.5, "TM0[1]": 0.25}

Files = Callable[..., str]


@pytest.fixture
def file(tmp_path: Path) -> Files:
    def write(text: str, name: str = "test.nbest") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


def ids(*numbers: int) -> str:
    return "".join(f"{number} ||| text {number} ||| LM0= 1 ||| 0\n" for number in numbers)


class TestJoining:
    def test_each_list_gets_its_line(self, file: Files) -> None:
        lists = smt.read(file(LIST), source=file("ein haus\ndas haus\n", "source"))
        assert [nbest.source for nbest in lists] == ["ein haus", "das haus"]
        assert [nbest.source for nbest in smt.read(file(LIST))] == [None, None]

    def test_annotations_join_by_name(self, host: Host, file: Files) -> None:
        sides = {"topic": file("news\nsport\n", "topic"), "year": file("1\n\n", "year")}
        lists = host.read(file(LIST), annotations=sides)
        assert [nbest.annotations for nbest in lists] == [
            {"topic": "news", "year": "1"},
            {"topic": "sport", "year": ""},
        ]

    @pytest.mark.parametrize(
        ("numbers", "lines", "message"),
        [
            ((0, 1, 2), 2, "test.nbest:3: field 1: expected an id below 2, as {s} has 2 lines .*, found id 2"),
            ((0,), 0, "test.nbest:1: field 1: expected an id below 0, as {s} has 0 lines .*, found id 0"),
            ((0, 1), 3, "{s}:3: field 1: expected lines for the ids 0 to 1 alone .*, found a line for id 2"),
            ((0, 2), 3, "test.nbest:2: field 1: expected a list for id 1, line 2 of {s} .*allow_partial.*found id 2"),
            ((1, 2), 3, "test.nbest:1: field 1: expected a list for id 0, line 1 of {s} .*, found id 1"),
            ((1, 2), 2, "test.nbest:1: field 1: expected a list for id 0, line 1 of {s} .*, found id 1"),
        ],
    )
    def test_ids_and_lines_correspond(self, file: Files, numbers: tuple[int, ...], lines: int, message: str) -> None:
        source = file("ein satz\n" * lines, "source")
        lists = smt.read(file(ids(*numbers)), source=source)
        with pytest.raises(FormatError, match=message.format(s=".*source")):
            list(lists)

    @pytest.mark.parametrize("numbers", [(0, 1), (1,), (0, 3), (2, 3)])
    def test_partial_lists_are_accepted_when_asked(self, file: Files, numbers: tuple[int, ...]) -> None:
        source = file("".join(f"satz {i}\n" for i in range(4)), "source")
        lists = smt.read(file(ids(*numbers)), source=source, allow_partial=True)
        assert [nbest.source for nbest in lists] == [f"satz {number}" for number in numbers]

    def test_partial_needs_a_line_for_each_list_still(self, file: Files) -> None:
        lists = smt.read(file(ids(0, 5)), source=file("ein satz\n", "source"), allow_partial=True)
        with pytest.raises(FormatError, match=r"expected an id below 1, as .*source has 1 lines"):
            list(lists)

    def test_standard_input_can_be_one_thing(self, host: Host, file: Files) -> None:
        with pytest.raises(UsageError, match="only one of lists, source and annotations can be read"):
            smt.read("-", source="-")
        with pytest.raises(UsageError, match="only one of lists, source and annotations can be read"):
            host.read(file(LIST), source="-", annotations={"topic": "-"})


class TestReadingAgain:
    def test_a_file_can_be_read_often(self, file: Files) -> None:
        lists = smt.read(file(LIST))
        assert [nbest.id for nbest in lists] == [nbest.id for nbest in lists] == ["0", "1"]

    def test_a_stream_that_is_never_read_leaves_no_file_open(self, file: Files) -> None:
        folder = "/proc/self/fd"
        if not os.path.isdir(folder):
            pytest.skip("needs /proc")
        path = file(LIST)
        kept = [smt.read(path) for _ in range(10)]
        opened = [
            os.readlink(f"{folder}/{entry}") for entry in os.listdir(folder) if os.path.exists(f"{folder}/{entry}")
        ]
        assert path not in opened
        assert len(kept) == 10

    def test_standard_input_can_be_read_once(self, file: Files, monkeypatch: pytest.MonkeyPatch) -> None:
        with open(file(LIST), encoding="utf-8") as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            lists = smt.read("-")
            assert len(list(lists)) == 2
            with pytest.raises(UsageError, match="a pipe can be read only once; write it to a file first"):
                list(lists)

    def test_a_named_pipe_can_be_read_once(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_text, args=(LIST,))
        writer.start()
        lists = smt.read(pipe)
        writer.join()
        assert len(list(lists)) == 2
        with pytest.raises(UsageError, match="pipe can be read only once"):
            list(lists)


class TestRescore:
    def test_totals_are_the_dot_product(self, file: Files) -> None:
        first, second = smt.read(file(LIST)).rescore(WEIGHTS)
        assert (first.texts, first.totals) == (["a home", "a house"], [-1 - 1 - 0.5, -2 - 0.5 - 0.75])
        assert second.totals == [-4 - 0.5 - 0.25]

    @given(
        st.lists(st.lists(st.floats(-100, 100, width=32), min_size=3, max_size=3), min_size=1, max_size=6),
        st.lists(st.sampled_from([0.0, 1.0, -2.0, 0.25]), min_size=3, max_size=3),
    )
    def test_totals_and_order_agree_with_plain_sums(self, rows: list[list[float]], weights: list[float]) -> None:
        names = ("b", "a", "c")
        columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
        nbest = smt.candidates([str(i) for i in range(len(rows))], scores=columns)
        (done,) = smt.rescore([nbest], dict(zip(names, weights, strict=True)))
        expected = [math.fsum(x * w for x, w in zip(row, weights, strict=True)) for row in rows]
        assert done.totals is not None
        for text, total in zip(done.texts, done.totals, strict=True):
            assert total == pytest.approx(expected[int(text)], rel=1e-12, abs=1e-9)
        keys = [(-total, int(text)) for text, total in zip(done.texts, done.totals, strict=True)]
        assert keys == sorted(keys), "equal totals keep their order"

    def test_weights_come_from_a_file(self, file: Files) -> None:
        weights = file("[weight]\nLM0= 1\nTM0= 0.5 0.25\n", "moses.ini")
        assert [nbest.totals for nbest in smt.read(file(LIST)).rescore(weights)] == [[-2.5, -3.25], [-4.75]]

    def test_lack_of_a_weight_is_an_error_with_its_remedy(self, file: Files) -> None:
        lists = smt.read(file(LIST)).rescore({"LM0": 1.0, "TM0[0]": 0.5})
        with pytest.raises(SmtError, match=r"test.nbest:1: feature 'TM0\[1\]' has no weight; missing=0"):
            list(lists)
        relaxed = smt.read(file(LIST)).rescore({"LM0": 1.0, "TM0[0]": 0.5}, missing=0.0)
        assert [nbest.totals for nbest in relaxed] == [[-2.0, -2.5], [-4.5]]

    def test_names_of_an_open_namespace_count_nothing_without_a_weight(self) -> None:
        nbest = smt.candidates(["a", "b"], scores={"w:a": [1.0, 0.0], "w:b": [0.0, 1.0]})
        assert [done.texts for done in smt.rescore([nbest], {"w:b": 2.0})] == [["b", "a"]]

    def test_weights_that_name_nothing_are_an_error(self, file: Files) -> None:
        lists = smt.read(file(LIST)).rescore({"lm": 1.0, "tm": 2.0}, missing=0.0)
        with pytest.raises(SmtError, match=r"test.nbest: none of the 2 weights names a feature of the lists"):
            list(lists)

    @pytest.mark.parametrize("value", [math.nan, math.inf])
    def test_weights_are_finite(self, file: Files, value: float) -> None:
        with pytest.raises(UsageError, match="weight of 'LM0': expected a finite number"):
            list(smt.read(file(LIST)).rescore({**WEIGHTS, "LM0": value}))
        with pytest.raises(UsageError, match="weight of features without one: expected a finite number"):
            list(smt.read(file(LIST)).rescore({"LM0": 1.0}, missing=value))


class TestDedup:
    def lists(self) -> list[Candidates]:
        return [smt.candidates(["a", "b", "a", "c", "b"], scores=[-1.0, -3.0, -0.5, -2.0, -3.0])]

    def test_max_keeps_the_best_at_the_place_of_the_first(self) -> None:
        host = smt.load_plugins()
        stream = host.score(self.lists(), ["length"])
        (nbest,) = stream.dedup()
        assert (nbest.texts, nbest.totals) == (["a", "b", "c"], [-0.5, -3.0, -2.0])
        assert nbest.values == [[-0.5, 1.0], [-3.0, 1.0], [-2.0, 1.0]]

    def test_logsum_adds_probabilities(self) -> None:
        (nbest,) = smt.rescore(self.lists(), {"score": 1.0}).dedup("logsum")
        assert nbest.texts == ["a", "c", "b"]
        expected = [math.log(math.exp(-1) + math.exp(-0.5)), -2.0, math.log(2) - 3.0]
        assert nbest.totals == pytest.approx(expected, rel=1e-12)

    def test_logsum_of_very_small_and_infinite_totals(self) -> None:
        nbest = smt.candidates(["a", "a", "b", "b"], scores=[-5000.0, -5000.0, -math.inf, -math.inf])
        (done,) = as_stream([nbest]).dedup("logsum")
        assert done.totals is not None
        assert done.totals[0] == pytest.approx(math.log(2) - 5000)
        assert done.totals[1] == -math.inf

    def test_lists_without_totals_keep_the_first(self) -> None:
        (nbest,) = as_stream([smt.candidates(["a", "b", "a"])]).dedup()
        assert (nbest.texts, nbest.totals) == (["a", "b"], None)

    def test_other_words_for_merging_are_refused(self, file: Files) -> None:
        with pytest.raises(UsageError, match="merge: expected max or logsum, found 'sum'"):
            smt.read(file(LIST)).dedup("sum")  # type: ignore[arg-type]


class TestBest:
    def test_highest_total_wins_first_of_equals(self) -> None:
        lists = [
            smt.candidates(["a", "b", "c"], id=0, scores=[-2.0, -1.0, -1.0]),
            smt.candidates(["d", "e"], id=1),
        ]
        assert as_stream(lists).best() == ["b", "d"]

    def test_write_best_counts_ids_without_a_list(self, file: Files, tmp_path: Path) -> None:
        lists = smt.read(file(ids(1, 2, 5)))
        out = tmp_path / "best.txt"
        assert write_best(lists, out) == 3
        assert out.read_text() == "text 1\ntext 2\ntext 5\n"
        assert write_best(lists, out, fill=True) == 3
        assert out.read_text() == "\ntext 1\ntext 2\n\n\ntext 5\n"
        assert out.read_text().split("\n")[5] == "text 5"


class TestWriting:
    def test_untouched_lists_are_the_same_bytes(self, file: Files, tmp_path: Path) -> None:
        path = file(LIST)
        assert smt.read(path).write(tmp_path / "out") == 2
        assert (tmp_path / "out").read_text() == LIST

    def test_other_format_by_short_name(self, file: Files, tmp_path: Path) -> None:
        smt.read(file(LIST)).write(tmp_path / "out", "cdec", precision=3)
        assert (tmp_path / "out").read_text().splitlines()[0] == "0 ||| a house ||| LM0=-2 TM0[0]=-1 TM0[1]=-3 ||| -1.5"

    def test_lists_made_here_need_a_format(self, tmp_path: Path) -> None:
        lists = smt.rescore([smt.candidates(["a"], scores=[1.0])], {"score": 1.0})
        with pytest.raises(UsageError, match=r"choose a writable format: .*moses-nbest"):
            lists.write(tmp_path / "out")
        lists.write(tmp_path / "out", "moses")
        assert (tmp_path / "out").read_text() == "0 ||| a  ||| score= 1 ||| 1\n"


class TestMadeHere:
    def test_scores_are_totals_or_named(self) -> None:
        nbest = smt.candidates(["a", "b"], id=3, scores=[1, 2], source="x")
        assert (nbest.id, nbest.layouts, nbest.values) == ("3", [("score",)] * 2, [[1.0], [2.0]])
        assert (nbest.totals, nbest.source) == ([1.0, 2.0], "x")
        named = smt.candidates(["a"], scores={"p": [1], "q": [2]})
        assert (named.layouts, named.values, named.totals) == ([("p", "q")], [[1.0, 2.0]], None)
        assert smt.candidates(["a"]).names() == ()

    def test_every_text_has_a_score(self) -> None:
        with pytest.raises(ValueError, match="expected 2 values of 'p', found 1"):
            smt.candidates(["a", "b"], scores={"p": [1]})

    def test_hypotheses_are_numbered_on_through_several_lists(self) -> None:
        lists = [smt.candidates(["a", "b"], id=0), smt.candidates(["c"], id=1)]
        assert [nbest.first for nbest in as_stream(lists)] == [0, 2]


class TestLoading:
    def test_load_gives_columns(self, file: Files) -> None:
        columns = smt.load(file(LIST), source=file("x\ny\n", "source"))
        assert (columns.ids, columns.texts[:]) == (("0", "1"), ["a house", "a home", "the house"])
        assert columns.sources == ("x", "y")
        assert columns.features.names == ("LM0", "TM0[0]", "TM0[1]")
        assert columns.totals is not None
        assert columns.totals.tolist() == [-1.5, -2.5, -0.5]
        assert smt.rescore(columns, WEIGHTS).best() == ["a home", "the house"]

    def test_files_are_scanned_where_the_format_can(self, file: Files, monkeypatch: pytest.MonkeyPatch) -> None:
        def parse(lines: object) -> Iterator[Candidates]:
            raise AssertionError("it was parsed")

        record = find_format("moses", "nbest")
        known = (replace(record, parse=parse), find_format("text"))
        monkeypatch.setattr("smtformats.formats_of", lambda kind: [fmt for fmt in known if fmt.kind == kind])
        path, source = file(LIST), file("x\ny\n", "source")
        assert smt.load(path).sources == (None, None)
        assert smt.read(path, source=source).load().sources == ("x", "y")
        with pytest.raises(AssertionError, match="it was parsed"):
            smt.read(path).map(lambda nbest: nbest).load()

    @pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bytes])
    def test_compressed_files(self, tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
        (tmp_path / "lists").write_bytes(pack(LIST.encode()))
        assert smt.load(tmp_path / "lists").texts[:] == ["a house", "a home", "the house"]

    def test_limits_are_those_of_the_format(self, file: Files, tmp_path: Path) -> None:
        with pytest.raises(FormatError, match=r"nbest:1: field 1: expected a line of at most 20 bytes, found a longer"):
            smt.load(file(LIST), format="moses,max_line=20")
        (tmp_path / "x.gz").write_bytes(gzip.compress(LIST.encode() * 10))
        with pytest.raises(FormatError, match=r"x.gz:1: .*more than 500 bytes, decompressed"):
            smt.load(tmp_path / "x.gz", format="moses,max_size=500")

    def test_ids_and_lines_correspond(self, file: Files) -> None:
        for numbers, lines in (((0, 1, 2), 2), ((0,), 0), ((0, 1), 3), ((0, 2), 3), ((1, 2), 3)):
            path, source = file(ids(*numbers)), file("ein satz\n" * lines, "source")
            with pytest.raises(FormatError) as streamed:
                list(smt.read(path, source=source))
            with pytest.raises(FormatError) as loaded:
                smt.load(path, source=source)
            assert str(loaded.value) == str(streamed.value)
        partial = smt.read(file(ids(1, 3)), source=file("a\nb\nc\nd\ne\n", "source"), allow_partial=True)
        assert partial.load().sources == ("b", "d")

    def test_annotations_come_along(self, host: Host, file: Files) -> None:
        columns = host.read(file(LIST), annotations={"topic": file("news\nsport\n", "topic")}).load()
        assert [nbest["topic"] for nbest in columns.annotations] == ["news", "sport"]

    def test_lists_of_another_format_and_made_here(self, file: Files) -> None:
        columns = smt.load(file("0 ||| a ||| F0= -1 ||| -1\n"))
        assert (columns.texts[:], columns.features.names) == (["a"], ("F0",))
        made = as_stream([smt.candidates(["b"], scores=[1.0])]).load()
        assert (made.texts[:], made.file) == (["b"], "")


def test_best_of_one_line_each(tmp_path: Path) -> None:
    lists = as_stream([smt.candidates(["a\nb"], scores=[1.0])])
    with pytest.raises(SmtError, match="expected single-line texts, found a line break in the text of id 0"):
        write_best(lists, tmp_path / "out")
    assert not (tmp_path / "out").exists()
