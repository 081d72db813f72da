"""
Events of blocks and learning from them. Use the Python modules around it.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

import smtplugins.core._core


UNKNOWN: int = -1

BOUNDARY: int = -2

class BlockModel:
    """
    The features of blocks; the last number is for phrase pairs that are not blocks.
    """

    def __init__(self, words: bytes, word_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], source_words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], source_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target_words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], unigram: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rest: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], lexical: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], no_left: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def find(self, source: Sequence[str], target: Sequence[str]) -> int:
        """The number of a phrase pair."""

    def bigram(self, first: int, second: int) -> float:
        """The weight of a pair of blocks, 0 by default."""

    def words(self, words: Sequence[str]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The numbers of words, -1 for words that no block has."""

class BlockScorer(smtplugins.core._core.Scorer):
    """A scorer of block features."""

    def set_words(self, numbers: Annotated[NDArray[numpy.int32], dict(shape=(None, 2), order='C', device='cpu', writable=False)]) -> None:
        """Set the model's and the language model's ids of target words."""

    def set_sentence(self, words: Sequence[str]) -> None:
        """Set the source words."""

    def forbid_left(self, forbidden: bool) -> None:
        """Set whether blocks marked rare-left are forbidden on the left."""

def block_scorer(model: BlockModel, lm: smtplugins.core._core.LanguageModel, end: bool) -> BlockScorer:
    """A scorer for a single thread."""

class BlockFinder:
    """Finds blocks in sentence pairs, and their neighbours."""

    def __init__(self, words: bytes, word_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], source_words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], source_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target_words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def counts(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Each block's number of occurrences so far."""

    def collect(self, sources: Sequence[str], targets: Sequence[str], links: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, link_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        For sentence pairs: numbers of bigrams, predecessors, successors, orientations; numbers of neutral blocks, neutral blocks, two words before each; numbers of occurrences. IndexError for a link to a missing word.
        """

class Training:
    """Events with their alternatives, and learning from them."""

    def __init__(self, sentences: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], history: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], block: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], orientation: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, context: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], keep: int, unigram: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rest: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], lexical: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def __len__(self) -> int: ...

    @property
    def alternatives(self) -> int:
        """The number of alternatives, summed over events."""

    @property
    def successors(self) -> int:
        """
        The number of true successors of the events' histories, summed over events.
        """

    @property
    def memory(self) -> int:
        """Memory use in bytes."""

    def wanted(self) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """
        Contexts, first blocks and numbers of blocks whose first words need scores.
        """

    def set_scores(self, scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """The scores in the order of `wanted`, block by block."""

    def descend(self, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], floats: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], bigrams: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], rate: float, decay: float, done: int, update: str, learn_floats: Sequence[bool], learn_bigrams: bool) -> float:
        """
        Make a step for each event of `order`, changing the weights; returns the sum of losses, each before its step.
        """

    def loss(self, floats: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], bigrams: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, int]:
        """
        The sum of all events' losses, and how often the right alternative scores strictly highest.
        """

    def rows(self, first: int, last: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
        """
        Events as rows: groups, right rows, offsets, ids, values; and the rows' blocks and orientations.
        """

def number_phrases(items: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    The number of each distinct phrase, and the position where each comes first.
    """

def count_bigrams(predecessor: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], successor: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """The sorted pairs with a count above the threshold, and their counts."""

def lexical_weights(source_words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], source_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target_words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], relative: str, floor: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """p(S | T) of each block."""

def descend_rows(groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], fixed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], rate: float, decay: float, done: int, update: str) -> float:
    """Like Training.descend, for any rows."""
