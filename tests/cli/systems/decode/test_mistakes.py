"""Errors in configurations, calls and data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.systems.decode.systems import BAKER, MOSES, Smt, changed, phrases, toolkit

MISTAKES = [
    (
        "max_span: 10",
        "max_spn: 10",
        ":2: decoder.max_spn: decoder 'hiero' has no option 'max_spn'; did you mean 'max_span'",
    ),
    ("max_span: 10", "max_span: ten", ":2: decoder.max_span: expected a whole number, found 'ten'\n"),
    ("max_span: 10", "pop_limit: 0", ":2: decoder.pop_limit: expected 1 or more, found 0\n"),
    ("max_span: 10", "search: wide", ":2: decoder.search: expected one of cube_pruning, full, found 'wide'\n"),
    ("name: hiero", "name: hiro", ":2: decoder: unknown decoder 'hiro'; did you mean 'hiero'?\n"),
    ("decoder:", "decdoer:", ":2: decdoer: unknown key; did you mean 'decoder'?\n"),
    ("rules.txt", "rulse.txt", ":4: model.tables.0: {here}/rulse.txt: No such file or directory\n"),
    ("en.arpa", "an.arpa", ":6: model.features.0: {here}/an.arpa: No such file or directory\n"),
    ("base=10", "base=11", ":6: model.features.0: feature 'lm': base: expected one of e, 10, found '11'\n"),
    ("glue,name", "glu,name", ":8: model.features.2: unknown feature 'glu'; did you mean 'glue'?\n"),
    ("name=Glue", "name=LM", ":8: model.features.2: two features are named 'LM'; rename one of them with `name=`\n"),
    ("weights: weights", "weights: wieghts", ":10: model.weights: {here}/wieghts: No such file or directory\n"),
    ("source.de", "sourec.de", "{here}/sourec.de: No such file or directory\n"),
    (
        "glue,name=Glue",
        "translation-model,path=other",
        ":8: model.features.2: feature 'translation-model' describes {here}/other, which is not among the grammars of "
        "the model\n",
    ),
]


class TestMistakes:
    @pytest.mark.parametrize(("old", "new", "message"), MISTAKES, ids=[new for _, new, _ in MISTAKES])
    def test_of_the_file_have_its_line_and_key(self, smt: Smt, system: Path, old: str, new: str, message: str) -> None:
        result = smt("decode", "-c", changed(old, new))
        assert (result.code, result.out) == (1, "")
        place = "smt: changed.yaml" if message.startswith(":") else "smt: "
        assert result.err.startswith(place + message.format(here=system)), result.err

    def test_of_a_toolkits_file_have_its_line(self, smt: Smt, system: Path) -> None:
        Path("cdec.ini").write_text(Path("cdec.ini").read_text() + "feature_function=RuleShape a\n")
        result = smt("decode", "-c", "cdec.ini")
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith("smt: cdec.ini:10: model.features.4: unknown feature 'RuleShape'; no plugin ")
        assert "known: " not in result.err
        toolkit("moses")
        Path("moses.ini").write_text(MOSES.replace("path=glue", "path=gleu"))
        result = smt("decode", "-c", "moses.ini", stdin=BAKER)
        assert result.err == f"smt: moses.ini:16: model.tables.1: {system}/gleu: No such file or directory\n"
        Path("moses.ini").write_text(MOSES.replace("[search-algorithm]\n3", "[search-algorithm]\n5"))
        result = smt("decode", "-c", "moses.ini", stdin=BAKER)
        assert "moses.ini:2: decoder.search: expected one of cube_pruning, full, found 'incremental'" in result.err
        Path("moses.ini").write_text(MOSES.replace("[search-algorithm]\n3", "[search-algorithm]\n7"))
        result = smt("decode", "-c", "moses.ini", stdin=BAKER)
        assert result.err.startswith("smt: moses.ini:2: decoder: unknown decoder 't2s'; known: ")

    def test_features_that_do_not_fit_the_decoder_are_named(self, smt: Smt) -> None:
        result = smt("decode", "-c", phrases(), "--decoder", "hiero", stdin="der koch\n")
        assert (result.code, result.out) == (2, "")
        assert result.err.endswith(
            "smt: feature 'Distortion0': expected edges with source spans, found edges without: use a phrase decoder, "
            "or a list with a segmentation\n"
        )

    def test_texts_that_a_list_cannot_hold_are_named(self, smt: Smt) -> None:
        text = "der koch\nder a|||b\n"
        for options in ((), ("--escape", "moses")):
            result = smt("decode", "-c", phrases(), "-k", 2, *options, stdin=text)
            assert result.code == 1
            assert result.err == (
                "smt: sentence 1: moses-nbest expects a text without `|||` or a line break, found 'the a|||b' "
                "(--to jsonl writes any text)\n"
            )
        lists = smt("decode", "-c", phrases(), "-k", 2, "--to", "jsonl", stdin=text).ok().splitlines()
        assert '"the a|||b"' in lists[1]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--set", "decoder.max_span=ten"], "--set: decoder.max_span: expected a whole number, found 'ten'"),
            (["--pop-limit", 0], "--set: decoder.pop_limit: expected 1 or more, found 0"),
            (["--decoder", "hiro"], "unknown decoder 'hiro'; did you mean 'hiero'?"),
            (["--decoder", "hiero,pop=3"], "decoder 'hiero' has no option 'pop'; did you mean 'pop"),
            (["-k", 0], "nbest: expected 1 or more, found 0"),
            (["-j", 0], "jobs: expected 1 or more, found 0"),
            (["-k", 2, "--to", "nothing"], "unknown format 'nothing'"),
            (["-k", 2, "--to", "joshua-grammar"], "is of kind grammar, expected nbest"),
            (["--to", "moses-nbest"], "--to needs n-best lists (-k N)"),
            (["--unique"], "--unique needs n-best lists (-k N)"),
            (["-k", "two"], "invalid int value"),
            (["--precision", 30, "-k", 1], "precision: expected 1 to 17"),
        ],
    )
    def test_of_the_call(self, smt: Smt, options: list[Any], message: str) -> None:
        result = smt("decode", "-c", "run.yaml", *options)
        assert (result.code, result.out) == (2, "")
        assert message in result.err
        assert "Traceback" not in result.err

    def test_no_decoder(self, smt: Smt) -> None:
        result = smt("decode", "-c", changed("decoder: {name: hiero, max_span: 10}\n", ""))
        assert (result.code, result.err) == (
            2,
            "smt: the configuration names no decoder: `decoder: hiero`, or --decoder NAME\n",
        )

    @pytest.mark.parametrize(
        ("options", "name"),
        [
            (["-c", "absent"], "absent"),
            (["-c", "run.yaml", "-i", "absent"], "absent"),
            (["-c", "run.yaml", "-w", "absent"], "absent"),
            (["-c", "run.yaml", "-o", "no/out"], "no/out"),
            (["-c", "run.yaml", "--stats", "no/stats"], "no"),
            (["-c", "run.yaml", "--forests", "rules.txt", "-o", "out"], "rules.txt"),
        ],
    )
    def test_missing_files_and_folders(self, smt: Smt, options: list[str], name: str) -> None:
        result = smt("decode", *options)
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith(f"smt: {name}: ")

    def test_bad_data_has_its_place(self, smt: Smt) -> None:
        text = Path("rules.txt").read_text()
        Path("rules.txt").write_text(
            text.replace("[X] ||| zug ||| train ||| EgivenF=-0.2", "[X] ||| zug ||| train ||| x")
        )
        result = smt("decode", "-c", "run.yaml")
        assert result.code == 1
        assert "rules.txt:18: field 4" in result.err
        Path("rules.txt").write_text(text)
        Path("weights").write_text("LM 1\nGlue one\n")
        assert "weights:2: field 2" in smt("decode", "-c", "run.yaml").err
        Path("weights").write_text("LM 1\n")
        result = smt("decode", "-c", "run.yaml", "-i", "-", stdin=b"der \xff koch\n")
        assert (result.code, "expected UTF-8 text" in result.err) == (1, True)
        Path("own").write_text("[X] ||| koch\n")
        result = smt("decode", "-c", "run.yaml", "-i", "-", stdin='<seg grammar="own">koch</seg>\n')
        assert (result.code, "smt: own:1: field " in result.err) == (1, True)
        given = '<seg grammar="rules.txt">koch</seg>\n<seg grammar="absent">koch</seg>\n'
        result = smt("decode", "-c", "run.yaml", "-i", "-", stdin=given)
        expected = "smt: <stdin>:2: expected an existing grammar of the sentence, found no file 'absent'"
        assert (result.code, result.err.splitlines()[-1]) == (1, expected)

    def test_a_failure_leaves_no_half_a_file(self, smt: Smt) -> None:
        Path("out").write_text("before\n")
        given = b"der koch\n" * 50 + b"\xff\n"
        assert smt("decode", "-c", "run.yaml", "-i", "-", "-o", "out", stdin=given).code == 1
        assert Path("out").read_text() == "before\n"
