"""``smt convert``: other formats, the same bytes, weights into a moses.ini."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]


@pytest.mark.parametrize(
    ("name", "format"), [("moses.nbest", "moses-nbest"), ("cdec.kbest", "cdec-nbest"), ("weights.cdec", "cdec-weights")]
)
def test_same_format_is_the_same_bytes(smt: Smt, example: Path, name: str, format: str) -> None:
    smt("convert", "--from", format, "--to", format, name, "out").ok()
    assert Path("out").read_bytes() == Path(name).read_bytes()
    assert smt("convert", stdin=Path(name).read_bytes()).ok().encode() == Path(name).read_bytes()


def test_to_text_and_table(smt: Smt, nbest: Path) -> None:
    assert smt("convert", "--to", "text", nbest, "-q").ok() == "a house\na home\nthe house\n"
    table = smt("convert", "--to", "tsv", nbest, "-q").ok()
    assert table.splitlines()[:2] == [
        "id\trank\ttext\ttotal\tLM0\tTM0[0]\tTM0[1]\textra.alignment",
        "0\t1\ta house\t-1.5\t-2\t-1.5\t-3\t0-0 1-1",
    ]
    Path("table").write_text(table)
    smt("convert", "table", "--to", "moses", "-o", "back", "-q").ok()
    smt("convert", "back", "--to", "tsv", "-o", "again", "-q").ok()
    assert Path("again").read_text() == table


def test_what_is_lost_is_noted(smt: Smt, nbest: Path) -> None:
    result = smt("convert", "--to", "cdec", nbest, "out")
    assert (result.code, result.err) == (0, "smt: note: cdec-nbest cannot carry alignment: left out\n")
    assert smt("convert", "out", "--to", "moses").ok().splitlines()[0] == (
        "0 ||| a house  ||| LM0= -2 TM0= -1.5 -3 ||| -1.5"
    )


def test_input_and_output_have_two_spellings(smt: Smt, nbest: Path) -> None:
    between = [nbest, "--to", "moses-nbest", "out"]
    for arguments in ([nbest, "out"], ["-i", nbest, "-o", "out"], [nbest, "-o", "out"], between):
        smt("convert", *arguments).ok()
        assert Path("out").read_text() == nbest.read_text()
        os.unlink("out")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["in", "out", "-o", "other"], "expected one output, found both OUT and -o"),
        (["in", "-i", "other"], "expected one input, found both IN and -i"),
        (["in", "--into", "in", "--to", "cdec"], "--to cannot be used with --into, which keeps the format of the file"),
        (["in", "--to", "cdec-weights"], "format 'cdec-weights' is of kind weights, expected nbest"),
        (["in", "--from", "moses-nbst"], "unknown format 'moses-nbst'; did you mean 'moses-nbest'"),
    ],
)
def test_wrong_calls(smt: Smt, nbest: Path, arguments: list[str], message: str) -> None:
    nbest.rename("in")
    result = smt("convert", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"smt: {message}")
    assert sorted(os.listdir()) == ["in", "source"]


class TestInto:
    def test_only_weight_lines_of_a_moses_ini_change(self, smt: Smt, example: Path) -> None:
        smt("convert", "weights.moses", "--into", "moses.ini", "-o", "tuned.ini").ok()
        before, after = Path("moses.ini").read_text().splitlines(), Path("tuned.ini").read_text().splitlines()
        changed = {old.split("=")[0]: new for old, new in zip(before, after, strict=True) if old != new}
        assert list(changed) == [
            "WordPenalty0", "PhrasePenalty0", "TranslationModel0", "LexicalReordering0", "Distortion0", "LM0"
        ]  # fmt: skip
        assert changed["TranslationModel0"] == "TranslationModel0= 0.0893 0.0342 0.1174 0.0719"
        # The weights that went in come out again, and the one that was not tuned stays.
        out = smt("convert", "tuned.ini", "--to", "cdec-weights").ok()
        assert set(out.splitlines()) == {*Path("weights.moses").read_text().splitlines(), "UnknownWordPenalty0 1"}

    def test_weights_without_a_line_are_noted(self, smt: Smt, example: Path) -> None:
        with open("weights.moses", "a") as weights:
            weights.write("lm 0.1\nqe 0.2\n")
        result = smt("convert", "weights.moses", "--into", "moses.ini", "-o", "tuned.ini")
        assert (result.code, result.err) == (0, "smt: note: moses.ini has no line for lm, qe: left out\n")
        assert "qe" not in Path("tuned.ini").read_text()
        assert smt("convert", "weights.moses", "--into", "moses.ini", "-o", "tuned.ini", "-q").err == ""

    def test_file_can_be_changed_in_place(self, smt: Smt, example: Path) -> None:
        smt("convert", "weights.moses", "--into", "moses.ini", "-o", "moses.ini").ok()
        assert "LM0= 0.0487\n" in Path("moses.ini").read_text()

    def test_nothing_fitting_is_an_error(self, smt: Smt, example: Path) -> None:
        Path("other").write_text("lm 0.1\n")
        result = smt("convert", "other", "--into", "moses.ini", "-o", "tuned.ini")
        assert (result.code, result.err) == (
            1,
            "smt: moses.ini: expected lines for the weights of other, found none\n",
        )
        assert not Path("tuned.ini").exists()


@pytest.mark.parametrize("data", [b"", b"0 ||| a ||| f= 1 ||| 0\n0 ||| b ||| f= 1\n", b"[weight]\nLM0= 1\nLM0= 2\n"])
def test_bad_input_leaves_nothing(smt: Smt, data: bytes) -> None:
    Path("in").write_bytes(data)
    result = smt("convert", "in", "out")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("smt: in:")
    assert ": field " in result.err
    assert os.listdir() == ["in"]


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("it &apos;s [x]\n", ["--unescape", "moses"], "it 's [x]\n"),
        ("it &apos;s [x]\n", ["--unescape", "moses", "--escape", "joshua"], "it 's -lsb-x-rsb-\n"),
        ("a [b] ||| c | d\n", ["--from", "cdec-corpus", "--escape", "moses"], "a &#91;b&#93; ||| c &#124; d\n"),
        (
            "0 ||| &quot; a  ||| LM0= -1 ||| -1 ||| 0-0 \n0 ||| b  ||| LM0= -2 ||| -2 ||| 0-0 \n",
            ["--unescape", "moses"],
            '0 ||| " a  ||| LM0= -1 ||| -1 ||| 0-0 \n0 ||| b  ||| LM0= -2 ||| -2 ||| 0-0 \n',
        ),
        ("0 ||| b  |||  LM0= -2.0 ||| -2\n", ["--escape", "moses"], "0 ||| b  |||  LM0= -2.0 ||| -2\n"),
        (
            "[X] ||| -lsb- [X,1] ||| [1] -rsb- ||| F=1 ||| 0-1\n",
            ["--unescape", "joshua", "--escape", "ptb"],
            "[X] ||| -LSB- [X] ||| [1] -RSB- ||| F=1 ||| 0-1\n",
        ),
    ],
)
def test_spellings_are_undone_and_made_when_asked(smt: Smt, text: str, options: list[str], expected: str) -> None:
    Path("in").write_text(text)
    assert smt("convert", "in", *options).ok() == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--escape", "mose"], "unknown escaping 'mose'; did you mean 'moses'"),
        (["--escape", "moses"], "expected a format with words, found cdec-weights"),
        (["--into", "w", "--unescape", "ptb"], "--escape and --unescape cannot be used with --into"),
    ],
)
def test_spellings_that_do_not_go(smt: Smt, options: list[str], message: str) -> None:
    Path("w").write_text("LM0 1\n")
    result = smt("convert", "w", *options)
    assert result.code == 2
    assert message in result.err


class TestConfigurations:
    INI = "formalism=scfg\ngrammar=rules.gz\nquiet=1\nk_best=9\n"

    def test_run_yaml(self, smt: Smt) -> None:
        Path("cdec.ini").write_text(self.INI)
        smt("convert", "cdec.ini", "run.yaml").ok()
        text = Path("run.yaml").read_text()
        reason = "(translations are printed in any case, notes go to standard error)"
        rest = f"output: {{nbest: 9, unique: false, format: cdec-nbest}}\n# not used: line 3: quiet '1' {reason}\n"
        assert text.endswith(rest)
        assert smt("convert", "--to", "run-yaml", stdin=self.INI).ok() == text
        Path("rules.gz").write_text("[X] ||| a ||| b\n")
        shown = smt("config", "show", "-c", "cdec.ini").ok()
        assert shown == text
        assert smt("config", "show", "-c", "run.yaml").ok() == text.split("#")[0]
        smt("convert", "run.yaml", "again.yml").ok()
        assert Path("again.yml").read_text() == text.split("#")[0]

    def test_what_is_weights_too_is_read_as_configuration(self, smt: Smt) -> None:
        Path("moses.ini").write_text("[feature]\nDistortion\n[weight]\nDistortion0= 0.5\n")
        assert "distortion,name=Distortion0" in smt("convert", "moses.ini", "--to", "run-yaml").ok()
        assert smt("convert", "moses.ini", "--to", "cdec-weights").ok() == "Distortion0 0.5\n"
        settings = smt("convert", "--from", "moses-settings", "moses.ini").ok()
        assert settings == Path("moses.ini").read_text()

    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            (
                ["--to", "moses-settings"],
                1,
                "cdec.ini:1: expected settings of moses-settings, found those of cdec-settings",
            ),
            (["--to", "cdec-weights"], 2, "format 'cdec-weights' is of kind weights, expected config"),
            (["--to", "run-yaml", "--from", "moses-settings"], 1, "cdec.ini:1: field 1: expected a [section] before"),
            (
                ["--to", "run-yaml", "--escape", "moses"],
                2,
                "--escape and --unescape: expected a file with words, found a configuration",
            ),
        ],
    )
    def test_wrong_calls(self, smt: Smt, arguments: list[str], code: int, message: str) -> None:
        Path("cdec.ini").write_text(self.INI)
        result = smt("convert", "cdec.ini", *arguments)
        assert (result.code, result.out) == (code, "")
        assert result.err.startswith(f"smt: {message}")

    def test_a_bad_one_leaves_nothing(self, smt: Smt) -> None:
        Path("cdec.ini").write_text("formalism=scfg\ngrammar\n")
        assert smt("convert", "cdec.ini", "run.yaml").code == 1
        assert os.listdir() == ["cdec.ini"]


def test_lists_are_put_in_the_order_of_their_ids(smt: Smt) -> None:
    lines = [f'{{"id": {i}, "nbest": [{{"text": "t{i}", "score": -1}}]}}\n' for i in (5, 0, 3)]
    moses = smt("convert", "--to", "moses-nbest", stdin="".join(lines)).ok()
    assert [line.split()[0] for line in moses.splitlines()] == ["0", "3", "5"]
    assert smt("convert", "--to", "jsonl", stdin="".join(lines)).ok() == "".join(lines)
    assert smt("best", "--fill", stdin=moses).ok() == smt("best", "--fill", stdin="".join(lines)).ok()


def test_preferences_by_totals_and_by_a_metric(smt: Smt) -> None:
    rows = ["0 ||| a house ||| LM= -1 ||| -1", "0 ||| house a ||| LM= -3 ||| -3.5", "0 ||| the house ||| LM= -2 ||| -2"]
    Path("lists").write_text("\n".join([*rows, "1 ||| x ||| LM= -2 ||| -2", ""]))
    Path("source").write_text("ein haus\nix\n")
    Path("reference").write_text("the house\nx\n")
    by_total = smt("convert", "lists", "--to", "preferences", "-s", "source")
    assert by_total.err == "smt: note: preferences-nbest: 1 of 2 lists have no pair: left out\n"
    (row,) = map(json.loads, by_total.out.splitlines())
    assert (row["prompt"], row["chosen"], row["rejected"], row["margin"]) == ("ein haus", "a house", "house a", 2.5)
    for metric, sign in (("chrf", 1), ("wer", -1)):
        judged = smt("convert", "lists", "--to", "preferences", "-s", "source", "-r", "reference", "-m", metric, "-q")
        (row,) = map(json.loads, judged.ok().splitlines())
        assert (row["chosen"], row["rejected"], row["chosen_rank"]) == ("the house", "house a", 3)
        assert row["chosen_score"] == (100 if sign > 0 else 0)
        assert (row["rejected_score"] < 0) == (sign < 0)
    assert (
        smt("convert", "lists", "--to", "moses", "-r", "reference", "-m", "wer")
        .ok()
        .splitlines()[0]
        .endswith("||| -50")
    )


def test_sources_and_references_belong_to_lists(smt: Smt) -> None:
    Path("text").write_text("a\n")
    Path("weights").write_text("LM 1\n")
    assert "expected nbest" in smt("convert", "weights", "--from", "cdec-weights", "-s", "text").err
    assert (
        "--source, --ref and --metric need n-best lists"
        in smt("convert", "weights", "--into", "weights", "-r", "text").err
    )
    Path("lists").write_text("0 ||| a ||| LM= 1 ||| 1\n")
    Path("two").write_text("a\nb\n")
    result = smt("convert", "lists", "--to", "moses", "-r", "two", "-q")
    assert result.code
    assert "--allow-partial" in result.err
    smt("convert", "lists", "--to", "moses", "-r", "two", "-q", "--allow-partial").ok()


def test_the_suffix_names_the_format(smt: Smt, nbest: Path) -> None:
    smt("convert", nbest, "out.jsonl").ok()
    assert json.loads(Path("out.jsonl").read_text().splitlines()[0])["id"] == 0
    result = smt("convert", nbest, "out.slf")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("smt: out.slf: the suffix is that of slf-lattice; name the output format with --to: ")
    assert not Path("out.slf").exists()
