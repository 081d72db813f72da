"""`smt lm`: estimate a language model from a text file, with errors that name the file."""

from __future__ import annotations

import os
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from smtformats.corpus.text import open_sentences
from smtformats.errors import FormatError
from smtformats.escapes import escape as escaped
from smtformats.escapes import escape_bytes
from smtformats.files import shown_name
from smtformats.tokens import words
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.core.lm.estimate import (
    FALLBACK,
    BadSettings,
    BadText,
    Estimate,
    EstimateTooLarge,
    NoDiscounts,
    estimate,
    read_pieces,
)
from smtplugins.host.arguments import argument
from smtplugins.host.files.escaping import check_scheme
from smtplugins.host.progress import progress

FileName: TypeAlias = "str | os.PathLike[str]"


def estimate_files(
    texts: Sequence[FileName],
    order: int,
    *,
    prune: Sequence[int] = (),
    fallback: Sequence[float] | None = None,
    vocabulary: FileName | None = None,
    vocabulary_size: int | None = None,
    memory: int | None = None,
    folder: FileName | None = None,
    escape: str | None = None,
    note: Callable[[str], None] = lambda text: None,
    quiet: bool = False,
) -> Estimate:
    """Estimate the model of a text in one or more files (``-`` is standard input).

    `fallback` holds up to three discounts for orders whose counts allow no estimate (the last is repeated to make
    three); an empty sequence means lmplz's. `vocabulary` is a file of words. `escape` is a scheme to escape the words
    of the text and of the vocabulary with. `folder` is where to make a folder of files if more than `memory` is needed
    (default: that of temporary files). `core.lm.estimate` explains the rest.
    """
    check_scheme(escape)
    text = _Text(texts)
    given = text.pieces() if escape is None else (escape_bytes(piece, escape) for piece in text.pieces())
    try:
        model = estimate(
            progress(given, "reading, MB", quiet=quiet),
            order,
            prune=prune,
            fallback=None if fallback is None else _discounts(fallback),
            vocabulary=None if vocabulary is None else _words(vocabulary, escape),
            vocabulary_size=vocabulary_size,
            memory=memory,
            folder=tempfile.gettempdir() if folder is None else folder,
        )
    except BadSettings as error:
        raise UsageError(str(error)) from error
    except BadText as error:
        file, line = text.place(error.line)
        raise FormatError(error.expected, error.found, file=file, line=line) from error
    except NoDiscounts as error:
        raise SmtError(f"{text.name}: {error}; {argument('discount_fallback')} sets fixed ones") from error
    except EstimateTooLarge as error:
        raise SmtError(f"{text.name}: {error} ({argument('memory')} sets the limit)") from error
    if model.on_disk:
        note(f"more than {argument('memory')} allows: sorted on disk")
    if model.fallen_back:
        orders = " and ".join(f"{order}-grams" for order in model.fallen_back)
        note(f"fallback discounts for {orders}")
    return model


class _Text:
    """The text of some files, one after the other; tells where a line of it stands."""

    def __init__(self, files: Sequence[FileName]) -> None:
        if not files:
            raise UsageError(f"{argument('text', '-i')}: expected one text or more, found none")
        if [os.fspath(file) for file in files].count("-") > 1:
            raise UsageError(f"{argument('text', '-i')}: expected standard input (-) once, found it twice")
        self._files = files
        self.name = " ".join(map(shown_name, files))
        self._begins: list[int] = []

    def pieces(self) -> Iterator[bytes]:
        """The text in pieces; each file begins a line."""
        lines, last = 0, b""
        for file in self._files:
            self._begins.append(lines)
            if last and not last.endswith(b"\n"):
                yield b"\n"
                self._begins[-1] = lines = lines + 1
            last = b""
            for piece in read_pieces(file):
                yield piece
                lines += piece.count(b"\n")
                last = piece
            if not last and len(self._files) > 1:
                raise FormatError("a sentence on each line", "an empty file", file=shown_name(file), line=1)

    def place(self, line: int) -> tuple[str, int | None]:
        """The file and the number of a line of the text; 0 stands for the whole text."""
        if not line:
            return self.name, None
        number = bisect_left(self._begins, line) - 1
        return shown_name(self._files[number]), line - self._begins[number]


def output_folder(*files: FileName | None) -> str | None:
    """The folder of the first file: a disk with room for the result has room for the intermediate files."""
    for file in files:
        if file is not None and os.fspath(file) != "-":
            return os.path.dirname(os.path.realpath(file))
    return None


def binary_target(path: FileName, order: int, arpa: FileName | None = None) -> str:
    """Resolve the path of a probing file of a model of this order; raises UsageError if there can be none.

    The file is replaced as a whole, so it cannot be a device or pipe, nor the ARPA file that is written beside it.
    """
    if order == 1:
        raise UsageError(
            f"{argument('binary')}: expected a model of order 2 or more, as KenLM has no files for unigrams"
        )
    target = os.path.realpath(path)
    if os.fspath(path) == "-" or (os.path.exists(target) and not os.path.isfile(target)):
        raise UsageError(f"{argument('binary')}: expected the name of a file, found {os.fspath(path)!r}")
    if arpa is not None and os.path.realpath(arpa) == target:
        raise UsageError(
            f"{argument('binary')}: expected another file than the ARPA file, found {os.fspath(path)} twice"
        )
    return target


def _discounts(discounts: Sequence[float]) -> tuple[float, float, float]:
    if len(discounts) > 3:
        raise UsageError(f"{argument('discount_fallback')}: expected at most 3 discounts, found {len(discounts)}")
    first, second, more = [*discounts, *[discounts[-1]] * (3 - len(discounts))] if discounts else FALLBACK
    return first, second, more


def _words(path: FileName, scheme: str | None) -> Iterator[str]:
    """The words of a vocabulary, of which there must be some."""
    empty = True
    with open_sentences(path) as lines:
        for line in lines:
            for word in words(line if scheme is None else escaped(line, scheme)):
                empty = False
                yield word
    if empty:
        raise FormatError("the words of the vocabulary", "no words", file=shown_name(path))
