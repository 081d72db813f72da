"""Ids from names of files, parts put in another order."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats.grammar.rules import Rule
from smtformats.hypergraph.graph import Edge, GraphBuilder, GraphColumns
from smtformats.hypergraph.shared.sentence import checksum, ends, reorder, sentence_id


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("out/12.json.gz", "12"),
        ("007.bin", "007"),
        ("3", "3"),
        ("a/12/perro.json.gz", "perro"),
        ("utt0.slf", "utt0"),
        ("utt0.lat.gz", "utt0"),
        ("3.forest.json.gz", "3"),
        ("1089-134686-0000.slf", "1089-134686-0000"),
        (".slf", ".slf"),
        ("<stdin>", "<stdin>"),
    ],
)
def test_sentence_id(name: str, id: str) -> None:
    assert sentence_id(name) == id


@given(st.lists(st.lists(st.integers(0, 99), max_size=3), max_size=6), st.data())
def test_reordered(parts: list[list[int]], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(parts))))
    column = np.array([number for part in parts for number in part], dtype=np.int64)
    offsets, reordered = reorder(np.array(order, dtype=np.int64), ends(map(len, parts)), column)
    assert [reordered[a:b].tolist() for a, b in itertools.pairwise(offsets)] == [parts[i] for i in order]


def test_checksum() -> None:
    def graph(word: str = "a", name: str = "F", span: tuple[int, int] = (0, 1), label: str = "X") -> GraphColumns:
        builder = GraphBuilder()
        builder.add([Edge((), 0, {name: 1.0}, span)], label)
        return builder.graph("0", [Rule("X", ("s",), (word,))], extras={"hashes": np.zeros(1), "other": "text"})

    graphs = [graph(), graph("b"), graph(name="G"), graph(span=(0, 2)), graph(label="S")]
    graphs += [dataclasses.replace(graph(), values=np.zeros(1)), dataclasses.replace(graph(), extras={})]
    assert len({checksum(variant) for variant in graphs}) == len(graphs)
    assert checksum(graph()) == checksum(dataclasses.replace(graph(), id="7"))
