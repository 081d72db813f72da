"""Kernels of confusion sets. Use the Python modules around it."""

from typing import Annotated

import numpy
from numpy.typing import NDArray

import smtplugins.core._core


class Confusions:
    """Collects what is confused with what, and gives pairs of sides."""

    def __init__(self, *, same_lhs: bool, glue: bool, identity: bool, same_rule: bool, gaps: int, memory: int, folder: str) -> None: ...

    def add(self, lhs: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], level: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], source: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], source_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Rules of a grammar. words, labels: what the numbers of its tables are here; scores: high ones are best.
        """

    def add_edges(self, lhs: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], source: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], source_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], edges: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Edges of a graph, as numbers of its rules, and where groups of them begin.
        """

    def finish(self, cap: int, most_often: bool, wordless: bool, text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """All is collected; text, offsets: the words."""

    def rewind(self) -> None:
        """Begin with the first pair again."""

    def format(self, format: int, label: str, cost: str) -> None:
        """
        How lines are written: 0 cdec, 1 Joshua, 2 Moses; cost: the name of the feature, or none.
        """

    def next_lines(self) -> bytes:
        """Some more lines, none at the end."""

    def next_pairs(self) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]:
        """Inputs, outputs and how often each pair was there; none at the end."""

    def sides(self) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """The sides that pairs are numbers of: symbols and offsets."""

    @property
    def rules(self) -> int:
        """Rules or edges read."""

    @property
    def left_out(self) -> int:
        """Of these, not used."""

    @property
    def groups(self) -> int: ...

    @property
    def uncapped(self) -> int:
        """Pairs, group by group."""

    @property
    def capped(self) -> int:
        """The same, with the cap."""

    @property
    def without_input(self) -> int:
        """Of these, those whose input no rule can have."""

    @property
    def written(self) -> int:
        """Pairs that were given out."""

    @property
    def spilled(self) -> bool:
        """Whether the memory did not suffice."""

class LinearScorer(smtplugins.core._core.Scorer):
    """A trained discriminative language model at work in a search."""

    def __init__(self, lm: smtplugins.core._core.LmScorer, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, word: float) -> None: ...

    def set_words(self, numbers: Annotated[NDArray[numpy.int32], dict(shape=(None, 2), order='C', device='cpu', writable=False)]) -> None:
        """The language model's ids and the classes of target words."""
