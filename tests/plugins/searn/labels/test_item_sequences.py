"""Labelled items as sequences with features: what ``policy.py`` says of each item, found again by number."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smtplugins as smt
from smtplugins.contracts.errors import SmtError
from smtplugins.plugins.searn.labels.item_files import ItemFolder, ItemWriter
from smtplugins.plugins.searn.labels.item_sequences import item_sequences
from smtplugins.plugins.searn.labels.pair_columns import PairColumns
from smtplugins.plugins.searn.learning.policy import BEGIN, HISTORY, PAPER, static_names

Sentence = Sequence[tuple[str, str, str]]
TRAIN: list[Sentence] = [
    [("le", "the", "S"), ("chat noir", "black cat", "S,R+"), ("dort", "sleeps", "S,R+")],
    [],
    [("le", "the", "S"), ("ne", "", "S,R+"), ("dort", "sleeps", "S,R+")],
    [("noir", "black", "S"), ("chat", "cat", "S,R-")],
]
DEV: list[Sentence] = [[("le", "the", "S"), ("chien", "dog", "S,R+"), ("dort", "sleeps", "S,R-,R-")], [("ne", "", "S")]]


def folder(path: Path, sentences: Sequence[Sentence]) -> ItemFolder:
    spans = []
    for one in sentences:
        begins = np.cumsum([0, *(len(source.split()) for source, _, _ in one)]).tolist()
        spans += [(first, end, 0, 0) for first, end in itertools.pairwise(begins)]
    with ItemWriter(path) as writer:
        writer.add(sentences, np.array(spans, dtype=np.uint16).reshape(-1, 4))
    return ItemFolder.open(path)


def expected(one: Sentence, templates: Sequence[str]) -> list[list[str]]:
    before = [BEGIN, *(source.split()[-1] for source, _, _ in one)]
    return [
        static_names(templates, source, target, previous)
        for (source, target, _), previous in zip(one, before, strict=False)
    ]


@pytest.mark.parametrize("min_count", [1, 2])
def test_features_are_those_of_the_policy(tmp_path: Path, min_count: int) -> None:
    templates = (*PAPER, "bias", *HISTORY)
    given = item_sequences(
        [folder(tmp_path / "train", TRAIN), folder(tmp_path / "dev", DEV)], templates, min_count=min_count
    )
    counts = Counter(name for one in TRAIN for names in expected(one, templates) for name in names)
    last = Counter(target.split()[-1] for one in TRAIN for _, target, _ in one if target)
    assert given.templates == templates
    assert given.labels == ("S,R+", "S", "S,R-")
    static = [name for name in given.names if not name.startswith(tuple(f"{one}=" for one in HISTORY))]
    assert sorted(static) == sorted(name for name, count in counts.items() if count >= min_count)
    fragments = {name[9:] for name in given.names if name.startswith("fragment=")}
    assert fragments == {"", BEGIN, *(word for word, count in last.items() if count >= min_count)}
    for s, one in enumerate([*TRAIN, *DEV]):
        state = given.begin(s)
        for names, (_, target, label) in zip(expected(one, templates), one, strict=True):
            item = int(given.offsets[s]) + len(state.taken)
            wanted = [name for name in (*names, *state.history.names(templates)) if name in given.rows]
            found = given.features(state, ["X"]).row(0)
            assert found == {f"{name}|X".replace(" ", "␣"): 1.0 for name in wanted}
            # A label that training does not have is never right.
            assert given.gold[item] == (given.labels.index(label) if label in given.labels else -1)
            word = int(given.last[item])
            assert (given.words[word] if word >= 0 else "") == target.rpartition(" ")[2]
            state = given.after(state, "S,R-")
        assert not given.actions(state)


def test_a_part_of_the_folder_is_trained_on(tmp_path: Path) -> None:
    given = item_sequences([folder(tmp_path / "train", TRAIN)], PAPER, min_count=1, trained=1)
    assert "source=ne" not in given.names and "source=le" in given.names


def test_registered_features_are_columns_of_real_values(tmp_path: Path) -> None:
    host = smt.load_plugins()
    columns = PairColumns(host, ["length", "length,name=again"])
    data = [folder(tmp_path / "train", TRAIN)]
    given = item_sequences(data, (*PAPER, "length", "length,name=again"), min_count=2, columns=columns)
    assert given.names[-2:] == ("length", "again")
    table = columns.table([(source, target) for one in TRAIN for source, target, _ in one])
    plain = item_sequences(data, PAPER, min_count=2)
    flat = [item for one in TRAIN for item in one]
    assert given.values is not None
    for i, (source, target, _) in enumerate(flat):
        part = slice(given.starts[i], given.starts[i + 1])
        row = dict(zip(given.ids[part].tolist(), given.values[part].tolist(), strict=True))
        names, values = table[source, target]
        assert {given.names[k]: v for k, v in row.items() if k >= len(plain.names)} == dict(
            zip(names, values, strict=True)
        )
        assert values == [len(target.split())] * 2
        assert {k: v for k, v in row.items() if k < len(plain.names)} == dict.fromkeys(
            plain.ids[plain.starts[i] : plain.starts[i + 1]].tolist(), 1.0
        )


def test_nothing_to_learn_from(tmp_path: Path) -> None:
    empty: Any = [[]]
    with pytest.raises(SmtError, match="expected labelled items to learn from, found none"):
        item_sequences([folder(tmp_path / "train", empty)], PAPER)
