"""``smt config show``: what a run.yaml amounts to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Smt = Callable[..., Any]

TEXT = "source: tune.de\ndecoder: hiero\nmodel:\n  features: [length, {name: lm, path: en.klm}]\n"


def test_shown_configuration_reads_back(smt: Smt, tmp_path: Path) -> None:
    Path("run.yaml").write_text(TEXT)
    shown = smt("config", "show", "-c", "run.yaml").ok()
    assert f"source: {tmp_path / 'tune.de'}\n" in shown
    assert f"path: {tmp_path / 'en.klm'}" in shown
    Path("below").mkdir()
    Path("below/again.yaml").write_text(shown)
    assert smt("config", "show", "-c", "below/again.yaml").ok() == shown
    assert smt("config", "show", "-c", "-", stdin=shown).ok() == shown


def test_overrides(smt: Smt) -> None:
    Path("run.yaml").write_text(TEXT)
    shown = smt("config", "show", "-c", "run.yaml", "--set", "decoder.pop_limit=200", "--set", "seed=3").ok()
    assert "decoder: {name: hiero, pop_limit: 200}\n" in shown
    assert "seed: 3\n" in shown


def test_mistakes_have_file_line_and_key(smt: Smt) -> None:
    Path("run.yaml").write_text(TEXT.replace("features", "feature"))
    result = smt("config", "show", "-c", "run.yaml")
    assert (result.code, result.out) == (1, "")
    assert result.err == "smt: run.yaml:4: model.feature: unknown key; did you mean 'features'?\n"
    Path("run.yaml").write_text(TEXT)
    result = smt("config", "show", "-c", "run.yaml", "--set", "seed=x")
    assert (result.code, result.err) == (2, "smt: --set: seed: expected a whole number, found 'x'\n")
    result = smt("config", "show", "-c", "run.yaml", "--set", "seed")
    assert result.code == 2
    assert smt("config", "show", "-c", "absent").err == "smt: absent: No such file or directory\n"
