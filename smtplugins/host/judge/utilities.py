"""Utilities of n-best lists in a file: the sentence score of each hypothesis against each (pseudo-)reference.

The file is an npz archive with three arrays per list, ``N/scores``, ``N/hypotheses`` and ``N/references`` (digests of
texts), and ``about``, a JSON text with the metric's signature and the lists' ids. Posterior probabilities are no part
of it, so that it serves any totals and scale, and any selection of the texts.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from smtformats.tokens import normal_id
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.metrics import PreparedMetric
from smtplugins.host.arguments import argument

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates
    from smtplugins.contracts.metrics import Metric

_VERSION = 1
_WIDTH = 16
_ERRORS = (ValueError, KeyError, TypeError, EOFError, OSError, zipfile.BadZipFile)


@dataclass(frozen=True)
class Utilities:
    """The scores of a list: a row per hypothesis, a column per reference."""

    hypotheses: Sequence[str]
    references: Sequence[str]
    scores: NDArray[Any]


@dataclass(frozen=True)
class UtilityWriter:
    """Writes the utilities of lists, one after another."""

    archive: zipfile.ZipFile
    metric: Metric
    ids: list[str] = field(default_factory=list)
    sources: list[str | None] = field(default_factory=list)

    def add(self, nbest: Candidates, utilities: Utilities) -> None:
        """Append a list."""
        key = normal_id(nbest.id)
        if key in self.ids:
            raise SmtError(f"{nbest.file or '<data>'}:{nbest.line}: expected each id once, found {nbest.id} again")
        number = len(self.ids)
        self._write(f"{number}/scores", utilities.scores)
        self._write(f"{number}/hypotheses", _digests(utilities.hypotheses))
        self._write(f"{number}/references", _digests(utilities.references))
        self.ids.append(key)
        self.sources.append(_source_digest(self.metric, nbest))

    def close(self) -> None:
        """Write what the file holds; without it the file is not complete."""
        import numpy as np

        about = {"version": _VERSION, "metric": _signature(self.metric), "ids": self.ids, "sources": self.sources}
        self._write("about", np.frombuffer(json.dumps(about).encode(), dtype=np.uint8))

    def _write(self, name: str, array: NDArray[Any]) -> None:
        import numpy as np

        # ZipInfo's own date, so that equal utilities are equal files.
        with self.archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
            np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


class UtilityReader:
    """Reads the utilities of lists by id."""

    def __init__(self, path: str | os.PathLike[str], metric: Metric) -> None:
        self.path = os.fspath(path)
        self._metric = metric
        self._stream = open(self.path, "rb")  # noqa: SIM115
        try:
            self._archive: Any = self._load()
            about = self._about()
            self._check_metric(about["metric"])
        except BaseException:
            self._stream.close()
            raise
        self._numbers = {key: i for i, key in enumerate(about["ids"])}
        self._sources = about["sources"]

    def _check_metric(self, found: str) -> None:
        if found != _signature(self._metric):
            raise SmtError(
                f"{self.path}: expected utilities of {_signature(self._metric)}, found those of {found}; "
                "name another file"
            )

    def close(self) -> None:
        """Close the file."""
        self._archive.close()
        self._stream.close()

    def find(self, nbest: Candidates, hypotheses: Sequence[str], references: Sequence[str], place: str) -> NDArray[Any]:
        """The scores of hypotheses against references; raises SmtError if the file lacks the list or a text."""
        number = self._numbers.get(normal_id(nbest.id))
        if number is None:
            raise SmtError(f"{self.path}: expected utilities of {place}, found none; name another file")
        if self._sources[number] != _source_digest(self._metric, nbest):
            raise SmtError(f"{self.path}: expected utilities of {place} with its source, found those with another")
        scores = self._array(number, "scores")
        rows, columns = self._array(number, "hypotheses"), self._array(number, "references")
        if scores.dtype.kind != "f" or scores.shape != (len(rows), len(columns)):
            raise self._broken(f"an array of {' x '.join(map(str, scores.shape))} for {place}")
        chosen = scores[self._places(rows, hypotheses, "hypothesis", place)]
        table: NDArray[Any] = chosen[:, self._places(columns, references, "reference", place)]
        return table

    def _places(self, digests: NDArray[Any], texts: Sequence[str], what: str, place: str) -> list[int]:
        known = {row.tobytes(): i for i, row in enumerate(digests)}
        found = []
        for text, row in zip(texts, _digests(texts), strict=True):
            at = known.get(row.tobytes())
            if at is None:
                raise SmtError(
                    f"{self.path}: expected utilities of {place} with the {what} {text[:60]!r}, found none; "
                    "name another file"
                )
            found.append(at)
        return found

    def _load(self) -> Any:
        import numpy as np

        try:
            loaded = np.load(self._stream, allow_pickle=False)
        except _ERRORS as error:
            raise self._broken(str(error)) from None
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            raise self._broken("a single array")
        return loaded

    def _about(self) -> dict[str, Any]:
        try:
            about = json.loads(self._archive["about"].tobytes())
            complete = about["version"] == _VERSION and len(about["ids"]) == len(about["sources"])
            if complete and isinstance(about["metric"], str):
                return dict(about)
        except _ERRORS as error:
            raise self._broken(str(error)) from None
        raise self._broken("another version")

    def _array(self, number: int, name: str) -> NDArray[Any]:
        try:
            array: NDArray[Any] = self._archive[f"{number}/{name}"]
        except _ERRORS as error:
            raise self._broken(str(error)) from None
        return array

    def _broken(self, found: str) -> SmtError:
        return SmtError(f"{self.path}: expected utilities as `smt mbr --utilities` writes them, found {found}")


@contextlib.contextmanager
def write_utilities(path: str | os.PathLike[str], metric: Metric) -> Iterator[UtilityWriter]:
    """Write utilities; the file appears if the block succeeds."""
    from smtformats.files import open_binary_write

    with open_binary_write(path) as stream:
        binary: BinaryIO = stream
        with zipfile.ZipFile(binary, "w", zipfile.ZIP_STORED) as archive:
            writer = UtilityWriter(archive, metric)
            yield writer
            writer.close()


def check_path(path: str | os.PathLike[str]) -> None:
    """Raise an error if the path cannot be a file of utilities."""
    import errno

    name = os.fspath(path)
    if name == "-":
        raise UsageError(f"{argument('utilities=...')}: expected a file, found standard output")
    if re.search(r"\.(gz|bz2|xz|zst)$", name):
        raise UsageError(f"{argument('utilities=...')}: expected a file that is not compressed, found {name}")
    folder = os.path.dirname(name) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)


def _digests(texts: Sequence[str]) -> NDArray[Any]:
    import numpy as np

    data = b"".join(hashlib.blake2b(text.encode(), digest_size=_WIDTH).digest() for text in texts)
    return np.frombuffer(data, dtype=np.uint8).reshape(len(texts), _WIDTH)


def _source_digest(metric: Metric, nbest: Candidates) -> str | None:
    """The digest of the source, if the metric may read it."""
    if nbest.source is None or isinstance(metric, PreparedMetric):
        return None
    return hashlib.blake2b(nbest.source.encode(), digest_size=_WIDTH).hexdigest()


def _signature(metric: Metric) -> str:
    """The metric's signature, without the number of references, which is one for each utility."""
    try:
        signature = metric.signature()
    except ValueError:
        # sacrebleu's metrics know theirs only after use.
        metric.stats(["a"], [["a"]])
        signature = metric.signature()
    return re.sub(r"\|nrefs:[^|]*", "", signature)
