"""Confusion sets: the paper's Figure 1, words without a rule, folders of sets, and what is told of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from smtplugins.cli.main import main
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.models import Model
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.graph.inference import kbest
from smtplugins.host.host import Host
from smtplugins.plugins.cdlm.sets.confusing import (
    ConfusionSetting,
    confusion_sets,
    holds,
    keep_sets,
    read_text,
    read_weights,
)
from tests.plugins.cdlm.confusions import FIGURE_1, FOUR, read_sets, sentences, write

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    write(tmp_path)
    monkeypatch.chdir(tmp_path)

    def command(*arguments: Any) -> tuple[int, str, str]:
        code = main([str(one) for one in arguments])
        found = capsys.readouterr()
        return code, found.out, found.err

    return command


def texts(graph: Hypergraph, count: int = 10_000) -> set[str]:
    return set(kbest(graph, k=count).texts()) if graph.nodes else set()


def figure_1(folder: Path, text: str = "a cat on the mat") -> tuple[ConfusionSetting, Path]:
    made = write(folder)
    (folder / "figure1.cdec").write_text(FIGURE_1, encoding="utf-8")
    (folder / "figure1.txt").write_text(f"{text}\n", encoding="utf-8")
    return ConfusionSetting(folder / "figure1.cdec", made.lm), folder / "figure1.txt"


class TestFigure1:
    def test_four_strings(self, host: Host, tmp_path: Path) -> None:
        setting, text = figure_1(tmp_path)
        (graph,) = confusion_sets(host, setting, read_text(host, text))
        found = kbest(graph, k=100)
        assert len(found) == 4 and set(found.texts()) == FOUR
        assert list(graph.names) == ["blm", "wp"]

    def test_all_that_is_cheap_is_found_by_a_full_search_too(self, host: Host, tmp_path: Path) -> None:
        setting, text = figure_1(tmp_path)
        whole = ConfusionSetting(setting.grammar, setting.lm, search={"search": "full"})
        (graph,) = confusion_sets(host, whole, read_text(host, text))
        # Words that are unknown one by one make worse ones, and pruning takes them away again.
        assert texts(graph) > FOUR and "oov oov oov oov oov" in texts(graph)
        pruned = ConfusionSetting(setting.grammar, setting.lm, prune=50.0, search={"search": "full"})
        (graph,) = confusion_sets(host, pruned, read_text(host, text))
        assert texts(graph) == FOUR

    def test_through_a_folder(self, host: Host, tmp_path: Path) -> None:
        setting, text = figure_1(tmp_path)
        totals = keep_sets(host, setting, read_text(host, text), tmp_path / "sets").record()
        (graph,) = read_sets(host, tmp_path / "sets")
        assert texts(graph) == FOUR
        path = next((tmp_path / "sets").iterdir())
        assert path.name == "0.json.gz" and totals["bytes"] == path.stat().st_size
        assert totals["own_in_set"] == 0 and totals["edges"] == len(graph)


class TestUnknownWords:
    def test_they_become_oov_or_stay(self, host: Host, tmp_path: Path) -> None:
        setting, text = figure_1(tmp_path, "xyz a cat")
        (graph,) = confusion_sets(host, setting, read_text(host, text))
        best = kbest(graph)[0]
        assert best.text == "oov the cat"
        assert dict(zip(graph.names, best.features().tolist(), strict=True))["OOV"] == 1
        copying = ConfusionSetting(setting.grammar, setting.lm, unknown="copy")
        (graph,) = confusion_sets(host, copying, read_text(host, text))
        assert kbest(graph)[0].text == "xyz the cat"

    def test_the_cost_is_what_it_weighs(self, host: Host, tmp_path: Path) -> None:
        setting, text = figure_1(tmp_path, "xyz a cat")
        scores = []
        for cost in (100.0, 40.0):
            priced = ConfusionSetting(setting.grammar, setting.lm, cost=cost)
            (graph,) = confusion_sets(host, priced, read_text(host, text))
            scores.append(kbest(graph).scores[0])
        assert scores[1] - scores[0] == pytest.approx(60, abs=1e-4)

    def test_weights_of_the_grammar_count(self, host: Host, tmp_path: Path) -> None:
        made = write(tmp_path)
        path = tmp_path / "weighted.cdec"
        path.write_text("[X] ||| a ||| b ||| Confusion=0.25\n[X] ||| a ||| a ||| Confusion=1.5\n", encoding="utf-8")
        weighted = ConfusionSetting(path, made.lm)
        assert weighted.fixed(host) == {"Confusion": -1.0, "OOV": -100.0}
        assert weighted.weights(host, {"blm": 0.5, "Confusion": 0.0}) == {"Confusion": 0.0, "OOV": -100.0, "blm": 0.5}


class TestSets:
    def test_the_text_itself_is_in_its_set(self, host: Host, setting: ConfusionSetting) -> None:
        text = read_text(host, setting.grammar.parent / "test.txt")
        for sentence, graph in zip(text, confusion_sets(host, setting, text), strict=True):
            assert graph.id == sentence.id
            assert holds(graph, sentence.text) == (sentence.text in texts(graph))
            assert len(texts(graph)) > 10

    def test_the_same_for_any_number_of_jobs_and_threads(
        self, host: Host, setting: ConfusionSetting, tmp_path: Path
    ) -> None:
        text = read_text(host, tmp_path / "test.txt")
        told = [keep_sets(host, setting, text, tmp_path / f"sets{jobs}", jobs=jobs).record() for jobs in (1, 3)]
        one, three = ({p.name: p.read_bytes() for p in (tmp_path / f"sets{jobs}").iterdir()} for jobs in (1, 3))
        assert one == three and len(one) == len(text)
        timed = ("cpu_seconds", "sentences_per_cpu_second")
        assert [{k: v for k, v in row.items() if k not in timed} for row in told[:1]] == [
            {k: v for k, v in row.items() if k not in timed} for row in told[1:]
        ]
        kept, made = read_sets(host, tmp_path / "sets1"), confusion_sets(host, setting, text, threads=2)
        for left, right in zip(kept, made, strict=True):
            assert texts(left.with_scores(right.edge_scores)) == texts(right)

    def test_pruning_follows_the_weights(self, host: Host, setting: ConfusionSetting) -> None:
        text = read_text(host, setting.grammar.parent / "test.txt")
        short = ConfusionSetting(setting.grammar, setting.lm, density=3.0)

        def words(weights: dict[str, float]) -> float:
            graphs = confusion_sets(host, short, text, weights)
            return sum(len(one.split()) for graph in graphs for one in texts(graph)) / sum(
                len(texts(graph)) for graph in confusion_sets(host, short, text, weights)
            )

        assert words({"blm": 1.0, "wp": 5.0}) > words({"blm": 1.0, "wp": -5.0})

    def test_relative_to_the_whole(self, host: Host, setting: ConfusionSetting) -> None:
        text = read_text(host, setting.grammar.parent / "test.txt")
        sizes = [
            sum(map(len, confusion_sets(host, ConfusionSetting(setting.grammar, setting.lm, density=density), text)))
            for density in (2.0, 5.0, None)
        ]
        assert sizes[0] < sizes[1] < sizes[2]


class TestErrors:
    def test_of_settings(self, setting: ConfusionSetting) -> None:
        for options, text in (
            ({"unknown": "drop"}, "expected oov or copy"),
            ({"cost": -1.0}, "a finite number of 0 or more"),
            ({"prune": 1.0, "density": 2.0}, "found both"),
        ):
            with pytest.raises(UsageError, match=text):
                ConfusionSetting(setting.grammar, setting.lm, **options)  # type: ignore[arg-type]

    def test_of_texts_and_folders(self, host: Host, setting: ConfusionSetting, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="an empty folder"):
            keep_sets(host, setting, read_text(host, tmp_path / "test.txt"), tmp_path)
        (tmp_path / "blank.txt").write_text("\n\n", encoding="utf-8")
        with pytest.raises(SmtError, match="found none with a word"):
            read_text(host, tmp_path / "blank.txt")

    def test_an_empty_line_has_no_set(self, host: Host, setting: ConfusionSetting, tmp_path: Path) -> None:
        (tmp_path / "gap.txt").write_text("the dog sees a cat\n\na cat sees the dog\n", encoding="utf-8")
        notes: list[str] = []
        text = read_text(host, tmp_path / "gap.txt")
        totals = keep_sets(host, setting, text, tmp_path / "sets", note=notes.append).record()
        assert totals["empty"] == 1 and notes == ["sentence 1 has no confusion set"]
        assert sorted(path.name for path in (tmp_path / "sets").iterdir()) == ["0.json.gz", "2.json.gz"]
        assert [len(one) > 0 for one in confusion_sets(host, setting, text)] == [True, False, True]


class TestCommand:
    SETTING = ("-g", "confusion.cdec", "--lm", "lm.arpa")

    def confuse(self, run: Run, *more: Any, i: str = "test.txt") -> tuple[int, str, str]:
        return run("cdlm", "confuse", *self.SETTING, "-i", i, "-o", "sets", *more)

    def test_sets_are_forests_like_any(self, run: Run) -> None:
        code, out, err = self.confuse(run, "--stats", "stats.json", "-j", "2")
        assert (code, out) == (0, "") and "20 sentences (0 without a set)" in err
        stats = json.loads(Path("stats.json").read_text(encoding="utf-8"))
        assert stats["sentences"] == 20 and stats["own_in_set"] > 0.5
        assert stats["bytes"] == sum(path.stat().st_size for path in Path("sets").iterdir())
        tune = ("tune", "--forests", "sets", "-r", "test.txt", "-m", "bleu,tokenize=none", "-q")
        code, out, err = run(*tune, "--learner", "minrisk,temperature=0,quenches=0", "-o", "weights")
        assert code == 0, err
        assert "wp " in Path("weights").read_text(encoding="utf-8")

    def test_weights_of_a_model(self, run: Run, host: Host) -> None:
        Model({"blm": 1.0, "wp": 2.0}).save(Path("model"))
        assert read_weights(host, Path("model")) == {"blm": 1.0, "wp": 2.0}
        assert self.confuse(run, "-w", "model", "-q") == (0, "", "")

    @pytest.mark.parametrize(
        ("more", "text"),
        [
            (("--set", "search"), "expected KEY=VALUE"),
            (("--set", "speed=3"), "speed"),
            (("-w", "nowhere"), "nowhere"),
            (("--pop-limit", "0"), "pop_limit"),
        ],
    )
    def test_errors(self, run: Run, more: Sequence[str], text: str) -> None:
        code, _, err = self.confuse(run, *more)
        assert code != 0 and text in err and "Traceback" not in err


def test_the_language_is_as_it_is_said(tmp_path: Path) -> None:
    assert len(set(sentences(30, 1))) > 20 and not set(sentences(30, 1)) & set(sentences(5, 9))
