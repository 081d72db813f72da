"""The native core. Use the Python modules around it."""

import numpy
import numpy.typing


class LanguageModel:
    """A back-off n-gram language model. Scores are log10."""

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""

    @property
    def counts(self) -> list[int]:
        """n-grams of each order, as the file's header has them."""

    @property
    def vocabulary_size(self) -> int:
        """
        The number of words, <unk> included; ids run from 0 (<unk>) to one less.
        """

    def index(self, word: str) -> int:
        """The id of a word; 0 if it is not known."""

    def word(self, word_id: int) -> str:
        """The word of an id."""

    def score_sentences(self, sentences: list[str], bos: bool = True, eos: bool = True) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]:
        """
        Each sentence's log10 probability and number of unknown words. Spaces and tabs part words.
        """

    def score_ids(self, ids: numpy.typing.NDArray[numpy.int32], offsets: numpy.typing.NDArray[numpy.int64], bos: bool = True, eos: bool = True) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]:
        """The same for word ids: sentence i is ids[offsets[i]:offsets[i + 1]]."""

    def full_scores(self, sentence: str, bos: bool = True, eos: bool = True) -> list[tuple[float, int, bool]]:
        """
        For each word its log10 probability, the length of the n-gram that matched, and whether it is unknown.
        """

class ArpaReader:
    """
    Reads the text of an ARPA file, fed in pieces of any size. Faults are ArpaErrors.
    """

    def __init__(self) -> None: ...

    def feed(self, data: bytes) -> None: ...

    def finish(self) -> LanguageModel:
        """The language model; the reader is spent."""
