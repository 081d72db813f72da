"""``smt config show``: what a run.yaml, or the configuration of a toolkit, amounts to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

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


INI = "[stack]\n100\n[verbose]\n2\n[feature]\nDistortion\nKENLM name=LM path=en.klm\n[weight]\nLM= 0.5\n"


def test_configuration_of_a_toolkit(smt: Smt, tmp_path: Path) -> None:
    Path("moses.ini").write_text(INI)
    shown = smt("config", "show", "-c", "moses.ini", "--set", "decoder.stack_size=7").ok()
    read = yaml.safe_load(shown)
    assert (read["decoder"]["name"], read["decoder"]["stack_size"]) == ("phrase", 7)
    assert read["model"]["features"] == ["distortion,name=Distortion0", f"lm,path={tmp_path}/en.klm,base=e,name=LM"]
    assert read["model"]["weights"] == str(tmp_path / "moses.ini")
    assert shown.endswith("output: {nbest: 1, unique: false, format: moses-nbest}\n# not used: line 4: verbose '2'\n")
    # Standard input cannot be named as the file of the weights.
    piped = smt("config", "show", "-c", "-", stdin=INI).ok()
    assert "weights:" not in piped
    assert "# not used: line 9: weight 'LM= 0.5'\n" in piped


def test_mistakes_of_a_toolkit(smt: Smt) -> None:
    Path("moses.ini").write_text(INI.replace("[verbose]", "[verbse]"))
    result = smt("config", "show", "-c", "moses.ini")
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "smt: moses.ini:3: field 1: expected a section that Moses knows (did you mean 'verbose' or 'version'?), "
        "found 'verbse'\n"
    )
