"""Phrase decoding with the configurations of Moses and Joshua: fields of lists, search graphs, options."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.systems.decode.systems import BAKER, PHRASE_TABLE, PHRASES, Smt, phrases, read_weights, smt_read, toolkit


class TestPhrases:
    """What ``moses`` writes of phrases: fields of lists, search graphs in its formats, options of the search."""

    def lists(self, smt: Smt, *options: Any) -> list[Any]:
        smt("decode", "-c", phrases(), "-k", 20, "-o", "lists", *options, stdin=BAKER).ok()
        return smt_read("lists")

    def test_translations(self, smt: Smt) -> None:
        assert smt("decode", "-c", phrases(), stdin=BAKER).ok() == "the cook has cooked the bread\nthe petersen\n\n"

    def test_fields_of_lists(self, smt: Smt) -> None:
        first, second, empty = self.lists(smt, "--fields", "alignment,segmentation,input")
        assert first.texts[0] == "the cook has cooked the bread"
        assert first.extras["segmentation"][0] == "0=0 1=1 2=2 5=3 3-4=4-5"
        assert first.extras["alignment"][0] == "0-0 1-1 2-2 5-3 3-4 4-5"
        assert set(first.extras["input"]) == {"der koch hat das brot gekocht"}
        assert second.alignment[0] == ((0, 0), (1, 1))
        assert empty.texts == [""]
        line = Path("lists").read_text().splitlines()[0]
        assert line.endswith(
            " ||| 0=0 1=1 2=2 5=3 3-4=4-5 ||| 0-0 1-1 2-2 5-3 3-4 4-5  ||| der koch hat das brot gekocht"
        )
        # Features that walk the phrases find what the decoder found.
        Path("in").write_text(BAKER)
        smt("score", "-i", "lists", "-o", "scored", "-s", "in", "--feature", "distortion,name=again").ok()
        for one in smt_read("scored"):
            for _, row, _ in one.rows():
                assert row["again"] == row["Distortion0"]

    def test_fields_of_the_configuration(self, smt: Smt) -> None:
        config = phrases()
        Path(config).write_text(PHRASES + "[include-segmentation-in-n-best]\ntrue\n")
        given = smt("decode", "-c", config, "-k", 1, stdin="der koch\n").ok()
        assert given.endswith(" ||| 0=0 1=1\n")
        assert smt("decode", "-c", config, stdin="der koch\n").ok() == "the cook\n"
        assert (
            smt("decode", "-c", config, "-k", 1, "--fields", "alignment", stdin="der koch\n")
            .ok()
            .endswith(" ||| 0-0 1-1 \n")
        )

    def test_stateful_features_come_first_and_unknown_words_are_not_shown(self, smt: Smt) -> None:
        for one in self.lists(smt):
            assert set(one.layouts) == {("Distortion0", "LM0", "WordPenalty0", "PhrasePenalty0", "TM0[0]", "TM0[1]")}

    def test_options_of_the_search(self, smt: Smt) -> None:
        def hypotheses(*options: Any) -> int:
            smt("decode", "-c", phrases(), "-o", "out", "--stats", "stats.json", *options, stdin=BAKER).ok()
            found: int = json.loads(Path("stats.json").read_text())["hypotheses"]
            return found

        assert hypotheses("--stack", 1) < hypotheses() == hypotheses("--stack", 50)
        cubes = ("--search", "cube", "--pop-limit")
        assert hypotheses(*cubes, 1) < hypotheses(*cubes, 4) < hypotheses(*cubes, 200)
        assert hypotheses("--decoder", "phrase,beam_threshold=0", "--stack", 1) == hypotheses("--stack", 1)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--stack", 5], "--stack: decoder 'hiero' has no option 'stack_size'"),
            (["--search", "cube"], "--set: decoder.search: expected one of cube_pruning, full, found 'cube'"),
            (["--forests-format", "slf-lattice"], "--forests-format needs --forests"),
            (["--fields", "segmentation"], "--fields needs n-best lists (-k N)"),
            (["-k", 2, "--fields", "segments"], "unknown field 'segments' of lists; did you mean 'segmentation'?"),
            (["-k", 2, "--fields", "input", "--to", "cdec-nbest"], "cdec-nbest has no place for input"),
            (["--forests", "f", "--forests-format", "moses-chart-graph"], "moses-chart-graph can only be read; name"),
            (["--forests", "f", "--forests-format", "text"], "format 'text' is of kind corpus, expected hypergraph"),
        ],
    )
    def test_wrong_calls(self, smt: Smt, options: list[Any], message: str) -> None:
        result = smt("decode", "-c", "run.yaml", "-i", "-", *options, stdin="der koch\n")
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"smt: {message}")

    def test_charts_have_no_phrases(self, smt: Smt) -> None:
        options = ["-k", 2, "--fields", "segmentation", "--to", "moses-nbest"]
        result = smt("decode", "-c", "run.yaml", "-i", "-", *options, stdin="der koch\n")
        assert result.code == 2
        assert result.err.startswith("smt: segmentation: expected derivations made of phrases, found those of a")
        assert smt(
            "decode", "-c", "run.yaml", "-i", "-", "--forests", "f", "--forests-format", "moses-search-graph",
            stdin="der koch\n",
        ).code == 1  # fmt: skip

    @pytest.mark.parametrize(
        "format",
        ["moses-search-graph", "moses-search-graph,extended=true", "moses-word-graph", "moses-hypergraph",
         "slf-lattice", "cdec-json-hypergraph"],
    )  # fmt: skip
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_graphs_are_read_again(self, smt: Smt, format: str, jobs: int) -> None:
        from smtplugins.core.graph.hypergraph import Hypergraph
        from smtplugins.core.graph.inference import kbest
        from smtplugins.host.files.opening import open_known

        lists = self.lists(smt, "--forests", "f", "--forests-format", format, "-j", jobs)
        weights = read_weights("phrases.ini")
        name = format.split(",")[0]
        assert ("weights" in os.listdir("f")) == (name == "moses-hypergraph")
        if name == "moses-hypergraph":
            assert read_weights("f/weights") == weights
        order = "UnknownWordPenalty0 WordPenalty0 PhrasePenalty0 TM0:2 Distortion0 LM0"
        assert lists.pop().texts == [""]
        assert len(os.listdir("f")) == len(lists) + (name == "moses-hypergraph")
        for one in lists:
            (path,) = Path("f").glob(f"{one.id}.*")
            named = f"{name},names={order}" if "extended" in format else name
            with open_known(path, "hypergraph", named) as opened:
                (columns,) = opened.records()
            assert columns.id == one.id
            graph = Hypergraph.from_columns(columns)
            if name in ("moses-hypergraph", "cdec-json-hypergraph") or "extended" in format:
                scored = graph.reweighted(weights)
            elif name == "slf-lattice":
                assert columns.extras["scales"] == {x: weights[n] for x, n in columns.extras["names"].items()}
                scored = graph.reweighted(columns.extras["scales"])
            else:
                scored = graph.reweighted({"a": 1.0}) if name == "moses-word-graph" else graph
            found = kbest(scored, k=20)
            assert found.scores.tolist() == pytest.approx(one.totals, abs=1e-4)
            assert sorted(found.texts()) == sorted(one.texts)

    def test_trace(self, smt: Smt) -> None:
        lines = smt("decode", "-c", phrases(), "--trace", stdin="der koch\n").err.splitlines()
        assert [line.split("  ")[0] for line in lines] == [
            "sentence 0", "[0, 1) der ||| the", "[1, 2) koch ||| cook", "end"
        ]  # fmt: skip


JOSHUA_STACK = """\
tm = moses -owner pt -maxspan 0 -path phrases
feature-function = LanguageModel -lm_type kenlm -lm_order 3 -lm_file en.arpa
feature-function = OOVPenalty
feature-function = WordPenalty
feature-function = Distortion
feature-function = PhrasePenalty -owner pt
mark-oovs = true
maxlen = 4
lm_0 1
tm_pt_0 1
tm_pt_1 0.5
OOVPenalty 1
WordPenalty -0.4
Distortion 0.1
PhrasePenalty -0.1
"""


class TestJoshuasPhrases:
    @pytest.fixture(autouse=True)
    def _here(self, tmp_path: Path) -> None:
        Path("phrases").write_text(PHRASE_TABLE)
        Path("stack.config").write_text(JOSHUA_STACK)

    def test_lists(self, smt: Smt) -> None:
        found = smt("decode", "-q", "-c", "stack.config", "-k", 1, stdin="das brot\npetersen koch\n").ok().splitlines()
        assert [line.split(" ||| ")[:2] for line in found] == [["0", "the bread"], ["1", "petersen_OOV cook"]]
        assert found[0].split(" ||| ")[2].split()[0] == "tm_pt_0=-0.693"
        # Any word may be copied, at the price of the penalty.
        copied = smt("decode", "-q", "-c", "stack.config", "-k", 9, stdin="brot\n").ok().splitlines()
        assert [line.split(" ||| ")[1] for line in copied] == ["bread", "brot_OOV"]
        assert "OOVPenalty=-100.000" in copied[1]

    def test_long_sentences_are_cut(self, smt: Smt) -> None:
        given = "das brot das brot der koch\n"
        assert (
            smt("decode", "-q", "-c", "stack.config", stdin=given).ok().startswith("0 ||| the bread the bread ||| tm")
        )
        path = toolkit("joshua")
        Path(path).write_text("maxlen = 2\noutput-format = %s\n" + Path(path).read_text())
        result = smt("decode", "-c", path, stdin="der koch\nder koch der koch\nder koch der\n")
        assert (result.code, result.out) == (0, "the cook\n" * 3)
        cut = "sentence 1: only its first 2 of 4 words are translated (decoder.max_length)"
        assert result.err == f"smt: note: {cut}, and so of any other longer sentence\n"

    def test_reordering_is_limited_by_a_window(self, smt: Smt) -> None:
        """No phrase, however long, ends further from the first open word."""
        Path("phrases").write_text(
            "a b c ||| X ||| 1 1\na ||| A ||| 0.1 0.1\nb ||| B ||| 0.1 0.1\nc ||| C ||| 0.1 0.1\n"
        )
        for limit, text in ((3, "X"), (2, "A B C"), (-1, "X")):
            Path("w.config").write_text(f"reordering-limit = {limit}\n{JOSHUA_STACK}".replace("lm_0 1", "lm_0 0"))
            options = ("--set", "decoder.mark_oovs=false", "--set", "output.template='%s'")
            assert smt("decode", "-q", "-c", "w.config", *options, stdin="a b c\n").ok() == f"{text}\n"

    def test_lattices_are_refused(self, smt: Smt) -> None:
        Path("l.config").write_text(f"lattice-decoding = true\n{JOSHUA_STACK}")
        found = smt("decode", "-c", "l.config", stdin="der\n")
        assert (found.code, found.out) == (1, "")
        assert "l.config:1: lattice-decoding: expected no such setting (search = cky has it), found 'true'" in found.err

    def test_notes_on_settings_without_an_effect(self, smt: Smt) -> None:
        Path("n.config").write_text(f"threads = 4\noutput-format = %s\n{JOSHUA_STACK}")
        found = smt("decode", "-c", "n.config", stdin="der\n")
        assert (found.code, found.out) == (0, "the\n")
        assert found.err == (
            "smt: note: n.config: not used, without an effect on translations: line 1: threads '4' (`-j N`)\n"
        )
