"""Joshua's own cases through ``smt decode``: the bytes that Joshua printed by its ``output-format``."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.systems.decode.systems import toolkit

Smt = Callable[..., Any]
TEXT = "una estrategia republicana para obstaculizar la reelección de Obama\n"
TREE = re.compile(r" \|\|\| \(GOAL.*")


def out(result: Any) -> str:
    """Standard output of a command that succeeded, whatever it noted."""
    assert result.code == 0, result.err
    text: str = result.out
    return text


@pytest.mark.shared
class TestGold:
    @pytest.fixture(autouse=True)
    def _gold(self, shared: Path) -> None:
        self.gold = shared / "gold/joshua"

    @pytest.mark.parametrize(
        ("config", "gold"),
        [
            ("tree-output/joshua.config", "output.gold"),
            ("n-ary/joshua.config", "output.gold"),
            ("oov-list/joshua.config", "output.gold"),
            ("num_translation_options/joshua.config", "output.gold"),
            ("num_translation_options/joshua-packed.config", "output-packed.gold"),
            ("sparse-features/joshua.config", "output.gold"),
            ("sparse-features/joshua-packed.config", "output.gold"),
        ],
    )
    def test_charts(self, smt: Smt, config: str, gold: str, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = (self.gold / config).parent
        monkeypatch.chdir(folder)
        source = "input" if Path("input").exists() else "input.txt"
        assert out(smt("decode", "-c", Path(config).name, "-i", source, "--cache", "off")) == Path(gold).read_text()

    @pytest.mark.parametrize("config", ["config", "config.packed"])
    def test_stacks(self, smt: Smt, config: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The gold output is from before Joshua left out the spans of phrases."""
        monkeypatch.chdir(self.gold / "phrase_decoder")
        gold = re.sub(r" \|\d+-\d+\|", "", Path("output.gold").read_text())
        assert out(smt("decode", "-c", config, "--cache", "off", stdin=TEXT)) == gold
        assert "template: '%i ||| %s ||| %f ||| %c'" in out(smt("config", "show", "-c", config))

    def test_alignments_and_trees(self, smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
        """Joshua swaps the subtrees of a rule that reorders: its words are not those of the translation."""
        monkeypatch.chdir(self.gold / "wa")
        found = out(smt("decode", "-c", "joshua.config", "-i", "input", "--cache", "off")).splitlines()
        gold = Path("output.gold").read_text().splitlines()
        assert [TREE.sub("", line) for line in found] == [TREE.sub("", line) for line in gold]
        for line, other in zip(found, gold, strict=True):
            text, tree = line.split(" ||| ")[2], line.split(" ||| ")[-1]
            words = [word.strip(")") for word in tree.split() if word[0] != "("]
            assert " ".join(words[1:-1]) == text
            assert sorted(re.findall(r"\(\w+\{\d+-\d+\}", tree)) == sorted(re.findall(r"\(\w+\{\d+-\d+\}", other))

    def test_constraints(self, smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
        """A sentence and target of Joshua's test of constrained decoding, whose first translation is the target."""
        monkeypatch.chdir(self.gold / "bn-en-hiero")
        line = Path("input.bn").read_text().splitlines()[2]
        text = f"{line}\n{line} ||| mathematics is science language .\n\n{line}\n"
        found = out(smt("decode", "-c", "joshua.config", "-k", "2", "--cache", "off", stdin=text)).splitlines()
        assert [line[1:-1].partition(" ")[2] for line in found] == [
            "mathematics so science language .",
            "mathematics is science language .",
            "mathematics is science language .",
            "",
            "mathematics so science language .",
            "mathematics is science language .",
        ]
        assert found[2] == found[1]

    def test_forests_rescored_with_references(self, smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(self.gold / "rescoring")
        options = ["-c", "joshua.config", "-i", "input.txt", "--cache", "off"]
        assert out(smt("decode", *options)) == Path("output.gold").read_text()
        assert smt("decode", *options, "--to", "joshua-nbest").err.endswith(
            "joshua.config:1: output.rescored: expected lines by output.template (and no --to)\n"
        )
        missing = smt("decode", *options[:2], "--cache", "off", stdin="el nino\n")
        assert missing.code == 1
        assert (
            "sentence 0: expected references for output.rescored (source ||| ||| reference), found none" in missing.err
        )

    def test_constrained_phrases(self, smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
        """A target in another order than the best translation, and one that no phrases have."""
        monkeypatch.chdir(self.gold / "phrase_decoder")
        target = "a republican strategy to hinder the reelection of Obama"
        text = f"{TEXT.strip()} ||| {target}\n{TEXT.strip()} ||| nothing\n{TEXT}"
        found = out(smt("decode", "-c", "config", "--set", "output.template='%s'", "--cache", "off", stdin=text))
        assert found == f"{target}\n{TEXT}a strategy republican to hinder reelection Obama\n"


def configured(*more: str) -> str:
    path = toolkit("joshua")
    Path(path).write_text(Path(path).read_text() + "".join(f"{line}\n" for line in more))
    return path


def test_output_format(smt: Smt) -> None:
    config = configured("output-format = %i %k %s|%S|%e|%a|%x")
    baker = "der koch hat das brot gekocht\n\n"
    expected = (
        "0 1 the cook has cooked the bread|The cook has cooked the bread|der koch hat das brot gekocht||%x\n"
        "1 %k |||%a|%x\n"
    )
    assert out(smt("decode", "-c", config, stdin=baker)) == expected
    # The option counts more, and the format's numbers are Joshua's unless others are asked for.
    assert out(smt("decode", "-c", config, "--to", "joshua-nbest", "-k", "1", stdin=baker)).startswith("0 ||| the cook")
    config = configured("output-format = %c")
    assert out(smt("decode", "-c", config, stdin="der\n")).rpartition(".")[2].strip().__len__() == 3
    longer = out(smt("decode", "-c", config, "--precision", "9", stdin="der\n"))
    assert len(longer) > 8
    mistake = smt("decode", "-c", config, "--fields", "alignment", stdin="der\n")
    assert mistake.err.endswith("fields: expected none, as output.template says what lines have\n")


def test_the_format_without_one(smt: Smt) -> None:
    """Joshua's default has all fields; with `moses` it prints translations and writes lists to a file."""
    baker = "der koch\n\n"
    assert out(smt("decode", "-c", configured(), stdin=baker)) == (
        "0 ||| the cook ||| tm_pt_0=-0.800 tm_pt_1=-0.500 tm_glue_0=2.000 lm_0=-4.056 WordPenalty=-1.737 "
        "OOVPenalty=0.000 ||| -3.811\n1 |||  |||  ||| 0.000\n"
    )
    assert out(smt("decode", "-c", configured("moses = true"), stdin=baker)) == "the cook\n\n"
    assert out(smt("decode", "-c", configured("moses = 1", "n-best-list = lists 2"), stdin=baker)) == "the cook\n\n"
    lists = Path("lists").read_text().splitlines()
    assert [line[:14] for line in lists] == ["0 ||| the cook", "0 ||| the chef", "1 |||   ||| lm"]
    assert " tm_pt_0= -0.8 tm_pt_1= -0.5 " in lists[0]


def test_formats_with_derivations_are_refused(smt: Smt) -> None:
    result = smt("decode", "-c", configured("output-format = %s %d"), stdin="der\n")
    assert "output-format: expected a format without %d" in result.err
    assert out(smt("decode", "-c", "joshua.config", "--ignore", "output-format", stdin="der\n")) == "the\n"
    direct = smt("decode", "-c", configured(), "--set", "output.template=%d", stdin="der\n")
    assert (direct.code, direct.out) == (2, "")


def test_case_of_the_input(smt: Smt) -> None:
    """Der koch, in whatever case; words copied take their case from themselves."""
    text, plain = "Der Xyz KOCH a[NN;x=y]\n", "output-format = %s"
    assert out(smt("decode", "-c", configured(plain), stdin=text)) == "Der Xyz KOCH a\n"
    assert out(smt("decode", "-c", configured(plain, "lowercase = true"), stdin=text)) == "the xyz cook a\n"
    cased = configured(plain, "lowercase = true", "project-case = true")
    assert out(smt("decode", "-c", cased, stdin=text)) == "the Xyz cook a\n"
    rules = Path("rules").read_text().replace("cook ||| 0.1 0.2", "cook ||| 0.1 0.2 ||| 0-0")
    Path("rules").write_text(rules)
    assert out(smt("decode", "-c", "joshua.config", stdin=text)) == "the Xyz COOK a\n"
    assert out(smt("decode", "-c", "joshua.config", "-k", "2", stdin=text)).startswith("the Xyz COOK a\nthe ")
    # Lists in a file have the case, too.
    beside = configured(plain, "lowercase = 1", "project-case = 1", "moses = 1", "n-best-list = lists 2")
    assert out(smt("decode", "-c", beside, stdin=f"{text}\n")) == "the Xyz cook a\n\n"
    assert Path("lists").read_text().startswith("0 ||| the Xyz cook a ")
    # Without lowercasing there is no case to project.
    assert out(smt("decode", "-c", configured(plain, "project-case = true"), stdin="der Koch\n")) == "the Koch\n"
    refused = smt("decode", "-c", configured("lowercase = 1", "project-case = 1", "lattice-decoding = 1"), stdin="")
    assert "project-case: expected no such setting with lattice-decoding" in refused.err


def test_files_of_any_shape_are_lines(smt: Smt) -> None:
    """Half of the lines have targets, all have, or all have tags; SGML and JSON are known by their shape."""
    config = configured("output-format = %i %s")
    for text, expected in (
        ("der\nder koch ||| the chef\n", "0 the\n1 the chef\n"),
        ("der koch ||| the chef\nder koch ||| the cook\n", "0 the chef\n1 the cook\n"),
        ('<seg id="3">der</seg>\n', "0 the\n"),
        ("<np>der</np> koch\n", "0 <np>der</np> cook\n"),
        ("der\tkoch\nder\tkoch\n", "0 the cook\n1 the cook\n"),
        ('{"source": "der"}\n', "0 the\n"),
    ):
        assert smt("decode", "-c", config, stdin=text).out == expected
    lattice = smt("decode", "-c", config, stdin="((('der',1,1),),)\n")
    assert (lattice.code, lattice.out) == (1, "")
    assert "expected a sentence, found a lattice" in lattice.err


def test_lines_of_input(smt: Smt) -> None:
    """Tags are dropped and sentences numbered by their lines; a target without a LanguageModel constrains nothing."""
    config = configured("output-format = %i %s")
    text = '<seg id="7"> der  koch </seg>\nder koch ||| the chef\nder koch |||  ||| the chef\n'
    found = out(smt("decode", "-c", config, stdin=text))
    assert found == "0 the cook\n1 the chef\n2 the cook\n"
    Path(config).write_text(Path(config).read_text().replace("kenlm 3 false", "kenlm 3 true"))
    result = smt("decode", "-c", config, stdin=text)
    assert result.out == "0 the cook\n1 the cook\n2 the cook\n"
    assert "<stdin>: sentence 1: its target constrains nothing, as in Joshua: no LanguageModel" in result.err
