"""Evaluation on confusion sets: what is picked, n-grams in common, perplexity, each against plain counting."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from smtplugins.cli.main import main
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.core.graph.inference import kbest
from smtplugins.core.lm.ngram_model import read_lm
from smtplugins.host.host import Host
from smtplugins.plugins.cdlm.features.classes import ClassMap
from smtplugins.plugins.cdlm.features.model import save_model
from smtplugins.plugins.cdlm.picking import picking
from smtplugins.plugins.cdlm.sets.confusing import ConfusionSetting, confusion_sets, read_text
from smtplugins.plugins.cdlm.study.tables import ngrams_table, picking_table
from tests.plugins.cdlm.confusions import FIGURE_1, FOUR


@pytest.fixture
def figure(setting: ConfusionSetting, tmp_path: Path) -> ConfusionSetting:
    """Figure 1 of the paper as a grammar, and the sentence it confuses."""
    (tmp_path / "figure.cg").write_text(FIGURE_1, encoding="utf-8")
    (tmp_path / "figure.en").write_text("a cat on the mat\n", encoding="utf-8")
    return ConfusionSetting(tmp_path / "figure.cg", setting.lm)


def test_the_language_model_picks_its_best_string_of_figure_1(host: Host, figure: ConfusionSetting) -> None:
    sentences = read_text(host, figure.grammar.parent / "figure.en")
    found = picking.picked(picking.sets_of(host, figure, sentences, picking.baseline()), sentences)
    scores, _ = read_lm(figure.lm).score_sentences(sorted(FOUR))
    assert found.texts == (max(zip(scores, sorted(FOUR), strict=True))[1],)
    assert found.own == 0


def test_a_model_picks_what_enumeration_says(host: Host, setting: ConfusionSetting, tmp_path: Path) -> None:
    sentences = read_text(host, setting.grammar.parent / "test.txt")[:6]
    classes = ClassMap({"the": "DT", "a": "DT", "on": "IN", "of": "IN"})
    weights = {"blm": 1.0, "wp": 0.8, "tsrb:DT_%3Cother%3E": 0.7, "tsrb:X_IN": -0.4}
    save_model(tmp_path / "model", weights, classes)
    one = picking.contender(tmp_path / "model")
    assert one.features == ("blm", "wp", "tsrb")
    own = picking.picked(picking.sets_of(host, setting, sentences, one), sentences)
    # The same from the sets of the language model, all derivations looked at.
    graphs = list(picking.sets_of(host, setting, sentences, picking.baseline()))
    same = picking.same_sets(graphs, sentences, [picking.baseline(), one], setting.cost)
    scored = ConfusionSetting(setting.grammar, setting.lm, one.classes)
    for graph, text in zip(confusion_sets(host, scored, sentences, weights), own.texts, strict=True):
        best = kbest(graph, k=100000)
        values = [
            sum(weights.get(name, 0.0) * value for name, value in zip(graph.names[:], one.features(), strict=True))
            - setting.cost * dict(zip(graph.names[:], one.features(), strict=True)).get("OOV", 0.0)
            for one in best[:]
        ]
        assert text == best[max(range(len(values)), key=values.__getitem__)].text
    assert same["model"].own <= len(sentences)
    assert same[picking.BASELINE].texts == picking.picked(graphs, sentences).texts


def test_baseline_picks_by_the_language_model_alone() -> None:
    assert picking.baseline().features == ("blm",)
    assert picking.Contender("x", {"blm": 1.0, "wp": 0.0}).features == ("blm",)


def counted(simulated: list[list[str]], real: list[list[str]], n: int) -> tuple[int, int, int]:
    """Plainly: types of n-grams in each, and in both, sentence by sentence."""

    def grams(texts: list[str]) -> set[str]:
        return {" ".join(t.split()[i : i + n]) for t in texts for i in range(len(t.split()) - n + 1)}

    pairs = [(grams(one), grams(other)) for one, other in zip(simulated, real, strict=True) if one and other]
    sizes = [(len(one), len(other), len(one & other)) for one, other in pairs]
    left, right, both = (sum(column) for column in zip(*sizes, strict=True))
    return left, right, both


def test_overlaps_are_counted_sentence_by_sentence() -> None:
    simulated = [["a b c", "a c"], ["d d d"], [], ["e f g h i"]]
    real = [["a b d"], ["d d"], ["x"], ["e f g h i", "e g"]]
    found = picking.overlaps(map(picking.ngram_types, simulated), map(picking.ngram_types, real))
    assert [(one.simulated, one.real, one.both) for one in found] == [counted(simulated, real, n) for n in range(1, 5)]
    assert found[0].precision == 8 / 9
    assert found[0].recall == 8 / 9
    assert found[0].agreement == 8 / 10
    assert picking.NgramOverlap(0, 0, 0).precision == picking.NgramOverlap(0, 0, 0).agreement == 0.0


def test_gain_shape_is_that_of_precisions() -> None:
    # Right: 4 of 5 words, 2 of 4, 1 of 3, 0 of 2; a repeated word is right each time.
    assert picking.gain_shape(["a b c x c"], [["a b c d"]]) == pytest.approx((0.8, math.sqrt(1 / 3 / 0.8)))
    assert picking.gain_shape(["a"], [["a b"]]) == (1.0, 0.5)
    with pytest.raises(SmtError, match="share words"):
        picking.gain_shape(["x"], [["a"]])


def test_perplexity_is_that_of_the_words_and_ends(host: Host, setting: ConfusionSetting) -> None:
    texts = [one.text for one in read_text(host, setting.grammar.parent / "test.txt")]
    model = read_lm(setting.lm)
    scores = [score for text in texts for score, _, _ in model.full_scores(text)]
    found, unknown = picking.perplexity(setting.lm, texts)
    assert found == pytest.approx(10 ** (-sum(scores) / len(scores)))
    assert unknown == sum(lost for text in texts for _, _, lost in model.full_scores(text))
    with pytest.raises(SmtError, match="perplexity"):
        picking.perplexity(setting.lm, [])


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    path = tmp_path / "lists.txt"
    path.write_text("0 ||| the dog ||| lm= 1 ||| 1\n0 ||| a dog ||| lm= 0 ||| 0\n", encoding="utf-8")
    return path


def test_lists_are_taken_by_number(host: Host, lists: Path) -> None:
    assert picking.strings_of_lists(host, lists, 100, 2) == [["the dog", "a dog"], []]
    assert picking.strings_of_lists(host, lists, 1, 1) == [["the dog"]]
    with pytest.raises(UsageError, match="sentences 0 to -1"):
        picking.strings_of_lists(host, lists, 1, 0)


def test_pick_prints_the_tables(
    setting: ConfusionSetting, lists: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = str(setting.grammar.parent / "test.txt")
    save_model(tmp_path / "plain", {"blm": 1.0, "wp": 1.0}, None)
    common = ["cdlm", "pick", "-i", text, "-g", str(setting.grammar), "--lm", str(setting.lm), "-q"]
    common += ["--model", str(tmp_path / "plain"), "--lists", str(lists)]
    assert main([*common, "-f", "json", "-o", str(tmp_path / "out"), "--same-sets"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = found["tables"]["picking"]["rows"]
    assert [row["name"] for row in rows] == ["baseline LM", "plain"]
    assert rows[0]["score"] == rows[0]["same"]
    assert rows[1]["words"] > rows[0]["words"]
    assert rows[1]["paper_score"] == 14.2
    assert found["settings"]["perplexity"] > 1
    count = len(Path(text).read_text(encoding="utf-8").splitlines())
    picks = (tmp_path / "out/plain.txt").read_text(encoding="utf-8").splitlines()
    assert len(picks) == count
    assert main([*common, "--no-paper"]) == 0
    shown = capsys.readouterr().out
    assert f"Table 2: picking from the confusion sets of {count} sentences" in shown
    assert "Table 4: n-grams of 100-best strings" in shown
    assert "paper" not in shown


@pytest.mark.parametrize(
    ("more", "said"),
    [(["--nbest", "0"], "1 or more"), (["--model", "."], "model.json"), (["-r", "nowhere"], "nowhere")],
)
def test_bad_calls_are_said(
    more: list[str], said: str, setting: ConfusionSetting, capsys: pytest.CaptureFixture[str]
) -> None:
    text = str(setting.grammar.parent / "test.txt")
    assert main(["cdlm", "pick", "-i", text, "-g", str(setting.grammar), "--lm", str(setting.lm), "-q", *more])
    assert said in capsys.readouterr().err


def test_tables_have_the_paper_s_figures() -> None:
    row = {"name": "x", "features": ["blm", "wp", "tsrb"], "score": 30.0, "interval": 1.0, "p": 0.01}
    table = picking_table([{**row, "words": 1.0, "own": 2, "same": None}], "BLEU", 5, 1)
    assert "25.3" in table.shown("text")
    assert "same sets" not in table.shown("text")
    assert table.shown("tsv", paper=False).splitlines()[1] == "x\tx\tx\tx\t30.00\t± 1.00\t0.01\t1.00\t2"
    assert table.shown("latex").startswith("% Table 2")
    assert "48.2" in ngrams_table([picking.NgramOverlap(4, 2, 1)], 100, 1).shown("text")
