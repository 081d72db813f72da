"""Translations of sentences and lattices, with a run.yaml or a toolkit's configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.systems.decode.systems import BAKER, FEATURES, TEXTS, Smt, changed, toolkit


class TestTranslations:
    def test_run_yaml(self, smt: Smt) -> None:
        assert smt("decode", "-c", "run.yaml").ok() == TEXTS

    def test_cdec_ini(self, smt: Smt) -> None:
        assert smt("decode", "-c", "cdec.ini", "-i", "source.de").ok() == TEXTS

    @pytest.mark.parametrize("name", ["moses", "joshua"])
    def test_charts_of_toolkits_answer_every_line(self, smt: Smt, name: str) -> None:
        expected = "the cook has cooked the bread\nthe petersen\n\n"
        lines = ("--set", "output.template='%s'") if name == "joshua" else ()
        assert smt("decode", "-c", toolkit(name), *lines, stdin=BAKER).ok() == expected

    def test_in_and_out_of_files_and_pipes(self, smt: Smt) -> None:
        smt("decode", "-c", "run.yaml", "-i", "source.de", "-o", "out.gz").ok()
        assert smt("convert", "out.gz", "--to", "text").ok() == TEXTS
        # A pipe that is named goes before the configuration's source.
        assert smt("decode", "-c", "run.yaml", "-i", "-", stdin="der koch\n").ok() == "the cook\n"

    def test_a_configuration_from_elsewhere(self, smt: Smt, monkeypatch: pytest.MonkeyPatch, system: Path) -> None:
        (system / "below").mkdir()
        monkeypatch.chdir("below")
        assert smt("decode", "-c", "../run.yaml").ok() == TEXTS

    def test_weights(self, smt: Smt) -> None:
        Path("other").write_text("EgivenF -1\nLM 0.1\nPassThrough -9\nWordPenalty -1\n")
        found = smt("decode", "-c", "run.yaml", "-w", "other", "-i", "-", stdin="der koch\n").ok()
        assert found == "the chef\n"
        found = smt("decode", "-c", "run.yaml", "--set", "model.weights=other", "-i", "-", stdin="der koch\n").ok()
        assert found == "the chef\n"

    def test_no_weights_are_worth_a_note(self, smt: Smt) -> None:
        config = changed("  weights: weights\n", "")
        result = smt("decode", "-c", config, "-i", "-", stdin="der koch\n")
        assert (result.code, result.out) == (0, "the cook\n")
        assert result.err.startswith("smt: note: no weights: those that tuning starts from are used (`smt tune`")
        smt("decode", "-c", config, "-i", "-", "-q", stdin="der koch\n").ok()

    def test_empty_input(self, smt: Smt) -> None:
        Path("empty").write_bytes(b"")
        for config in ("run.yaml", "cdec.ini"):
            assert smt("decode", "-c", config, "-i", "empty").ok() == ""
            assert smt("decode", "-c", config, "-i", "empty", "-k", 3).ok() == ""

    def test_an_empty_line_and_one_without_a_parse_are_empty_lines(self, smt: Smt) -> None:
        given = "der koch\n\nder petersen\n"
        result = smt("decode", "-c", "run.yaml", "--set", "decoder.pass_through=none", "-i", "-", stdin=given)
        assert (result.code, result.out) == (0, "the cook\n\n\n")
        assert result.err == "".join(f"smt: note: sentence {i} has no translation\n" for i in (1, 2))
        lists = smt("decode", "-c", "run.yaml", "-i", "-", "-k", 1, "-q", stdin=given).ok()
        assert [line.split(" ||| ")[0] for line in lists.splitlines()] == ["0", "2"]

    def test_cdecs_corpus_skips_empty_lines(self, smt: Smt) -> None:
        given = 'der koch ||| the cook\n\n<seg id="7">der hund</seg>\n'
        # A note says that the reference constrains nothing.
        found = smt("decode", "-q", "-c", "cdec.ini", "-k", 1, "--to", "text", stdin=given).out
        assert found == "the cook\nthe dog\n"
        ids = smt("decode", "-q", "-c", "cdec.ini", "-k", 1, stdin=given).out.splitlines()
        assert [line.split(" ")[0] for line in ids] == ["0", "7"]

    def test_grammars_of_sentences(self, smt: Smt) -> None:
        for name, word in (("a", "baker"), ("b", "butcher")):
            Path(name).write_text(f"[X] ||| koch ||| {word} ||| EgivenF=0\n")
        config = Path("own.ini")
        config.write_text(Path("cdec.ini").read_text().replace("grammar=rules.txt\n", ""))
        given = '<seg id="3" grammar="a">koch</seg>\n<seg id="5" grammar="b">koch</seg>\n<seg id="6">koch</seg>\n'
        for jobs in (1, 2):
            found = smt("decode", "-q", "-c", config, "-k", 1, "-j", jobs, stdin=given).ok().splitlines()
            assert [line.split(" ||| ")[:2] for line in found] == [["3", "baker"], ["5", "butcher"], ["6", "koch"]]
        # Beside the grammar of the run, which prefers a word that the model knows.
        given = '<seg grammar="a">koch</seg>\n'
        found = smt("decode", "-q", "-c", "cdec.ini", "--set", "model.features=[]", stdin=given)
        assert found.ok() == "baker\n"

    def test_bare_numbers_in_cdecs_grammars_are_cdecs(self, smt: Smt) -> None:
        Path("bare").write_text("[X] ||| haus ||| house ||| 0.5 2\n[X] ||| das [X,1] ||| the [X,1] ||| 0 1\n")
        Path("w").write_text("PhraseModel_0 1\nPhraseModel_1 0.5\nPassThrough -9\n")
        for config, given in (("grammar=bare\n", "das haus\n"), ("", '<seg id="0" grammar="bare">das haus</seg>\n')):
            Path("bare.ini").write_text(f"formalism=scfg\nadd_pass_through_rules=true\n{config}")
            found = smt("decode", "-c", "bare.ini", "-w", "w", "-k", 1, stdin=given).ok()
            assert found == "0 ||| the house ||| Glue=0 PassThrough=0 PhraseModel_0=0.5 PhraseModel_1=3 ||| 2\n"

    def test_lattices(self, smt: Smt) -> None:
        given = "((('der',0.0,1),('die',-0.7,1),),(('koch',0.0,1),),)\n"
        given += "((('die',0.0,1),),(('katze',-0.1,1),('bank',-9,1),),)\n"
        for options in ([], ["--set", "decoder.input=lattice"], ["--from", "plf-lattice"]):
            assert smt("decode", "-c", "run.yaml", "-i", "-", *options, stdin=given).ok() == "the cook\nthe cat\n"
        text = "- source-path,name=Arcs\n    - " + FEATURES
        found = smt("decode", "-c", changed(f"- {FEATURES}", text), "-i", "-", "-k", 1, stdin=given).ok()
        assert " Arcs=-0.1" in found.splitlines()[1]
        mixed = smt("decode", "-c", "run.yaml", "-i", "-", "--set", "decoder.input=lattice", stdin=given + "der hund\n")
        assert mixed.ok().splitlines()[2] == "the dog"

    def test_what_is_no_lattice(self, smt: Smt) -> None:
        smt("decode", "-c", "run.yaml", "--forests", "forests", "-o", "out").ok()
        result = smt("decode", "-c", "run.yaml", "-i", "forests/1.json.gz", "--from", "cdec-json-hypergraph")
        assert result.code == 1
        assert result.err.startswith("smt: forests/1.json.gz: expected a lattice")
