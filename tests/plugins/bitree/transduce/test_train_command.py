"""``smt bitree train``, and decoding with what it wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from smtplugins.cli.main import main
from tests.plugins.bitree.made_bitrees import text, word_model


def _write(folder: Path, seed: int, count: int, name: str) -> None:
    rows = text(seed, count)
    sources = [
        " ".join(word for word in tree.replace("(", " ").replace(")", " ").split() if word.islower())
        for tree, _, _ in rows
    ]
    columns = {"en": sources, "trees": [row[0] for row in rows], "fr": [row[1] for row in rows]}
    columns["al"] = [row[2] for row in rows]
    for kind, lines in columns.items():
        (folder / f"{name}.{kind}").write_text("".join(f"{line}\n" for line in lines))


def _train(folder: Path, *more: str) -> int:
    names = ["-s", "train.en", "-t", "train.fr", "-a", "train.al"]
    return main(["bitree", "train", *names, *more, "-o", "model"])


@pytest.mark.parametrize("kind", ["discriminative", "generative"])
def test_trained_and_used(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path, 1, 60, "train")
    _write(tmp_path, 2, 5, "test")
    word_model(1, 60).save(_new(tmp_path / "words"))
    own = ["--words", "words", "--least", "0.5"] if kind == "discriminative" else ["--generative"]
    assert _train(tmp_path, "--trees", "train.trees", *own) == 0
    told = capsys.readouterr().err
    assert "60 bitrees" in told
    assert ("held out orders right" in told) == (kind == "discriminative")
    assert ("iteration 5: cost" in told) == (kind == "generative")
    decoder = "bitree,model_path=model,trees_path=test.trees"
    decode = ["decode", "-c", "model/run.yaml", "--decoder", decoder, "-i", "test.en", "-q"]
    assert main([*decode, "-o", "out"]) == 0
    assert (tmp_path / "out").read_text() == (tmp_path / "test.fr").read_text()
    assert main([*decode, "-o", "lists", "--nbest", "3"]) == 0
    assert "bitree" in (tmp_path / "lists").read_text()


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_a_call_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_without_trace: Callable[[list[str], Path], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path, 1, 60, "train")
    text = ["-s", "train.en", "-t", "train.fr", "-a", "train.al", "--trees", "train.trees"]
    fails_without_trace(["bitree", "train", *text, "--generative", "-o", "new/out", "-q"], Path("new/out"))


def test_trees_without_a_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path, 1, 20, "train")
    assert _train(tmp_path, "--shape", "balanced", "--generative", "-q") == 0
    assert main(["decode", "-c", "model/run.yaml", "-i", "train.en", "-o", "out", "-q"]) == 0
    assert len((tmp_path / "out").read_text().splitlines()) == 20


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--generative"], "expected --trees FILE or --shape, one of the two"),
        (["--shape", "balanced"], "expected --words DIR or --generative, one of the two"),
    ],
)
def test_one_of_two(
    more: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path, 1, 2, "train")
    assert _train(tmp_path, *more) != 0
    assert message in capsys.readouterr().err
