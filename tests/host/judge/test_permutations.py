"""The order of the sentences in a file of lists changes nothing that is judged."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import smtplugins as smt
from smtformats import Candidates
from smtformats.format import shortest
from smtformats.nbest.jsonl import write

WORDS = "the a man woman house dog is in on red blue sees runs old new .".split()
METRICS = ("bleu", "chrf", "ter")
COUNT = 12


@pytest.mark.parametrize("name", [str, "seg-{}".format], ids=["numbers", "names"])
def test_permutations_of_the_sentences(tmp_path: Path, name: Callable[[int], str]) -> None:
    host, chance = smt.load_plugins(), random.Random(1)

    def sentence() -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(3, 9)))

    def save(path: str, lists: list[Candidates]) -> Path:
        with open(tmp_path / path, "w", encoding="utf-8") as out:
            write(lists, out, shortest)
        return tmp_path / path

    lists = [
        smt.candidates([sentence() for _ in range(3)], id=name(i), scores=[chance.gauss(0, 1) for _ in range(3)])
        for i in range(COUNT)
    ]
    refs = save("refs", [smt.candidates([sentence()], id=name(i)) for i in range(COUNT)])
    first = save("first", lists)
    expected = host.evaluate(refs, {"a": first, "b": refs}, METRICS, bootstrap=20)
    oracle = host.oracle(first, refs, METRICS).rows
    for trial in range(300 if name is str else 50):
        chance.shuffle(lists)
        again = save("again", lists)
        # Intervals take time: each tenth permutation has them.
        if trial % 10 == 0:
            assert host.evaluate(refs, {"a": again, "b": refs}, METRICS, bootstrap=20) == expected
        scores = host.evaluate(refs, {"a": again}, METRICS)
        assert [score.score for score in scores] == [score.score for score in expected if score.system == "a"]
        if trial % 10 == 0:
            assert host.oracle(again, refs, METRICS).rows == oracle
