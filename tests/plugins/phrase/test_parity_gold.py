"""Scores no worse than Moses' at its own settings, with its own tables, language model and weights."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.translator import make_translator

pytestmark = pytest.mark.shared

# Settings, and the mean of Moses' totals, -100 for each unknown word among them.
TEST300 = {
    ("stack", 1): -37.0905,
    ("stack", 10): -36.5683,
    ("stack", 100): -36.5585,
    ("cube", 200): -36.5585,
}
LONG75 = {
    ("cube", 10): -152.2765,
    ("cube", 50): -151.2853,
    ("cube", 200): -151.0307,
    ("cube", 1000): -150.9787,
    ("stack", 100): -150.9675,
}


@pytest.mark.parametrize(("name", "search", "limit", "moses"), [
    *[("test300", *setting, mean) for setting, mean in TEST300.items()],
    *[("long75", *setting, mean) for setting, mean in LONG75.items()],
])  # fmt: skip
def test_mean_score(
    shared: Path, monkeypatch: pytest.MonkeyPatch, name: str, search: str, limit: int, moses: float
) -> None:
    monkeypatch.chdir(shared / "gold/moses")
    size = "stack_size" if search == "stack" else "pop_limit"
    settings = [f"decoder.search={search}", f"decoder.{size}={limit}"]
    if search == "cube":
        # As Moses was run: its stacks are cut, too.
        settings.append(f"decoder.stack_size={max(200, limit)}")
    translator = make_translator(smt.load_plugins(), load_config("model/moses.pb.tuned.ini", settings), cache="off")
    sentences = Path("in", f"{name}.de").read_text(encoding="utf-8").splitlines()
    totals = [one.score for one in translator.decode(sentences)]
    assert len(totals) == len(sentences)
    # Moses' mean is of totals printed with six digits.
    assert sum(filter(None, totals)) / len(totals) >= moses - 0.0001
