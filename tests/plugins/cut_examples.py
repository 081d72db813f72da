"""The data of examples cut short, and what a study leaves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smtplugins.cli.main import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def cut(example: str, folder: Path, sizes: Mapping[str, int]) -> None:
    """Write the first lines of an example's files into a folder."""
    for name, size in sizes.items():
        lines = (EXAMPLES / example / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / name).write_text("".join(lines[:size]), encoding="utf-8")


def make_lm(folder: Path) -> None:
    """Write a bigram model of ``train.en`` to ``en.arpa``."""
    lm = [
        "lm",
        "--order",
        "2",
        "-i",
        str(folder / "train.en"),
        "--discount-fallback",
        "-o",
        str(folder / "en.arpa"),
        "-q",
    ]
    assert main(lm) == 0


def result(folder: Path) -> Any:
    """The record of a study's tables."""
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))
