"""`smt bitree compare` on a slice of the example: its tables against counts of what it leaves, and that it goes on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smtplugins as smt
from smtplugins.cli.main import main
from smtplugins.host.estimate.lm import estimate_files
from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel
from smtplugins.plugins.bitree.boosting.linear import fit_loglinear
from smtplugins.plugins.bitree.study.tables import ACCURACY, BAGS, PARAMETERS, short
from smtplugins.plugins.bitree.words.links import one_to_one
from smtplugins.plugins.bitree.words.material import count_links, rows_like, training_rows
from smtplugins.plugins.bitree.words.texts import read_text
from tests.plugins.cut_examples import cut

SETS = {"train": 120, "tune": 50, "dev": 40, "test": 30}


def command(trees: bool = True) -> str:
    texts = "-s train.en -t train.fr -a train.align"
    for name in ("tune", "dev", "test"):
        texts += f" --{name} {name}.en --{name}-ref {name}.fr"
        texts += f" --{name}-alignment {name}.align" if name != "test" else ""
        texts += f" --{name}-trees {name}.trees" if trees else ""
    return texts + (" --trees train.trees" if trees else "")


def run(text: str) -> int:
    return int(main(["bitree", "compare", *text.split()]))


@pytest.fixture(scope="module", name="data")
def _data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    kinds = ("en", "fr", "align", "trees")
    cut("bitree", folder, {f"{name}.{kind}": count for name, count in SETS.items() for kind in kinds})
    estimate_files([folder / "train.fr"], 2, fallback=(), quiet=True).write_arpa(str(folder / "fr.arpa"))
    return folder


@pytest.fixture(scope="module", name="out")
def _out(data: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(data)
        assert run(f"{command()} --lm fr.arpa --penalty 1 --penalty 0.3 --cost 0.1 --cost 1 -o out -q") == 0
    return data / "out"


@pytest.fixture(name="result")
def _result(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "result.json").read_text(encoding="utf-8"))
    return found


def test_a_call_that_fails_leaves_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_without_trace: Callable[[list[str], Path], None]
) -> None:
    monkeypatch.chdir(data)
    out = tmp_path / "new/out"
    fails_without_trace(["bitree", "compare", *command().split(), "--lm", "fr.arpa", "-o", str(out), "-q"], out)


def test_accuracy_is_that_of_the_predictions(data: Path, out: Path, result: dict[str, Any]) -> None:
    host = smt.load_plugins()
    training, tuning = (
        read_text(host, *(data / f"{name}.{kind}" for kind in ("en", "fr", "align", "trees")))
        for name in ("train", "tune")
    )
    counts = count_links(training)
    rows = training_rows(training, counts)
    given = rows_like(tuning, counts, rows)
    frequent = {w: rows.translations[k][0] for k, w in enumerate(rows.words)}
    right = total = 0
    for pair in tuning:
        chosen = one_to_one(pair.source, pair.target, pair.links, counts)
        for i in {i for i, _ in pair.links}:
            total += 1
            right += int((pair.target[chosen[i]] if i in chosen else "") == frequent.get(pair.source[i], ""))
    assert result["classifiers"]["baseline"]["W"]["accuracy"]["tune"] == pytest.approx(100 * right / total)
    for kind in ("l1", "l2", "pruned", "svm"):
        for letters in ("W", "WD", "WC", "WDC"):
            record = result["classifiers"][kind][letters]
            classes = np.load(out / f"{kind}-{letters}.tune.npy")
            found = 100 * (classes == given.classes)[given.linked].mean()
            assert record["accuracy"]["tune"] == pytest.approx(found)
    # What was chosen is the best on the tuning text.
    for kind, name in (("l1", "lambda"), ("l2", "penalty"), ("svm", "cost")):
        record = result["classifiers"][kind]["WC"]
        best = max(value for _, value in record["curve"])
        assert dict(map(tuple, record["curve"]))[record[name]] == best == pytest.approx(record["accuracy"]["tune"])
    # Sizes: those of a model on the disk, of a model made anew, and pruned ones are as large as boosted ones.
    assert result["classifiers"]["l1"]["WD"]["size"] == BoostedModel.load(out / "l1-WD").sizes().sum()
    penalty = result["classifiers"]["l2"]["W"]["penalty"]
    window = rows.only("W")
    models = [fit_loglinear(window.problem(word), penalty) for word in range(len(rows.words))]
    assert result["classifiers"]["l2"]["W"]["size"] == pytest.approx(sum(m.sizes().sum() for m in models), rel=0.01)
    own = np.concatenate([one.sizes() for one in models])
    boosted = np.load(out / "l1-W.sizes.npy")
    assert result["classifiers"]["pruned"]["W"]["size"] == pytest.approx(np.minimum(own, boosted).sum(), rel=0.01)


def test_bags_are_counted(data: Path, out: Path, result: dict[str, Any]) -> None:
    references = [line.split() for line in (data / "dev.fr").read_text().splitlines()]
    sources = [line.split() for line in (data / "dev.en").read_text().splitlines()]
    rows = {row["key"]: row for row in result["tables"]["dev-bags"]["rows"]}
    assert list(rows) == ["baseline", "W", "WD", "WC", "WDC", "mixture", "phrase-without-lm", "phrase-with-lm", "bound"]
    for name in ("phrase-without-lm", "phrase-with-lm"):
        found = [line.split() for line in (out / f"systems/{name}-1/dev.txt").read_text().splitlines()]
        matches = sum((Counter(a) & Counter(b)).total() for a, b in zip(found, references, strict=True))
        assert rows[name]["P"] == pytest.approx(100 * matches / sum(map(len, found)))
        assert rows[name]["R"] == pytest.approx(100 * matches / sum(map(len, references)))
    most = sum(min(len(a), len(b)) for a, b in zip(sources, references, strict=True))
    assert rows["bound"]["R"] == pytest.approx(100 * most / sum(map(len, references)))
    assert rows["bound"]["P"] == 100
    assert rows["WC"]["F"] > rows["baseline"]["F"]
    test = [row["key"] for row in result["tables"]["test-bags"]["rows"]]
    accuracies = {one: result["classifiers"]["l1"][one]["accuracy"]["dev"] for one in ("W", "WD", "WC", "WDC")}
    assert test == [max(accuracies, key=lambda one: accuracies[one]), "mixture", "phrase-without-lm", "phrase-with-lm"]


def test_transducers_are_judged_by_gtm(data: Path, out: Path, result: dict[str, Any]) -> None:
    rows = result["tables"]["transducers"]["rows"]
    assert [row["key"] for row in rows] == ["generative", "discriminative", "phrase-without-lm"]
    references = (data / "test.fr").read_text().splitlines()
    texts = json.loads((out / "transducer-generative.json").read_text())["texts"]
    metric = smt.load_plugins().metric("gtm,exponent=2")
    wanted = float(metric.score(metric.stats(texts, [references]).sum(axis=0)))
    assert rows[0]["F2"] == pytest.approx(wanted)


def test_what_is_there_is_not_made_again(
    data: Path, out: Path, result: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(data)
    (out / "svm-WC.json").unlink()
    (out / "result.json").unlink()
    options = "--lm fr.arpa --penalty 1 --penalty 0.3 --cost 0.1 --cost 1 -o out"
    assert run(f"{command()} {options} --resume -f json -j 2") == 0
    done = capsys.readouterr()
    assert json.loads(done.out) == result == json.loads((out / "result.json").read_text())
    assert "l1-WC: complete, not repeated" in done.err
    assert "svm, W+C" in done.err
    assert "l2, W" not in done.err
    assert run(f"{command()} {options} -q") == 2
    assert "--resume" in capsys.readouterr().err


def test_without_trees_w_and_c_run_alone(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(data)
    assert run(f"{command(False)} --shape balanced --row l1 -o plain -q --figures 100k") == 0
    text = capsys.readouterr().out
    assert "W+C" in text
    assert "W+D" not in text
    assert "trees: balanced" in text
    assert "62.00" in text
    result = json.loads(Path("plain/result.json").read_text())
    assert list(result["classifiers"]) == ["baseline", "l1"]
    assert [row["key"] for row in result["tables"]["transducers"]["rows"]] == ["generative", "discriminative"]
    assert run(f"{command(False)} --dev-trees dev.trees -o other -q") == 2
    assert "expected source trees of all texts" in capsys.readouterr().err
    assert run(f"{command(False)} --tuner mert -o other -q") == 2
    assert "which need a language model (--lm)" in capsys.readouterr().err
    assert run(f"{command(False)} --cost 0 -o other -q") == 2
    assert run(f"{command(False)} --without l2 -o other -q") == 2
    assert "--without is now --row or --table" in capsys.readouterr().err
    assert not Path("other").exists()


def test_weights_of_phrases_can_be_tuned(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data)
    less = "--row l1 phrase --table dev-bags --configuration W"
    tuning = "--tuner mert,restarts=0 --tune-nbest 20 --tune-iterations 1"
    assert run(f"{command()} {less} --lm fr.arpa {tuning} -o tuned -q") == 0
    kept = {}
    for name in ("phrase-without-lm", "phrase-with-lm"):
        kept[name] = json.loads(Path(f"tuned/systems/{name}-1/done.json").read_text())
        assert kept[name]["learner"] == "mert,restarts=0"
        assert len(Path(f"tuned/systems/{name}-1/test.txt").read_text().splitlines()) == SETS["test"]
    without, with_lm = (kept[name]["weights"] for name in kept)
    assert "lm" in with_lm
    assert "lm" not in without
    untuned = json.loads((data / "out/systems/phrase-with-lm-1/done.json").read_text())["weights"]
    assert untuned.keys() == with_lm.keys()
    assert untuned != with_lm


@pytest.mark.parametrize("tuner", ["nosuch", "mert --tune-nbest 1", "mert,restarts=x"])
def test_a_tuner_that_cannot_be_is_refused_before_anything_is_learnt(
    tuner: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data)
    assert run(f"{command()} --lm fr.arpa --tuner {tuner} -o refused -q") == 2
    assert not Path("refused").exists()


def test_tables_have_the_paper_s_numbers(
    data: Path, result: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(data)
    rows = {row["key"]: row for row in result["tables"]["accuracy"]["rows"]}
    assert (rows["l1"]["paper_WD"], rows["svm"]["paper_W"]) == (54.13, 53.38)
    options = "--lm fr.arpa --penalty 1 --penalty 0.3 --cost 0.1 --cost 1 -o out"
    for style in ("text", "tsv", "latex"):
        assert run(f"{command()} {options} --resume -q -f {style}") == 0
        text = capsys.readouterr().out
        assert "54.13" in text
        assert "47.87" in text
        assert ("% Table 7.5" in text) == (style == "latex")
    assert ACCURACY["10k"]["l2"][1] == 54.33
    assert PARAMETERS["100k"]["l1"][2] == "316K"
    for size, rows in BAGS.items():
        for name, (precision, recall, f) in rows.items():
            assert f == pytest.approx(2 * precision * recall / (precision + recall), abs=0.02), (size, name)
    assert [short(one) for one in (7, 999, 1000, 54_100, 736_000, 1_670_000, 25_000_000, 999_600)] == [
        "7", "999", "1.00K", "54.1K", "736K", "1.67M", "25.0M", "1.00M"]  # fmt: skip
