"""The native scanner. Use the `load` of a format."""

from collections.abc import Sequence
from typing import Any

import numpy
import numpy.typing


def release() -> str:
    """The release of the package that this module was built with."""

class CdecScanner:
    """Read a cdec grammar into columns; fed in pieces of any size."""

    def __init__(self, max_line: int, max_symbols: int, max_features: int) -> None: ...

    def feed(self, data: bytes) -> bool:
        """
        Scan the next piece of the file. False at a line that cannot be read; `resume` continues after it.
        """

    def resume(self) -> bool:
        """
        Continue after a line that could not be read; returns like `feed` or `finish`.
        """

    def finish(self) -> bool:
        """End the file; returns like `feed`."""

    def columns(self) -> dict[str, Any]:
        """
        Return the arrays, and each string table as bytes and offsets. Can be called once.
        """

    @property
    def fault(self) -> bytes:
        """The line that could not be read, with its newline."""

    @property
    def lines(self) -> int:
        """The number of lines read, including that line."""

    @property
    def levels(self) -> int:
        """The most leading blanks that the line that could not be read may have."""

    @property
    def is_bad_refinement(self) -> bool:
        """
        Whether that line's only error is that it does not refine the rule before it.
        """

class MosesScanner:
    """
    Read a Moses phrase table or rule table into columns; fed in pieces of any size.
    """

    def __init__(self, max_line: int, max_symbols: int, max_features: int, gaps: bool, prefix: str) -> None: ...

    def feed(self, data: bytes) -> bool:
        """
        Scan the next piece of the file. False at a line that cannot be read; `resume` continues after it.
        """

    def resume(self) -> bool:
        """
        Continue after a line that could not be read; returns like `feed` or `finish`.
        """

    def finish(self) -> bool:
        """End the file; returns like `feed`."""

    def columns(self) -> dict[str, Any]:
        """
        Return the arrays, and each string table as bytes and offsets. Can be called once.
        """

    @property
    def fault(self) -> bytes:
        """The line that could not be read, with its newline."""

    @property
    def lines(self) -> int:
        """The number of lines read, including that line."""

    def expect(self, names: Sequence[str]) -> None:
        """
        Set the names of the scores of every line. Until then no line can be read.
        """

    def add(self, lhs: str, source: Sequence[tuple[str, int]], target: Sequence[tuple[str, int]], features: Sequence[tuple[str, float]], points: Sequence[tuple[int, int]]) -> None:
        """
        Add a rule parsed by Python. A symbol is a word and 0, or a label and a gap index.
        """

class ListScanner:
    """Read n-best lists into columns; fed in pieces of any size."""

    def __init__(self, dialect: str, max_line: int) -> None: ...

    def feed(self, data: bytes) -> bool:
        """
        Scan the next piece of the file. False at a line left to the record parser; the scanner is then closed.
        """

    def finish(self) -> bool:
        """End the file; returns like `feed`."""

    def columns(self) -> dict[str, Any]:
        """
        Return the arrays, and each string table as bytes and offsets. Can be called once.
        """

    def fault(self) -> tuple[int, bytes]:
        """
        Return where it stopped: the number of lines before, and the text after them.
        """

    @property
    def lines(self) -> int:
        """The number of lines read."""

class JsonListReader:
    """Read and change lines of JSON with n-best lists in the usual shape."""

    def __init__(self, lists: Sequence[str], texts: Sequence[str], ids: Sequence[str], sources: Sequence[str], others: Sequence[str]) -> None: ...

    def read(self, line: str) -> tuple[Any, ...] | None:
        """
        Return id, source, texts, layouts, values, totals, extras, frame and raw texts; None for another shape.
        """

    def change(self, elements: list[str], layouts: list[tuple[str, ...]], values: list[list[float]], kept: list[int] | None, totals: list[float] | None) -> list[str] | None:
        """
        Write new features and totals into hypotheses; None for another shape or a number that is not finite.
        """

def spell_json_list(head: str, texts: list[str], totals: list[float] | None, layouts: list[tuple[str, ...]], values: list[list[float]], extras: list[tuple[str, list[str]]]) -> str | None:
    """
    Write hypotheses as JSON objects after a head; None for numbers that are not finite.
    """

class JsonListScanner:
    """Read JSON lines with n-best lists into columns."""

    def __init__(self, lists: Sequence[str], texts: Sequence[str], ids: Sequence[str], sources: Sequence[str], others: Sequence[str], max_line: int) -> None: ...

    def feed(self, data: bytes) -> bool:
        """
        Scan the next piece of the file. False at a line that cannot be read; `resume` continues after it.
        """

    def resume(self) -> bool:
        """
        Continue after a line that could not be read; returns like `feed` or `finish`.
        """

    def finish(self) -> bool:
        """End the file; returns like `feed`."""

    def columns(self) -> dict[str, Any]:
        """
        Return the arrays, and each string table as bytes and offsets. Can be called once.
        """

    @property
    def fault(self) -> bytes:
        """The line that could not be read, with its newline."""

    @property
    def lines(self) -> int:
        """The number of lines read, including that line."""

class ReorderingScanner:
    """Read a Moses reordering table into columns; fed in pieces of any size."""

    def __init__(self, max_line: int) -> None: ...

    def feed(self, data: bytes) -> bool:
        """
        Scan the next piece of the file. False at a line that cannot be read; `resume` continues after it.
        """

    def resume(self) -> bool:
        """
        Continue after a line that could not be read; returns like `feed` or `finish`.
        """

    def finish(self) -> bool:
        """End the file; returns like `feed`."""

    def columns(self) -> dict[str, Any]:
        """
        Return the arrays, and each string table as bytes and offsets. Can be called once.
        """

    @property
    def fault(self) -> bytes:
        """The line that could not be read, with its newline."""

    @property
    def lines(self) -> int:
        """The number of lines read, including that line."""

    def expect(self, fields: int, numbers: int) -> None:
        """
        Set the numbers of fields and scores per line. Until then no line can be read.
        """

    def add(self, key: str, values: Sequence[float]) -> None:
        """Add a row parsed by Python."""

def probing_hashes(blob: bytes, offsets: Any) -> Any:
    """The 64-bit hashes of words, as Moses and KenLM compute them."""

def probing_rows(data: Any, scores: int) -> dict[str, Any]:
    """
    Read the target phrases of a ProbingPT folder into arrays; `fault` is the byte of the first bad one, or -1.
    """

def probing_keys(blob: bytes, offsets: Any, source: Any, source_offsets: Any, target: Any, target_offsets: Any) -> tuple[Any, Any]:
    """Spell phrase pairs as `source ||| target`; return bytes and offsets."""

def probing_logarithms(scores: Any, are_logarithms: bool) -> int:
    """
    Convert stored scores to natural logarithms in place; return the position of the first bad one, or -1.
    """

def probing_sources(keys: Any, words: Any, order: Any, known: Any, known_words: Any, known_offsets: Any, longest: int, steps: int) -> tuple[Any, Any]:
    """
    Find the words of source phrases by their keys; return numbers of words and offsets, empty for unknown phrases.
    """

class CompactReordering:
    """A compact reordering table of Moses, in the bytes of its file."""

    def __init__(self, file: numpy.typing.NDArray[numpy.uint8]) -> None: ...

    def __len__(self) -> int: ...

    @property
    def scores(self) -> int:
        """Scores of each phrase."""

    @property
    def fingerprint_bits(self) -> int:
        """Bits of the fingerprints that phrases are known by."""

    def find(self, keys: Sequence[str]) -> numpy.typing.NDArray[numpy.float32]:
        """
        The scores of phrases or pairs of them, each with ` ||| ` after it; NaN for those that are not there.
        """

    def find_rules(self, words: numpy.typing.NDArray[numpy.uint8], word_offsets: numpy.typing.NDArray[numpy.int64], source: numpy.typing.NDArray[numpy.int32], source_offsets: numpy.typing.NDArray[numpy.int64], target: numpy.typing.NDArray[numpy.int32], target_offsets: numpy.typing.NDArray[numpy.int64], chosen: numpy.typing.NDArray[numpy.int32], paired: bool) -> numpy.typing.NDArray[numpy.float32]:
        """
        The same for the `chosen` rows of columns; for their source sides if not `paired`.
        """

class CompactPhrases:
    """A compact phrase table of Moses, in the bytes of its file."""

    def __init__(self, file: numpy.typing.NDArray[numpy.uint8]) -> None: ...

    def __len__(self) -> int: ...

    @property
    def scores(self) -> int:
        """Scores of each translation."""

    @property
    def longest(self) -> int:
        """Words of the longest source phrase."""

    @property
    def coding(self) -> str:
        """How target words are written: None, REnc or PREnc."""

    @property
    def has_alignments(self) -> bool:
        """Whether there are alignment points."""

    @property
    def fingerprint_bits(self) -> int:
        """Bits of the fingerprints that source phrases are known by."""

    def find(self, phrases: Sequence[str]) -> dict[str, Any]:
        """
        The translations of phrases, words separated by single blanks, as arrays of columns.
        """

class ProbingPhrases:
    """A ProbingPT folder of Moses, in the bytes of its files."""

    def __init__(self, sources: numpy.typing.NDArray[numpy.uint8], targets: numpy.typing.NDArray[numpy.uint8], alignments: numpy.typing.NDArray[numpy.uint8], hashes: numpy.typing.NDArray[numpy.uint8], rows: numpy.typing.NDArray[numpy.uint8], scores: int, others: int, are_logarithms: bool) -> None: ...

    @property
    def source_words(self) -> int:
        """Words of source sides."""

    @property
    def target_words(self) -> int:
        """Words of target sides."""

    @property
    def has_rules(self) -> bool:
        """Whether there are gaps or labels, as in rules."""

    def find(self, phrases: Sequence[str]) -> dict[str, Any]:
        """
        The translations of phrases, words separated by single blanks, as arrays of columns.
        """

    def scores_of(self, sources: Sequence[str], targets: Sequence[str], first: int, count: int) -> numpy.typing.NDArray[numpy.float32]:
        """
        Scores of phrase pairs from the `first` on; NaN for those that are not there.
        """

    def scores_of_rules(self, words: numpy.typing.NDArray[numpy.uint8], word_offsets: numpy.typing.NDArray[numpy.int64], source: numpy.typing.NDArray[numpy.int32], source_offsets: numpy.typing.NDArray[numpy.int64], target: numpy.typing.NDArray[numpy.int32], target_offsets: numpy.typing.NDArray[numpy.int64], chosen: numpy.typing.NDArray[numpy.int32], first: int, count: int) -> numpy.typing.NDArray[numpy.float32]:
        """The same for the `chosen` rows of columns."""
