"""Kernels of confusion sets. Use the Python modules around it."""

from typing import Annotated

import numpy
from numpy.typing import NDArray

import smtplugins.core._core


class Confusions:
    """Collects confusable target sides and produces pairs of them."""

    def __init__(self, *, same_lhs: bool, glue: bool, identity: bool, same_rule: bool, gaps: int, memory: int, folder: str) -> None: ...

    def add(self, lhs: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], level: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], source: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], source_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Add the rules of a grammar; words, labels: map its numbers to ours; scores: higher is better.
        """

    def add_edges(self, lhs: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], source: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], source_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], edges: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Add the edges of a graph, as rule numbers, with the offsets of their groups.
        """

    def finish(self, cap: int, most_often: bool, wordless: bool, text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """End adding; text, offsets: the words."""

    def rewind(self) -> None:
        """Restart at the first pair."""

    def format(self, format: int, label: str, cost: str) -> None:
        """
        Set the format of lines: 0 cdec, 1 Joshua, 2 Moses; cost: the feature name, or empty.
        """

    def next_lines(self) -> bytes:
        """The next lines, empty at the end."""

    def next_pairs(self) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]:
        """The next inputs, outputs and counts; empty at the end."""

    def sides(self) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """The sides that pairs refer to: symbols and offsets."""

    @property
    def rules(self) -> int:
        """Rules or edges read."""

    @property
    def left_out(self) -> int:
        """Rules or edges left out."""

    @property
    def groups(self) -> int: ...

    @property
    def uncapped(self) -> int:
        """Pairs, summed over groups."""

    @property
    def capped(self) -> int:
        """Pairs after applying the cap."""

    @property
    def without_input(self) -> int:
        """Capped pairs with an input side that no rule can have."""

    @property
    def written(self) -> int:
        """Distinct pairs written."""

    @property
    def spilled(self) -> bool:
        """Whether data beyond the memory limit were kept in a file."""

class LinearScorer(smtplugins.core._core.Scorer):
    """A trained discriminative language model as a scorer."""

    def __init__(self, lm: smtplugins.core._core.LmScorer, keys: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, word: float) -> None: ...

    def set_words(self, numbers: Annotated[NDArray[numpy.int32], dict(shape=(None, 2), order='C', device='cpu', writable=False)]) -> None:
        """The language model's ids and the classes of target words."""
