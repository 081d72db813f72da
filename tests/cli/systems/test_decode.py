"""``smt decode`` as people use it: with a run.yaml or a toolkit's configuration, in and out of files and pipes."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.host.features.weighing import Weigher

Smt = Callable[..., Any]
Start = Callable[..., subprocess.Popen[bytes]]
EXAMPLE = Path(__file__).resolve().parents[3] / "examples/decode-hiero"
TEXTS = (
    "the cook has cooked the soup .\nthe boy saw a small dog yesterday .\n"
    "i believe that the woman buys the old boat .\n"
    "the cat sleeps on the old bench .\nthe money is in the bank .\nwhen does the last train leave ?\n"
    "the gull eats the fisherman 's bread .\nthe fisherman 's dog has eaten the bread .\n"
    "the woman has seen petersen .\n"
)
FEATURES = "lm,path=en.arpa,base=10,name=LM"

MOSES = """\
[search-algorithm]
3
[mapping]
0 T 0
1 T 1
[cube-pruning-pop-limit]
50
[max-chart-span]
10
1000
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TM num-features=2 path=rules
PhraseDictionaryMemory name=Glue num-features=1 path=glue
KENLM name=LM0 path=en.arpa
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.5
PhrasePenalty0= 0.2
TM= 0.4 0.2
Glue= 0.1
LM0= 0.5
"""
MOSES_RULES = """\
der [X] ||| the [X] ||| 0.7 0.3 ||| 0-0
das [X][X] [X] ||| the [X][X] [X] ||| 0.6 0.3 ||| 0-0 1-1
koch [X] ||| cook [X] ||| 0.9 0.8 ||| 0-0
koch [X] ||| chef [X] ||| 0.1 0.7 ||| 0-0
brot [X] ||| bread [X] ||| 0.9 0.9 ||| 0-0
hat [X][X] gekocht [X] ||| has cooked [X][X] [X] ||| 0.6 0.7 ||| 0-0 1-2 2-1
"""
MOSES_GLUE = """\
<s> [X] ||| <s> [S] ||| 1 |||
[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0
[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718 ||| 0-0 1-1
"""
PHRASES = """\
[search-algorithm]
0
[stack]
50
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TM0 num-features=2 path=phrases
Distortion
KENLM name=LM0 path=en.arpa
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.5
PhrasePenalty0= 0.2
TM0= 0.4 0.2
Distortion0= 0.1
LM0= 0.5
[distortion-limit]
6
"""
PHRASE_TABLE = """\
der ||| the ||| 0.7 0.3 ||| 0-0 ||| |||
das ||| the ||| 0.6 0.3 ||| 0-0 ||| |||
koch ||| cook ||| 0.9 0.8 ||| 0-0 ||| |||
koch ||| chef ||| 0.1 0.7 ||| 0-0 ||| |||
das brot ||| the bread ||| 0.5 0.9 ||| 0-0 1-1 ||| |||
brot ||| bread ||| 0.9 0.9 ||| 0-0 ||| |||
hat ||| has ||| 0.6 0.7 ||| 0-0 ||| |||
gekocht ||| cooked ||| 0.6 0.7 ||| 0-0 ||| |||
"""
JOSHUA = """\
lm = kenlm 3 false false 100 en.arpa
tm = thrax pt 12 rules
tm = thrax glue -1 glue
goal-symbol = GOAL
top-n = 0
feature-function = WordPenalty
feature-function = OOVPenalty
lm_0 1
tm_pt_0 1
tm_pt_1 0.5
tm_glue_0 0.3
WordPenalty -0.4
OOVPenalty 1
"""
JOSHUA_RULES = """\
[X] ||| der ||| the ||| 0.7 0.3
[X] ||| das [X,1] ||| the [X,1] ||| 0.6 0.3
[X] ||| koch ||| cook ||| 0.1 0.2
[X] ||| koch ||| chef ||| 2.1 0.7
[X] ||| brot ||| bread ||| 0.1 0.1
[X] ||| hat [X,1] gekocht ||| has cooked [X,1] ||| 0.4 0.3
"""
JOSHUA_GLUE = """\
[GOAL] ||| <s> ||| <s> ||| 0
[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| -1
[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> ||| 0
"""
BAKER = "der koch hat das brot gekocht\nder petersen\n\n"


@pytest.fixture(autouse=True)
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example's system, where the test stands."""
    monkeypatch.setenv("SMT_CACHE", "off")
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    return tmp_path


def toolkit(name: str) -> str:
    """The files of a tiny system of a toolkit; gives the name of its configuration."""
    if name == "cdec":
        return "cdec.ini"
    config, rules, glue = {"moses": (MOSES, MOSES_RULES, MOSES_GLUE), "joshua": (JOSHUA, JOSHUA_RULES, JOSHUA_GLUE)}[
        name
    ]
    path = "moses.ini" if name == "moses" else "joshua.config"
    Path(path).write_text(config)
    Path("rules").write_text(rules)
    Path("glue").write_text(glue)
    return path


def phrases() -> str:
    """The files of a tiny phrase-based Moses; gives the name of its configuration."""
    Path("phrases.ini").write_text(PHRASES)
    Path("phrases").write_text(PHRASE_TABLE)
    return "phrases.ini"


def changed(old: str, new: str) -> str:
    """A run.yaml in which something is otherwise."""
    text = Path("run.yaml").read_text()
    assert text.count(old) == 1
    Path("changed.yaml").write_text(text.replace(old, new))
    return "changed.yaml"


class TestTranslations:
    def test_run_yaml(self, smt: Smt) -> None:
        assert smt("decode", "-c", "run.yaml").ok() == TEXTS

    def test_cdec_ini(self, smt: Smt) -> None:
        assert smt("decode", "-c", "cdec.ini", "-i", "source.de").ok() == TEXTS

    @pytest.mark.parametrize("name", ["moses", "joshua"])
    def test_charts_of_toolkits_answer_every_line(self, smt: Smt, name: str) -> None:
        expected = "the cook has cooked the bread\nthe petersen\n\n"
        assert smt("decode", "-c", toolkit(name), stdin=BAKER).ok() == expected

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
        assert (result.code, result.err.startswith("smt: note: no weights: all translations score 0")) == (0, True)
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
        found = smt("decode", "-c", "cdec.ini", "-k", 1, "--to", "text", stdin=given).ok()
        assert found == "the cook\nthe dog\n"
        ids = smt("decode", "-c", "cdec.ini", "-k", 1, stdin=given).ok().splitlines()
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


class TestLists:
    @pytest.mark.parametrize("name", ["cdec", "moses", "joshua"])
    def test_totals_are_weights_times_features_in_each_toolkits_format(self, smt: Smt, name: str) -> None:
        config = toolkit(name)
        Path("in").write_text(Path("source.de").read_text() if name == "cdec" else BAKER)
        smt("decode", "-c", config, "-i", "in", "-k", 5, "-o", "lists").ok()
        weights = _host().read_weights("weights" if name == "cdec" else config)
        # cdec's language model always counts unknown words, weighted or not.
        weigher = Weigher({"LM_OOV": 0.0, **weights} if name == "cdec" else weights)
        lists = smt_read("lists")
        assert f"{name}-nbest" in smt("info", "lists").ok()
        assert len(lists) == (9 if name == "cdec" else 3)
        for one in lists:
            assert one.totals == sorted(one.totals, reverse=True)
            for text, printed, total in zip(one.texts, one.totals, weigher.totals(one), strict=True):
                # Moses shows nothing of unknown words, which are counted all the same.
                unseen = -100 * text.split().count("petersen") if name == "moses" else 0
                assert printed == pytest.approx(total + unseen, abs=2e-5)
        assert ("UnknownWordPenalty0" in smt("decode", "-c", config, "-i", "in", "-k", 5, "--to", "jsonl").ok()) == (
            name == "moses"
        )

    def test_the_one_best_has_the_models_score(self, smt: Smt) -> None:
        first = smt("decode", "-c", "run.yaml", "-k", 1).ok().splitlines()
        every = smt("decode", "-c", "run.yaml", "-k", 4).ok().splitlines()
        assert len(first) == 9
        best = {}
        for line in every:
            best.setdefault(line.split()[0], line)
        for alone, among in zip(first, best.values(), strict=True):
            assert alone.split(" ||| ")[:2] == among.split(" ||| ")[:2]
            assert float(alone.split(" ||| ")[3]) == pytest.approx(float(among.split(" ||| ")[3]), abs=1e-5)

    def test_scores_of_the_language_model_are_those_of_smt_score(self, smt: Smt) -> None:
        smt("decode", "-c", "run.yaml", "-k", 3, "-o", "lists").ok()
        smt("score", "-i", "lists", "--feature", "lm,path=en.arpa,base=10,name=again", "-o", "scored").ok()
        for one in smt_read("scored"):
            for layout, row in zip(one.layouts, one.values, strict=True):
                named = dict(zip(layout, row, strict=True))
                assert named["LM"] == pytest.approx(named["again"], abs=1e-4)

    def test_unique(self, smt: Smt) -> None:
        texts = [line.split(" ||| ")[:2] for line in smt("decode", "-c", "run.yaml", "-k", 5).ok().splitlines()]
        assert len(set(map(tuple, texts))) < len(texts)
        lines = smt("decode", "-c", "run.yaml", "-k", 5, "--unique").ok().splitlines()
        texts = [line.split(" ||| ")[:2] for line in lines]
        assert len(set(map(tuple, texts))) == len(texts)
        assert (
            smt("decode", "-c", changed("cdec-nbest", "cdec-nbest, unique: true"), "-k", 5).ok().splitlines() == lines
        )

    def test_other_formats(self, smt: Smt) -> None:
        found = smt("decode", "-c", "run.yaml", "-k", 1, "--to", "moses-nbest", "--precision", 4).ok().splitlines()
        assert found[0] == (
            "0 ||| the cook has cooked the soup .  ||| LM= -3.994 WordPenalty= -3.04 Glue= 2 PassThrough= 0 "
            "EgivenF= -1.41 FgivenE= -3.01 ||| -2.095"
        )
        assert json.loads(smt("decode", "-c", "run.yaml", "-k", 2, "--to", "jsonl").ok().splitlines()[0])["id"] == 0

    def test_the_configurations_size(self, smt: Smt) -> None:
        config = changed("cdec-nbest", "cdec-nbest, nbest: 2")
        assert smt("decode", "-c", config).ok() == smt("decode", "-c", "run.yaml", "-k", 2).ok()


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
        assert result.err.startswith("smt: segmentation: expected derivations made of phrases, found others")
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
        weights = _host().read_weights("phrases.ini")
        name = format.split(",")[0]
        assert ("weights" in os.listdir("f")) == (name == "moses-hypergraph")
        if name == "moses-hypergraph":
            assert _host().read_weights("f/weights") == weights
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


class TestEffort:
    @pytest.mark.parametrize("options", [[], ["-k", 4], ["-k", 1]])
    def test_two_threads_write_the_same(self, smt: Smt, options: list[Any]) -> None:
        Path("many").write_text(Path("source.de").read_text() * 12)
        one = smt("decode", "-c", "run.yaml", "-i", "many", *options).ok()
        assert smt("decode", "-c", "run.yaml", "-i", "many", *options, "-j", 2).ok() == one

    def test_pop_limits(self, smt: Smt) -> None:
        def pops(*options: Any) -> int:
            smt("decode", "-c", "run.yaml", "-o", "out", "--stats", "stats.json", *options).ok()
            found: int = json.loads(Path("stats.json").read_text())["pops"]
            return found

        few, many = pops("--pop-limit", 1), pops("--pop-limit", 100)
        assert few < many
        assert pops("--set", "decoder.pop_limit=1") == few
        # Another decoder than the configuration's has its own options, and spans are no longer limited.
        assert pops("--decoder", "hiero,pop_limit=1,max_span=10") == few

    def test_all_derivations_score_no_worse(self, smt: Smt) -> None:
        def totals(*options: Any) -> list[float]:
            lines = smt("decode", "-c", "run.yaml", "-k", 1, *options).ok().splitlines()
            return [float(line.split(" ||| ")[3]) for line in lines]

        every = totals("--set", "decoder.search=full")
        for limit in (1, 5, 50):
            for full, pruned in zip(every, totals("--pop-limit", limit), strict=True):
                assert pruned <= full + 1e-5


class TestSideFiles:
    def test_forests(self, smt: Smt) -> None:
        lines = smt("decode", "-c", "run.yaml", "-k", 1, "--forests", "forests/of").ok().splitlines()
        assert sorted(os.listdir("forests/of")) == [f"{i}.json.gz" for i in range(9)]
        from smtplugins.core.graph.hypergraph import Hypergraph
        from smtplugins.core.graph.inference import viterbi
        from smtplugins.host.files.opening import open_known

        weights = _host().read_weights("weights")
        for line in lines:
            key, text, _, total = line.split(" ||| ")
            with open_known(f"forests/of/{key}.json.gz", "hypergraph") as opened:
                (columns,) = opened.records()
            graph = Hypergraph.from_columns(columns)
            best = viterbi(graph.reweighted(weights))
            assert best is not None
            assert best.text == text
            assert best.score == pytest.approx(float(total), abs=1e-4)

    def test_a_sentence_without_a_parse_has_no_forest(self, smt: Smt) -> None:
        given = "der koch\nxyz\n"
        smt(
            "decode",
            "-c",
            "run.yaml",
            "--set",
            "decoder.pass_through=none",
            "-i",
            "-",
            "-q",
            "--forests",
            "f",
            stdin=given,
        )
        assert os.listdir("f") == ["0.json.gz"]

    def test_trace(self, smt: Smt) -> None:
        result = smt("decode", "-c", "run.yaml", "-i", "-", "-k", 1, "--trace", stdin="der koch\n")
        total = float(result.out.split(" ||| ")[3])
        lines = result.err.splitlines()
        assert (result.code, lines[0]) == (0, "sentence 0")
        assert [line.rsplit("  ", 2)[0] for line in lines[1:]] == [
            "[0, 2) Goal -> [S,1] ||| [S,1]",
            "  [0, 2) S -> [X,1] ||| [X,1]",
            "    [0, 2) X -> der [X,1] ||| the [X,1]",
            "      [1, 2) X -> koch ||| cook",
        ]
        assert float(lines[1].split()[-1]) == pytest.approx(total, abs=1e-4)
        assert math.fsum(float(line.split()[-2]) for line in lines[1:]) == pytest.approx(total, abs=1e-3)

    def test_trace_of_no_translation(self, smt: Smt) -> None:
        result = smt("decode", "-c", "run.yaml", "-i", "-", "--trace", "-q", stdin="\nder koch\n")
        assert result.err.splitlines()[:3] == ["sentence 0", "no derivation", "sentence 1"]

    def test_stats(self, smt: Smt) -> None:
        smt("decode", "-c", "run.yaml", "-o", "out", "--stats", "stats.json").ok()
        found = json.loads(Path("stats.json").read_text())
        counts = ["sentences", "nodes", "edges", "bundles", "pops", "lm_queries"]
        assert list(found) == ["cpu", "wall", "peak_rss_mb", *counts]
        for kind in ("cpu", "wall"):
            assert list(found[kind]) == ["loading", "parsing", "search", "output"]
            assert all(seconds >= 0 for seconds in found[kind].values())
            assert found[kind]["parsing"] > 0 < found[kind]["search"]
        assert found["sentences"] == 9
        assert all(isinstance(found[name], int) and found[name] > 0 for name in counts)
        assert found["bundles"] <= found["edges"]
        assert found["peak_rss_mb"] > 10

    def test_stats_without_sentences(self, smt: Smt) -> None:
        Path("empty").write_bytes(b"")
        smt("decode", "-c", "run.yaml", "-i", "empty", "--stats", "stats.json").ok()
        assert json.loads(Path("stats.json").read_text())["sentences"] == 0

    def test_manifest(self, smt: Smt) -> None:
        smt("decode", "-c", "run.yaml", "-o", "out", "--manifest", "m.json").ok()
        inputs = json.loads(Path("m.json").read_text())["inputs"]
        assert {Path(one).name for one in inputs} >= {"run.yaml", "source.de", "rules.txt"}


BIGRAM = """
import math
import smtplugins as smt
from pathlib import Path
from smtplugins.contracts.adapters import SimpleStateful

class Bigram(SimpleStateful):
    def __init__(self, path: Path):
        self.scores, self.backoffs = {}, {}
        for line in path.read_text().splitlines():
            cells = line.split("\\t")
            if len(cells) > 1:
                words = tuple(cells[1].split(" "))
                self.scores[words] = float(cells[0])
                self.backoffs[words] = float(cells[2]) if len(cells) > 2 else 0.0

    def pair(self, left, right):
        if (right,) not in self.scores:
            right = "<unk>"
        if (left, right) in self.scores:
            return self.scores[left, right]
        return self.backoffs.get((left,), 0.0) + self.scores[right,]

    def combine_one(self, target, tails):
        total, first, last = 0.0, None, None
        for symbol in target:
            ends = tails[symbol] if isinstance(symbol, int) else (symbol, symbol)
            if ends is None:
                continue
            if last is not None:
                total += self.pair(last, ends[0])
            first = ends[0] if first is None else first
            last = ends[1]
        return total, None if first is None else (first, last)

    def finish_one(self, state):
        if state is None:
            return self.pair("<s>", "</s>")
        return self.pair("<s>", state[0]) + self.pair(state[1], "</s>")

    def estimate_one(self, target):
        return sum(self.scores.get((one,), self.scores["<unk>",]) for one in target if isinstance(one, str))

@smt.hookimpl
def smt_features():
    yield smt.Offer(name="bigram", make=Bigram, summary="a bigram model in Python", needs=frozenset({"target"}))
"""


class TestPlugins:
    @pytest.fixture(autouse=True)
    def _bigram(self, smt: Smt) -> None:
        Path("bigram.py").write_text(BIGRAM)
        smt("lm", "-o", 2, "-i", "text.en", "-O", "en.2.arpa", "-q").ok()

    @pytest.mark.parametrize("options", [["--set", "decoder.search=full"], ["--pop-limit", 1000], []])
    def test_a_python_feature_with_states_scores_as_the_native_one(self, smt: Smt, options: list[str]) -> None:
        native = changed(f"- {FEATURES}", "- lm,path=en.2.arpa,base=10,name=LM")
        expected = smt("decode", "-c", native, "-k", 1, *options).ok().splitlines()
        python = changed(f"- {FEATURES}", "- bigram,path=en.2.arpa,name=LM")
        for more in ([], ["-j", 2]):
            found = smt("decode", "-c", python, "-k", 1, "--plugin", "bigram.py", *options, *more).ok().splitlines()
            assert len(found) == len(expected) == 9
            for line, wanted in zip(found, expected, strict=True):
                assert line.split(" ||| ")[:2] == wanted.split(" ||| ")[:2]
                assert float(line.split(" ||| ")[3]) == pytest.approx(float(wanted.split(" ||| ")[3]), abs=1e-4)

    def test_beside_the_native_one_it_has_the_same_column(self, smt: Smt) -> None:
        both = "- lm,path=en.2.arpa,base=10,name=LM\n    - bigram,path=en.2.arpa"
        smt("decode", "-c", changed(f"- {FEATURES}", both), "-k", 9, "--plugin", "bigram.py", "-o", "lists").ok()
        for one in smt_read("lists"):
            for layout, row in zip(one.layouts, one.values, strict=True):
                named = dict(zip(layout, row, strict=True))
                assert named["LM"] == pytest.approx(named["bigram"], abs=1e-4)

    def test_a_plugin_that_the_configuration_names(self, smt: Smt) -> None:
        text = Path(changed(f"- {FEATURES}", "- bigram,path=en.2.arpa,name=LM")).read_text()
        Path("below").mkdir()
        Path("with.yaml").write_text(f"plugins: [bigram.py]\n{text}")
        assert smt("decode", "-c", "with.yaml").ok().count("\n") == 9

    def test_a_feature_that_fails_says_so(self, smt: Smt) -> None:
        Path("bigram.py").write_text(BIGRAM.replace("total, first, last = 0.0, None, None", "raise ValueError('ouch')"))
        result = smt(
            "decode", "-c", changed(f"- {FEATURES}", "- bigram,path=en.2.arpa,name=LM"), "--plugin", "bigram.py"
        )
        assert (result.code, result.out) == (1, "")
        assert "feature 'LM'" in result.err
        assert "ValueError: ouch" in result.err
        assert "Traceback" not in result.err

    def test_a_feature_of_whole_hypotheses_is_for_lists(self, smt: Smt) -> None:
        config = changed(f"- {FEATURES}", "- external,command=cat")
        result = smt("decode", "-c", config)
        assert result.code == 1
        assert "scores whole hypotheses" in result.err

    def test_a_decoder_of_a_plugin(self, smt: Smt) -> None:
        Path("echo.py").write_text(
            "import smtplugins as smt\nfrom smtplugins.contracts.decoders import Decoding\n"
            "class Echo:\n    def decode(self, sentences, model, *, threads=1, graphs=False):\n"
            "        for one in sentences:\n            yield Decoding(one.id, one.text.upper(), 1.5)\n"
            "@smt.hookimpl\ndef smt_decoders():\n    yield smt.Offer(name='echo', make=Echo, summary='louder')\n"
        )
        options = ["-c", "run.yaml", "--plugin", "echo.py", "--decoder", "echo"]
        assert smt("decode", *options).ok().startswith("DER KOCH HAT DIE SUPPE GEKOCHT .\n")
        assert smt("decode", *options, "-k", 1).ok().startswith("0 ||| DER KOCH HAT")
        result = smt("decode", *options, "-k", 2)
        assert result.code == 2
        assert "gives no graph" in result.err


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
        assert result.err.startswith("smt: cdec.ini:10: model.features.4: unknown feature 'RuleShape'; known: ")
        toolkit("moses")
        Path("moses.ini").write_text(MOSES.replace("path=glue", "path=gleu"))
        result = smt("decode", "-c", "moses.ini", stdin=BAKER)
        assert result.err == f"smt: moses.ini:16: model.tables.1: {system}/gleu: No such file or directory\n"
        Path("moses.ini").write_text(MOSES.replace("[search-algorithm]\n3", "[search-algorithm]\n5"))
        result = smt("decode", "-c", "moses.ini", stdin=BAKER)
        assert "moses.ini:2: decoder.search: expected one of cube_pruning, full, found 'incremental'" in result.err

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
        result = smt("decode", "-c", "run.yaml", "-i", "-", stdin='<seg grammar="absent">koch</seg>\n')
        assert (result.code, result.err.splitlines()[-1]) == (1, "smt: absent: No such file or directory")

    def test_a_failure_leaves_no_half_a_file(self, smt: Smt) -> None:
        Path("out").write_text("before\n")
        given = b"der koch\n" * 50 + b"\xff\n"
        assert smt("decode", "-c", "run.yaml", "-i", "-", "-o", "out", stdin=given).code == 1
        assert Path("out").read_text() == "before\n"


class TestProcesses:
    def test_a_closed_pipe_ends_it_in_silence(self, start: Start) -> None:
        Path("many").write_text(Path("source.de").read_text() * 2000)
        for jobs in (1, 2):
            process = start("decode", "-c", "run.yaml", "-i", "many", "-j", jobs, stdin=subprocess.DEVNULL)
            assert process.stdout is not None and process.stderr is not None
            assert process.stdout.readline() == b"the cook has cooked the soup .\n"
            process.stdout.close()
            assert process.wait(timeout=30) == 0
            assert process.stderr.read() == b""

    def test_each_line_is_answered_before_the_next_one_comes(self, start: Start) -> None:
        process = start("decode", "-c", "run.yaml", "-i", "-", "--from", "text")
        assert process.stdin is not None and process.stdout is not None
        for line, answer in ((b"der koch\n", b"the cook\n"), (b"die katze\n", b"the cat\n")):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == answer
        process.stdin.close()
        assert process.wait(timeout=30) == 0

    @pytest.mark.parametrize("jobs", [1, 2])
    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_ended_from_outside(self, start: Start, system: Path, number: int, code: int, jobs: int) -> None:
        # The input never ends by itself.
        before = set(os.listdir(system))
        process = start("decode", "-c", "run.yaml", "-i", "-", "-o", "out", "-j", jobs)
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(b"der koch\n" * 100)
        process.stdin.flush()
        for _ in range(300):
            if set(os.listdir(system)) != before:
                break
            time.sleep(0.1)
        # The output is written aside.
        assert "out" not in os.listdir(system) and set(os.listdir(system)) > before
        process.send_signal(number)
        assert process.wait(timeout=30) == code
        assert process.stderr.read() == (b"smt: interrupted\n" if number == signal.SIGINT else b"")
        assert set(os.listdir(system)) == before


def _host() -> Any:
    return smt.load_plugins()


def smt_read(path: str) -> list[Any]:
    """The lists of a file."""
    return list(smt.read(path))


class TestWeights:
    """Weights that fit the features of a configuration, and such as do not."""

    def test_names_of_no_feature(self, smt: Smt, tmp_path: Path) -> None:
        for name, text in (("m.ini", PHRASES), ("phrases", PHRASE_TABLE)):
            Path(name).write_text(text)
        Path("w").write_text("LM0 0.5\nTM0[0] 1\nlm0 2\nTM0[2] 1\n")
        for jobs in (1, 2):
            found = smt("decode", "-c", "m.ini", "-w", "w", "-j", jobs, "-o", "out", stdin="der koch\n")
            assert (found.code, Path("out").exists()) == (2, False)
            assert found.err.splitlines()[-1] == (
                "smt: w: weights of unknown features: 'lm0' (line 3, the nearest is 'LM0'), 'TM0[2]' (line 4, the "
                "nearest is 'TM0[1]'); correct or remove the names"
            )

    def test_what_has_none_is_named_component_by_component(self, smt: Smt) -> None:
        for name, text in (("m.ini", PHRASES), ("phrases", PHRASE_TABLE)):
            Path(name).write_text(text)
        Path("w").write_text("LM0 0.5\nTM0[0] 1\n")
        found = smt("decode", "-c", "m.ini", "-w", "w", stdin="der koch\n")
        assert (found.code, found.out) == (0, "the cook\n")
        assert found.err == (
            "smt: note: features without a weight count 0: UnknownWordPenalty0, WordPenalty0, PhrasePenalty0, TM0[1], "
            "Distortion0\n"
        )

    def test_too_large_a_weight(self, smt: Smt) -> None:
        for name, text in (("m.ini", PHRASES.replace("LM0= 0.5", "LM0= 1e39")), ("phrases", PHRASE_TABLE)):
            Path(name).write_text(text)
        found = smt("decode", "-c", "m.ini", stdin="der koch\n")
        assert (found.code, found.out) == (1, "")
        assert found.err.endswith("m.ini:18: expected a weight of LM0 that fits 32-bit floats, found 1e+39\n")

    def test_learning_begins_with_weights_of_features(self, smt: Smt) -> None:
        Path("w").write_text("LM 1\nWordPenalti 1\n")
        arguments = ("tune", "-c", "run.yaml", "-s", "source.de", "-r", "reference.en", "--dir", "out", "-w", "w")
        shutil.copy("source.de", "reference.en")
        found = smt(*arguments)
        assert (found.code, Path("out").exists()) == (2, False)
        assert "w: weights of unknown features: 'WordPenalti' (line 2, the nearest is 'WordPenalty')" in found.err


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
        assert found[0].split(" ||| ")[2].split()[0] == "tm_pt_0=-0.6931472"
        # Any word may be copied, at the price of the penalty.
        copied = smt("decode", "-q", "-c", "stack.config", "-k", 9, stdin="brot\n").ok().splitlines()
        assert [line.split(" ||| ")[1] for line in copied] == ["bread", "brot_OOV"]
        assert "OOVPenalty=-100.000" in copied[1]

    def test_long_sentences_are_cut(self, smt: Smt) -> None:
        given = "das brot das brot der koch\n"
        assert smt("decode", "-q", "-c", "stack.config", stdin=given).ok() == "the bread the bread\n"
        path = toolkit("joshua")
        Path(path).write_text("maxlen = 2\n" + Path(path).read_text())
        assert smt("decode", "-c", path, stdin="der koch der koch\n").ok() == "the cook\n"

    def test_reordering_is_limited_by_a_window(self, smt: Smt) -> None:
        """No phrase, however long, ends further from the first open word."""
        Path("phrases").write_text(
            "a b c ||| X ||| 1 1\na ||| A ||| 0.1 0.1\nb ||| B ||| 0.1 0.1\nc ||| C ||| 0.1 0.1\n"
        )
        for limit, text in ((3, "X"), (2, "A B C"), (-1, "X")):
            Path("w.config").write_text(f"reordering-limit = {limit}\n{JOSHUA_STACK}".replace("lm_0 1", "lm_0 0"))
            options = ("--set", "decoder.mark_oovs=false")
            assert smt("decode", "-q", "-c", "w.config", *options, stdin="a b c\n").ok() == f"{text}\n"

    def test_lattices_are_refused(self, smt: Smt) -> None:
        Path("l.config").write_text(f"lattice-decoding = true\n{JOSHUA_STACK}")
        found = smt("decode", "-c", "l.config", stdin="der\n")
        assert (found.code, found.out) == (1, "")
        assert "l.config:1: lattice-decoding: expected no such setting, found 'true'" in found.err

    def test_notes_on_settings_without_an_effect(self, smt: Smt) -> None:
        Path("n.config").write_text(f"threads = 4\n{JOSHUA_STACK}")
        found = smt("decode", "-c", "n.config", stdin="der\n")
        assert (found.code, found.out) == (0, "the\n")
        assert found.err == ("smt: note: n.config: not used, without an effect on translations: line 1: threads '4'\n")
