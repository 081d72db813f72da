"""The rows of a reordering table, as records and as columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtformats.columns import StringTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class Reordering:
    """The orientation scores of a phrase pair: natural logarithms of probabilities, at least -100.

    Backward scores (with respect to the previous phrase) come before forward ones, if there are both. ``target`` is
    None in models of source phrases only. ``raw`` is the line as read and ``origin`` the format that read it; that
    format's writer copies the line.
    """

    source: str
    target: str | None
    values: tuple[float, ...]
    raw: str | None = None
    origin: str = ""
    file: str = ""
    line: int = 1


def key_of(source: str, target: str | None) -> str:
    """Return the key of a row: its phrases, ``source ||| target``, with single blanks between words."""
    return " ||| ".join(_BLANKS.sub(" ", phrase) for phrase in (source, target) if phrase is not None)


@dataclass(frozen=True)
class ReorderingColumns:
    """A whole table: row i has the key ``keys[i]``, see :func:`key_of`, and the scores ``values[i]``.

    ``index`` is a lookup structure stored with the table; only the code that built it interprets it.
    """

    keys: StringTable
    values: NDArray[np.float32]
    index: NDArray[np.uint64] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.keys.nbytes + int(self.values.nbytes)

    @classmethod
    def of(cls, parts: Mapping[str, Any]) -> ReorderingColumns:
        """Build columns from a scanner's output: keys as bytes and offsets, all values in one array."""
        blob, offsets = parts["keys"]
        keys = StringTable(memoryview(blob), offsets)
        return cls(keys, parts["values"].reshape(len(keys), -1) if len(keys) else parts["values"].reshape(0, 0))
