"""
Kernels of labels, policies and their decoder. Use the Python modules around it.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

import smtplugins.core._core


class AmasisGraph:
    """A search graph: fragments as nodes, the goal last."""

    @property
    def nodes(self) -> int: ...

    @property
    def node_edges(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def rules(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """
        Rule numbers: the forest's, the last of them the goal's, then R+ and R-.
        """

    @property
    def firsts(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def lasts(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def scores(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The score of each edge alone."""

    @property
    def tails(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def tail_offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def values(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """
        Values of each edge: those of stateful features, then the label columns.
        """

    @property
    def path(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The edges of the best derivation in preorder."""

    @property
    def words(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The target words."""

    @property
    def item_rules(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The items of the best derivation, from left to right."""

    @property
    def item_firsts(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def item_lasts(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def item_labels(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def item_reductions(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The number of reductions made by each label."""

    @property
    def score(self) -> float:
        """The score of the best derivation."""

    @property
    def made(self) -> int:
        """The number of hypotheses created."""

    @property
    def asked(self) -> int:
        """The number of edges scored by stateful features."""

class Labels:
    """A policy prepared for the search."""

    def __init__(self, weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], reductions: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], operations: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], label_rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], pair_rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], depth_rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], fragments: bool, fragment_begin: int, fragment_empty: int) -> None: ...

class AmasisOptions:
    """The options of the search with a stack of fragments."""

    def __init__(self, **members: object) -> None: ...

    @property
    def stack_size(self) -> int:
        """Hypotheses kept for each number of source words, 0 for all."""

    @stack_size.setter
    def stack_size(self, arg: int, /) -> None: ...

    @property
    def beam(self) -> float:
        """How far a hypothesis may score below the best of its stack."""

    @beam.setter
    def beam(self, arg: float, /) -> None: ...

    @property
    def labels(self) -> int:
        """Labels tried for each option, 0 for all."""

    @labels.setter
    def labels(self, arg: int, /) -> None: ...

    @property
    def decide(self) -> str:
        """vote, draw or last."""

    @decide.setter
    def decide(self, arg: str, /) -> None: ...

    @property
    def seed(self) -> int:
        """Of draws."""

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def logs(self) -> bool:
        """Give the columns of labels."""

    @logs.setter
    def logs(self, arg: bool, /) -> None: ...

    @property
    def strings(self) -> bool:
        """Recombine only fragments of the same words."""

    @strings.setter
    def strings(self, arg: bool, /) -> None: ...

    @property
    def all_edges(self) -> bool:
        """Keep all derivations, not the best alone."""

    @all_edges.setter
    def all_edges(self, arg: bool, /) -> None: ...

    @property
    def max_edges(self) -> int:
        """Hypotheses above which the search raises SearchLimit."""

    @max_edges.setter
    def max_edges(self, arg: int, /) -> None: ...

class Amasis:
    """Beam search with a stack of fragments, sentence by sentence."""

    def __init__(self, scorer: smtplugins.core._core.Scorer, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Labels, options: AmasisOptions) -> None: ...

    def search(self, forest: smtplugins.core._core.SearchForest, sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], fragments: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], key: int) -> AmasisGraph: ...

def find_items(sources: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], links: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None, None))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], list[str], Annotated[NDArray[numpy.int32], dict(shape=(None, None))]]:
    """
    Find items of sentence pairs; sources and targets are sentence lengths, offsets where a pair's links begin. Returns offsets of each pair's items; begin and end of their source and target words; kinds (0 unaligned, 1 linked, 2 crossing, 3 simple); labels as indices into the label names, which follow; parts of items: pair, begin and end of source and target words.
    """

def label_spans(targets: Sequence[tuple[int, int]]) -> tuple[list[str], int]:
    """
    Labels of items with these target spans (begin, end), and how many remain on the stack.
    """

class Sequences:
    """Sequences of items with gold labels, to be labelled by policies."""

    def __init__(self, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, last: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: int, rows: int, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label2: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], depth: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], fragment: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], operation_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], operations: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def __len__(self) -> int: ...

    @property
    def items(self) -> int:
        """The number of items of all sequences."""

    @property
    def width(self) -> int:
        """The number of history features of an item."""

    def follow(self, first: int, last: int, weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], voting: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], decide: str, key: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None, None))]]:
        """
        Label items from left to right by a mixture; return labels and history features of each item.
        """

    def complete(self, first: int, last: int, weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], voting: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], decide: str, samples: int, key: int, taken: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        The cost of each label for each item: wrong labels from there on, completed by the mixture.
        """

    def learn(self, history: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], logistic: bool, rate: float, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], count: int) -> tuple[int, int, float]:
        """
        Train on items; return the next example number, the number of errors and their cost.
        """

def learn_rows(groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], logistic: bool, rate: float, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], count: int) -> tuple[int, int, float]:
    """
    Train on examples; return the next example number, the number of errors and their cost.
    """

def score_rows(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], policies: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """The score of each row by each policy (policies x rows)."""

def chained(key: int, number: int) -> int:
    """Derive a new key from a key and a number."""

def uniform(key: int) -> float:
    """The random number in [0, 1) of a key."""
