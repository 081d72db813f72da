"""A row of a reordering model as it was read, and all of them as columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtformats.columns import StringTable

_BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class Reordering:
    """How a phrase pair moves: the scores of all orientations, natural logarithms of at least -100.

    First those of the orientation to the phrase before (backward), then to the one behind (forward), where there are
    both. ``target`` is none in a model of source phrases alone. ``raw`` is the line as read, and ``origin`` the format
    that read it: a writer of that format copies it.
    """

    source: str
    target: str | None
    values: tuple[float, ...]
    raw: str | None = None
    origin: str = ""
    file: str = ""
    line: int = 1

    def with_values(self, values: tuple[float, ...]) -> Reordering:
        """The row with other scores."""
        return Reordering(self.source, self.target, values, file=self.file, line=self.line)


def key_of(source: str, target: str | None) -> str:
    """What a row is found by: its phrases, ``source ||| target``, with single blanks between their words."""
    return " ||| ".join(_BLANKS.sub(" ", phrase) for phrase in (source, target) if phrase is not None)


@dataclass(frozen=True)
class ReorderingColumns:
    """A whole table: row i is found by ``keys[i]``, as :func:`key_of`, and has the scores ``values[i]``.

    ``index`` is kept with it: what rows are found by, which means something to whoever made it alone.
    """

    keys: StringTable
    values: NDArray[np.float32]
    index: NDArray[np.uint64] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return self.keys.nbytes + int(self.values.nbytes)

    @classmethod
    def of(cls, parts: Mapping[str, Any]) -> ReorderingColumns:
        """The columns of a scanner: string tables as bytes and offsets, values one behind the other."""
        from smtformats.columns import StringTable

        blob, offsets = parts["keys"]
        keys = StringTable(memoryview(blob), offsets)
        return cls(keys, parts["values"].reshape(len(keys), -1) if len(keys) else parts["values"].reshape(0, 0))
