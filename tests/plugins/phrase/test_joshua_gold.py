"""Joshua's stack decoder on its own small case: the same translations, features and scores."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.decoded_lists import candidates_of
from smtplugins.host.decode.translator import make_translator
from smtplugins.host.files.opening import find_format

TEXT = "una estrategia republicana para obstaculizar la reelección de Obama"

pytestmark = pytest.mark.shared


@pytest.fixture
def case(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(shared / "gold/joshua/phrase_decoder")
    return Path.cwd()


def fields(line: str) -> tuple[str, dict[str, float], float]:
    _, text, features, score = line.split(" ||| ")
    pairs = (one.split("=") for one in features.split())
    return text.strip(), {name: float(value) for name, value in pairs}, float(score)


def same(line: str, gold: str) -> None:
    text, features, score = fields(line)
    text_of, features_of, score_of = fields(gold)
    assert text == text_of
    assert list(features) == list(features_of)
    # Joshua prints three digits, and adds up numbers that it has rounded.
    assert features == pytest.approx(features_of, abs=6e-4)
    assert score == pytest.approx(score_of, abs=6e-4)


def decode(config: str, k: int, *overrides: str) -> tuple[list[str], list[str]]:
    """Lines of a list, and the steps of the best derivation."""
    made = make_translator(smt.load_plugins(), load_config(config, overrides), None, "off").loaded()
    (one,) = made.decode([TEXT], graphs=True)
    assert one.graph is not None
    assert one.trace is not None
    found = candidates_of(one, k, unique=True, names=made.names(), graph=one.graph())
    lines = StringIO()
    find_format("joshua-nbest").write([found], lines, repr)
    return lines.getvalue().splitlines(), list(one.trace())


@pytest.mark.parametrize("config", ["config", "config.packed"])
def test_the_best(case: Path, config: str) -> None:
    """The gold output is from before Joshua left out the spans of phrases: they are those of our steps."""
    gold = Path("output.gold").read_text().strip()
    (line,), trace = decode(config, 1)
    same(line, re.sub(r" \|\d+-\d+\|", "", gold))
    steps = [re.match(r"\[(\d+), (\d+)\) .* \|\|\| (.*?)  ", one) for one in trace]
    spans = " ".join(f"{one[3]} |{one[1]}-{int(one[2]) - 1}|" for one in steps if one is not None)
    assert spans == gold.split(" ||| ")[1].strip()


def test_a_list_of_a_wide_search(case: Path, shared: Path) -> None:
    gold = (shared / "gold/joshua/phrase.p1000.out").read_text().splitlines()
    found, _ = decode("config", len(gold), "decoder.pop_limit=1000")
    for line, other in zip(found, gold, strict=True):
        same(line, other)


def test_from_another_folder(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = smt.load_plugins().translator(shared / "gold/joshua/phrase_decoder/config", cache="off")
    (one,) = found.decode([TEXT])
    assert one.best == "a strategy republican to hinder reelection Obama"


def test_what_cannot_be_translated(case: Path) -> None:
    """Words nobody knows are copied; brackets are spelt as Joshua does, and spelt back."""
    found = smt.load_plugins().translator("config", ["decoder.mark_oovs=true"], cache="off")
    (one, other, none) = found.decode(["xyzzy [a|b]", "Obama", ""])
    assert (one.best, other.best, none.best) == ("xyzzy_OOV [a|b]_OOV", "Obama", "")
    assert one.features["OOVPenalty"] == -200
