"""Conversion between formats of a kind, and updates of weights inside files."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtformats import FormatError
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.files.conversion import convert, output_format, update
from smtplugins.host.files.opening import find_format
from smtplugins.host.host import Host

MOSES = """\
0 ||| a house  ||| LM0= -2 TM0= -1.50 -3 ||| -1.5 ||| 0-1=0-1 ||| 0-0 1-1 \n\
1 ||| the house  ||| LM0= -4 TM0= -1 -1 ||| -0.50 ||| 0-1=0-1 ||| 0-0 1-1 \n\
"""
INI = """\
# my system
[feature]
KENLM name=LM0 path=x
[weight]
LM0= 0.5
TM0= 0.2  0.2 # both
Other0= 1
[misc]
LM0= 9
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "moses.nbest").write_text(MOSES)
    (tmp_path / "moses.ini").write_text(INI)
    return tmp_path


def test_same_format_is_the_same_bytes(host: Host, folder: Path) -> None:
    assert convert(host, folder / "moses.nbest", folder / "out", "moses-nbest", "moses-nbest") == 2
    assert (folder / "out").read_text() == MOSES
    assert convert(host, folder / "moses.nbest", folder / "out") == 2
    assert (folder / "out").read_text() == MOSES


def test_other_format_keeps_what_both_have_and_says_what_is_lost(host: Host, folder: Path) -> None:
    notes: list[str] = []
    convert(host, folder / "moses.nbest", folder / "out", to_format="cdec", note=notes.append)
    assert (folder / "out").read_text().splitlines() == [
        "0 ||| a house ||| LM0=-2 TM0[0]=-1.5 TM0[1]=-3 ||| -1.5",
        "1 ||| the house ||| LM0=-4 TM0[0]=-1 TM0[1]=-1 ||| -0.5",
    ]
    assert notes == ["cdec-nbest cannot carry alignment, segmentation: left out"]
    convert(host, folder / "out", folder / "back", to_format="moses", note=notes.append)
    assert (folder / "back").read_text().splitlines()[0] == "0 ||| a house  ||| LM0= -2 TM0= -1.5 -3 ||| -1.5"
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("before", "after", "notes"),
    [
        ("tm = thrax pt 12 g\nlm_0  1.50\n# x\n", "tm = thrax pt 12 g\nlm_0  0.25\n# x\nnew 2\n", []),
        (
            "lm_0 ||| 1 Fix 0 0 0 0\nnormalization = none\n",
            "lm_0 ||| 0.25 Fix 0 0 0 0\nnormalization = none\n",
            ["new"],
        ),
        ("lm_0 ||| 1\nb ||| 7", "lm_0 ||| 0.25\nb ||| 7\nnew ||| 2\n", []),
    ],
)
def test_tuned_weights_go_home(host: Host, folder: Path, before: str, after: str, notes: list[str]) -> None:
    (folder / "tuned").write_text("lm_0 0.25\nnew 2\n")
    (folder / "home").write_text(before)
    told: list[str] = []
    update(host, folder / "tuned", folder / "home", folder / "out", note=told.append)
    assert (folder / "out").read_text() == after
    assert told == [f"{folder / 'home'} has no line for {name}: left out" for name in notes]


def test_what_other_kinds_lose_is_told_too(host: Host, folder: Path) -> None:
    notes: list[str] = []
    (folder / "in").write_text('<seg id="1" grammar="g">ein haus</seg> ||| a house\nja\n')
    assert convert(host, folder / "in", folder / "out", to_format="text", note=notes.append) == 2
    assert (folder / "out").read_text() == "ein haus\nja\n"
    (folder / "in").write_text("1\n2 a house # 1 2\n2 ein haus # 1 0\n")
    spec = "bal-alignment,method=intersect"
    assert convert(host, folder / "in", folder / "out", spec, "pharaoh", note=notes.append) == 1
    assert (folder / "out").read_text() == "0-0\n"
    (folder / "in").write_text("FEATURES_TXT_BEGIN_0 0 0 1 a \nFEATURES_TXT_END_0\n")
    with pytest.raises(FormatError, match="1: field 1: expected statistics of a scorer, found features"):
        convert(host, folder / "in", folder / "out", to_format="moses-scores", note=notes.append)
    assert notes == [
        "text cannot carry grammar, id, references: left out",
        "pharaoh-alignment cannot carry words: left out",
    ]


def test_text_and_table(host: Host, folder: Path) -> None:
    convert(host, folder / "moses.nbest", folder / "out", to_format="text")
    assert (folder / "out").read_text() == "a house\nthe house\n"
    convert(host, folder / "moses.nbest", folder / "out", to_format="tsv")
    header, first, _ = (folder / "out").read_text().splitlines()
    assert header == "id\trank\ttext\ttotal\tLM0\tTM0[0]\tTM0[1]\textra.segmentation\textra.alignment"
    assert first.startswith("0\t1\ta house\t-1.5\t-2\t-1.5\t-3\t")


def test_precision_is_that_of_new_numbers(host: Host, tmp_path: Path) -> None:
    (tmp_path / "w").write_text("LM0 0.123456789\n")
    convert(host, tmp_path / "w", tmp_path / "out", to_format="moses-ini", precision=3)
    assert (tmp_path / "out").read_text() == "[weight]\nLM0= 0.123\n"


@pytest.mark.parametrize(
    ("to_format", "message"),
    [
        ("moses-ini", "format 'moses-ini' is of kind weights, expected nbest"),
        ("tvs", "unknown format 'tvs'; "),
    ],
)
def test_other_kind_is_refused_and_nothing_written(host: Host, folder: Path, to_format: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        convert(host, folder / "moses.nbest", folder / "out", to_format=to_format)
    assert not (folder / "out").exists()


def test_what_can_only_be_written_is_no_input(host: Host, folder: Path) -> None:
    with pytest.raises(UsageError, match="format 'text-nbest' can only be written"):
        convert(host, folder / "moses.nbest", folder / "out", "text-nbest")


def test_a_file_can_be_converted_onto_itself(host: Host, folder: Path) -> None:
    convert(host, folder / "moses.nbest", folder / "moses.nbest", to_format="text")
    assert (folder / "moses.nbest").read_text() == "a house\nthe house\n"


class TestInto:
    def update(self, host: Host, folder: Path, weights: str, **options: object) -> list[str]:
        (folder / "new").write_text(weights)
        notes: list[str] = []
        update(host, folder / "new", folder / "moses.ini", folder / "out.ini", note=notes.append, **options)  # type: ignore[arg-type]
        return notes

    def test_only_weight_lines_change(self, host: Host, folder: Path) -> None:
        assert self.update(host, folder, "TM0[1] -0.125\nTM0[0] 0.75\nLM0 3\n") == []
        expected = INI.replace("[weight]\nLM0= 0.5\nTM0= 0.2  0.2 #", "[weight]\nLM0= 3\nTM0= 0.75  -0.125 #")
        assert (folder / "out.ini").read_text() == expected
        assert (folder / "moses.ini").read_text() == INI

    def test_weights_without_a_line_are_named(self, host: Host, folder: Path) -> None:
        notes = self.update(host, folder, "LM0 3\nlm 0.1\nqe 0.2\n")
        assert notes == [f"{folder / 'moses.ini'} has no line for lm, qe: left out"]
        assert (folder / "out.ini").read_text() == INI.replace("[weight]\nLM0= 0.5", "[weight]\nLM0= 3")

    def test_weights_that_all_lack_a_line_are_an_error(self, host: Host, folder: Path) -> None:
        with pytest.raises(SmtError, match=r"moses\.ini: expected lines for the weights of .*new, found none"):
            self.update(host, folder, "lm 0.1\n")
        assert not (folder / "out.ini").exists()

    def test_part_of_a_vector_is_an_error(self, host: Host, folder: Path) -> None:
        with pytest.raises(FormatError, match=r"moses\.ini:6: field 1: expected new weights for all 2 values of TM0"):
            self.update(host, folder, "TM0[0] 0.75\n")
        assert not (folder / "out.ini").exists()

    def test_precision(self, host: Host, folder: Path) -> None:
        self.update(host, folder, "LM0 0.123456\n", precision=2)
        assert "LM0= 0.12\n" in (folder / "out.ini").read_text()

    def test_cdec_weights_gain_lines(self, host: Host, folder: Path) -> None:
        (folder / "moses.ini").write_text("# kept\nLM0 1 \n")
        assert self.update(host, folder, "LM0 3\nqe 0.2\n") == []
        assert (folder / "out.ini").read_text() == "# kept\nLM0 3 \nqe 0.2\n"

    def test_lists_take_no_weights(self, host: Host, folder: Path) -> None:
        (folder / "moses.ini").write_text(MOSES)
        with pytest.raises(FormatError, match=r"moses\.ini:1: field 1: expected the shape of one of cdec-weights"):
            self.update(host, folder, "LM0 3\n")


RULES = """\
das [X][X] [X] ||| the [X][X] [X] ||| 0.5 0.25 ||| 0-0 1-1 ||| 4 2 1 ||| ||| {{Tree [X]}}
haus [X] ||| house [X] ||| 1 0.125 ||| 0-0 ||| 4 2 1 ||| |||
"""


@pytest.mark.parametrize(
    ("to_format", "lost"),
    [("cdec", "counts, properties"), ("joshua", "properties"), ("moses-rules,features=TM0[0] TM0[1]", None)],
)
def test_grammars_go_round(host: Host, tmp_path: Path, to_format: str, lost: str | None) -> None:
    source, there, back = (str(tmp_path / name) for name in ("rules", "there", "back"))
    Path(source).write_text(RULES)
    notes: list[str] = []
    origin = "moses-rules,table=TM0"
    assert convert(host, source, there, origin, to_format, note=notes.append) == 2
    full = {"cdec": "cdec-grammar", "joshua": "joshua-grammar"}.get(to_format)
    assert notes == ([f"{full} cannot carry {lost}: left out"] if lost else [])
    options = ",features=TM0[0] TM0[1]"
    convert(host, there, back, full or origin, f"moses-rules{options}", note=notes.append, precision=6)
    fields = [line.split(" ||| ")[:4] for line in Path(back).read_text().splitlines()]
    assert fields == [line.split(" ||| ")[:4] for line in RULES.splitlines()]


@pytest.mark.parametrize(
    ("name", "text", "to", "message"),
    [
        ("w", "F=x 1\n", "joshua-config", "expected a name without blanks, `=` or `#` in front, found 'F=x'"),
        ("w", "a|||b 1\n", "pipe-weights", "expected a name without blanks or `|||`, found 'a|||b'"),
        ("w", "a#b 1\n", "moses-ini", "expected a feature name without `#`, found 'a#b'"),
        ("w", "TM_1 1\nTM_2 2\n", "moses-hypergraph-weights", "expected components in order, and no other name of"),
        (
            "t",
            "a <b> c\n",
            "moses-xml",
            "1: field 1: expected words and marks that Moses' markup can represent, found 'a",
        ),
    ],
)
def test_what_cannot_be_written_is_said_of_the_file_it_is_in(
    host: Host, tmp_path: Path, name: str, text: str, to: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError) as caught:
        convert(host, tmp_path / name, tmp_path / "out", {"w": "cdec-weights", "t": "text"}[name], to)
    assert str(caught.value).startswith(f"{tmp_path / name}:{'' if name == 't' else ' '}{message}")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("usual", "target", "name"),
    [
        # What says nothing.
        *(("moses-nbest", f"out{end}", "moses-nbest") for end in ("", ".txt", ".nbest", ".gz", ".100best", ".dat")),
        *(("moses-nbest", target, "moses-nbest") for target in ("-", ".jsonl/out", "/dev/stdout", "a.tsv.old")),
        # What does: the format that is named after it if there are several.
        ("moses-nbest", "out.jsonl", "jsonl-nbest"),
        ("moses-nbest", "a.b/out.v2.JSONL.gz", "jsonl-nbest"),
        ("cdec-nbest", "out.tsv.zst", "tsv-nbest"),
        ("tsv-nbest", "out.parquet", "parquet-nbest"),
        ("plf-lattice", "out.slf", "slf-lattice"),
        ("plf-lattice", "out.bin.gz", "cdec-binary-hypergraph"),
        ("cdec-weights", "out.ini", "moses-ini"),
        ("cdec-weights", "joshua.config", "joshua-config"),
        # The input's own format.
        ("sockeye-nbest", "out.jsonl", "sockeye-nbest"),
        ("jsonl-nbest", "out.json", "jsonl-nbest"),
        ("slf-lattice", "out.lat", "slf-lattice"),
        ("moses-settings", "out.ini", "moses-settings"),
        ("cdec-json-hypergraph", "out.json", "cdec-json-hypergraph"),
    ],
)
def test_suffixes(host: Host, usual: str, target: str, name: str) -> None:
    record = find_format(usual)
    assert output_format(None, record.kind, record, target, host.formats).name == name
    assert output_format(usual, record.kind, None, target, host.formats) is not None


@pytest.mark.parametrize(
    ("usual", "target", "message"),
    [
        (
            "moses-nbest",
            "out.plf",
            "out.plf: the suffix is that of plf-lattice; name the output format with to_for",
        ),
        ("moses-nbest", "out.json", "with to_format: jsonl-nbest, sockeye-nbest"),
        ("cdec-weights", "w.tsv.gz", "w.tsv.gz: the suffix is that of tsv-corpus, tsv-nbest, tsv-sentences"),
        ("plf-lattice", "out.lat.txt", "out.lat.txt: the suffix is that of kaldi-lattice"),
        ("jsonl-corpus", "out.jsonl", "with to_format: cdec-corpus, moses-xml, text, tsv-corpus"),
    ],
)
def test_suffixes_of_other_formats(host: Host, usual: str, target: str, message: str) -> None:
    record = find_format(usual)
    with pytest.raises(UsageError) as error:
        output_format(None, record.kind, record, target, host.formats)
    assert message in str(error.value)


def test_all_that_writes_lists(host: Host, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("0 ||| a house  ||| LM0= -2 ||| -1.5\n")
    lists = host.read(tmp_path / "in")
    host.convert(tmp_path / "in", tmp_path / "0.jsonl")
    host.write(lists, tmp_path / "1.jsonl")
    lists.write(tmp_path / "2.jsonl")
    written = {(tmp_path / f"{i}.jsonl").read_text() for i in range(3)}
    assert written == {'{"id": 0, "hypotheses": [{"text": "a house", "score": -1.5, "scores": {"LM0": -2}}]}\n'}


def test_lists_of_forests(host: Host, tmp_path: Path) -> None:
    (tmp_path / "in.plf").write_text("((('das',-0.5,1),('dies',-0.25,1),),)\n")
    (tmp_path / "w").write_text("LatticeCost_0 1\n")
    host.convert(tmp_path / "in.plf", tmp_path / "out.tsv", weights=tmp_path / "w")
    assert (tmp_path / "out.tsv").read_text().splitlines()[1] == "0\t1\tdies\t-0.25\t-0.25"
