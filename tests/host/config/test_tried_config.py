"""`smt config check`: what a configuration loads, and its translation of a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.host import Host

PHRASES = "x ||| a ||| 0.5 0.5\nx &#91; ||| b ||| 0.5 0.25\n<s> ||| c ||| 0.5 0.5\n"


@pytest.fixture(scope="module")
def host() -> Host:
    return smt.load_plugins()


@pytest.fixture(autouse=True)
def _model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table").write_text(PHRASES)
    Path("weights").write_text("TM[0] 1\nTM[1] 1\nword-penalty 0.5\n")
    Path("run.yaml").write_text(
        "decoder: {name: phrase, pop_limit: 7, stack_size: 200}\nescape: moses\n"
        "model: {tables: {path: table, name: TM}, features: [word-penalty, oov], weights: weights}\n"
    )


def test_what_is_loaded_and_a_made_up_sentence(host: Host, tmp_path: Path) -> None:
    notes: list[str] = []
    tried = host.check_config("run.yaml", cache="off", note=notes.append)
    assert tried.rows() == [
        {"what": what, "value": value}
        for what, value in (
            ("decoder", "phrase"),
            ("decoder.pop_limit", "7"),
            (f"table {tmp_path / 'table'}", "moses-phrases, 3 rules"),
            ("weight of TM[0]", "1"),
            ("weight of TM[1]", "1"),
            ("weight of word-penalty", "0.5"),
            ("weight of oov", "0"),
            ("sentence", "x ["),
            ("translation", "a ["),
        )
    ]
    assert notes == ["features without a weight count 0: oov"]


def test_the_first_sentence_of_a_text(host: Host) -> None:
    Path("in").write_text("x x\nnot read\n")
    tried = host.check_config("run.yaml", sentences="in", cache="off")
    assert (tried.sentence, tried.translation) == ("x x", "a a")
    Path("in").write_bytes(b"")
    with pytest.raises(SmtError, match="in: expected a sentence to translate, found none"):
        host.check_config("run.yaml", sentences="in", cache="off")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"model.weights": "none"}, "none"),
        ({"model.tables": "none"}, "none"),
        ({"model.tables": []}, r"expected a text to translate \(sentences\): none can be made"),
        (
            {"decoder.input": "lattice"},
            r"expected a text to translate \(sentences\): none can be made",
        ),
        ({"decoder.pop_limits": 3}, "has no option 'pop_limits'; did you mean 'pop_limit'"),
        ({"model.features": ["word-penaltie"]}, "did you mean 'word-penalty'"),
        ({"model.features": ["oov,tunable=false"]}, "feature 'oov' has no option 'tunable'; did you mean 'tuneable'"),
        (
            {"model.passes": [{"features": ["oov,valu=1"]}]},
            "passes.0.features.0: feature 'oov' has no option 'valu'; did",
        ),
        ({"metric": "blue"}, "metric: unknown metric 'blue'; did you mean 'bleu'"),
        ({"learner": "mret"}, "learner: unknown learner 'mret'; did you mean 'mert'"),
        ({"runner": "processes,job=2"}, "runner 'processes' has no option 'job'; did you mean 'jobs'"),
    ],
)
def test_what_is_wrong_is_an_error(host: Host, overrides: dict[str, object], message: str) -> None:
    weights = {} if "model.weights" in overrides else {"model.weights": None}
    with pytest.raises((SmtError, UsageError, OSError), match=message):
        host.check_config("run.yaml", {**weights, **overrides}, cache="off")


def test_no_translation_is_an_error(host: Host) -> None:
    Path("rules").write_text("[X] ||| x ||| a ||| p=1\n")
    Path("in").write_text("x y\n")
    Path("run.yaml").write_text("decoder: {name: hiero, pass_through: none}\nmodel: {tables: rules}\n")
    with pytest.raises(SmtError, match="expected a translation of 'x y', found none"):
        host.check_config("run.yaml", sentences="in", cache="off")
    assert host.check_config("run.yaml", cache="off").translation == "a"
