"""Permutation classifiers: atoms of joins, training examples from bitrees, and costs of joins (section 7.4.4).

The atoms of a join are the window and dependency atoms of both lexical heads, the heads themselves, their translations,
and the production: unlexicalised, with either head, with both. There is a classifier for each of the classes keep and
swap; a candidate that does not lead to the bitree is in neither class.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel, costs
from smtplugins.plugins.bitree.boosting.examples import Examples, Problem
from smtplugins.plugins.bitree.trees.bitrees import ORDERS, Bitree, Join
from smtplugins.plugins.bitree.trees.source_trees import SourceTree
from smtplugins.plugins.bitree.trees.tree_making import SHAPES
from smtplugins.plugins.bitree.words.atoms import sentence_atoms

Array = NDArray[Any]

PROBLEM = "join"


def production(tree: SourceTree, join: Join) -> tuple[str, str, str, str]:
    """The production of a join: labels of the result, of the part with the head and of the sibling, and its side.

    A partial node, more than the head child and less than the whole, has the node's label with a prime.
    """
    node = tree.nodes[join.node]
    first, last = join.after
    whole = node.label if (first, last) == (0, len(node.children)) else f"{node.label}'"
    head = tree.nodes[node.children[node.head_child]].label if join.last - join.first == 1 else f"{node.label}'"
    sibling = tree.nodes[node.children[join.sibling]].label
    return whole, head, sibling, "left" if join.left else "right"


def heads_of(tree: SourceTree, join: Join) -> tuple[int, int]:
    """The positions of the lexical heads of the part with the head and of the sibling."""
    node = tree.nodes[join.node]
    return node.head, tree.nodes[node.children[join.sibling]].head


class JoinAtoms:
    """The atom ids of a sentence's joins; unknown atoms get new ``numbers`` if ``grow``, else they are dropped."""

    def __init__(self, tree: SourceTree, numbers: dict[str, int], *, grow: bool) -> None:
        self._tree = tree
        self._numbers = numbers
        self._grow = grow
        # Trees of a fixed shape give no dependency atoms.
        self._own = sentence_atoms(tree.words, None if tree.kind in SHAPES else tree)[0]
        self._of_word: dict[tuple[str, int], list[int]] = {}
        self._of_join: dict[Join, tuple[list[int], str, str, str]] = {}

    def _ids(self, atoms: Iterable[str]) -> list[int]:
        if self._grow:
            return [self._numbers.setdefault(atom, len(self._numbers)) for atom in atoms]
        return [number for number in map(self._numbers.get, atoms) if number is not None]

    def _word(self, role: str, word: int) -> list[int]:
        key = (role, word)
        if key not in self._of_word:
            atoms = [f"{role}.word={self._tree.words[word]}", *(f"{role}.{atom}" for atom in self._own[word])]
            self._of_word[key] = self._ids(atoms)
        return self._of_word[key]

    def _join(self, join: Join) -> tuple[list[int], str, str, str]:
        if join not in self._of_join:
            head, sibling = heads_of(self._tree, join)
            shape = "/".join(production(self._tree, join))
            base = [*self._word("head", head), *self._word("sibling", sibling), *self._ids([f"rule={shape}"])]
            self._of_join[join] = base, shape, self._tree.words[head], self._tree.words[sibling]
        return self._of_join[join]

    def row(self, join: Join, head: str, sibling: str) -> list[int]:
        """The sorted atoms of a join of parts with these translations of their heads."""
        return self.rows(join, [head], [sibling])[0][0]

    def rows(self, join: Join, heads: Sequence[str], siblings: Sequence[str]) -> tuple[list[list[int]], list[int]]:
        """The distinct rows of a join, and the row of each pair of translations, siblings varying fastest."""
        base, shape, head, sibling = self._join(join)
        head_ids = [self._ids([f"head-translation={name}", f"rule-head={shape}|{head}/{name}"]) for name in heads]
        sibling_ids = [
            self._ids([f"sibling-translation={name}", f"rule-sibling={shape}|{sibling}/{name}"]) for name in siblings
        ]
        known: dict[tuple[int, ...], int] = {}
        where = []
        for name, head_part in zip(heads, head_ids, strict=True):
            start = f"rule-both={shape}|{head}/{name}|{sibling}/"
            for second, sibling_part in zip(siblings, sibling_ids, strict=True):
                more = (*head_part, *sibling_part, *self._ids([start + second]))
                where.append(known.setdefault(more, len(known)))
        return [sorted([*base, *more]) for more in known], where


def join_problem(bitrees: Iterable[Bitree], seed: int = 1) -> Problem:
    """Collect examples from random correct sequences: each candidate join at each state."""
    draw = random.Random(seed)
    numbers: dict[str, int] = {}
    rows: list[Array] = []
    classes: list[int] = []
    for bitree in bitrees:
        atoms = JoinAtoms(bitree.tree, numbers, grow=True)
        for inference in bitree.sequence(draw):
            head, sibling = (bitree.translations[word] for word in heads_of(bitree.tree, inference.join))
            rows.append(np.array(atoms.row(inference.join, head, sibling), dtype=np.int32))
            classes.append(inference.correct.index(True) if any(inference.correct) else -1)
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(np.int64)
    ids = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int32)
    return Problem(PROBLEM, Examples(offsets, ids, tuple(numbers)), np.array(classes, dtype=np.int32), ORDERS)


class JoinCosts:
    """The costs of joins by permutation classifiers. Rows leave out atoms without parameters."""

    def __init__(self, model: BoostedModel) -> None:
        from smtplugins.plugins.bitree.boosting.conjunction_index import ConjunctionIndex

        self._index = ConjunctionIndex(model, PROBLEM)
        self._numbers = {model.atoms[number]: number for number in self._index.atoms.tolist()}

    def atoms(self, tree: SourceTree) -> JoinAtoms:
        """The atoms of a sentence's joins."""
        return JoinAtoms(tree, self._numbers, grow=False)

    def orders(self, atoms: JoinAtoms, join: Join, heads: Sequence[str], siblings: Sequence[str]) -> Array:
        """The costs of keeping and of swapping, by translations of both heads (orders x heads x siblings)."""
        rows, where = atoms.rows(join, heads, siblings)
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        ids = np.array([number for row in rows for number in row], dtype=np.int64)
        table = costs(self._index.scores(offsets, ids))
        result: Array = table[np.array(where)].T.reshape(len(ORDERS), len(heads), len(siblings))
        return result
