"""Translations with parts of Moses' lines, another choice, and lists and graphs beside them."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from smtplugins import load_plugins
from tests.cli.systems.decode.systems import Smt, phrases, toolkit

INPUT = "der koch hat das brot gekocht\npetersen das brot\n\n"


def config(*sections: str) -> str:
    name = phrases()
    Path(name).write_text(Path(name).read_text() + "".join(f"{section}\n" for section in sections))
    return name


class TestPrinting:
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_lists_are_beside_translations(self, smt: Smt, jobs: int) -> None:
        plain = smt("decode", "-c", phrases(), stdin=INPUT).ok()
        lists = smt("decode", "-c", phrases(), "-k", 3, stdin=INPUT).ok()
        name = config("[n-best-list]", "lists 3", "[output-unknowns]", "words", "[output-search-graph]", "graphs")
        assert smt("decode", "-c", name, "-j", jobs, stdin=INPUT).ok() == plain
        assert Path("lists").read_text() == lists
        assert Path("words").read_text() == "\npetersen\n\n"
        smt("decode", "-c", phrases(), "--forests", "f", "--forests-format", "moses-search-graph", stdin=INPUT).ok()
        each = [gzip.decompress(path.read_bytes()).decode() for path in sorted(Path("f").iterdir())]
        assert Path("graphs").read_text() == "".join(each)

    @pytest.mark.parametrize(
        ("sections", "options", "message"),
        [
            ("[alignment-output-file]\nout", ("-o", "out"), "different files for translations and output.alignments"),
            ("[n-best-list]\nout 3", ("-o", "./out"), "different files for translations and output.lists"),
            ("[output-unknowns]\nin", ("-o", "out"), "different files for the source and output.unknowns"),
            ("[alignment-output-file]\na\n[output-unknowns]\na", (), "for output.alignments and output.unknowns"),
            ("", ("-o", "out", "--stats", "out"), "different files for translations and statistics"),
            ("", ("-o", "out", "--forests", "out"), "different files for translations and forests"),
            ("[output-unknowns]\n-", (), "output.unknowns: expected a file, found -, which is for translations"),
        ],
    )
    def test_outputs_are_different_files(self, smt: Smt, sections: str, options: tuple[str, ...], message: str) -> None:
        Path("in").write_text(INPUT)
        found = smt("decode", "-c", config(*sections.splitlines()), "-i", "in", *options)
        assert found.code == 2
        assert message in found.err
        assert Path("in").read_text() == INPUT
        assert not Path("out").exists()

    def test_lists_on_standard_output(self, smt: Smt) -> None:
        lists = smt("decode", "-c", phrases(), "-k", 3, stdin=INPUT).ok()
        assert smt("decode", "-c", config("[n-best-list]", "- 3"), stdin=INPUT).ok() == lists
        # They have no lines of translations, which a note says.
        chosen = smt("decode", "-c", config("[minimum-bayes-risk]", "true", "[print-id]", "true"), "-k", 3, stdin=INPUT)
        assert (chosen.code, chosen.out) == (0, lists)
        assert "note: not used, as n-best lists are on the output: output.choice, output.show" in chosen.err
        # So it is if the command line asks for lists.
        name = config("[n-best-list]", "lists 2")
        assert smt("decode", "-c", name, "-k", 3, stdin=INPUT).ok() == lists
        assert not Path("lists").exists()

    def test_lists_of_one(self, smt: Smt) -> None:
        lists = smt("decode", "-c", phrases(), "-k", 1, stdin=INPUT).ok()
        assert lists.count(" ||| ") == 3 * 3
        assert smt("decode", "-c", config("[n-best-list]", "- 1"), stdin=INPUT).ok() == lists
        name = toolkit("cdec")
        lists = smt("decode", "-c", name, "-k", 1, stdin="der koch\n").ok()
        plain = smt("decode", "-c", name, "--set", "output.nbest=", stdin="der koch\n").ok()
        assert lists.startswith(f"0 ||| {plain.rstrip()} ||| ")
        Path(name).write_text(re.sub("k_best.*\n", "", Path(name).read_text()) + "k_best=1\n")
        assert smt("decode", "-c", name, stdin="der koch\n").ok() == lists

    def test_words_behind_the_size_of_lists(self, smt: Smt) -> None:
        found = smt("decode", "-c", config("[n-best-list]", "lists", "3", "uniq"), stdin=INPUT)
        assert found.code
        assert ":24: n-best-list: expected FILE N, or FILE N distinct; known: distinct, found 'uniq'" in found.err
        found = smt("decode", "-c", config("[n-best-list]", "lists 3 distict"), stdin=INPUT)
        assert "expected FILE N, or FILE N distinct; did you mean 'distinct'?, found 'lists 3 distict'" in found.err

    def test_details(self, smt: Smt) -> None:
        """A phrase without target words keeps its position."""
        name = config("[translation-details]", "details", "[drop-unknown]", "true", "[minimum-bayes-risk]", "true")
        smt("decode", "-c", name, "-j", 2, stdin="petersen das brot\nkoch xyz\n\n").ok()
        first, second = Path("details").read_text().split("\nTRANSLATION HYPOTHESIS DETAILS:\n")[1:]
        assert "  SOURCE: [1..2] das brot\n  TRANSLATED AS: the bread\n  WORD ALIGNED: 0-0 1-1 \n" in first
        assert "         SOURCE: [1..1] xyz\n  TRANSLATED AS: \n" in second
        assert "\n  SOURCE: 0 1\n  TARGET: 0 1\n\n\nSCORES (UNWEIGHTED/WEIGHTED): core=(" in second

    def test_one_of_two_search_graphs(self, smt: Smt) -> None:
        name = config("[output-search-graph]", "plain", "[output-search-graph-extended]", "extended")
        found = smt("decode", "-c", name, stdin=INPUT)
        assert "output-search-graph 'plain': not written beside output-search-graph-extended, as in Moses" in found.err
        assert (Path("plain").exists(), Path("extended").exists()) == (False, True)

    def test_traces_are_of_the_best_derivation(self, smt: Smt) -> None:
        found = smt("decode", "-c", config("[minimum-bayes-risk]", "true"), "--trace", stdin="koch\n")
        assert "sentence 0, the best derivation, from which output.choice may differ\n" in found.err

    def test_parts_of_a_line(self, smt: Smt) -> None:
        on = [f"[{key}]\ntrue" for key in ("report-segmentation", "print-id", "print-alignment-info")]
        name = config(*on, "[start-translation-id]", "5", "[alignment-output-file]", "words")
        assert smt("decode", "-c", name, stdin=INPUT).ok().splitlines()[1:] == [
            "6 the bread |1-2| petersen |0-0| ||| 1-0 2-1 0-2",
            "7 |||",
        ]
        assert Path("words").read_text().splitlines()[1:] == ["1-0 2-1 0-2", ""]

    def test_minimum_risk_of_one_text_is_the_best(self, smt: Smt) -> None:
        plain = smt("decode", "-c", phrases(), stdin=INPUT).ok()
        name = config("[minimum-bayes-risk]", "true", "[mbr-size]", "1")
        assert smt("decode", "-c", name, stdin=INPUT).ok() == plain
        assert smt("decode", "-c", config("[minimum-bayes-risk]", "true"), stdin=INPUT).ok().count("\n") == 3

    @pytest.mark.parametrize("key", ["lminimum-bayes-risk", "consensus-decoding"])
    def test_choices_by_graphs(self, smt: Smt, key: str) -> None:
        plain = smt("decode", "-c", phrases(), stdin=INPUT).ok()
        name = config(f"[{key}]", "true", "[mbr-size]", "1", "[lmbr-pruning-factor]", "1")
        assert smt("decode", "-c", name, stdin=INPUT).ok() == plain
        assert smt("decode", "-c", config(f"[{key}]", "true"), "-j", 2, stdin=INPUT).ok().count("\n") == 3

    def test_gains_of_lattice_minimum_bayes_risk(self, smt: Smt) -> None:
        sections = ["[lminimum-bayes-risk]", "true", "[n-best-list]", "gains 2", "[lmbr-thetas]", "1 0 0", "0 0"]
        found = smt("decode", "-c", config(*sections), stdin=INPUT)
        assert "texts with their gains; the output has translations (Moses' has none)" in found.err
        lists = [line.split(" |||") for line in Path("gains").read_text().splitlines()]
        assert [line[0] for line in lists] == ["0", "0", "1", "1"]
        assert [line[1] for line in (lists[0], lists[2])] == found.out.splitlines()[:2]
        # A text's gain is its length.
        assert all(int(line[-1]) == len(line[1].split()) for line in lists)

    @pytest.mark.parametrize(
        ("sections", "message"),
        [
            ("[consensus-decoding]\n1\n[minimum-bayes-risk]\n1", "expected one of minimum-bayes-risk, lminimum-"),
            ("[lminimum-bayes-risk]\n1\n[n-best-list]\n- 3", "n-best-list: expected a file, as translations are"),
            ("[lminimum-bayes-risk]\n1\n[lmbr-thetas]\n1 2", ": output.choice.thetas: expected 5 numbers, found '1 2'"),
            ("[lminimum-bayes-risk]\n1\n[lmbr-r]\n0", ": output.choice.ratio: expected a number above 0, found 0.0"),
            ("[minimum-bayes-risk]\n1\n[mbr-size]\nmany", ": output.choice.size: expected a whole number, found 'many"),
        ],
    )
    def test_choices_that_cannot_be_made(self, smt: Smt, sections: str, message: str) -> None:
        name = config(*sections.splitlines())
        found = smt("decode", "-c", name, stdin=INPUT)
        assert (found.code, found.out) == (1, "")
        assert message in found.err
        assert f"{name}:{len(Path(name).read_text().splitlines())}: " in found.err

    def test_choices_of_other_decoders(self, smt: Smt) -> None:
        for setting, message in (
            ("output.choice=lattice-mbr", "output.choice: needs the decoder `phrase`"),
            ("output.gains=out", "output.gains: needs output.choice: lattice-mbr"),
            ("output.details=out", "output.details: expected derivations made of phrases, found others"),
        ):
            found = smt("decode", "-c", "run.yaml", "--set", setting, stdin="der koch\n")
            assert found.code
            assert message in found.err

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_a_line_that_cannot_be_translated_stops_no_other(self, smt: Smt, jobs: int) -> None:
        lines = [
            "der koch",
            'das <update weight="1">brot</update>',
            "<zone>das brot</zone>",
            "<weight-overwrite/> koch",
        ]
        name = config("[xml-input]", "inclusive", "[alignment-output-file]", "words")
        arguments = ("decode", "-c", name, "-j", jobs, "--forests", "f")
        found = smt(*arguments, stdin="\n".join(lines) + "\n")
        assert (found.code, found.out) == (1, "the cook\n\nthe bread\n\n")
        assert "smt: 2 sentences are not translated, all others are: sentence 1: <update> changes the " in found.err
        assert "; sentence 3: <weight-overwrite> changes" in found.err
        assert Path("words").read_text().count("\n") == 4
        smt(*arguments, "-k", 2, "-o", "lists", stdin="\n".join(lines) + "\n")
        assert {line.split()[0] for line in Path("lists").read_text().splitlines()} == {"0", "2"}

    def test_nothing_is_learnt_from_the_others(self, smt: Smt) -> None:
        for file, text in (("in", 'der koch\n<update weight="1">brot</update>\n'), ("ref", "the cook\nbread\n")):
            Path(file).write_text(text)
        name = config("[xml-input]", "inclusive")
        found = smt("tune", "-c", name, "-s", "in", "-r", "ref", "--dir", "run", "-q", "--iterations", 1)
        assert found.code == 1
        assert found.err.startswith(
            "smt: 1 sentence is not translated, so nothing is learnt; learn without it (take it "
        )
        assert "): sentence 1: <update> changes" in found.err

    def test_python_has_the_choice_too(self, smt: Smt) -> None:
        host, changed = load_plugins(), 0
        for scale in (0.01, 0.1, 1.0):
            setting = f"output.choice=mbr,scale={scale}"
            text = "der koch hat das brot gekocht\nder hat\n\n"
            lines = smt("decode", "-c", config(), "--set", setting, stdin=text).ok().splitlines()
            translator = host.translator(config(), [setting])
            chosen = list(translator.decode(text.splitlines()))
            assert [decoding.best for decoding in chosen] == lines
            plain = list(host.translator(config()).decode(text.splitlines()))
            changed += [decoding.best for decoding in plain] != lines
            for decoding, other in zip(chosen, plain, strict=True):
                assert decoding.score is not None and other.score is not None
                total = sum(translator.model.weights[name] * value for name, value in decoding.features.items())
                assert decoding.score == pytest.approx(total, abs=1e-4)
                assert decoding.score <= other.score + 1e-6
        assert changed

    def test_charts_drop_unknown_words(self, smt: Smt) -> None:
        """Those with digits are copied; all of them cost the same."""
        name, text = toolkit("moses"), "petersen der koch x2\n"
        plain = smt("decode", "-c", name, "-k", 1, stdin=text).ok()
        with Path(name).open("a") as out:
            out.write("[drop-unknown]\ntrue\n[output-unknowns]\nwords\n[alignment-output-file]\nlinks\n")
        dropped = smt("decode", "-c", name, "-k", 1, stdin=text).ok()
        assert plain.split(" ||| ")[1].split() == ["petersen", "the", "cook", "x2"]
        assert dropped.split(" ||| ")[1].split() == ["the", "cook", "x2"]
        costs = [re.findall(r"UnknownWordPenalty0= (\S+)", line) for line in (plain, dropped)]
        assert costs[0] == costs[1]
        assert Path("words").read_text() == "petersen x2\n"
        assert Path("links").read_text().split()[-2:] == ["3-2", "4-3"]

    def test_charts_have_ids_and_scores(self, smt: Smt) -> None:
        name = toolkit("moses")
        with Path(name).open("a") as out:
            out.write("[print-id]\ntrue\n[output-hypo-score]\ntrue\n")
        lists = smt("decode", "-c", name, "-k", 1, stdin="der koch\n").out
        score = float(lists.split(" ||| ")[-1])
        assert smt("decode", "-c", name, stdin="der koch\n").ok() == f"{score:.6g} 0 the cook\n"

    def test_unknown_parts_and_choices(self, smt: Smt) -> None:
        for key, value in (("show", "[idd]"), ("choice", "mb"), ("rescored", "blue")):
            found = smt("decode", "-c", "run.yaml", "--set", f"output.{key}={value}")
            assert f"smt: --set: output.{key}: unknown" in found.err
            assert (found.code, found.out) == (2, "")
