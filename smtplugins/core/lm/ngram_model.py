"""N-gram language models: ARPA and KenLM probing files natively, other KenLM binary files through the kenlm package."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from smtformats.errors import FormatError
from smtformats.files import open_bytes, shown_name
from smtplugins.core._core import ArpaReader, load_binary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtplugins.core._core import LanguageModel as NativeLanguageModel

_KENLM_MAGIC = b"mmap lm http://kheafield.com/code"
_PIECE_BYTES = 1 << 20


@dataclass(eq=False)
class ArpaError(ValueError):
    """An error in an ARPA file. `read_lm` adds the file name and raises it as a FormatError."""

    line: int
    expected: str
    found: str

    def __str__(self) -> str:
        return f"line {self.line}: expected {self.expected}, found {self.found}"


@dataclass(eq=False)
class KenlmFileError(ValueError):
    """An error in a KenLM probing file. `read_lm` adds the file name and raises it as a FormatError."""

    expected: str
    found: str

    def __str__(self) -> str:
        return f"expected {self.expected}, found {self.found}"


@dataclass(eq=False)
class KenlmMissing(RuntimeError):
    """A KenLM binary file that is not a probing file, and no kenlm package to read it."""

    file: str

    def __str__(self) -> str:
        return (
            f"{self.file} is a KenLM binary file, but no probing file: `pip install kenlm`, "
            "or give the ARPA file it was made from"
        )


class LanguageModel(Protocol):
    """A language model from `read_lm`. Scores are log10; only spaces and tabs separate words."""

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""

    def score_sentences(
        self, sentences: list[str], bos: bool = True, eos: bool = True, threads: int = 1
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Each sentence's log probability and number of unknown words."""

    def full_scores(self, sentence: str, bos: bool = True, eos: bool = True) -> list[tuple[float, int, bool]]:
        """For each word its log probability, the length of the matched n-gram, whether it is unknown."""


class KenlmModel:
    """A KenLM binary file with the interface of a native model."""

    def __init__(self, file: str) -> None:
        try:
            import kenlm
        except ImportError:
            raise KenlmMissing(file) from None
        try:
            self._model: Any = kenlm.Model(file)
        except OSError as error:
            raise FormatError("a file that the kenlm package can load", str(error), file=file) from error
        self._new_state = kenlm.State

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return int(self._model.order)

    def score_sentences(
        self, sentences: list[str], bos: bool = True, eos: bool = True, threads: int = 1
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Each sentence's log probability and number of unknown words; in one thread, as kenlm holds the GIL."""
        import numpy as np

        probs = np.zeros(len(sentences), np.float64)
        unknown = np.zeros(len(sentences), np.int32)
        for i, sentence in enumerate(sentences):
            for prob, _, is_unknown in self._scores(sentence, bos, eos):
                probs[i] += prob
                unknown[i] += is_unknown
        return probs, unknown

    def full_scores(self, sentence: str, bos: bool = True, eos: bool = True) -> list[tuple[float, int, bool]]:
        """For each word its log probability, the length of the matched n-gram, whether it is unknown."""
        return list(self._scores(sentence, bos, eos))

    def _scores(self, sentence: str, bos: bool, eos: bool) -> Iterator[tuple[float, int, bool]]:
        # Word by word: kenlm's own methods split at other characters, too.
        words = [word for word in sentence.replace("\t", " ").split(" ") if word]
        if eos:
            words.append("</s>")
        state, following = self._new_state(), self._new_state()
        if bos:
            self._model.BeginSentenceWrite(state)
        else:
            self._model.NullContextWrite(state)
        for word in words:
            score = self._model.BaseFullScore(state, word, following)
            yield score.log_prob, score.ngram_length, score.oov
            state, following = following, state


def read_lm(path: str | os.PathLike[str], *, copy: bool = False) -> LanguageModel:
    """Read an ARPA file (compressed or not, ``-`` is standard input) or a KenLM binary file.

    A probing file is memory-mapped: it loads at once, and processes share its pages. `copy` reads it into private
    memory instead, in huge pages where the system has them.
    """
    return _native(path, copy) or KenlmModel(os.fspath(path))


def read_native_lm(path: str | os.PathLike[str], *, copy: bool = False) -> NativeLanguageModel:
    """Read a model with word ids and states: an ARPA file or a KenLM probing file only."""
    model = _native(path, copy)
    if model is None:
        raise FormatError("an ARPA file or a KenLM probing file", "another kind of KenLM file", file=shown_name(path))
    return model


def write_lm(model: NativeLanguageModel, path: str | os.PathLike[str]) -> None:
    """Write a KenLM probing file, which KenLM loads, too. An existing file is replaced once all is written."""
    # Follow links; a device or a pipe cannot be replaced by renaming.
    name = os.path.realpath(path)
    if os.path.exists(name) and not os.path.isfile(name):
        raise OSError(errno.EINVAL, "a language model can only be written to a regular file", os.fspath(path))
    part = f"{name}.part{os.getpid()}"
    try:
        model.write_binary(part)
        os.replace(part, name)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _native(path: str | os.PathLike[str], copy: bool) -> NativeLanguageModel | None:
    name = shown_name(path)
    if os.fspath(path) != "-" and os.path.isfile(path):
        with open(path, "rb") as file:
            binary = file.read(len(_KENLM_MAGIC)) == _KENLM_MAGIC
        if binary:
            try:
                return load_binary(os.fspath(path), copy)
            except KenlmFileError as error:
                raise FormatError(error.expected, error.found, file=name) from None
    return _read_arpa(path, name)


def check_lm(path: str | os.PathLike[str]) -> None:
    """Check that a file begins like a language model: an early error for runs that load it hours later."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        # Pipes can be read only once: the reader will check them.
        return
    reader = ArpaReader()
    with open_bytes(path) as stream, _arpa_errors(shown_name(path)):
        piece = stream.read(_PIECE_BYTES)
        if not piece.startswith(_KENLM_MAGIC):
            reader.feed(piece)
            if len(piece) < _PIECE_BYTES:
                reader.finish()


def _read_arpa(path: str | os.PathLike[str], name: str) -> NativeLanguageModel:
    reader = ArpaReader()
    with open_bytes(path) as stream, _arpa_errors(name):
        piece = stream.read(_PIECE_BYTES)
        if piece.startswith(_KENLM_MAGIC):
            raise FormatError("a KenLM file that can be mapped", "a compressed file or a stream", file=name)
        while piece:
            reader.feed(piece)
            piece = stream.read(_PIECE_BYTES)
        return reader.finish()


@contextlib.contextmanager
def _arpa_errors(name: str) -> Iterator[None]:
    """Raise errors of reading an ARPA file as FormatErrors with its name."""
    try:
        yield
    except ArpaError as error:
        raise FormatError(error.expected, error.found, file=name, line=error.line) from None
    except (OSError, EOFError) as error:
        raise FormatError("a complete compressed file", str(error), file=name) from error
