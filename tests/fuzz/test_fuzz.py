"""Inputs kept from fuzzing, and examples with a few bytes changed, through every reader and back."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import FORMATS, check, kept

CHANGED = 150
PIECES = ["|||", " ", "\n", "\t", "=", "[X]", "[X,1]", "-", "0", "9" * 30, "1e999", "nan", "\r\n", "\u2028", "\0", "\\"]
PIECES += ["(((", "{", '"', "'", "</"]
BYTES = [*(piece.encode() for piece in PIECES), b"\xff", b""]


@pytest.mark.parametrize("name", FORMATS)
def test_kept_inputs(name: str) -> None:
    for data in kept(name):
        check(FORMATS[name], data)


@pytest.mark.parametrize("name", FORMATS)
def test_changed_examples(name: str) -> None:
    chance = random.Random(name)
    example = FORMATS[name].example.encode()
    read = 0
    for _ in range(CHANGED):
        data = bytearray(example * chance.choice((1, 1, 2)))
        for _ in range(chance.randrange(4)):
            at = chance.randrange(len(data) + 1)
            data[at : at + chance.randrange(4)] = chance.choice(BYTES)
        read += check(FORMATS[name], bytes(data)) == "read"
    assert read or not example
